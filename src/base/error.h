/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: one list of codes, and one object that carries the sentence a user reads.
 * Every fallible function returns 0 or a negative code from this list; the first one that detects
 * the error fills the object (what, where, why, what to do), callers forward it untouched.
 */
#ifndef AS_BASE_ERROR_H
#define AS_BASE_ERROR_H

#include <stddef.h>

/*
 * X(name, code, exit status, summary)
 * Exit status: 1 = the target or the measurement failed, 2 = wrong usage or unusable input.
 */
#define AS_ERROR_LIST(X)                                                                           \
    X(NOMEM, -1, 1, "out of memory")                                                               \
    X(IO, -2, 1, "input or output failed")                                                         \
    X(USAGE, -3, 2, "wrong usage")                                                                 \
    X(NOT_FOUND, -4, 2, "no such file")                                                            \
    X(PERMISSION, -5, 2, "permission denied")                                                      \
    X(NOT_REGULAR, -6, 2, "not a regular file")                                                    \
    X(NOT_ELF, -7, 2, "not an ELF file")                                                           \
    X(ARCH, -8, 2, "another architecture")                                                         \
    X(CLASS, -9, 2, "not a 64-bit file")                                                           \
    X(TRUNCATED, -10, 2, "truncated file")                                                         \
    X(CORRUPT, -11, 2, "corrupted file")                                                           \
    X(NO_SYMBOL, -12, 2, "no such symbol")                                                         \
    X(NO_CODE, -13, 2, "no code there")                                                            \
    X(UNSUPPORTED, -14, 2, "not supported")                                                        \
    X(LIMIT, -15, 1, "a limit was reached")                                                        \
    X(INTERNAL, -16, 1, "internal error")

enum as_error_code {
    AS_OK = 0,
#define AS_ERROR_ENUM(name, code, status, summary) AS_ERR_##name = (code),
    AS_ERROR_LIST(AS_ERROR_ENUM)
#undef AS_ERROR_ENUM
};

/* Longest sentence kept, in bytes with the terminating zero; a longer one ends in "...". */
#define AS_ERROR_TEXT_B 1024

struct as_error {
    int code;                   /* AS_OK or a negative code */
    char text[AS_ERROR_TEXT_B]; /* "where: what: why; what to do", no newline */
};

/* Borrowed constant summary of a code ("corrupted file"); "unknown error" for any other number. */
const char *as_error_summary(int code);

/* Exit status of the command line for a code: 0 for AS_OK, else 1 or 2. */
int as_error_exit_status(int code);

/* Fills `err` (may be NULL) with `code` and the formatted sentence; returns `code`. */
int as_error_set(struct as_error *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

void as_error_set_nomem(struct as_error *err, const char *what);
/* Fills `err` (may be NULL) for a failed allocation; `what` names the data that did not fit.
 * Returns AS_ERR_NOMEM. */
static inline int as_error_nomem(struct as_error *err, const char *what)
{
    as_error_set_nomem(err, what);
    return AS_ERR_NOMEM;
}

/* Returns the error code of `expr` from the calling function, if there is nothing to release. */
#define AS_TRY(expr)                                                                               \
    do {                                                                                           \
        int as_try_rc = (expr);                                                                    \
        if (as_try_rc < 0)                                                                         \
            return as_try_rc;                                                                      \
    } while (0)

#endif
