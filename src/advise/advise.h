/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice on a run: global metrics, what-ifs, scored checks and findings. The tables in data/advise/
 * derive them from the facts of the experiment (doc/internals/advise.md).
 */
#ifndef AS_ADVISE_ADVISE_H
#define AS_ADVISE_ADVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "experiment/experiment.h"

/*
 * Makes the advice on a run anew, replacing an earlier one. Needs its summary
 * (as_experiment_summarise); what as_quality_run says of loops is used where it is there.
 * Errors: NOMEM, those of the experiment.
 */
int as_advise_run(struct as_experiment *experiment, int64_t run_id, struct as_error *err);

/* Rules by their topics and by what they are about; none named: all. */
struct as_rule_choice {
    const char *const *topic;
    size_t topic_n;
    const enum as_object_kind *object;
    size_t object_n;
};

/*
 * Applies rules to code of which no run is known: every loop and function of the experiment (it may
 * be as_experiment_transient), by what their metrics say. Findings are of every run, and say no
 * times; earlier ones are replaced. Errors: NOMEM, those of the experiment.
 */
int as_advise_code(struct as_experiment *experiment, const struct as_rule_choice *choice,
                   struct as_error *err);

/* The result of a rule for a loop. */
struct as_cause {
    int64_t loop_id;
    enum as_level level;
    const char *rule, *topic;
    const char *text;       /* goes on after the loop's name, without a full stop */
    const char *workaround; /* what to do; may be empty */
    const char *variant;    /* of code quality analysis, that is without it; or NULL */
};

/*
 * The same rules, one by one: hands each loop's causes to `each`, loops and causes in their order,
 * texts borrowed until it returns. Nothing is written. Errors: NOMEM, those of the experiment and
 * of `each`.
 */
int as_advise_causes(struct as_experiment *experiment, const struct as_rule_choice *choice,
                     int (*each)(void *context, const struct as_cause *cause, struct as_error *err),
                     void *context, struct as_error *err);

/* ---- The engine of what-ifs, on plain numbers ---------------------------------------------- */

/* A thread of the run, in seconds: computing; running or waiting in MPI, OpenMP and thread
 * libraries (`n` samples behind both); ready to run without a CPU (below 0: unknown); and the
 * running part of parallel_s, which is mostly spinning. */
struct as_thread_time {
    double compute_s, parallel_s;
    int64_t n;
    double queued_s, spun_s;
};

/* The run around the threads. The lower limit of its time is its work divided by its CPUs. All
 * 0: a machine of its own with a CPU for each thread. */
struct as_run_time {
    double wall_s, processors; /* 0: not known */
    double work_s;             /* all threads together compute */
    double others_s;           /* CPU time of external load; below 0: unknown */
    /* Threads share their work in phases: over these, the busiest computes so much longer than the
     * mean. Else all threads are compared over the whole run. */
    bool has_phases;
    double uneven_s;
    /* With phases: part[thread * phase_n + phase] of a thread's time is in a phase. The run takes
     * as long as the longest thread of each phase, one phase after the other. 0, NULL: one phase.
     */
    size_t phase_n;
    const double *part;
};

/* A possible saving: `saved_s` of thread `thread` by object `object`, with `n` samples. */
struct as_saving {
    size_t object, thread;
    double saved_s, low_s, high_s;
    int64_t n;
};

/*
 * The time of a run is that of its longest thread, plus a rest that does not change. Thread i
 * computes C_i seconds, and the objects of a set save S_i of them. Then the run gains max C - max
 * (C - S). With equal threads this is Amdahl's law (G. M. Amdahl, AFIPS 30 (1967) 483). The lower
 * limit is the work divided by the CPUs.
 *
 * A thread that runs for R seconds and queues for Q seconds computes and queues for C (1 + Q / R)
 * seconds. A share saved of C is also saved of Q. The upper bound of `total` includes threads that
 * waited for a queued thread. It saves max S / R of the largest Q + min(rest of the wall time, Q of
 * all others).
 *
 * Computes the gain of each of `object_n` objects alone. `order` has their indices, largest gain
 * first, and `cumulative` the gain of the first k + 1. `total` has a 95 % interval from the bounds
 * of savings and the Poisson error of samples. All in seconds. The caller owns the arrays. Errors:
 * NOMEM.
 */
int as_what_if_gains(const struct as_thread_time *thread, size_t thread_n,
                     const struct as_run_time *run, const struct as_saving *saving, size_t saving_n,
                     size_t object_n, double *alone, size_t *order, double *cumulative,
                     struct as_bounded_value *total, struct as_error *err);

/* Seconds that the run may save, per second of computing that a loop saves: of the longest thread;
 * at most. Both are 1 if no thread queued. */
struct as_saving_factor {
    double value, most;
};

struct as_saving_factor as_what_if_factor(const struct as_thread_time *thread, size_t thread_n,
                                          const struct as_run_time *run);

/*
 * Returns the gain in seconds if parallel_s were 0: max (C + P) - max C. With `balanced`, all
 * threads also compute equally long: max (C + P) - mean C, or with phases max (C + P) - (max C -
 * uneven_s).
 *
 * A thread that waits in MPI, even by spinning, may wait for one without a CPU. This is not a cost
 * of MPI. So the queueing time of other threads, up to the external load (Q), is subtracted from P.
 * The upper bound subtracts nothing.
 *
 * Threads in parallel_s keep CPUs from ready threads of the run. Of the remaining queueing time a
 * share is included: the share of parallel_s in the running time. The upper bound includes all of
 * it, the lower bound none. The limit is the work divided by the CPUs.
 */
struct as_bounded_value as_what_if_parallel(const struct as_thread_time *thread, size_t thread_n,
                                            const struct as_run_time *run, bool balanced);

/* How many of the first give `share` of the last value of `cumulative`; 0 when it is not positive.
 */
size_t as_what_if_reach(const double *cumulative, size_t n, double share);

#endif
