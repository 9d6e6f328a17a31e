/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed growing vector: `AS_VEC(struct thing) things = {0};`. Elements move when it grows, so keep
 * indices instead of pointers. A zeroed vector is empty.
 */
#ifndef AS_BASE_VEC_H
#define AS_BASE_VEC_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/error.h"

#define AS_VEC(type)                                                                               \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n;                                                                                  \
        size_t cap;                                                                                \
    }

/*
 * Moves the elements to a block for at least `want` elements and sets `*cap`. Returns the block, or
 * NULL with everything unchanged. Used by the macros below.
 */
void *as_vec_grow(void *at, size_t *cap, size_t want, size_t element_b);

/* Ensures capacity for `want` elements in total. Returns the block, or NULL with the content
 * unchanged. */
#define as_vec_room(v, want)                                                                       \
    ({                                                                                             \
        size_t as_vec_want = (want);                                                               \
        void *as_vec_block = (v)->at;                                                              \
        if (as_vec_want > (v)->cap)                                                                \
            as_vec_block = as_vec_grow((v)->at, &(v)->cap, as_vec_want, sizeof *(v)->at);          \
        if (as_vec_block)                                                                          \
            (v)->at = as_vec_block;                                                                \
        as_vec_block;                                                                              \
    })

/* As as_vec_room for a count that may be 0. Returns 0 or AS_ERR_NOMEM. */
#define as_vec_reserve(v, want)                                                                    \
    ({                                                                                             \
        const size_t as_vec_wish = (want);                                                         \
        as_vec_wish == 0 || as_vec_room((v), as_vec_wish) ? 0 : AS_ERR_NOMEM;                      \
    })

/* Appends one element. Returns 0 or AS_ERR_NOMEM. The value is evaluated only if there is
 * capacity. */
#define as_vec_push(v, ...)                                                                        \
    (as_vec_room((v), (v)->n + 1) ? ((v)->at[(v)->n++] = (__VA_ARGS__), 0) : AS_ERR_NOMEM)

#define as_vec_fini(v) (as_free((v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)

/* Returns the first element with `member` equal to `value`, or NULL: for short lists and rare
 * searches. */
#define as_vec_find(v, member, value)                                                              \
    ({                                                                                             \
        __typeof__((v)->at + 0) as_vec_found = (v)->at;                                            \
        while (as_vec_found && as_vec_found < (v)->at + (v)->n && as_vec_found->member != (value)) \
            as_vec_found++;                                                                        \
        as_vec_found &&as_vec_found < (v)->at + (v)->n ? as_vec_found : NULL;                      \
    })

#define as_vec_foreach(v, it)                                                                      \
    for (__typeof__((v)->at + 0) it = (v)->at; it && it < (v)->at + (v)->n; it++)

#endif
