/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this room: the pieces of code judged so far, and the paths of loops. */
#ifndef AS_VALIDATE_INTERNAL_H
#define AS_VALIDATE_INTERNAL_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "validate/validate.h"

struct assay_validation {
    struct assay_predictor *predictor;
    struct assay_predict_options options;
    struct as_arena arena; /* holds the strings */
    AS_VEC(struct assay_judged) piece;
    AS_VEC(struct assay_left_out) left_out;
};

/* Returns the kinds of a piece of code: bits by ASSAY_JUDGED_*. They follow from its instructions
 * and the bound of its prediction. */
uint32_t as_judged_kinds(const struct assay_code *code, enum assay_bound bound);
/* Adds a piece. Copies its id, and stores `bytes` (may be NULL) in hexadecimal. Errors: NOMEM. */
int as_judged_push(struct assay_validation *validation, const struct assay_judged *judged,
                   const uint8_t *bytes, size_t size_b, struct assay_error *err);

/* ---- Paths of loops (weights.c) ------------------------------------------------------------- */

/*
 * Computes the share of each path in the iterations of a loop. `executed` holds the execution
 * counts by block of the program. `out` has path_n elements; their sum is 1.
 */
void as_path_weights(const struct assay_program *program, const struct assay_paths *paths,
                     const double *executed, double *out);

/* Returns the bytes of a path with adjacent blocks in the file; NULL for other paths. */
const uint8_t *as_path_bytes(const struct assay_program *program, const struct assay_code *path,
                             size_t *size_b);

#endif
