/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Radix sort of keys. A byte that is equal in all keys costs only the count. Measurements are few,
 * so qsort(3) sorts them.
 */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Shorter lists are sorted by insertion. */
#define FEW 48

static void sort_few(struct as_sort_key *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct as_sort_key it = keys[i];
        size_t at = i;
        for (; at > 0 && keys[at - 1].key > it.key; at--)
            keys[at] = keys[at - 1];
        keys[at] = it;
    }
}

static unsigned byte_of(const struct as_sort_key *key, unsigned byte)
{
    return key->key >> 8 * byte & 0xff;
}

/* Sorts `from` into `to` by one byte. `count` is the number of keys for each value of the byte. */
static void sort_byte(const struct as_sort_key *from, struct as_sort_key *to, size_t n,
                      unsigned byte, const size_t *count)
{
    size_t at[256], sum = 0;
    for (unsigned value = 0; value < 256; value++) {
        at[value] = sum;
        sum += count[value];
    }
    for (size_t i = 0; i < n; i++)
        to[at[byte_of(&from[i], byte)]++] = from[i];
}

int as_sort_keys(struct as_sort_key *keys, size_t n)
{
    size_t count[8][256] = {{0}};
    if (n < FEW) {
        sort_few(keys, n);
        return 0;
    }
    struct as_sort_key *other = as_malloc_large(n, sizeof *other), *from = keys, *to = other;
    if (!other)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        for (unsigned byte = 0; byte < 8; byte++)
            count[byte][byte_of(&keys[i], byte)]++;
    for (unsigned byte = 0; byte < 8; byte++) {
        if (count[byte][byte_of(keys, byte)] == n)
            continue;
        sort_byte(from, to, n, byte, count[byte]);
        struct as_sort_key *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, n * sizeof *keys);
    as_free(other);
    return 0;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void as_sort_doubles(double *value, size_t n)
{
    if (n > 1)
        qsort(value, n, sizeof *value, compare_doubles);
}
