/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of `assay validate`: output, the file of --save, and the difference to such a file.
 */
#ifndef AS_CLI_VALIDATE_H
#define AS_CLI_VALIDATE_H

#include "predict.h"
#include "validate/validate.h"

/* No table of blocks is larger. */
#define AS_RECORD_MAX_B ((size_t)1 << 30)

/* Shows, in the format of the command line; writes --save, reads --against. Errors: USAGE (nothing
 * to judge), IO, NOT_FOUND, NOMEM. */
int as_validate_show(struct as_predicting *p, const struct as_validation *judged,
                     struct as_error *err);

/* ---- Records (validate_record.c) ------------------------------------------------------------ */

/* Pieces that stand in an earlier record too. */
struct as_since {
    const char *path;            /* NULL: nothing is compared */
    size_t n, better_n, worse_n; /* by more than a hundredth of the measured cycles */
    double before, now;          /* mean error of those, per cent */
    size_t changed_n;            /* same name in both, but other code: not compared */
};

int as_record_save(const char *path, const struct as_judged *piece, size_t n, struct as_error *err);
int as_record_compare(const char *path, const struct as_judged *piece, size_t n,
                      struct as_since *out, struct as_error *err);

#endif
