/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds call paths from the tree of frames. A call path has a function, the place of its call and
 * its caller's path. It also has the category of its own time. Sums become samples.
 */
#include <assert.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "profile/attribute.h"
#include "profile/workers.h"

struct path {
    int64_t id;
    uint32_t category;
    uint32_t depth;
};

/* The key of a path: path of the caller, function, place of the call. Functions are those of the
 * experiment, because two modules of a recording may be one module there. */
struct edge {
    uint32_t parent;
    uint32_t inlined; /* inlined call at that place, as in as_node_fact */
    int64_t function, call_location;
};

struct paths {
    struct as_attribution *all;
    AS_VEC(struct path) path;           /* 0: no caller */
    AS_VEC(struct edge) edge;           /* by path */
    AS_VEC(struct as_row_callpath) row; /* new ones, not yet written */
    struct as_index index;
    uint32_t *of_node; /* path of each node; NO_PATH = not yet known */
    struct as_workers workers;
    struct as_map_u64
        told; /* inlined calls with a written category, by the frame's category and the call */
    int64_t known_id; /* the last path of earlier runs; 0 = none */
};

#define NO_PATH   UINT32_MAX
#define NODE_BUSY (UINT32_MAX - 1) /* the search for its callers is running */

/* ---- Inlined functions --------------------------------------------------------------------- */

/*
 * Sets *category to that of an inlined call, as if a frame of category `frame` called it. Adds a
 * row if the two categories differ.
 */
static int category_inside(struct paths *p, uint32_t frame, uint32_t inlined, uint32_t *category,
                           struct as_error *err)
{
    struct as_attribution *all = p->all;
    const uint64_t key = (uint64_t)frame << 32 | inlined;
    *category = frame;
    if (!inlined)
        return 0;
    const uint32_t told = as_map_u64_get(&p->told, key);
    if (told != AS_MAP_NONE) {
        *category = told;
        return 0;
    }
    const struct as_inlined_fact *fact = &all->inlined.at[inlined - 1];
    AS_TRY(category_inside(p, frame, fact->outer, category, err));
    if (fact->category != AS_NONE)
        *category = as_category_in(all->categories, fact->category, *category);
    const struct as_row_inlined_category row = {.frame_category_id = all->category_id.at[frame],
                                                .inlining_id = fact->inlining_id,
                                                .category_id = all->category_id.at[*category]};
    if (*category != frame)
        AS_TRY(as_experiment_add_inlined_category(all->experiment, &row, err));
    return as_map_u64_put(&p->told, key, *category) < 0
               ? as_error_nomem(err, "the call paths of a run")
               : 0;
}

/* ---- Paths --------------------------------------------------------------------------------- */

/* Writes a path and sets *id. In the first run, all paths are new, and they are written together at
 * the end. */
static int write_path(struct paths *p, const struct as_row_callpath *row, int64_t *id,
                      struct as_error *err)
{
    if (p->known_id)
        return as_experiment_add_callpath(p->all->experiment, row, id, err);
    *id = (int64_t)p->row.n + 1;
    return as_vec_push(&p->row, *row) < 0 ? as_error_nomem(err, "the call paths of a run") : 0;
}

