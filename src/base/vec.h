/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed growing vector: `AS_VEC(struct thing) things = {0};`. Elements move when it grows, so
 * keep indices, not pointers. Zero-initialised is empty.
 */
#ifndef AS_BASE_VEC_H
#define AS_BASE_VEC_H

#include <stddef.h>

#include <assay/error.h>

#include "base/alloc.h"

#define AS_VEC(type)                                                                               \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n;                                                                                  \
        size_t cap;                                                                                \
    }

/* Room for `want` elements in all; 0 or ASSAY_ERR_NOMEM (contents untouched). */
int as_vec_grow(void **at, size_t *cap, size_t want, size_t element_b);

#define as_vec_reserve(v, want)                                                                    \
    ((want) <= (v)->cap ? 0 : as_vec_grow((void **)&(v)->at, &(v)->cap, (want), sizeof *(v)->at))

/* Appends one element; 0 or ASSAY_ERR_NOMEM. */
#define as_vec_push(v, ...)                                                                        \
    (as_vec_reserve((v), (v)->n + 1) < 0 ? ASSAY_ERR_NOMEM : ((v)->at[(v)->n++] = (__VA_ARGS__), 0))

#define as_vec_fini(v) (as_free((v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)

#define as_vec_foreach(v, it)                                                                      \
    for (__typeof__((v)->at) it = (v)->at; it && it < (v)->at + (v)->n; it++)

#endif
