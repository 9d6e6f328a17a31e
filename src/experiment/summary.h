/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What adding samples up needs of the program in memory: the tree of call paths in preorder, and
 * for each function, location and loop where it belongs. Indexed by row id; entry 0 is "none".
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
    uint32_t first; /* number in preorder, from 1 */
    uint32_t last;  /* of its last descendant */
};

struct as_place {
    uint32_t loop, block, line, inlining;
};

/* Parents have lower ids: a stack of inlined functions ends, whatever the database says. */
struct as_inlining_node {
    uint32_t parent, inlined;
};

struct as_tables {
    struct as_arena arena;
    struct as_path_node *path;
    struct as_place *location;
    uint32_t *function_module;
    uint32_t *loop_parent;
    struct as_inlining_node *inlining;
    bool *has_frame; /* by function: it is inlined somewhere, or others are inlined into it */
    struct as_map_u64 inlined_category; /* as_inlined_category_key -> category */
    uint32_t *at;                       /* preorder number -> path */
    /* One more than the largest id of each kind of object that samples are added up by. */
    size_t id_end[ASSAY_OBJECT_FRAME + 1];
    size_t location_end, inlining_end;
    bool no_memory; /* while loading */
};

static inline uint64_t as_inlined_category_key(uint32_t category, uint32_t inlining)
{
    return (uint64_t)category << 32 | inlining;
}

/* Loads all tables. Errors: NOMEM, LIMIT (more rows than 2^32), CORRUPT (a circle), reading. */
int as_tables_load(struct assay_experiment *experiment, struct as_tables *tables,
                   struct assay_error *err);
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

/* Rows of callpath_time, block_time and time_share, not yet written. */
struct as_sum_rows {
    int64_t run_id;
    AS_VEC(struct as_sum_row) path, block;
    AS_VEC(struct as_share_row) share;
    struct as_map_u64 has_share; /* times in ns that are in `share` */
    int64_t last_ns;             /* which was asked for last: most are alike */
};

void as_sum_rows_init(struct as_sum_rows *rows, int64_t run_id);
void as_sum_rows_fini(struct as_sum_rows *rows);
/* Of a call path or block. 0 or NOMEM. */
int as_sum_rows_add(struct as_sum_rows *rows, enum assay_object_kind kind, int64_t id,
                    const struct as_sums *sums, int64_t thread_n);
/* Writes all; `run`: of the whole run. */
int as_sum_rows_write(struct as_sum_rows *rows, struct assay_experiment *experiment,
                      const struct as_sums *run, struct assay_error *err);

/* ---- summary_thread.c ---- */

struct as_total {
    struct as_sums sums;
    struct as_moments spread; /* of the inclusive times of threads */
    int64_t min_ns, max_ns;
    uint32_t category; /* with most of the exclusive time */
    int64_t category_ns;
};

struct as_summary_sample {
    uint32_t location, path;
    bool blocked;
    int64_t n, time_ns;
};

struct as_open_path {
    uint32_t last;
    size_t opened; /* length of `opened` before it */
    size_t entered;
    struct as_sums sums; /* of it and what was below it so far */
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
    struct assay_experiment *experiment;
    int64_t run_id;
    struct as_tables tables;
    size_t base[ASSAY_OBJECT_FRAME + 2]; /* first index of each kind; the last is the end */
    struct as_sums *thread;              /* by index, of the thread at hand */
    struct as_total *total;              /* by index */
    uint32_t *standing;                  /* by index: how often on the way down */
    bool *is_touched;
    AS_VEC(uint32_t) touched;
    AS_VEC(uint32_t) opened;  /* objects whose count left zero, in order */
    AS_VEC(uint32_t) entered; /* objects counted, in order */
    AS_VEC(struct as_open_path) way;
    AS_VEC(struct as_summary_sample) samples;
    AS_VEC(struct as_sort_key) paths;     /* the thread's, by preorder number */
    bool *is_path;                        /* by preorder number: among `paths` */
    size_t *sample_at;                    /* by preorder number: first in `samples` */
    AS_VEC(struct as_thread_sum) threads; /* of the run, those of a process side by side */
    AS_VEC(struct as_by_category) category;
    struct as_map_u64 category_of; /* object and category -> index in `category` */
    struct as_sum_rows rows;
    sqlite3_stmt *read, *write_thread, *write;
    bool no_memory;
};

/*
 * Reads the samples of a thread and adds them up: `thread` of the objects in `touched`, and the
 * time of their categories. `own` receives the sums of the thread itself.
 */
int as_summary_walk(struct as_summary *s, int64_t thread_id, struct as_sums *own,
                    struct assay_error *err);

#endif
