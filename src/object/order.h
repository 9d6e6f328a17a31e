/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting big tables by a 64-bit key: a stable radix sort over (key, index) pairs, which is what
 * keeps 100,000 symbols within a few milliseconds.
 */
#ifndef AS_OBJECT_ORDER_H
#define AS_OBJECT_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct as_keyed {
    uint64_t key;
    uint32_t index;
};

/* Sorts the first `n` of `at` by key, equal keys staying in order. `at` has room for 2 * n: the
 * second half is scratch. */
void as_order_by_key(struct as_keyed *at, size_t n);

#endif
