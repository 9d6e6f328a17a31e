/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What recording costs, routine by routine: from a trace that is there, how large it is, how much
 * larger or smaller another with a filter would be, and how much slower a thread is for it.
 */
#ifndef AS_ANALYTICS_SCORE_H
#define AS_ANALYTICS_SCORE_H

#include <assay/error.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "trace/filter.h"
#include "trace/read.h"

/* Constant, word. COM are regions of the user within which others' routines are called, USR those
 * that do without. */
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

/* Of records: those of a call and of what it says; what it calls has its own. */
struct as_score_amount {
    uint64_t calls_n, records_n, size_b;
    int64_t time_ns; /* without what it calls */
};

struct as_score_row {
    const char *routine; /* the trace's, or what records outside of calls are named */
    enum as_score_type type;
    bool is_call;                   /* of a routine or region, which a filter can name */
    enum as_filter_verdict verdict; /* of the filter that was given */
    struct as_score_amount all;
    struct as_score_amount missed; /* calls that found nothing (MPI_Test) */
    int64_t whole_ns;              /* with what it calls; within itself once */
    uint64_t most_b;               /* of one thread */
};

/* All records, or those that a filter leaves. */
struct as_score_total {
    uint64_t records_n, size_b;
    uint64_t thread_most_b, process_most_b;
    uint64_t disk_b; /* of files: a page and whole blocks each, with definitions */
    double slower;   /* writing, over the time of the thread that it takes most of */
    uint64_t most_in_thread_n;
};

struct as_score {
    AS_VEC(struct as_score_row) row; /* most bytes first */
    struct as_score_amount type[AS_SCORE_TYPES_N], all;
    struct as_score_total whole, filtered;
    uint64_t processes_n, threads_n;
    bool is_ring;        /* what came before is not in it */
    int64_t recorded_ns; /* from the first record to the last */
    int64_t lasted_ns;   /* from the first record to the end of the last thread */
    double record_ns;    /* of writing one; NAN: not known */
};

/* `filter` may be NULL. Names stay the trace's. Errors: NOMEM, those of reading. Release it in any
 * case. */
int as_score_trace(const struct as_trace *trace, const struct as_trace_filter *filter,
                   double record_ns, struct as_score *out, struct assay_error *err);
void as_score_fini(struct as_score *score);

/* What a filter may leave out so that a trace is smaller and the program nearly as fast: so much of
 * all bytes, in calls that are as short, and nothing that would stay anyway. */
#define AS_SCORE_LEAST_SHARE 0.01
#define AS_SCORE_SHORT_NS    1000
bool as_score_is_worth(const struct as_score *score, const struct as_score_row *row);

#endif
