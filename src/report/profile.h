/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of the summary of a profile, read from an experiment before it is written as text or
 * JSON. The arena of the profile has the texts. Unknown texts are NULL, unknown numbers are
 * not-a-number.
 */
#ifndef AS_REPORT_PROFILE_H
#define AS_REPORT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "experiment/experiment.h"

/* A share of the running time with its 95 % confidence interval. */
struct as_share {
    double time_s, pct, low_pct, high_pct;
    bool few_samples;
};

struct as_profile_run_facts {
    int64_t run_id, run_n; /* run_n: number of runs in the experiment */
    const char *kind, *label, *command, *launcher, *host, *start_utc, *state;
    const char *event, *event_reason, *call_stacks, *scope, *cpu_model;
    double wall_s, sampled_s, blocked_s, overhead_pct;
    /* CPU time by the kernel, and the part of it without samples; not-a-number if unknown. */
    double cpu_s, unseen_s;
    int64_t exit_code, exit_signal; /* -1: unknown */
    bool is_unfinished;             /* recorded, but not attributed yet */
    int64_t rate_hz, process_n, thread_n, rank_n, host_n, sample_n, lost_n, core_n,
        cpu_n; /* or 0 */
};

struct as_profile_category {
    const char *name, *title;
    struct as_share share;
    double blocked_s;
};

struct as_profile_function {
    const char *name, *module, *category, *file;
    int64_t line; /* 0: unknown */
    bool is_inlined;
    struct as_share self, total;
    /* Time and share of its code with everything inlined into it; not-a-number if unknown. */
    double binary_s, binary_pct;
    double blocked_s;
};

struct as_profile_loop {
    int64_t loop_id, depth, first_line, last_line; /* line 0: unknown */
    const char *function, *module, *file, *role, *address;
    /* Functions from that of the binary inwards; NULL: not inlined. */
    const char *inlined_into;
    bool is_innermost;
    struct as_share self, total;
};

/* A function of the binary with much inlined code. */
struct as_profile_binary {
    const char *name;
    double pct; /* of all its code */
};

/* An event that the user asked to count. */
struct as_profile_count {
    const char *name, *unit; /* "1" or "ns" */
    double value, most;      /* of the run; of one thread, or not-a-number */
    bool is_exact;           /* false: an estimate, because counters were multiplexed */
};

/* Flags with one name: `n` objects have it, and the text is that of the most severe one. */
struct as_profile_flag {
    const char *name, *text;
    int64_t n;
};

/*
 * Load balance of the threads, or of their ranks or processes. `is_work` excludes time in MPI,
 * OpenMP and pthread, where waiting may look like running. Launchers and idle threads did not work;
 * they are only counted. The balance comes from v_balance.
 */
struct as_profile_spread {
    const char *over; /* "ranks", "processes" or "threads" */
    bool is_work;
    size_t n, idle_n;
    double min_s, mean_s, max_s, deviation_s;
    double balance_pct;  /* not-a-number, except for work of ranks and threads */
    const char *slowest; /* "rank 3" */
};

/* A rated metric of the run. */
struct as_profile_metric {
    const char *title, *unit;
    double value, low, high;
    const char *rating; /* "good", "fair" or "poor" */
    bool is_efficiency; /* of the trace: a share of the time of its threads */
};

/* A what-if that gains at least a thousandth of the run. */
struct as_profile_gain {
    const char *title;
    double gain_s, speedup; /* upper bounds if `is_bound` */
    bool is_bound;
    int64_t object_n, to_80_n; /* 0: it has no objects */
};

/* Wait states of one kind at one code position, over all threads of a trace. */
struct as_profile_wait {
    double time_s, longest_s;
    int64_t n;
    const char *title, *site;
    const char *location; /* thread with the longest wait there: "rank 3" */
};

/* A thread that caused wait states of others. */
struct as_profile_late {
    double total_s, direct_s;
    int64_t n;
    const char *location, *site;
};

