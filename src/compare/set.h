/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of one experiment as arrays: properties of each run, and the costs of each category,
 * function and loop in each run. Knows the tables of the experiment, no statistics.
 */
#ifndef AS_COMPARE_SET_H
#define AS_COMPARE_SET_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "compare/compare.h"

struct as_run {
    int64_t id;
    const char *kind, *label, *command, *host, *event;
    int64_t rate_hz, cpu_n;
    double wall_s;    /* NAN if unknown */
    double sampled_s; /* CPU time that the samples of the run represent */
    int64_t sample_n;
    bool is_over;                  /* the recording is complete */
    bool is_failed;                /* a signal or an exit code other than 0 ended the program */
    struct as_scale_setting scale; /* 0 processes if the run belongs to no scaling study */
    const char *setting;           /* other settings by name (variant.h), or NULL */
};

/* Time and samples of an object in one run. */
struct as_cost {
    double time_s, thread_s; /* sum over all threads; the maximum of one thread */
    int64_t sample_n, thread_sample_n;
};

/* Static metric of the code of an object, for instance its packed share. */
struct as_code_value {
    struct as_code_value *next;
    const struct as_code_metric *metric;
    struct as_bounded_value value;
};

struct as_code_metric {
    int64_t id;
    const char *name, *title, *unit, *topic;
    bool is_neutral; /* neither high nor low values are better */
};

/* Samples in functions of one category that an object calls directly. */
struct as_called {
    struct as_called *next;
    const char *name, *title; /* of the category */
    int64_t sample_n;
};

struct as_compared_object {
    enum as_object_kind kind;
    int64_t id;
    const char *name, *module, *where;
    const char *linkage;     /* linkage name of a function, or NULL */
    const char *file;        /* base name of the source file, or NULL */
    const char *role;        /* role of a loop ("main", "tail"), or NULL */
    int64_t line, last_line; /* 0 if unknown */
    int64_t address, depth, instruction_n;
    int64_t function_id; /* function that contains a loop; for a function its own id */
    /*
     * Position of a loop, by address, among its siblings, and their number. Siblings are loops of a
     * function with the same depth and role.
     */
    int64_t ordinal, sibling_n;
    /* Number of kept instructions outside inner loops, and a digest of their operations. */
    int64_t own_n;
    uint64_t digest;
    struct as_cost *cost; /* one for each run of the set */
    /* Set by as_set_traits: compiler and flags of the unit, versions of a loop ("main + tail"). */
    const char *compiler, *flags, *versions;
    struct as_code_value *value;
    struct as_called *called;
    int64_t inclusive_n; /* inclusive samples in all runs */
};

struct as_set {
    struct as_arena arena; /* owns all texts and costs */
    AS_VEC(struct as_run) run;
    AS_VEC(struct as_compared_object) object;
    AS_VEC(struct as_code_metric *) metric;
    struct as_map_u64 index; /* kind and id -> index of the object */
    bool failed;             /* memory for a text was missing */
};

/*
 * SQL for times by function of the source. `source` is a table for WITH. It has the `id` of each
 * function, and `as_id`. For an inlined function, `as_id` is the function of the binary with the
 * same name, if there is one. AS_SET_IS_FRAME_SQL is true if a row `t` of thread_time or
 * object_time counts: a function with rows of frames is counted by its frames.
 */
#define AS_SET_SOURCE_SQL                                                                          \
    "source AS MATERIALIZED (SELECT f.function_id AS id,"                                          \
    " ifnull(b.function_id, f.function_id) AS as_id FROM function f"                               \
    " LEFT JOIN (SELECT module_id, linkage_name, min(function_id) AS function_id FROM function"    \
    "  WHERE address IS NOT NULL AND linkage_name IS NOT NULL GROUP BY 1, 2) b"                    \
    " ON f.known_from = 'inlined' AND b.module_id = f.module_id"                                   \
    " AND b.linkage_name = f.linkage_name)"
#define AS_SET_IS_FRAME_SQL                                                                        \
    "(t.object_kind <> 'function' OR NOT EXISTS (SELECT 1 FROM object_time x"                      \
    " WHERE x.run_id = t.run_id AND x.object_kind = 'frame' AND x.object_id = t.object_id))"

void as_set_init(struct as_set *set);
void as_set_fini(struct as_set *set);

/* Reads all runs of the experiment, ordered by id. Errors: NOMEM, errors of the database. */
int as_set_runs(struct as_set *set, struct as_experiment *experiment, struct as_error *err);
/* Removes the runs for which `keep` returns false. */
void as_set_choose(struct as_set *set, bool (*keep)(const struct as_run *, void *), void *context);
/*
 * Keeps the requested runs that ended without an error. Stores the number of failed ones in
 * `failed_n`. Errors: USAGE (no such run), NOT_FOUND (all of them failed).
 */
int as_runs_choose(struct as_set *set, const struct as_compare_request *request, unsigned *failed_n,
                   struct as_error *err);
/*
 * Reads the objects with samples in the chosen runs, their costs, and the functions of loops.
 * Called once, after the runs were chosen.
 */
int as_set_objects(struct as_set *set, struct as_experiment *experiment, struct as_error *err);

/* Counts and digests the kept instructions of the objects. */
int as_set_code(struct as_set *set, struct as_experiment *experiment, struct as_error *err);

/* Reads compiler, flags, static metrics and called categories of the objects. */
int as_set_traits(struct as_set *set, struct as_experiment *experiment, struct as_error *err);

/*
 * Calls `take` for each row of a statement with its first parameter bound. `take` returns 0 or
 * NOMEM. as_set_column copies the text of a cell into the arena; it sets `set->failed` if there is
 * no memory.
 */
int as_set_each(struct as_set *set, struct as_experiment *experiment, const char *sql,
                int64_t parameter, size_t run,
                int (*take)(struct as_set *, struct as_rows *, size_t), struct as_error *err);
const char *as_set_column(struct as_set *set, struct as_rows *rows, int column);

/* Returns the index of an object, or AS_MAP_NONE. */
uint32_t as_set_find(const struct as_set *set, enum as_object_kind kind, int64_t id);

/* Copies a text into an arena. Returns NULL for NULL, or without memory. */
char *as_set_text(struct as_arena *arena, const char *text);

#endif
