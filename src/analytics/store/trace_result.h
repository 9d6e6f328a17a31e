/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All results of one reading of a trace: the analysis, its sums, the time line, sizes of messages.
 * Also writes them to the experiment.
 */
#ifndef AS_ANALYTICS_TRACE_RESULT_H
#define AS_ANALYTICS_TRACE_RESULT_H

#include "analytics/state/counters.h"
#include "analytics/state/exchanges.h"
#include "analytics/state/gaps.h"
#include "analytics/state/range.h"
#include "analytics/state/sampled.h"
#include "analytics/state/sums.h"
#include "analytics/state/timeline.h"
#include "experiment/experiment.h"

#define AS_ANALYTICS_PASS "analytics"

/* Messages of 0 bytes, of 1, of 2 to 3, of 4 to 7, and so on. */
#define AS_SIZE_CLASSES_N 65u
struct as_size_class {
    uint64_t n, size_b;
    int64_t wait_ns; /* time of late senders */
};
/* Returns the smallest size of a class, in bytes. */
int64_t as_size_class_from(unsigned at);

/* Changes of a run, with gains by a simulation of its trace. Constant, word, title. */
#define AS_TRACE_GAINS(X)                                                                          \
    X(EVEN, "even_ranks", "ranks compute for as long as the mean")                                 \
    X(NETWORK, "ideal_network", "messages take no time")                                           \
    X(CHAIN, "no_chains", "no rank waits for another in turn")
#define AS_TRACE_GAIN_ENUM(name, word, title) AS_TRACE_GAIN_##name,
enum as_trace_gain_kind { AS_TRACE_GAINS(AS_TRACE_GAIN_ENUM) AS_TRACE_GAINS_N };
#undef AS_TRACE_GAIN_ENUM
struct as_trace_gain {
    bool is_known;
    int64_t saved_ns, low_ns, high_ns; /* of the run */
};

struct as_traced {
    struct as_trace trace;
    bool is_ranged;       /* only a part of the trace is analysed */
    struct as_span range; /* that part */
    struct as_analysis analysis;
    struct as_wait_sums sums;
    struct as_timeline timeline;
    struct as_size_class size[AS_SIZE_CLASSES_N];
    struct as_exchanges exchanges;
    struct as_trace_gain gain[AS_TRACE_GAINS_N];
    struct as_counters counters;
    AS_VEC(struct as_gaps) gaps; /* by trace thread */
    struct as_sampled sampled;
    uint64_t lost_n, samples_lost_n, damaged_n;
    bool is_gathered;         /* combined from several processes, which reported damaged blocks */
    uint64_t counted_twice_n; /* damaged blocks that both walks counted */
    uint64_t filtered_n;      /* calls that the filter of the user left out */
    double record_ns;         /* for writing one record; NAN: measurement failed */
    char unsimulated[300];    /* reason why the run was not simulated; "": it was, or has one
                               * rank */
};

/* Opens the trace of a run. Errors: NOT_FOUND (the run has none), those of reading. */
int as_run_trace_open(struct as_experiment *experiment, int64_t run_id, struct as_trace *out,
                      struct as_error *err);

/* Reads and analyses the trace of a run: alone if `party` is NULL, else as rank 0 of the party. The
 * caller releases `out` in any case. Errors: NOT_FOUND (the run has none), IO, NOMEM, those of the
 * party. */
struct as_party;
int as_traced_read(struct as_experiment *experiment, int64_t run_id, struct as_party *party,
                   struct as_traced *out, struct as_error *err);
/* Reads and analyses alone a part of the trace (NULL: all of it). Errors: also those of
 * as_range_find. */
int as_traced_read_range(struct as_experiment *experiment, int64_t run_id,
                         const struct as_range_wanted *wanted, struct as_traced *out,
                         struct as_error *err);
/* ideal.c: computes serialisation and transfer by simulation of the trace in `directory` on the
 * ideal network. If simulation is impossible, both stay unknown and `unsimulated` has the reason.
 * Errors: NOMEM. */
int as_traced_simulate(struct as_traced *traced, const char *directory, struct as_error *err);
/* Writes the flag of a run that was not simulated. Errors: those of the experiment. */
struct as_trace_facts;
int as_trace_unsimulated(const struct as_trace_facts *facts, struct as_error *err);
/* Writes the rows of known gains. Errors: those of the experiment. */
int as_trace_gains(const struct as_trace_facts *facts, struct as_error *err);
/* Analyses the trace that is open in `out`, but computes neither losses nor costs. */
int as_traced_analyse(struct as_traced *out, struct as_party *party, struct as_error *err);
/* parallel.c: analyses the part of this process while the other ranks analyse theirs. The caller
 * releases `part` in any case. */
struct as_trace_part;
int as_traced_read_part(const struct as_trace *trace, struct as_party *party,
                        struct as_trace_part *part, struct as_error *err);
/* Creates the empty time line; returns the callbacks that fill `traced`. */
int as_traced_begin(struct as_traced *traced, const struct as_trace *trace);
struct as_analysis_watch as_traced_watch(struct as_traced *traced);
void as_traced_fini(struct as_traced *traced);

/* as_analytics_run with the ranks of a party (NULL: alone), as rank 0. The other ranks call
 * as_analytics_help with the directory of the trace. */
int as_analytics_run_together(struct as_experiment *experiment, int64_t run_id, int64_t traced_id,
                              struct as_party *party, struct as_error *err);
int as_analytics_help(const char *directory, struct as_party *party, struct as_error *err);

/* Returns the nanoseconds that writing the records took, computed from their number: of all
 * threads; of the thread with the most. */
double as_traced_cost_ns(const struct as_traced *traced);
double as_traced_cost_most_ns(const struct as_traced *traced);

/* Writes the tables trace and trace_*, and metrics, of run `run_id` in place of earlier rows.
 * `traced_id` is the run that has the trace. Errors: those of writing. */
int as_traced_write(struct as_experiment *experiment, int64_t run_id, int64_t traced_id,
                    const struct as_traced *traced, struct as_error *err);

#endif
