/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares runs: scaling over threads and processes, stability of repeated runs, and differences
 * between versions, compilers or machines. Reads experiments only. Every number has its interval,
 * every method its name (doc/internals/compare.md has the sources).
 *
 * Times of categories, functions and loops are exclusive CPU time. A quantity with `origin` 0 is
 * unknown. Results own all their parts; free them as a whole.
 */
#ifndef AS_COMPARE_COMPARE_H
#define AS_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "experiment/experiment.h"

/* The object of a row. */
struct as_compared {
    enum as_object_kind kind; /* CATEGORY, FUNCTION or LOOP */
    int64_t id;               /* in the (first) experiment that has it */
    const char *name;         /* of a loop: that of its function */
    const char *where;        /* "heat.c:21-26", a module, or "" */
};

/* Below this share of the time in every run a category, function or loop has no row. */
#define AS_COMPARE_LEAST_SHARE 0.001

/* From these efficiencies on, per cent, scaling is good or fair. */
#define AS_EFFICIENCY_GOOD 80
#define AS_EFFICIENCY_FAIR 50

/* ---- Scalability -------------------------------------------------------------------------- */

/* Settings of a run of kind "scale", stored as values of the run. */
struct as_scale_setting {
    /* Processes in all; threads of each, 0 = not told, as many as it likes. */
    int64_t nodes, processes, threads;
    bool weak;         /* the problem grows with processes x threads */
    bool is_reference; /* the user's choice, else the smallest is taken */
};

/* Notes the setting of a run; what is not told is not noted. Errors: those of the experiment. */
int as_compare_mark(struct as_experiment *experiment, int64_t run_id,
                    const struct as_scale_setting *setting, struct as_error *err);

struct as_scale_point {
    int64_t run_id; /* the first of its runs */
    const char *label;
    int64_t nodes, processes, threads; /* threads 0: not told */
    int64_t units;                     /* processes x threads */
    const char *const *setting;        /* values of what varies besides, one a name; or NULL */
    size_t base;       /* the point of the same settings that its efficiency is measured against */
    unsigned repeat_n; /* runs that ended well; 0: nothing is known of this point */
    unsigned failed_n;
    bool oversubscribed;                /* more threads than CPUs of the machine */
    struct as_bounded_value wall_s;     /* mean; unbounded from one run */
    struct as_bounded_value speedup;    /* over the reference; none in weak scaling */
    struct as_bounded_value efficiency; /* 1 = as `base` */
};

/* Arrays have one entry a point. */
struct as_scale_row {
    struct as_compared object;
    const struct as_bounded_value *time_s;         /* CPU time of all threads */
    const struct as_bounded_value *thread_s;       /* that of the thread with most of it */
    const struct as_bounded_value *speedup;        /* by thread_s; none in weak scaling */
    const struct as_bounded_value *efficiency;     /* by thread_s */
    const struct as_bounded_value *cpu_efficiency; /* by time_s: the work that did not multiply */
};

struct as_scalability {
    bool weak;
    const char *const *varied; /* names of settings that vary besides: "size", "env:NAME" */
    size_t varied_n;
    bool is_flat;     /* no two points of the same settings: efficiencies say nothing */
    size_t reference; /* index of the point that the others are compared with */
    const struct as_scale_point *point;
    size_t point_n;
    const struct as_scale_row *row; /* categories, functions, loops; each by time */
    size_t row_n;
    const char *method;      /* how the intervals were made: one sentence */
    const char *const *note; /* caveats, as sentences */
    size_t note_n;
};

/*
 * Evaluates runs of kind "scale". `reference` selects a point by processes and threads; NULL takes
 * the marked or the smallest point. `*out` is NULL, without error, if there is no such run. Errors:
 * USAGE (no such reference), NOMEM, those of reading.
 */
int as_compare_scalability(struct as_experiment *experiment,
                           const struct as_scale_setting *reference, struct as_scalability **out,
                           struct as_error *err);
void as_scalability_free(struct as_scalability **scalability); /* NULL inside is fine */

