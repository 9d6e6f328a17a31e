/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the summary of a profile says, gathered from an experiment before it is laid out as text or
 * JSON. Texts live in the arena that gathering was given; unknown ones are NULL, unknown numbers
 * are not-a-number.
 */
#ifndef AS_REPORT_PROFILE_H
#define AS_REPORT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/experiment.h>

#include "base/arena.h"
#include "base/vec.h"

/* A share of the running time with its 95 % interval. */
struct as_share {
    double time_s, pct, low_pct, high_pct;
    bool few_samples;
};

struct as_profile_run {
    int64_t run_id, run_n; /* of how many in the experiment */
    const char *kind, *label, *command, *launcher, *host, *start_utc, *state;
    const char *event, *event_reason, *call_stacks, *scope, *cpu_model;
    double wall_s, sampled_s, blocked_s, overhead_pct;
    double cpu_s, unseen_s;         /* by the kernel, and not sampled of it; or not-a-number */
    int64_t exit_code, exit_signal; /* -1: unknown */
    bool is_unfinished;             /* recorded, and not attributed yet */
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
    double binary_s, binary_pct; /* of its code, with what is inlined into it; or not-a-number */
    double blocked_s;
};

struct as_profile_loop {
    int64_t loop_id, depth, first_line, last_line; /* lines 0: unknown */
    const char *function, *module, *file, *role, *address;
    const char *inlined_into; /* functions, from that of the binary; NULL: it is not inlined */
    bool is_innermost;
    struct as_share self, total;
};

/* A function of the binary of whose code much was inlined. */
struct as_profile_binary {
    const char *name;
    double pct; /* of all its code */
};

/* An event that was counted; the run was asked for it. */
struct as_profile_count {
    const char *name, *unit; /* "1" or "ns" */
    double value, most;      /* of the run; of one thread, or not-a-number */
    bool is_exact;           /* else an estimate, for counters took turns */
};

/* Flags of one name: `n` objects have it, the text is that of the gravest. */
struct as_profile_flag {
    const char *name, *text;
    int64_t n;
};

/*
 * How evenly the threads, or the ranks or processes they belong to, were loaded. `is_work` leaves
 * out the time in MPI, OpenMP and pthread, where waiting may look like running. Launchers and idle
 * threads did not work, and are counted only. The balance is v_balance's.
 */
struct as_profile_spread {
    const char *over; /* "ranks", "processes" or "threads" */
    bool is_work;
    size_t n, idle_n;
    double min_s, mean_s, max_s, deviation_s;
    double balance_pct;  /* not-a-number: of work of ranks and threads only */
    const char *slowest; /* "rank 3" */
};

/* A rated metric of the run. */
struct as_profile_metric {
    const char *title, *unit;
    double value, low, high;
    const char *rating; /* "good", "fair" or "poor" */
    bool is_efficiency; /* of the trace: a share of the time of its threads */
};

/* A what-if that gains a thousandth of the run and more. */
struct as_profile_gain {
    const char *title;
    double gain_s, speedup; /* at most, where nothing bounds them from below */
    bool is_bound;
    int64_t object_n, to_80_n; /* 0: it has no objects */
};

/* Wait states of one kind in one place, of all threads of a trace. */
struct as_profile_wait {
    double time_s, longest_s;
    int64_t n;
    const char *title, *site;
    const char *location; /* that waited most there: "rank 3" */
};

/* A thread that made others wait. */
struct as_profile_late {
    double total_s, direct_s;
    int64_t n;
    const char *location, *site;
};

/* A region of the program in a trace, all calls. */
struct as_profile_phase {
    const char *name;
    int64_t calls_n;
    double time_s, parallel_pct, balance_pct, communication_pct; /* NAN: no sense */
    const char *busiest;                                         /* "rank 3"; "": one rank */
};

/* A finding. */
struct as_profile_advice {
    const char *topic;   /* snake_case */
    const char *text;    /* what it brings, what was found, what to do */
    const char *gain;    /* what it brings, "" where that is not known */
    const char *fact;    /* what was found */
    const char *action;  /* what to do; or NULL */
    const char *command; /* to type next; or NULL */
    bool is_small;       /* for experts, or it gains less than a hundredth of the run */
};

struct as_profile {
    const char *path; /* of the experiment */
    struct as_profile_run run;
    AS_VEC(struct as_profile_category) category;
    AS_VEC(struct as_profile_function) function; /* hottest first, as many as asked for */
    AS_VEC(struct as_profile_binary) binary; /* hottest first; none where inlining is not told */
    AS_VEC(struct as_profile_loop) loop;
    AS_VEC(struct as_profile_flag) flag;
    AS_VEC(struct as_profile_spread) spread;
    AS_VEC(struct as_profile_count) count;
    AS_VEC(struct as_profile_metric) metric;
    AS_VEC(struct as_profile_gain) gain;
    AS_VEC(struct as_profile_advice) advice; /* the first findings, in their order */
    size_t finding_n;                        /* of how many */
    AS_VEC(struct as_profile_wait) wait;     /* of the trace: longest first */
    AS_VEC(struct as_profile_late) late;     /* of the trace: what costs most first */
    AS_VEC(struct as_profile_phase) phase;   /* of the trace: longest first */
    AS_VEC(const char *) command;            /* to type next */
    const char *all;                         /* the command that shows all of this */
    double running_s, blocked_s;             /* of the threads that worked */
    double queued_s;                         /* they were ready to run, and had no processor */
    int64_t unqueued_n;                      /* of how many that is not known */
    double idle_s;                           /* waited by the others */
    int64_t idle_n;                          /* how many others */
    struct as_arena arena;
};

/* Zero-initialises and fills; release it in any case. Errors: NOT_FOUND, NOMEM, of reading. */
int as_profile_read(struct assay_experiment *experiment, int64_t run_id, size_t rows,
                    bool no_inline, struct as_profile *profile, struct assay_error *err);
void as_profile_release(struct as_profile *profile);

/* The spreads, from the threads. Part of gathering. */
int as_profile_spread(struct assay_experiment *experiment, struct as_profile *profile,
                      struct assay_error *err);
/* The findings that come first, and commands from all else. Part of gathering. */
int as_profile_findings(struct assay_experiment *experiment, struct as_profile *profile,
                        struct assay_error *err);

/* The time of a category by name, or 0. */
double as_profile_category_pct(struct as_profile *profile, const char *name);

/* Returns true for a run of `assay trace` and for an imported trace. */
bool as_profile_is_trace(const struct as_profile *profile);

/* NULL if the run lacks the flag. */
const struct as_profile_flag *as_profile_flag_named(const struct as_profile *profile,
                                                    const char *name);
/* Whether so much processor time was not sampled that shares must be said to be of the rest. */
bool as_profile_is_partial(const struct as_profile *profile);

/* Formatted into the arena; NULL when out of memory. */
const char *as_profile_text(struct as_profile *profile, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The run asked for, or the last: NOT_FOUND when there is none. */
int as_report_run(struct assay_experiment *experiment, int64_t run_id, int64_t *found,
                  int64_t *run_n, struct assay_error *err);

#endif
