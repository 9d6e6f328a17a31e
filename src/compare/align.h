/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions and loops of several sets are the same thing, across versions, compilers and
 * machines (doc/internals/compare.md has the order of the rules). Knows names and places, no times.
 */
#ifndef AS_COMPARE_ALIGN_H
#define AS_COMPARE_ALIGN_H

#include "base/index.h"
#include "compare/set.h"

/* Lines that a function or loop may have moved and still be thought the same. */
#define AS_ALIGN_NEAR 5

struct as_aligned_row {
    const struct as_object *object; /* of the first side that has it */
    uint32_t function;              /* of a loop: row of its function, or AS_INDEX_NONE */
    uint32_t side;                  /* the first */
    uint32_t taken;                 /* 1 + the last side that has it */
    enum assay_aligned by;          /* the weakest rule that found a side's */
};

struct as_alignment {
    AS_VEC(struct as_aligned_row) row;
    uint32_t **row_of; /* [side][object]: its row, or AS_INDEX_NONE (categories) */
    struct as_arena arena;
};

/* Aligns `n` sets, objects of which must not move until as_alignment_fini. Errors: NOMEM. */
int as_align(const struct as_set *side, size_t n, struct as_alignment *out,
             struct assay_error *err);
void as_alignment_fini(struct as_alignment *alignment);

/* Bytes of a readable name without suffixes that compilers give to clones. */
size_t as_align_name_n(const char *name);

#endif
