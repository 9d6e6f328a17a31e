/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing the instances of hot loops inside the running program: how often each is entered, how many
 * iterations it has then, what one takes, and how much that varies. The program is profiled first,
 * to know its hot loops; then it runs again with clones of these (doc/manual/vprof.md).
 */
#ifndef AS_VPROF_VPROF_H
#define AS_VPROF_VPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "campaign/campaign.h"
#include "experiment/experiment.h"
#include "profile/profile.h"

struct as_vprof_request {
    /* Its command runs two to five times; a process that it attaches to is looked at as often, for
     * its duration each time. */
    struct as_profile_request profile;
    unsigned top;        /* so many loops of most time; 0: 16 */
    const char *loops;   /* only these: addresses (0x...) and functions, by commas; or NULL */
    uint32_t every;      /* one instance of so many is timed; 0: as the budget allows */
    double max_overhead; /* share of the run that timing may take; 0: 0.05 */
    bool joins; /* loops that were timed before are not timed again, and what is known of them stays
                 */
};

#define AS_VPROF_CHOSEN_N 31

struct as_vprof_instance {
    uint32_t pid, tid;
    uint64_t begun; /* ticks of the time stamp counter */
    double iterations, cycles;
};

#define AS_VPROF_PATHS_N 8

/* How the loop was come to. */
struct as_vprof_path {
    const char *text; /* the calls, a line each, the outermost first; the last is the loop's own
                         function; "..." before those that are not known */
    double share;     /* of the instances at hand, estimated by `n` of them */
    uint64_t n;
};

/* A group of similar instances. Cycles are those of a busy core. */
struct as_vprof_bucket {
    double low, high; /* iterations, or cycles of one: at least, less than */
    /* One of several groups with the same numbers of iterations and different times, for example
     * with data in different caches: the least and the most cycles of an iteration. */
    bool is_split;
    double cycles_low, cycles_high;
    uint64_t n; /* instances looked at */
    double
        instances; /* of the whole run, disturbed ones too: a count where the loop is `is_exact` */
    double share;  /* of the loop's time */
    double iterations;
    /* Cycles of an iteration; deviation and stability of one instance are NAN. All are if the
     * median instance takes no longer than an empty one. */
    double mean, median, deviation, least, stability;
    double instance; /* median cycles of an instance */
    /* That stand for it, evenly from the cheapest to the dearest iteration. */
    struct as_vprof_instance chosen[AS_VPROF_CHOSEN_N];
    unsigned chosen_n;
    /* Those with most instances first, by the `path_seen` instances with a call path. Groups with
     * the same numbers of iterations share them. */
    struct as_vprof_path path[AS_VPROF_PATHS_N];
    unsigned path_n;
    uint64_t path_seen;
};

struct as_vprof_loop {
    int64_t loop_id; /* in the experiment */
    int64_t module_id;
    uint64_t address;
    double share;       /* of the run's time, by its samples */
    const char *reason; /* why it was not timed; NULL: it was. Constant */
    bool is_exact;      /* every instance was timed: `instances` and `iterations` are counts */
    bool is_counted;    /* `instances` is a count, whether or not all were timed */
    bool has_iterations;
    double instances, iterations; /* of the whole run */
    uint64_t timed, disturbed;    /* instances looked at; of these left out */
    /* Counts over all measured instances, including those without details: the thread left the
     * CPU; it had a major page fault. */
    uint64_t switched, faulted;
    bool is_cpu_time; /* the thread left the CPU in all that were looked at: times are CPU time */
    uint64_t cut;     /* begun and not ended, or the other way round */
    unsigned threads, processes; /* that were in it */
    /* Largest ticks relative to the mean: of a thread, of a process, of a thread within its
     * process (the largest); 1: balanced. */
    double imbalance, imbalance_processes, imbalance_within;
    struct as_vprof_bucket all;
    struct as_vprof_bucket *bucket; /* by iterations */
    size_t bucket_n;
    struct as_vprof_bucket *cost; /* by cycles of an iteration */
    size_t cost_n;
    struct as_vprof_instance *line; /* some hundred in the order of time */
    size_t line_n;
};

struct as_vprof_result {
    struct as_profile_result profile; /* of the first run */
    int64_t timed_run;                /* 0: no loop could be timed */
    bool interrupted; /* the user asked for the end (Ctrl-C, SIGTERM) of one of its runs */
    uint32_t every;
    double overhead;            /* share of the run that timing took: instances times their costs */
    double overhead_seen;       /* CPU time beyond the first run, as a share of it; < 0: unknown */
    double passed_ns, timed_ns; /* those costs, measured on this host by the stubs' instructions */
    double refused_share;       /* of the time of all loops chosen */
    double cycle_ns;            /* a cycle of the core's clock; 0: the clock is not known */
    double empty_cycles;        /* of an empty instance: subtracted from each */
    uint64_t threads_missed;    /* could not be timed */
    char rest[256];             /* what stays in the process that was attached to; "": nothing */
    struct as_vprof_loop *loop;
    size_t loop_n;
    char **path_text; /* those of paths */
    size_t path_text_n;
};

/*
 * Profiles, chooses, times, and writes what was found to the experiment. Errors: those of
 * as_profile_run. A program that fails ends it without error: see the result. The caller frees
 * the result, after errors too.
 */
int as_vprof_run(struct as_experiment *experiment, const struct as_vprof_request *request,
                 struct as_vprof_result *result, struct as_error *err);
/* The same for a run of the experiment with a profile. `campaign` starts the program again. */
int as_vprof_again(struct as_experiment *experiment, int64_t run_id, struct as_campaign *campaign,
                   const struct as_vprof_request *request, struct as_vprof_result *result,
                   struct as_error *err);
void as_vprof_result_fini(struct as_vprof_result *result);

#endif
