/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least-significant-digit radix sort. It skips digits that are equal in all keys, such as the upper
 * half of most addresses.
 */
#include "object/order.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGITS     ((64 + DIGIT_BITS - 1) / DIGIT_BITS)
#define BUCKETS    (1u << DIGIT_BITS)

static void insertion(struct as_keyed *at, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct as_keyed moved = at[i];
        size_t j = i;
        for (; j > 0 && at[j - 1].key > moved.key; j--)
            at[j] = at[j - 1];
        at[j] = moved;
    }
}

static unsigned digit(uint64_t key, unsigned d)
{
    return (unsigned)(key >> (d * DIGIT_BITS)) & (BUCKETS - 1);
}

/* Sorts `from` into `to` by digit `d`, stable. */
static void pass(const struct as_keyed *from, struct as_keyed *to, size_t n, unsigned d)
{
    size_t start[BUCKETS] = {0};
    for (size_t i = 0; i < n; i++)
        start[digit(from[i].key, d)]++;
    size_t sum = 0;
    for (unsigned b = 0; b < BUCKETS; b++) {
        size_t count = start[b];
        start[b] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[start[digit(from[i].key, d)]++] = from[i];
}

void as_order_by_key(struct as_keyed *at, size_t n)
{
    if (n < 64) {
        insertion(at, n);
        return;
    }
    uint64_t differ = 0;
    for (size_t i = 1; i < n; i++)
        differ |= at[i].key ^ at[0].key;
    struct as_keyed *from = at, *to = at + n;
    for (unsigned d = 0; d < DIGITS; d++) {
        if (!digit(differ, d))
            continue;
        pass(from, to, n, d);
        struct as_keyed *swap = from;
        from = to;
        to = swap;
    }
    if (from != at)
        memcpy(at, from, n * sizeof *at);
}
