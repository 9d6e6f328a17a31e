/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the files of a comparison: the sides that were read, and the result as far as it is.
 */
#ifndef AS_COMPARE_COMPARISON_H
#define AS_COMPARE_COMPARISON_H

#include "base/error.h"
#include "compare/align.h"
#include "compare/differs.h"
#include "compare/measure.h"

struct as_comparison_work {
    const struct assay_compare_request *request;
    size_t side_n;
    struct as_set *set; /* one a side; its runs are the repetitions */
    struct as_repeats *repeats;
    unsigned *failed_n;
    struct as_alignment alignment;
    struct as_object *part;             /* [row * side_n + side]: costs of a row; kind 0 = none */
    struct as_object_facts *code_facts; /* the same of what sides say of the code */
    struct as_notes notes;
    struct assay_comparison *result;
    struct as_arena *arena; /* of the result */
    double *x;              /* a value a repetition */
    struct as_arena scratch;
};

/* ---- comparison_side.c ---- */

/* In per cent, from `n` runs or samples. */
struct assay_quantity as_difference_pct(const struct as_difference *it, int64_t n);

/* What the result says of each side as a whole. Errors: NOMEM. */
int as_comparison_sides(struct as_comparison_work *w, struct assay_error *err);

#endif