/* A region of the program in a trace, over all calls. */
struct as_profile_phase {
    const char *name;
    int64_t calls_n;
    double time_s, parallel_pct, balance_pct, communication_pct; /* NAN: not applicable */
    const char *busiest;                                         /* "rank 3"; "": only one rank */
};

/* A finding. */
struct as_profile_advice {
    const char *topic;   /* snake_case */
    const char *text;    /* gain, fact and action together */
    const char *gain;    /* expected gain; "": unknown */
    const char *fact;    /* what was found */
    const char *action;  /* recommended action, or NULL */
    const char *command; /* next command, or NULL */
    bool is_small;       /* for experts, or gains less than a hundredth of the run */
};

struct as_profile {
    const char *path; /* path of the experiment */
    struct as_profile_run_facts run;
    AS_VEC(struct as_profile_category) category;
    AS_VEC(struct as_profile_function) function; /* hottest first, at most `rows` */
    AS_VEC(struct as_profile_binary) binary; /* hottest first; empty without inlining information */
    AS_VEC(struct as_profile_loop) loop;
    AS_VEC(struct as_profile_flag) flag;
    AS_VEC(struct as_profile_spread) spread;
    AS_VEC(struct as_profile_count) count;
    AS_VEC(struct as_profile_metric) metric;
    AS_VEC(struct as_profile_gain) gain;
    AS_VEC(struct as_profile_advice) advice; /* the first findings in order */
    size_t finding_n;                        /* number of all findings */
    AS_VEC(struct as_profile_wait) wait;     /* of the trace, longest first */
    AS_VEC(struct as_profile_late) late;     /* of the trace, highest delay cost first */
    AS_VEC(struct as_profile_phase) phase;   /* of the trace, longest first */
    AS_VEC(const char *) command;            /* recommended next commands */
    const char *all;                         /* command for the complete summary */
    double running_s, blocked_s;             /* of the threads that worked */
    /* Time in which they were ready to run without a CPU. */
    double queued_s;
    int64_t unqueued_n; /* number of threads without this value */
    double idle_s;      /* waiting time of the other threads */
    int64_t idle_n;     /* number of the other threads */
    struct as_arena arena;
};

/* Reads the profile of a run. as_profile_release releases it even after an error. Errors:
 * NOT_FOUND, NOMEM, those of reading. */
int as_profile_read(struct as_experiment *experiment, int64_t run_id, size_t rows, bool no_inline,
                    struct as_profile *profile, struct as_error *err);
/* Reads only wait states, delay costs and phases of the trace of a run. As as_profile_read. */
int as_profile_read_trace(struct as_experiment *experiment, int64_t run_id, size_t rows,
                          struct as_profile *profile, struct as_error *err);
void as_profile_release(struct as_profile *profile);

/* Computes the spreads from the threads. A step of as_profile_read. */
int as_profile_spread(struct as_experiment *experiment, struct as_profile *profile,
                      struct as_error *err);
/* Reads the first findings and collects the recommended commands. A step of as_profile_read. */
int as_profile_findings(struct as_experiment *experiment, struct as_profile *profile,
                        struct as_error *err);

/* Returns the share of a category by name in per cent, or 0. */
double as_profile_category_pct(struct as_profile *profile, const char *name);

/* Returns true for a run of `assay trace` and for an imported trace. */
bool as_profile_is_trace(const struct as_profile *profile);

/* Returns NULL if the run lacks the flag. */
const struct as_profile_flag *as_profile_flag_named(const struct as_profile *profile,
                                                    const char *name);
/* Returns true if much CPU time has no samples. Shares must then be described as shares of the
 * rest. */
bool as_profile_is_partial(const struct as_profile *profile);

/* Returns formatted text in the arena, or NULL without memory. */
const char *as_profile_text(struct as_profile *profile, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Finds the requested run, or the last run for 0. Errors: NOT_FOUND if there is none, those of
 * reading. */
int as_report_run(struct as_experiment *experiment, int64_t run_id, int64_t *found, int64_t *run_n,
                  struct as_error *err);

#endif
