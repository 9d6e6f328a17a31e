/* SPDX-License-Identifier: Apache-2.0 */
/* Consistency of the facts of one loop: pure functions of numbers. Unknown numbers are NAN. */
#ifndef AS_TRUST_AGREE_H
#define AS_TRUST_AGREE_H

#include <stdbool.h>

#include "experiment/metric_names.h"

/* X(NAME, metric): the facts of a loop. */
#define AS_TRUST_FACTS(X)                                                                          \
    X(ITERATIONS, AS_METRIC_loop_iteration_n)                                                      \
    X(TRIPS, AS_METRIC_instance_iterations)                                                        \
    X(MEDIAN, AS_METRIC_iteration_cycles)                                                          \
    X(MEAN, AS_METRIC_iteration_cycles_mean)                                                       \
    X(STABILITY, AS_METRIC_instance_stability)                                                     \
    X(INSTANCE, AS_METRIC_instance_cycles)                                                         \
    X(MODEL, AS_METRIC_cqa_cycles)                                                                 \
    X(NS, AS_METRIC_iteration_ns)                                                                  \
    X(CALLS, AS_METRIC_call_n)                                                                     \
    X(CHAIN, AS_METRIC_cqa_chain_cy)                                                               \
    X(PATHS, AS_METRIC_cqa_path_n)                                                                 \
    X(MODEL_LOAD_B, AS_METRIC_cqa_load_b)                                                          \
    X(MODEL_STORE_B, AS_METRIC_cqa_store_b)                                                        \
    X(STARTS, AS_METRIC_executed_start_n)                                                          \
    X(FLOPS, AS_METRIC_executed_flop_n)                                                            \
    X(LOAD_B, AS_METRIC_executed_load_b)                                                           \
    X(STORE_B, AS_METRIC_executed_store_b)

enum as_trust_fact {
#define AS_TRUST_ENUM(name, metric) AS_TRUST_##name,
    AS_TRUST_FACTS(AS_TRUST_ENUM)
#undef AS_TRUST_ENUM
        AS_TRUST_FACTS_N
};

/* The results, in the order of data/trust/metrics.txt. */
enum as_trust_value {
    AS_TRUST_GFLOPS,
    AS_TRUST_BYTES_PER_CYCLE,
    AS_TRUST_RATIO,
    AS_TRUST_LEAST_RATIO,
    AS_TRUST_TOUCHED_B,
    AS_TRUST_FITS,
    AS_TRUST_TRIPS_ERROR_PCT,
    AS_TRUST_LOOP_VALUES_N,
    AS_TRUST_MODEL_PCT = AS_TRUST_LOOP_VALUES_N,
    AS_TRUST_MODEL_BIAS_PCT,
    AS_TRUST_TRIPS_PCT,
    AS_TRUST_VALUES_N
};

struct as_trust_loop {
    double fact[AS_TRUST_FACTS_N];
    bool is_exact;  /* all instances were timed, so the number of iterations is exact */
    double time_ns; /* sampled time in the loop and its inner loops, without callees */
    double own_ns;  /* sampled time in the loop alone */
};

/* Sets AS_TRUST_LOOP_VALUES_N values. `l1_b` is the size of the L1 data cache in bytes. */
void as_trust_values(const struct as_trust_loop *loop, double l1_b, double *value);

/* Returns true if an iteration took less time than the model's recurrence of the loop's only
 * path. The clock, the latency table or the count of iterations is then wrong. */
bool as_trust_is_below_chain(const struct as_trust_loop *loop);

/*
 * Returns true if samples and the clock disagree on the time of an iteration. The limit is a
 * quarter, and four deviations of a count of `samples`. Rates by samples (loop_gflops) and by the
 * clock (loop_bytes_per_cycle) then contradict each other. If the loop has callees or inner loops,
 * samples see only part of its time. Then only a longer sampled time counts. Sets both times in ns.
 */
bool as_trust_times_differ(const struct as_trust_loop *loop, double samples, double *sampled_ns,
                           double *timed_ns);

/* Sums over loops, for their means. */
struct as_trust_sums {
    double model, bias, weight; /* weighted by time, of loops with data that fit into L1 */
    double trips;
    int model_n, trips_n;
};
void as_trust_add(struct as_trust_sums *sums, const struct as_trust_loop *loop,
                  const double *value);

#endif
