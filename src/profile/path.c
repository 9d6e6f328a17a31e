/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call paths: the tree of frames becomes a tree of functions and the places they were called from,
 * each with the category of its own time; sums become samples.
 */
#include <assert.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "profile/attribute.h"

struct path {
    int64_t id;
    uint32_t category;
    uint32_t depth;
};

/* One path per (path of the caller, function, place of the call). Two modules of the recording may
 * be one of the experiment, and so their functions. */
struct edge {
    uint32_t parent;
    int64_t function, call_location;
};

struct paths {
    struct as_attribution *all;
    AS_VEC(struct path) path;              /* 0: no caller */
    AS_VEC(struct edge) edge;              /* by path */
    AS_VEC(struct assay_row_callpath) row; /* new ones, not written yet */
    struct as_index index;
    uint32_t *of_node;
    int64_t known_id; /* the last path that earlier runs have left */
};

/* Where no run was before, all paths are new: they are written at once, when all are known. */
static int write_path(struct paths *p, const struct assay_row_callpath *row, int64_t *id,
                      struct assay_error *err)
{
    if (p->known_id)
        return assay_experiment_add_callpath(p->all->experiment, row, id, err);
    *id = (int64_t)p->row.n + 1;
    return as_vec_push(&p->row, *row) < 0 ? as_error_nomem(err, "the call paths of a run") : 0;
}

static int add_path(struct paths *p, const struct edge *edge,
                    const struct as_function_fact *function, struct assay_error *err)
{
    struct as_attribution *all = p->all;
    assert(edge->parent < p->path.n);
    const struct path *caller = &p->path.at[edge->parent];
    struct path path = {.category = function->category, .depth = caller->depth + 1};
    if (edge->parent)
        path.category = as_category_in(all->categories, function->category, caller->category);
    const struct assay_row_callpath row = {.parent_id = caller->id,
                                           .function_id = function->id,
                                           .call_location_id = edge->call_location,
                                           .category_id = all->category_id.at[path.category],
                                           .depth = path.depth};
    AS_TRY(write_path(p, &row, &path.id, err));
    if (as_vec_push(&p->path, path) < 0 || as_vec_push(&p->edge, *edge) < 0)
        return as_error_nomem(err, "the call paths of a run");
    return 0;
}

static int path_of(struct paths *p, const struct edge *edge,
                   const struct as_function_fact *function, uint32_t *out, struct assay_error *err)
{
    const uint64_t hash = as_hash_mix(as_hash_mix(edge->parent, (uint64_t)edge->function),
                                      (uint64_t)edge->call_location);
    for (struct as_probe probe = as_index_probe(&p->index, hash);
         (*out = as_index_next(&p->index, &probe)) != AS_INDEX_NONE;) {
        const struct edge *has = &p->edge.at[*out];
        if (has->parent == edge->parent && has->function == edge->function &&
            has->call_location == edge->call_location)
            return 0;
    }
    *out = (uint32_t)p->path.n;
    AS_TRY(add_path(p, edge, function, err));
    return as_index_add(&p->index, hash, *out) < 0 ? as_error_nomem(err, "the call paths of a run")
                                                   : 0;
}

static int walk_nodes(struct paths *p, struct assay_error *err)
{
    const struct as_attribution *all = p->all;
    for (size_t i = 1; i < all->tally.node.n; i++) {
        const uint32_t parent = all->tally.node.at[i].parent;
        const struct as_function_fact *function = &all->function.at[all->node[i].function];
        struct edge edge = {.parent = p->of_node[parent], .function = function->id};
        if (parent)
            edge.call_location = all->node[parent].location_id;
        AS_TRY(path_of(p, &edge, function, &p->of_node[i], err));
    }
    return assay_experiment_add_new_callpaths(all->experiment, p->row.at, p->row.n, 1, err);
}

static struct assay_row_sample sample_of(const struct paths *p, const struct as_tally_sum *sum)
{
    const struct as_attribution *all = p->all;
    return (struct assay_row_sample){.thread_id = all->thread_id[sum->thread],
                                     .callpath_id = p->path.at[p->of_node[sum->node]].id,
                                     .location_id = all->node[sum->node].location_id,
                                     .state =
                                         sum->blocked ? ASSAY_SAMPLE_BLOCKED : ASSAY_SAMPLE_RUNNING,
                                     .n = (int64_t)sum->n,
                                     .time_ns = (int64_t)sum->time_ns};
}

/* Sums by thread, path and location, of which the first sort is by what decides last. */
static int order_sums(const struct paths *p, struct as_sort_key *key, size_t n)
{
    for (size_t i = 0; i < n; i++)
        key[i].key = (uint64_t)sample_of(p, &p->all->tally.sum.at[key[i].at]).location_id;
    AS_TRY(as_sort_keys(key, n));
    for (size_t i = 0; i < n; i++) {
        const struct assay_row_sample row = sample_of(p, &p->all->tally.sum.at[key[i].at]);
        key[i].key = (uint64_t)row.thread_id << 32 | (uint64_t)row.callpath_id;
    }
    return as_sort_keys(key, n);
}

/* In the order in which they are kept: each row goes to the end. */
static int add_samples(struct paths *p, struct assay_error *err)
{
    const struct as_tally *tally = &p->all->tally;
    struct assay_row_sample *row = as_malloc((tally->sum.n + 1) * sizeof *row);
    struct as_sort_key *key = as_malloc((tally->sum.n + 1) * sizeof *key);
    size_t n = 0;
    int rc = row && key ? 0 : ASSAY_ERR_NOMEM;
    for (uint32_t i = 0; i < tally->sum.n && rc == 0; i++)
        if (tally->sum.at[i].node)
            key[n++] = (struct as_sort_key){.at = i};
    if (rc == 0)
        rc = order_sums(p, key, n);
    for (size_t i = 0; i < n && rc == 0; i++)
        row[i] = sample_of(p, &tally->sum.at[key[i].at]);
    as_free(key);
    rc = rc < 0 ? as_error_nomem(err, "the samples of a run")
                : assay_experiment_add_samples(p->all->experiment, row, n, err);
    as_free(row);
    return rc;
}

/* The last path that is there already: of earlier runs. */
static int last_path(struct paths *p, struct assay_error *err)
{
    struct assay_rows *rows;
    AS_TRY(
        assay_rows_open(p->all->experiment, "SELECT max(callpath_id) FROM callpath", &rows, err));
    int rc = assay_rows_next(rows, err);
    if (rc == 1)
        p->known_id = assay_rows_integer(rows, 0);
    assay_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

int as_attribute_paths(struct as_attribution *all, struct assay_error *err)
{
    struct paths p = {.all = all};
    const struct path none = {0};
    const struct edge nothing = {0};
    p.of_node = as_calloc(all->tally.node.n + 1, sizeof *p.of_node);
    int rc = 0;
    if (!p.of_node || as_vec_push(&p.path, none) < 0 || as_vec_push(&p.edge, nothing) < 0)
        rc = as_error_nomem(err, "the call paths of a run");
    if (rc == 0)
        rc = last_path(&p, err);
    if (rc == 0)
        rc = walk_nodes(&p, err);
    if (rc == 0)
        rc = add_samples(&p, err);
    as_index_fini(&p.index);
    as_vec_fini(&p.path);
    as_vec_fini(&p.edge);
    as_vec_fini(&p.row);
    as_free(p.of_node);
    return rc;
}
