/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligns functions and loops of several sets across versions, compilers and machines.
 * doc/internals/compare.md has the order of the rules. Knows names and source lines, no times.
 */
#ifndef AS_COMPARE_ALIGN_H
#define AS_COMPARE_ALIGN_H

#include "base/index.h"
#include "compare/set.h"

/* Maximum distance in lines between two functions or loops that count as the same. */
#define AS_ALIGN_NEAR 5

struct as_aligned_row {
    const struct as_compared_object *object; /* on the first side that has it */
    uint32_t function;                       /* row of the function of a loop, or AS_INDEX_NONE */
    uint32_t side;                           /* the first side that has it */
    uint32_t taken;                          /* 1 + the last side that has it */
    enum as_aligned by; /* the weakest rule that aligned an object with the row */
};

struct as_alignment {
    AS_VEC(struct as_aligned_row) row;
    uint32_t **row_of; /* [side][object]: row of the object, or AS_INDEX_NONE for a category */
    struct as_arena arena;
};

/* Aligns `n` sets. Their objects must not move until as_alignment_fini. Errors: NOMEM. */
int as_align(const struct as_set *side, size_t n, struct as_alignment *out, struct as_error *err);
void as_alignment_fini(struct as_alignment *alignment);

/* Returns the length in bytes of a demangled name without the suffixes of clones. */
size_t as_align_name_n(const char *name);

#endif
