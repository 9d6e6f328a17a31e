/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this room share: the pieces of code judged so far, and loops by their paths.
 */
#ifndef AS_VALIDATE_INTERNAL_H
#define AS_VALIDATE_INTERNAL_H

#include <assay/validate.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

struct assay_validation {
    struct assay_predictor *predictor;
    struct assay_predict_options options;
    struct as_arena arena; /* texts */
    AS_VEC(struct assay_judged) piece;
    AS_VEC(struct assay_left_out) left_out;
};

uint32_t as_judged_kinds(const struct assay_code *code, enum assay_bound bound);
/* Copies the id; `bytes` (may be NULL) become its hex. */
int as_judged_push(struct assay_validation *validation, const struct assay_judged *judged,
                   const uint8_t *bytes, size_t size_b, struct assay_error *err);

/* ---- Loops by their paths (weights.c) ------------------------------------------------------- */

/*
 * Shares of the paths of a loop in its iterations, from how often each block was executed (by
 * number of the block in the program): out[path_n], their sum is 1.
 */
void as_path_weights(const struct assay_program *program, const struct assay_paths *paths,
                     const double *executed, double *out);

/* Bytes of a path whose blocks stand one behind the other in the file; NULL: they do not. */
const uint8_t *as_path_bytes(const struct assay_program *program, const struct assay_code *path,
                             size_t *size_b);

#endif
