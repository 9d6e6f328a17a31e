/* SPDX-License-Identifier: Apache-2.0 */
/* State that the files of a comparison share: the sides, and the result under construction. */
#ifndef AS_COMPARE_COMPARISON_H
#define AS_COMPARE_COMPARISON_H

#include "base/error.h"
#include "compare/align.h"
#include "compare/differs.h"
#include "compare/measure.h"

struct as_comparison_work {
    const struct as_compare_request *request;
    size_t side_n;
    struct as_set *set; /* one for each side; its runs are the repetitions */
    struct as_repeats *repeats;
    unsigned *failed_n;
    struct as_alignment alignment;
    struct as_compared_object *part;    /* [row * side_n + side]: costs of a row; kind 0 if none */
    struct as_object_facts *code_facts; /* [row * side_n + side]: facts of the code */
    struct as_notes notes;
    struct as_comparison *result;
    struct as_arena *arena; /* owns the result */
    double *x;              /* work space: one value for each repetition */
    struct as_arena scratch;
};

/* ---- comparison_side.c ---- */

/* Returns a difference in per cent with its interval, from `n` runs or samples. */
struct as_bounded_value as_difference_pct(const struct as_difference *it, int64_t n);

/* Sets the part of the result for each side as a whole. Errors: NOMEM. */
int as_comparison_sides(struct as_comparison_work *w, struct as_error *err);

#endif
