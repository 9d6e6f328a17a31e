/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this room: the pieces of code judged so far, and the paths of loops. */
#ifndef AS_VALIDATE_INTERNAL_H
#define AS_VALIDATE_INTERNAL_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "validate/validate.h"

struct as_validation {
    struct as_predictor *predictor;
    struct as_predict_options options;
    struct as_arena arena; /* holds the strings */
    AS_VEC(struct as_judged) piece;
    AS_VEC(struct as_left_out) left_out;
};

/* Returns the kinds of a piece of code: bits by AS_JUDGED_*. They follow from its instructions
 * and the bound of its prediction. */
uint32_t as_judged_kinds(const struct as_code *code, enum as_bound bound);
/* Adds a piece. Copies its id, and stores `bytes` (may be NULL) in hexadecimal. Errors: NOMEM. */
int as_judged_push(struct as_validation *validation, const struct as_judged *judged,
                   const uint8_t *bytes, size_t size_b, struct as_error *err);

/* ---- Paths of loops (weights.c) ------------------------------------------------------------- */

/*
 * Computes the share of each path in the iterations of a loop. `executed` holds the execution
 * counts by block of the program. `out` has path_n elements; their sum is 1.
 */
void as_path_weights(const struct as_program *program, const struct as_paths *paths,
                     const double *executed, double *out);

/* Returns the bytes of a path with adjacent blocks in the file; NULL for other paths. */
const uint8_t *as_path_bytes(const struct as_program *program, const struct as_code *path,
                             size_t *size_b);

#endif
