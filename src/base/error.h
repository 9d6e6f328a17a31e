/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling and forwarding the error object of <assay/error.h>.
 */
#ifndef AS_BASE_ERROR_H
#define AS_BASE_ERROR_H

#include <assay/error.h>

/* Fills `err` (may be NULL) with `code` and the formatted sentence; returns `code`. */
int as_error_set(struct assay_error *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

void as_error_set_nomem(struct assay_error *err, const char *what);
/* Fills `err` (may be NULL) for a failed allocation; `what` names the data that did not fit.
 * Returns ASSAY_ERR_NOMEM. */
static inline int as_error_nomem(struct assay_error *err, const char *what)
{
    as_error_set_nomem(err, what);
    return ASSAY_ERR_NOMEM;
}

/* Returns the error code of `expr` from the calling function, if there is nothing to release. */
#define AS_TRY(expr)                                                                               \
    do {                                                                                           \
        int as_try_rc = (expr);                                                                    \
        if (as_try_rc < 0)                                                                         \
            return as_try_rc;                                                                      \
    } while (0)

#endif