static int add_path(struct paths *p, const struct edge *edge,
                    const struct as_function_fact *function, struct as_error *err)
{
    struct as_attribution *all = p->all;
    assert(edge->parent < p->path.n);
    const struct path *caller = &p->path.at[edge->parent];
    struct path path = {.category = function->category, .depth = caller->depth + 1};
    uint32_t calling;
    if (edge->parent) {
        AS_TRY(category_inside(p, caller->category, edge->inlined, &calling, err));
        path.category = as_category_in(all->categories, function->category, calling);
    }
    const struct as_row_callpath row = {.parent_id = caller->id,
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
                   const struct as_function_fact *function, uint32_t *out, struct as_error *err)
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

/* Returns the innermost common caller of two paths. */
static uint32_t common_path(const struct paths *p, uint32_t a, uint32_t b)
{
    while (a != b) {
        uint32_t *deeper = p->path.at[a].depth >= p->path.at[b].depth ? &a : &b;
        *deeper = p->edge.at[*deeper].parent;
    }
    return a;
}

static int find_path(struct paths *p, uint32_t node, struct as_error *err);

static void call_from(const struct paths *p, uint32_t node, struct edge *edge)
{
    edge->parent = p->of_node[node];
    edge->call_location = p->all->node[node].location_id;
    edge->inlined = p->all->node[node].inlined;
}

/*
 * Sets the caller of the body of a region on a worker's stack. That is the runtime's frame through
 * which the program calls the same function. If a region has several callers, samples do not show
 * the right one. The body then gets their innermost common caller.
 */
static int join_worker(struct paths *p, uint32_t node, struct edge *edge, struct as_error *err)
{
    const struct edge own = *edge;
    bool joined = false;
    for (uint32_t at = p->workers.region[node]; at; at = p->workers.next[at]) {
        const uint32_t parent = p->all->tally.node.at[at].parent;
        AS_TRY(find_path(p, parent, err));
        if (p->of_node[parent] >= NODE_BUSY)
            continue; /* the region contains itself */
        const uint32_t path = p->of_node[parent];
        const uint32_t common = joined ? common_path(p, edge->parent, path) : path;
        if (!joined || (common == path && common != edge->parent)) {
            call_from(p, parent, edge);
        } else if (common != edge->parent) {
            edge->parent = common;
            edge->call_location = 0;
            edge->inlined = 0;
        }
        joined = true;
    }
    if (joined && edge->parent == 0)
        *edge = own;
    return 0;
}

/* Finds the path of `node`. Leaves it unset while a search for its callers is running. */
static int find_path(struct paths *p, uint32_t node, struct as_error *err)
{
    const struct as_attribution *all = p->all;
    if (p->of_node[node] != NO_PATH)
        return 0;
    assert(node < all->tally.node.n);
    const uint32_t parent = all->tally.node.at[node].parent;
    assert(parent < node); /* so callers end */
    const struct as_function_fact *function = &all->function.at[all->node[node].function];
    struct edge edge = {.function = function->id};
    p->of_node[node] = NODE_BUSY;
    AS_TRY(find_path(p, parent, err));
    if (p->of_node[parent] >= NODE_BUSY) {
        p->of_node[node] = NO_PATH;
        return 0;
    }
    if (parent)
        call_from(p, parent, &edge);
    AS_TRY(join_worker(p, node, &edge, err));
    return path_of(p, &edge, function, &p->of_node[node], err);
}

static int walk_nodes(struct paths *p, struct as_error *err)
{
    const struct as_attribution *all = p->all;
    p->of_node[0] = 0;
    for (uint32_t i = 1; i < all->tally.node.n; i++)
        p->of_node[i] = NO_PATH;
    for (uint32_t i = 1; i < all->tally.node.n; i++)
        AS_TRY(find_path(p, i, err));
    return as_experiment_add_new_callpaths(all->experiment, p->row.at, p->row.n, 1, err);
}

/* ---- Samples ------------------------------------------------------------------------------- */

/* Writes the categories of inlined calls that differ from those of their frames. */
static int add_inlined_categories(struct paths *p, struct as_error *err)
{
    const struct as_attribution *all = p->all;
    uint32_t category;
    as_vec_foreach (&all->tally.sum, sum)
        if (sum->node)
            AS_TRY(category_inside(p, p->path.at[p->of_node[sum->node]].category,
                                   all->node[sum->node].inlined, &category, err));
    return 0;
}

static struct as_row_sample sample_of(const struct paths *p, const struct as_tally_sum *sum)
{
    const struct as_attribution *all = p->all;
    return (struct as_row_sample){.thread_id = all->thread_id[sum->thread],
                                  .callpath_id = p->path.at[p->of_node[sum->node]].id,
                                  .location_id = all->node[sum->node].location_id,
                                  .state = sum->blocked ? AS_SAMPLE_BLOCKED : AS_SAMPLE_RUNNING,
                                  .n = (int64_t)sum->n,
                                  .time_ns = (int64_t)sum->time_ns};
}

/* Sorts the sums by thread, path and location. The sorts are stable, so the last key comes first.
 */
static int order_sums(const struct paths *p, struct as_sort_key *key, size_t n)
{
    for (size_t i = 0; i < n; i++)
        key[i].key = (uint64_t)sample_of(p, &p->all->tally.sum.at[key[i].at]).location_id;
    AS_TRY(as_sort_keys(key, n));
    for (size_t i = 0; i < n; i++) {
        const struct as_row_sample row = sample_of(p, &p->all->tally.sum.at[key[i].at]);
        key[i].key = (uint64_t)row.thread_id << 32 | (uint64_t)row.callpath_id;
    }
    return as_sort_keys(key, n);
}

/* Adds the samples in the order of their table, so that each row is appended at the end. */
static int add_samples(struct paths *p, struct as_error *err)
{
    const struct as_tally *tally = &p->all->tally;
    struct as_row_sample *row = as_malloc((tally->sum.n + 1) * sizeof *row);
    struct as_sort_key *key = as_malloc((tally->sum.n + 1) * sizeof *key);
    size_t n = 0;
    int rc = row && key ? 0 : AS_ERR_NOMEM;
    for (uint32_t i = 0; i < tally->sum.n && rc == 0; i++)
        if (tally->sum.at[i].node)
            key[n++] = (struct as_sort_key){.at = i};
    if (rc == 0)
        rc = order_sums(p, key, n);
    for (size_t i = 0; i < n && rc == 0; i++)
        row[i] = sample_of(p, &tally->sum.at[key[i].at]);
    as_free(key);
    rc = rc < 0 ? as_error_nomem(err, "the samples of a run")
                : as_experiment_add_samples(p->all->experiment, row, n, err);
    as_free(row);
    return rc;
}

/* Sets known_id to the last path of earlier runs. */
static int last_path(struct paths *p, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(p->all->experiment, "SELECT max(callpath_id) FROM callpath", &rows, err));
    int rc = as_rows_next(rows, err);
    if (rc == 1)
        p->known_id = as_rows_integer(rows, 0);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

int as_attribute_paths(struct as_attribution *all, struct as_error *err)
{
    struct paths p = {.all = all};
    const struct path none = {0};
    const struct edge nothing = {0};
    as_map_u64_init(&p.told);
    p.of_node = as_calloc(all->tally.node.n + 1, sizeof *p.of_node);
    int rc = 0;
    if (!p.of_node || as_vec_push(&p.path, none) < 0 || as_vec_push(&p.edge, nothing) < 0 ||
        as_workers_find(all, &p.workers) < 0)
        rc = as_error_nomem(err, "the call paths of a run");
    if (rc == 0)
        rc = last_path(&p, err);
    if (rc == 0)
        rc = walk_nodes(&p, err);
    if (rc == 0)
        rc = add_inlined_categories(&p, err);
    if (rc == 0)
        rc = add_samples(&p, err);
    as_index_fini(&p.index);
    as_map_u64_fini(&p.told);
    as_vec_fini(&p.path);
    as_vec_fini(&p.edge);
    as_vec_fini(&p.row);
    as_workers_fini(&p.workers);
    as_free(p.of_node);
    return rc;
}
