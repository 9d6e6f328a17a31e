/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that is drawn from the trace of a run in one reading: the analysis, its sums, the time line,
 * sizes of messages; and how it becomes facts of the experiment.
 */
#ifndef AS_ANALYTICS_TRACE_RESULT_H
#define AS_ANALYTICS_TRACE_RESULT_H

#include <assay/experiment.h>

#include "analytics/state/counters.h"
#include "analytics/state/exchanges.h"
#include "analytics/state/gaps.h"
#include "analytics/state/range.h"
#include "analytics/state/sampled.h"
#include "analytics/state/sums.h"
#include "analytics/state/timeline.h"

#define AS_ANALYTICS_PASS "analytics"

/* Messages of 0 bytes, of 1, of 2 and 3, of 4 to 7, ... */
#define AS_SIZE_CLASSES_N 65u
struct as_size_class {
    uint64_t n, size_b;
    int64_t wait_ns; /* receivers waited for their senders */
};
/* The least size of a class, and the least of the next. */
int64_t as_size_class_from(unsigned at);

/* Calls of a routine by a thread, from wherever. */
struct as_routine_sum {
    uint32_t location;
    const char *routine; /* the trace's */
    uint32_t group;
    struct as_site_sum sum; /* its site is the first of them */
};

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
    bool is_ranged;       /* a part of the trace is analysed */
    struct as_span range; /* that part */
    struct as_analysis analysis;
    struct as_wait_sums sums;
    struct as_timeline timeline;
    struct as_size_class size[AS_SIZE_CLASSES_N];
    struct as_exchanges exchanges;
    struct as_trace_gain gain[AS_TRACE_GAINS_N];
    AS_VEC(struct as_routine_sum) routine; /* by location, then most time first */
    struct as_counters counters;
    AS_VEC(struct as_gaps) gaps; /* by location */
    struct as_sampled sampled;
    uint64_t lost_n, samples_lost_n, damaged_n;
    bool is_gathered;         /* from several processes, which said what was damaged */
    uint64_t counted_twice_n; /* damaged blocks, on two walks */
    uint64_t filtered_n;      /* calls that the user's filter left out */
    double record_ns;         /* of writing a record; NAN: could not be measured */
    char unsimulated[300];    /* why the run was not simulated; "": it was, or has one rank */
};

/* The trace of a run. Errors: NOT_FOUND (it has none), those of reading. */
int as_run_trace_open(struct assay_experiment *experiment, int64_t run_id, struct as_trace *out,
                      struct assay_error *err);

/* Reads and analyses it, alone (NULL) or with the others of a party, of which this is rank 0.
 * Release it in any case. Errors: NOT_FOUND (the run has none), IO, NOMEM; of a party those of
 * meeting. */
struct as_party;
int as_traced_read(struct assay_experiment *experiment, int64_t run_id, struct as_party *party,
                   struct as_traced *out, struct assay_error *err);
/* The same alone, of a part of the trace (NULL: all). Errors: those of as_range_find too. */
int as_traced_read_range(struct assay_experiment *experiment, int64_t run_id,
                         const struct as_range_wanted *wanted, struct as_traced *out,
                         struct assay_error *err);
/* ideal.c: serialisation and transfer, by a simulation of the trace in `directory` on the ideal
 * network. A trace that cannot be simulated has neither; `unsimulated` says why. Errors: NOMEM. */
int as_traced_simulate(struct as_traced *traced, const char *directory, struct assay_error *err);
/* The flag of a run that was not simulated. Errors: of the experiment. */
struct as_trace_facts;
int as_trace_unsimulated(const struct as_trace_facts *facts, struct assay_error *err);
/* Rows of the gains that are known. Errors: of the experiment. */
int as_trace_gains(const struct as_trace_facts *facts, struct assay_error *err);
/* All of it but losses and costs, of a trace that is open in `out`. */
int as_traced_analyse(struct as_traced *out, struct as_party *party, struct assay_error *err);
/* parallel.c: this process's part of it, which the others do meanwhile. Release `part` in any case.
 */
struct as_trace_part;
int as_traced_read_part(const struct as_trace *trace, struct as_party *party,
                        struct as_trace_part *part, struct assay_error *err);
/* The time line, empty; who is to see what passes by. */
int as_traced_begin(struct as_traced *traced, const struct as_trace *trace);
struct as_analysis_watch as_traced_watch(struct as_traced *traced);
void as_traced_fini(struct as_traced *traced);

/* As assay_analytics_run, with the others of a party (NULL: alone), of which this is rank 0. They
 * help, with the directory of the trace. */
int as_analytics_run_together(struct assay_experiment *experiment, int64_t run_id,
                              int64_t traced_id, struct as_party *party, struct assay_error *err);
int as_analytics_help(const char *directory, struct as_party *party, struct assay_error *err);

/* Nanoseconds that writing its records took: computed of their number; of all threads, of one. */
double as_traced_cost_ns(const struct as_traced *traced);
double as_traced_cost_most_ns(const struct as_traced *traced);

/* Makes of it the facts of run `run_id` (tables trace, trace_*, and metrics), in place of those
 * that were there; `traced_id` is the run whose trace it is. Errors: those of writing. */
int as_traced_write(struct assay_experiment *experiment, int64_t run_id, int64_t traced_id,
                    const struct as_traced *traced, struct assay_error *err);

#endif