/* ---- Stability ---------------------------------------------------------------------------- */

struct as_run_spread {
    double min, mean, max, deviation; /* seconds; standard deviation with n - 1 */
    struct as_bounded_value median;   /* seconds; interval by order statistics */
    double robust_deviation;          /* from the median absolute deviation */
};

struct as_outlier {
    int64_t run_id;
    double wall_s;
    double score;     /* robust deviations from the median */
    const char *text; /* one sentence */
};

struct as_stability_row {
    struct as_compared object;
    struct as_run_spread time_s;
    double deviation_pct; /* of the mean */
    unsigned outlier_n;
};

struct as_stability {
    size_t repeat_n; /* runs that ended well, without warm-up */
    unsigned failed_n, warm_up_n;
    const int64_t *run_id; /* in the order in which they ran */
    const double *all_s;   /* wall times of those */
    struct as_run_spread wall_s;
    const struct as_outlier *outlier;
    size_t outlier_n;
    struct as_bounded_value
        drift_pct;     /* change of the wall time a run, of the median (Theil-Sen) */
    double drift_p;    /* Mann-Kendall; above 0.05 there is no drift to speak of */
    bool two_levels;   /* the wall times fall in two groups */
    double level_s[2]; /* their means */
    unsigned level_n[2];
    const struct as_stability_row *row; /* categories, functions, loops; each by time */
    size_t row_n;
    const char *method;
    const char *const *note;
    size_t note_n;
};

/* Evaluates runs of kind "repeat"; `*out` is NULL if there is none. Errors: NOMEM, reading. */
int as_compare_stability(struct as_experiment *experiment, struct as_stability **out,
                         struct as_error *err);
void as_stability_free(struct as_stability **stability); /* NULL inside is fine */

/* ---- Alternation -------------------------------------------------------------------------- */

/* Kind of the runs of the command that others are run against, in turns. */
#define AS_AGAINST "against"
/* Setting of its runs: how many of each were planned. */
#define AS_ALTERNATION_RUNS "runs"
/* Commands that differ by less for certain are equal. */
#define AS_ALTERNATION_EQUAL_PCT 1

enum as_alternation_verdict {
    AS_ALTERNATION_OPEN, /* not known */
    AS_ALTERNATION_FASTER,
    AS_ALTERNATION_SLOWER,
    AS_ALTERNATION_EQUAL
};

const char *as_alternation_word(enum as_alternation_verdict verdict);

struct as_alternation_side {
    const char *name, *command; /* "A", "B" */
    int64_t run_id;             /* the first that ended well; 0: none */
    unsigned repeat_n, failed_n;
    struct as_bounded_value wall_s; /* mean */
};

struct as_alternation_run {
    int64_t run_id;
    double wall_s;
    bool is_b;
};

struct as_alternation {
    struct as_alternation_side side[2];
    size_t pair_n, planned_n; /* runs of each, those that failed too */
    bool is_look;             /* a series may end here */
    /* Of B to A; that it is 0; of the former the interval keeps its level for having been looked
     * at before. */
    struct as_bounded_value difference_pct;
    double p;
    enum as_alternation_verdict verdict;  /* B is ... than A */
    const struct as_alternation_run *run; /* that ended well, as they came */
    size_t run_n;
    const char *method;
    const char *const *note;
    size_t note_n;
};

/*
 * Evaluates alternating runs of kind "repeat" (A) and "against" (B); `*out` is NULL without the
 * latter. Errors: NOMEM, those of reading.
 */
int as_compare_alternation(struct as_experiment *experiment, struct as_alternation **out,
                           struct as_error *err);
void as_alternation_free(struct as_alternation **alternation); /* NULL inside is fine */

/* ---- Comparison --------------------------------------------------------------------------- */

/* One side: all chosen runs of an experiment are repetitions of each other. */
struct as_compare_request {
    struct as_experiment *experiment;
    const char *name; /* as the user wrote it */
    /* NULL: the runs of kind "repeat", or where there are none the last run. Else "3" (a run),
     * "3-7" (runs), or the label of runs. */
    const char *runs;
};

