/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for adding up samples: the tree of call paths in preorder, and the owners of each
 * function, location and loop. All arrays are indexed by row id; entry 0 means "none".
 */
#ifndef AS_EXPERIMENT_SUMMARY_H
#define AS_EXPERIMENT_SUMMARY_H

#include "base/arena.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/stat.h"
#include "base/vec.h"
#include "experiment/internal.h"

struct as_path_node {
    uint32_t parent, function, call_location, category;
    uint32_t first; /* preorder number, from 1 */
    uint32_t last;  /* preorder number of its last descendant */
};

struct as_summary_place {
    uint32_t loop, block, line, inlining;
};

/* Parents have lower ids, so that a stack of inlined functions always ends. */
struct as_inlining_node {
    uint32_t parent, inlined;
};

struct as_tables {
    struct as_arena arena;
    struct as_path_node *path;
    struct as_summary_place *location;
    uint32_t *function_module;
    uint32_t *loop_parent;
    struct as_inlining_node *inlining;
    /* by function: it is inlined somewhere, or other functions are inlined into it */
    bool *has_frame;
    struct as_map_u64 inlined_category; /* as_inlined_category_key -> category */
    uint32_t *at;                       /* path by preorder number */
    /* Largest id + 1 of each kind of object that has sums. */
    size_t id_end[AS_OBJECT_FRAME + 1];
    size_t location_end, inlining_end;
    bool no_memory; /* memory ran out while loading */
};

static inline uint64_t as_inlined_category_key(uint32_t category, uint32_t inlining)
{
    return (uint64_t)category << 32 | inlining;
}

/* Loads all tables. Errors: NOMEM, LIMIT (more than 2^32 rows), CORRUPT (a cycle), those of
 * reading. */
int as_tables_load(struct as_experiment *experiment, struct as_tables *tables,
                   struct as_error *err);
void as_tables_fini(struct as_tables *tables);

struct as_sums {
    int64_t exclusive_n, exclusive_ns, inclusive_n, inclusive_ns;
    int64_t blocked_ns, blocked_inclusive_ns;
};

static inline void as_sums_add(struct as_sums *to, const struct as_sums *it)
{
    to->exclusive_n += it->exclusive_n;
    to->exclusive_ns += it->exclusive_ns;
    to->inclusive_n += it->inclusive_n;
    to->inclusive_ns += it->inclusive_ns;
    to->blocked_ns += it->blocked_ns;
    to->blocked_inclusive_ns += it->blocked_inclusive_ns;
}

/* ---- summary_rows.c ---- */

struct as_sum_row {
    int64_t run_id, id;
    struct as_sums sums;
    int64_t thread_n;
};

struct as_share_row {
    int64_t run_id, time_ns;
    double share, low, high;
};

/* Rows of callpath_time, block_time and time_share before they are written. */
struct as_sum_rows {
    int64_t run_id;
    AS_VEC(struct as_sum_row) path, block;
    AS_VEC(struct as_share_row) share;
    struct as_map_u64 has_share; /* times in ns that `share` contains */
    int64_t last_ns;             /* the last time looked up, since neighbours are often equal */
};

void as_sum_rows_init(struct as_sum_rows *rows, int64_t run_id);
void as_sum_rows_fini(struct as_sum_rows *rows);
/* Adds the sums of a call path or block. Returns 0 or AS_ERR_NOMEM. */
int as_sum_rows_add(struct as_sum_rows *rows, enum as_object_kind kind, int64_t id,
                    const struct as_sums *sums, int64_t thread_n);
/* Writes all rows; `run` holds the sums of the whole run. */
int as_sum_rows_write(struct as_sum_rows *rows, struct as_experiment *experiment,
                      const struct as_sums *run, struct as_error *err);

/* ---- summary_thread.c ---- */

struct as_total {
    struct as_sums sums;
    struct as_moments spread; /* spread of the inclusive times over threads */
    int64_t min_ns, max_ns;
    uint32_t category; /* category with the largest exclusive time */
    int64_t category_ns;
};

struct as_summary_sample {
    uint32_t location, path;
    bool blocked;
    int64_t n, time_ns;
};

struct as_open_path {
    uint32_t last;
    size_t opened; /* length of as_summary.opened before this path was entered */
    size_t entered;
    struct as_sums sums; /* sums of the path and of its descendants so far */
};

struct as_thread_sum {
    int64_t thread_id, process_id;
    struct as_sums sums;
};

struct as_by_category {
    uint32_t object, category;
    int64_t time_ns;
};

struct as_summary {
    struct as_experiment *experiment;
    int64_t run_id;
    struct as_tables tables;
    size_t base[AS_OBJECT_FRAME + 2]; /* first index of each kind; the last one is the end */
    struct as_sums *thread;           /* by object index: sums of the current thread */
    struct as_total *total;           /* by object index */
    /* by object index: how often it is on the current call path */
    uint32_t *standing;
    bool *is_touched;
    AS_VEC(uint32_t) touched;
    AS_VEC(uint32_t) opened;  /* objects with a count above zero, in the order of entry */
    AS_VEC(uint32_t) entered; /* entered objects, in order; recursion enters an object again */
    AS_VEC(struct as_open_path) way;
    AS_VEC(struct as_summary_sample) samples;
    AS_VEC(struct as_sort_key) paths;     /* preorder numbers of the thread's paths */
    bool *is_path;                        /* by preorder number: `paths` contains it */
    size_t *sample_at;                    /* by preorder number: index of its first sample */
    AS_VEC(struct as_thread_sum) threads; /* threads of the run, grouped by process */
    AS_VEC(struct as_by_category) category;
    struct as_map_u64 category_of; /* object and category -> index in `category` */
    struct as_sum_rows rows;
    sqlite3_stmt *read, *write_thread, *write;
    bool no_memory;
};

/*
 * Reads the samples of a thread and adds them up. Sets the sums `thread` of all objects in
 * `touched`, and adds the time of their categories. `own` receives the sums of the thread itself.
 */
int as_summary_walk(struct as_summary *s, int64_t thread_id, struct as_sums *own,
                    struct as_error *err);

#endif
