/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stable radix sort of (key, index) pairs by a 64-bit key. It sorts 100,000 symbols within a few
 * milliseconds.
 */
#ifndef AS_OBJECT_ORDER_H
#define AS_OBJECT_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct as_keyed {
    uint64_t key;
    uint32_t index;
};

/* Sorts the first `n` entries of `at` by key, stable. `at` must have a capacity of 2 * n entries,
 * because the second half is scratch memory. */
void as_order_by_key(struct as_keyed *at, size_t n);

#endif