/* X(NAME, word): by what two objects were found to be the same. */
#define AS_ALIGNED_LIST(X)                                                                         \
    X(ALONE, "alone") /* only one side has it */                                                   \
    X(LINKAGE, "linkage name")                                                                     \
    X(NAME, "name")                /* readable, without suffixes of clones */                      \
    X(SOURCE, "source lines")      /* the same ones */                                             \
    X(OFFSET, "lines in function") /* the same, counted from the function's first */               \
    X(NEAR, "near lines")                                                                          \
    X(ORDER, "order") /* the same place among the loops of the function */

enum as_aligned {
#define AS_ALIGNED_ENUM(name, word) AS_ALIGNED_##name,
    AS_ALIGNED_LIST(AS_ALIGNED_ENUM)
#undef AS_ALIGNED_ENUM
};

const char *as_aligned_word(enum as_aligned by);

enum as_code_change {
    AS_CODE_UNKNOWN, /* of one of both the instructions were not kept */
    AS_CODE_SAME,    /* the same operations in the same order */
    AS_CODE_DIFFERS
};

/*
 * A property that differs between sides, beside their times. It need not be the cause. Texts and
 * values have one entry per side. NULL or origin 0: unknown, or a missing variable or library.
 * "varies": the runs or versions of the side differ.
 */
struct as_compare_fact {
    const char *topic; /* machine, environment, library, ...; of a row: compiler, code, calls ... */
    const char *name, *title;
    const char *unit;                     /* of the values; NULL: it is a text */
    const char *const *text;              /* as it is shown, without the unit */
    const struct as_bounded_value *value; /* NULL: it is a text */
};

struct as_compare_side {
    const char *name, *experiment, *command, *host, *event;
    int64_t run_id; /* the first of its runs */
    int64_t rate_hz;
    unsigned repeat_n, failed_n;
    struct as_bounded_value wall_s;
    struct as_bounded_value
        difference_pct;        /* of the wall time to the first side; none on the first */
    bool is_slower, is_faster; /* the interval of that has one sign */
    bool in_turns;             /* with the first side: their wall times are compared in pairs */
};

/* An object on one side, compared with the first side that has it. */
struct as_compare_cell {
    struct as_bounded_value time_s;         /* mean of the runs; none: this side does not have it */
    struct as_bounded_value difference_pct; /* none on the first side, or where there is no ratio */
    double p;              /* adjusted for many comparisons; NAN: not tested, too few samples */
    bool significant;      /* p <= 0.05 */
    int64_t instruction_n; /* static; -1 = not known */
    enum as_code_change code;
    /* Differences, the most significant first: "-O2 -> -O3", "26 -> 27 instructions". */
    const char *const *differs;
    size_t differs_n;
};

struct as_compare_row {
    struct as_compared object;
    enum as_aligned aligned_by;         /* the weakest of the sides */
    const struct as_compare_cell *cell; /* one a side */
    const struct as_compare_fact *fact; /* that differ on any two sides */
    size_t fact_n;
    /* For an analysed loop: cycles, vectorisation and others, equal or not, and the limit. */
    const struct as_compare_fact *cqa;
    size_t cqa_n;
};

struct as_comparison {
    const struct as_compare_side *side;
    size_t side_n;
    const struct as_compare_row *row; /* functions, then loops; largest change first */
    size_t row_n;
    size_t tested_n, significant_n;     /* pairs of a row and a side */
    const struct as_compare_fact *fact; /* of machine, environment, libraries, ... that differ */
    size_t fact_n;
    const char *method;
    const char *const *note; /* caveats: other hosts, events, rates */
    size_t note_n;
};

/*
 * Compares `n` >= 2 sides; the first is the one the others are measured against. Errors: USAGE (no
 * such run), NOT_FOUND (no run that ended), NOMEM, those of reading.
 */
int as_compare_experiments(const struct as_compare_request *side, size_t n,
                           struct as_comparison **out, struct as_error *err);
void as_comparison_free(struct as_comparison **comparison); /* NULL inside is fine */

#endif
