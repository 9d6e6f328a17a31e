/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of runs of one experiment as arrays: what each run was, and what each category, function
 * and loop took in each of them. Knows the experiment's tables, nothing of statistics.
 */
#ifndef AS_COMPARE_SET_H
#define AS_COMPARE_SET_H

#include <assay/compare.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

struct as_run {
    int64_t id;
    const char *kind, *label, *command, *host, *event;
    int64_t rate_hz, cpu_n;
    double wall_s;    /* NAN: not known */
    double sampled_s; /* running time that its samples stand for */
    int64_t sample_n;
    bool is_over;                     /* recorded to its end */
    bool is_failed;                   /* killed, or ended with an exit code */
    struct assay_scale_setting scale; /* processes 0: it has none */
    const char *setting;              /* what varies besides, by name (variant.h); or NULL */
};

/* What an object took in one run. */
struct as_cost {
    double time_s, thread_s; /* all threads; the one with most */
    int64_t sample_n, thread_sample_n;
};

/* A value that the code of an object has: packed share, paths, ... */
struct as_code_value {
    struct as_code_value *next;
    const struct as_code_metric *metric;
    struct assay_quantity value;
};

struct as_code_metric {
    int64_t id;
    const char *name, *title, *unit, *topic;
    bool is_neutral; /* neither more nor less of it is better */
};

/* Samples in functions of a category that an object calls directly. */
struct as_called {
    struct as_called *next;
    const char *name, *title; /* of the category */
    int64_t sample_n;
};

struct as_object {
    enum assay_object_kind kind;
    int64_t id;
    const char *name, *module, *where;
    const char *linkage;     /* or NULL */
    const char *file;        /* last part of the path, or NULL */
    const char *role;        /* of a loop, or NULL */
    int64_t line, last_line; /* 0: not known */
    int64_t address, depth, instruction_n;
    int64_t function_id; /* of a loop; of a function its own id */
    /* Of a loop: its place among those of its function with the same depth and role, by address. */
    int64_t ordinal, sibling_n;
    /* Of its own instructions, where they were kept: how many, and a digest of their operations. */
    int64_t own_n;
    uint64_t digest;
    struct as_cost *cost; /* one a run of the set */
    /* What as_set_traits reads: of the unit, of versions of the loop ("main + tail"), or NULL. */
    const char *compiler, *flags, *versions;
    struct as_code_value *value;
    struct as_called *called;
    int64_t inclusive_n; /* samples of all runs */
};

struct as_set {
    struct as_arena arena; /* all texts and costs */
    AS_VEC(struct as_run) run;
    AS_VEC(struct as_object) object;
    AS_VEC(struct as_code_metric *) metric;
    struct as_map_u64 index; /* kind and id -> index of the object */
    bool failed;             /* a text could not be kept */
};

/*
 * For SQL that is about functions as the source has them. `source` is a table of WITH: for each
 * function its `id`, and `as_id`, which of an inlined one is the function of the binary of the same
 * name, where there is one: both are one function. The other is whether a row `t` of thread_time or
 * object_time is to be taken.
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

/* All runs of the experiment, in order. Errors: NOMEM, those of reading. */
int as_set_runs(struct as_set *set, struct assay_experiment *experiment, struct assay_error *err);
/* Keeps the runs for which `keep` is true. */
void as_set_choose(struct as_set *set, bool (*keep)(const struct as_run *, void *), void *context);
/*
 * Keeps the runs that a request means and that ended well; `failed_n` are left out. Errors: USAGE
 * (no such run), NOT_FOUND (none that ended well).
 */
int as_runs_choose(struct as_set *set, const struct assay_compare_request *request,
                   unsigned *failed_n, struct assay_error *err);
/*
 * The objects that have samples in the chosen runs, with their costs; functions of loops too.
 * Called once, when the runs are chosen.
 */
int as_set_objects(struct as_set *set, struct assay_experiment *experiment,
                   struct assay_error *err);

/* Counts and digests the kept instructions of the objects. */
int as_set_code(struct as_set *set, struct assay_experiment *experiment, struct assay_error *err);

/* How the objects were compiled, what values their code has and what they call. */
int as_set_traits(struct as_set *set, struct assay_experiment *experiment, struct assay_error *err);

/*
 * Hands the rows of a statement, its first parameter bound, to `take`, which fails for want of
 * memory only; so does as_set_column, a copy of a cell's text, which `set->failed` remembers.
 */
int as_set_each(struct as_set *set, struct assay_experiment *experiment, const char *sql,
                int64_t parameter, size_t run,
                int (*take)(struct as_set *, struct assay_rows *, size_t), struct assay_error *err);
const char *as_set_column(struct as_set *set, struct assay_rows *rows, int column);

/* Index of an object, or AS_MAP_NONE. */
uint32_t as_set_find(const struct as_set *set, enum assay_object_kind kind, int64_t id);

/* A copy of a text in an arena; NULL stays NULL, and comes when there is no memory. */
char *as_set_text(struct as_arena *arena, const char *text);

#endif
