/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares predictions (predict/predict.h) with measured cycles: blocks with known cycles,
 * innermost loops of a binary measured as blocks, and a suite of loops compiled and run on this
 * machine. doc/internals/predict.md explains the measurements and what is left out.
 */
#ifndef AS_VALIDATE_VALIDATE_H
#define AS_VALIDATE_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "code/code.h"
#include "measure/measure.h"
#include "predict/predict.h"

#define AS_JUDGED_KIND_LIST(X)                                                                     \
    X(ALL, "all")                                                                                  \
    X(INTEGER, "integer")                                                                          \
    X(FP_SCALAR, "FP scalar")                                                                      \
    X(FP_VECTOR, "FP vector")                                                                      \
    X(MEMORY, "memory-heavy")                                                                      \
    X(DIVIDE, "divide")                                                                            \
    X(CHAIN, "long chain") /* limited by the latency of a chain */

enum as_judged_kind {
#define AS_JUDGED_ENUM(name, word) AS_JUDGED_##name,
    AS_JUDGED_KIND_LIST(AS_JUDGED_ENUM)
#undef AS_JUDGED_ENUM
        AS_JUDGED_KINDS
};
const char *as_judged_kind_word(unsigned kind);

/* One piece of code with both figures; texts belong to the validation. */
struct as_judged {
    const char *id;
    const char *hex;  /* its code; NULL: several paths */
    uint64_t address; /* where that stands */
    double measured, predicted;
    double spread; /* of the measurement, relative; below 0: not known */
    enum as_bound bound;
    uint32_t kinds; /* a bit each */
};

/* Error as a share of what was measured, always positive. */
double as_judged_error(const struct as_judged *judged);

struct as_left_out {
    const char *why;
    size_t n;
};

struct as_judgement {
    size_t n;
    double mape, median;      /* per cent */
    double within5, within10; /* per cent of the pieces */
    double tau;               /* Kendall's tau-b; NAN where it is not defined */
};

struct as_validation; /* of one thread */

/* Borrows the predictor; its options hold for everything but `equal_memory` of blocks. */
int as_validation_new(struct as_predictor *predictor, const struct as_predict_options *options,
                      struct as_validation **out, struct as_error *err);
void as_validation_free(struct as_validation **validation); /* NULL inside is fine */

/* Adds a piece with known cycles. `bytes` may be NULL: it then has no hexadecimal form. */
int as_validation_add(struct as_validation *validation, const char *id, double measured,
                      double spread, const struct as_code *code, const uint8_t *bytes,
                      size_t size_b, struct as_error *err);
/* One more that is not judged; `why` is kept as it is. */
int as_validation_leave_out(struct as_validation *validation, const char *why,
                            struct as_error *err);

struct as_validation_progress {
    int fd;                   /* -1: shows nothing */
    const volatile int *stop; /* becomes other than 0: ends after the piece at hand; may be NULL */
};

/*
 * Measures innermost loops of a program in bodies marked in `chosen` (NULL: all) as blocks: the
 * straight-line part without its closing branch. Errors: NOMEM, IO.
 */
int as_validation_binary(struct as_validation *validation, struct as_meter *meter,
                         const struct as_program *program, const bool *chosen,
                         const struct as_validation_progress *progress, struct as_error *err);

/*
 * Compiles the suite with the available compilers, for the instruction sets of this CPU. Runs every
 * loop on arrays in L1 and compares it by the executed paths. `wants` (NULL: all) is called with
 * the id of a loop, NAME COMPILER BUILD. Errors: NOT_FOUND (no compiler), USAGE (none selected,
 * with the names), NOMEM, IO.
 */
int as_validation_suite(struct as_validation *validation, struct as_meter *meter,
                        bool (*wants)(void *context, const char *id), void *context,
                        const struct as_validation_progress *progress, struct as_error *err);

/* In the order in which they were added. */
size_t as_validation_pieces(const struct as_validation *validation, const struct as_judged **out);
size_t as_validation_left_out(const struct as_validation *validation,
                              const struct as_left_out **out);

/* Statistics of one kind of pieces. Errors: NOMEM. */
int as_judge(const struct as_judged *piece, size_t n, unsigned kind, struct as_judgement *out,
             struct as_error *err);

#endif
