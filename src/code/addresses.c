/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts addresses that code mentions: millions with many duplicates. The radix sort starts at the
 * lowest digit. Digits that all addresses share are skipped, as the upper half mostly is.
 */
#include <stdlib.h>
#include <string.h>

#include "code/internal.h"

enum { DIGIT_BITS = 11, DIGIT_VALUES = 1 << DIGIT_BITS, DIGITS_LEAST = 256 };

static int by_address(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort_by_digit(const uint64_t *from, uint64_t *to, size_t n, unsigned shift)
{
    size_t start[DIGIT_VALUES] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        start[from[i] >> shift & (DIGIT_VALUES - 1)]++;
    for (unsigned v = 0; v < DIGIT_VALUES; v++) {
        const size_t count = start[v];
        start[v] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[start[from[i] >> shift & (DIGIT_VALUES - 1)]++] = from[i];
}

static void sort_by_digits(uint64_t *address, uint64_t *scratch, size_t n)
{
    uint64_t differ = 0, *from = address, *to = scratch;
    for (size_t i = 1; i < n; i++)
        differ |= address[i] ^ address[0];
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if (!(differ >> shift & (DIGIT_VALUES - 1)))
            continue;
        sort_by_digit(from, to, n, shift);
        uint64_t *const swap = from;
        from = to;
        to = swap;
    }
    if (from != address)
        memcpy(address, from, n * sizeof *address);
}

static size_t drop_repeats(uint64_t *address, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || address[kept - 1] != address[i])
            address[kept++] = address[i];
    }
    return kept;
}

size_t as_sort_unique(uint64_t *address, size_t n)
{
    n = drop_repeats(address, n); /* adjacent instructions often mention the same address */
    uint64_t *scratch = n < DIGITS_LEAST ? NULL : as_malloc(n * sizeof *scratch);
    if (scratch)
        sort_by_digits(address, scratch, n);
    else if (n)
        qsort(address, n, sizeof *address, by_address);
    as_free(scratch);
    return drop_repeats(address, n);
}
