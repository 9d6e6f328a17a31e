/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What adding samples up needs of the program in memory: the tree of call paths in preorder, and
 * for each function, location and loop where it belongs. Indexed by row id; entry 0 is "none".
 */
#ifndef AS_EXPERIMENT_SUMMARY_H
#define AS_EXPERIMENT_SUMMARY_H

#include "base/arena.h"
#include "base/map.h"
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

#endif
