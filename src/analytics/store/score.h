/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of tracing per routine, computed from an existing trace: its size, the size with a
 * filter, and the slowdown of a thread.
 */
#ifndef AS_ANALYTICS_SCORE_H
#define AS_ANALYTICS_SCORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "trace/filter.h"
#include "trace/read.h"

/* Constant, word. COM are user regions that call routines of libraries, USR are user regions that
 * do not. */
#define AS_SCORE_TYPES(X)                                                                          \
    X(MPI, "MPI")                                                                                  \
    X(OMP, "OMP")                                                                                  \
    X(PTHREAD, "PTHREAD")                                                                          \
    X(IO, "IO")                                                                                    \
    X(MEMORY, "MEMORY")                                                                            \
    X(COM, "COM")                                                                                  \
    X(USR, "USR")                                                                                  \
    X(OTHER, "OTHER")
#define AS_SCORE_ENUM(name, word) AS_SCORE_##name,
enum as_score_type { AS_SCORE_TYPES(AS_SCORE_ENUM) AS_SCORE_TYPES_N };
#undef AS_SCORE_ENUM
const char *as_score_type_word(enum as_score_type type);

/* Amount of records of calls, without the records of their callees. */
struct as_score_amount {
    uint64_t calls_n, records_n, size_b;
    int64_t time_ns; /* exclusive time */
};

struct as_score_row {
    const char *routine; /* owned by the trace, or a name for records outside of calls */
    enum as_score_type type;
    bool is_call;                   /* a routine or region, which a filter can name */
    enum as_filter_verdict verdict; /* verdict of the given filter */
    struct as_score_amount all;
    struct as_score_amount missed; /* calls that found nothing (MPI_Test) */
    int64_t whole_ns;              /* inclusive time; recursion counts once */
    uint64_t most_b;               /* of the thread with the most */
};

/* Totals of all records, or of the records that a filter keeps. */
struct as_score_total {
    uint64_t records_n, size_b;
    uint64_t thread_most_b, process_most_b;
    uint64_t disk_b; /* size of files with definitions, in pages and whole blocks */
    double slower;   /* ratio of the time for writing to the time of the thread that loses most */
    uint64_t most_in_thread_n;
};

struct as_score {
    AS_VEC(struct as_score_row) row; /* largest first */
    struct as_score_amount type[AS_SCORE_TYPES_N], all;
    struct as_score_total whole, filtered;
    uint64_t processes_n, threads_n;
    bool is_ring;        /* a ring: earlier records are missing */
    int64_t recorded_ns; /* from the first record to the last */
    int64_t lasted_ns;   /* from the first record to the end of the last thread */
    double record_ns;    /* for writing one record; NAN: unknown */
};

/* Computes the score; `filter` may be NULL. Names stay owned by the trace. Errors: NOMEM, those of
 * reading. The caller releases `out` in any case. */
int as_score_trace(const struct as_trace *trace, const struct as_trace_filter *filter,
                   double record_ns, struct as_score *out, struct as_error *err);
void as_score_fini(struct as_score *score);

/* Returns whether a filter should leave out this row: a share of all bytes of at least
 * AS_SCORE_LEAST_SHARE, and calls shorter than AS_SCORE_SHORT_NS. Routines that the analysis needs
 * stay. */
#define AS_SCORE_LEAST_SHARE 0.01
#define AS_SCORE_SHORT_NS    1000
bool as_score_is_worth(const struct as_score *score, const struct as_score_row *row);

#endif
