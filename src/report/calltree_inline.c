/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inserts inlined functions into the call tree. The experiment stores for each code position the
 * functions inlined there (`inlining`). Each such function gets a row under each path in which a
 * sample hit it or it made a call.
 */
#include "report/calltree.h"

#include <string.h>

#include "base/error.h"

/* An inlined call. Texts are words of the columns of the tree. */
struct inlined_call {
    int64_t parent_id, function_id;
    uint32_t name, site;
};

struct inlined_tree {
    struct as_grid *grid;
    AS_VEC(struct inlined_call) call;
    AS_VEC(uint32_t) missing;      /* used during the search for a row */
    struct as_map_u64 call_of;     /* by inlining_id */
    struct as_map_u64 path_of;     /* callpath_id -> row of a function of the binary */
    struct as_map_u64 row_of;      /* row of the path and call -> row of an inlined function */
    struct as_map_u64 category_of; /* category and inlining -> word, as in inlined_category */
};

#define COLUMN(w, place) ((w)->grid->column.at[place])

/* ---- Reading ------------------------------------------------------------------------------- */

static int each_row(const struct as_document *document, struct inlined_tree *w, const char *sql,
                    int (*take)(struct inlined_tree *, struct as_rows *), struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(document->experiment, sql, &rows, err));
    as_rows_bind_integer(rows, 1, document->run_id);
    while ((rc = as_rows_next(rows, err)) > 0) {
        if (take(w, rows) < 0) {
            rc = as_error_nomem(err, "the call tree");
            break;
        }
    }
    as_rows_close(&rows);
    return rc;
}

static const char call_sql[] =
    "SELECT i.inlining_id, i.parent_id, i.inlined_id, f.name,"
    " replace(s.path, rtrim(s.path, replace(s.path, '/', '')), '') || ':' || l.number"
    " FROM inlining i JOIN function f ON f.function_id = i.inlined_id"
    " LEFT JOIN line l ON l.line_id = i.call_line_id LEFT JOIN source_file s USING (source_file_id)"
    " WHERE ?1 IS NOT NULL ORDER BY i.inlining_id";

static int add_inlined_call(struct inlined_tree *w, struct as_rows *rows)
{
    const int64_t id = as_rows_integer(rows, 0);
    struct inlined_call it = {.parent_id = as_rows_integer(rows, 1),
                              .function_id = as_rows_integer(rows, 2)};

    if (it.parent_id >= id) /* a cycle: the experiment is damaged */
        it.parent_id = 0;
    AS_TRY(as_grid_word(w->grid, COLUMN(w, AS_TREE_FUNCTION), as_rows_text(rows, 3), &it.name));
    AS_TRY(as_grid_word(w->grid, COLUMN(w, AS_TREE_SITE), as_rows_text(rows, 4), &it.site));
    AS_TRY(as_map_u64_put(&w->call_of, (uint64_t)id, (uint32_t)w->call.n));
    return as_vec_push(&w->call, it);
}

static uint64_t pair_of(uint64_t one, uint64_t other)
{
    return one << 32 | (other & UINT32_MAX);
}

static const char category_sql[] =
    "SELECT g.frame_category_id, g.inlining_id, c.name FROM inlined_category g"
    " JOIN category c ON c.category_id = g.category_id WHERE ?1 IS NOT NULL";

static int map_inlined_category(struct inlined_tree *w, struct as_rows *rows)
{
    const uint32_t call = as_map_u64_get(&w->call_of, (uint64_t)as_rows_integer(rows, 1));
    uint32_t word;

    AS_TRY(as_grid_word(w->grid, COLUMN(w, AS_TREE_CATEGORY), as_rows_text(rows, 2), &word));
    return call == AS_MAP_NONE
               ? 0
               : as_map_u64_put(&w->category_of, pair_of((uint64_t)as_rows_integer(rows, 0), call),
                                word);
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static int add_inlined_row(struct inlined_tree *w, size_t path, uint32_t call, size_t parent)
{
    const struct inlined_call *it = &w->call.at[call];
    const int64_t category_id = COLUMN(w, AS_TREE_CATEGORY_ID)->whole.at[path];
    const uint32_t category = as_map_u64_get(&w->category_of, pair_of((uint64_t)category_id, call));
    const uint32_t module = COLUMN(w, AS_TREE_MODULE)->text.at[path];
    const uint32_t of_path = COLUMN(w, AS_TREE_CATEGORY)->text.at[path];

    AS_TRY(as_vec_push(&COLUMN(w, AS_TREE_PARENT)->whole, (int64_t)parent));
    AS_TRY(as_vec_push(&COLUMN(w, AS_TREE_FUNCTION)->text, it->name));
    AS_TRY(as_vec_push(&COLUMN(w, AS_TREE_FUNCTION_ID)->whole, it->function_id));
    AS_TRY(as_vec_push(&COLUMN(w, AS_TREE_MODULE)->text, module));
    AS_TRY(as_vec_push(&COLUMN(w, AS_TREE_CATEGORY)->text,
                       category == AS_MAP_NONE ? of_path : category));
    AS_TRY(as_vec_push(&COLUMN(w, AS_TREE_SITE)->text, it->site));
    AS_TRY(as_vec_push(&COLUMN(w, AS_TREE_ENTRY)->text, AS_GRID_NO_TEXT));
    AS_TRY(as_vec_push(&COLUMN(w, AS_TREE_INLINED)->whole, 1));
    AS_TRY(as_vec_push(&COLUMN(w, AS_TREE_SELF_N)->whole, 0));
    AS_TRY(as_vec_push(&COLUMN(w, AS_TREE_SELF_S)->real, 0));
    AS_TRY(as_vec_push(&COLUMN(w, AS_TREE_BLOCKED_S)->real, 0));
    w->grid->row_n++;
    return 0;
}

static uint32_t call_of(const struct inlined_tree *w, int64_t inlining_id)
{
    return inlining_id > 0 ? as_map_u64_get(&w->call_of, (uint64_t)inlining_id) : AS_MAP_NONE;
}

/* Finds or adds the row of an inlined call under a path, with the calls around it. Without a call
 * it is the row of the path. */
static int inlined_row(struct inlined_tree *w, size_t path, int64_t inlining_id, size_t *row)
{
    uint32_t call = call_of(w, inlining_id), known = AS_MAP_NONE;

    *row = path;
    w->missing.n = 0; /* from the innermost */
    for (; call != AS_MAP_NONE; call = call_of(w, w->call.at[call].parent_id)) {
        known = as_map_u64_get(&w->row_of, pair_of(path, call));
        if (known != AS_MAP_NONE)
            break;
        AS_TRY(as_vec_push(&w->missing, call));
    }
    if (known != AS_MAP_NONE)
        *row = known;
    while (w->missing.n) {
        const size_t parent = *row;

        call = w->missing.at[--w->missing.n];
        *row = w->grid->row_n;
        AS_TRY(add_inlined_row(w, path, call, parent));
        AS_TRY(as_map_u64_put(&w->row_of, pair_of(path, call), (uint32_t)*row));
    }
    return 0;
}

/* Moves paths below the inlined function that makes their call. */
static int hang_paths(struct inlined_tree *w, size_t path_n)
{
    for (size_t i = 0; i < path_n; i++) {
        const int64_t parent = COLUMN(w, AS_TREE_PARENT)->whole.at[i];
        size_t under;

        AS_TRY(
            as_map_u64_put(&w->path_of, (uint64_t)COLUMN(w, AS_TREE_ID)->whole.at[i], (uint32_t)i));
        if (parent < 0)
            continue;
        AS_TRY(inlined_row(w, (size_t)parent, COLUMN(w, AS_TREE_INLINING_ID)->whole.at[i], &under));
        COLUMN(w, AS_TREE_PARENT)->whole.at[i] = (int64_t)under;
    }
    return 0;
}

/* ---- Sums ---------------------------------------------------------------------------------- */

static const char self_sql[] =
    "SELECT s.callpath_id, a.inlining_id, sum(iif(s.state, 0, s.n)),"
    " sum(iif(s.state, 0, s.time_ns)) / 1e9, sum(iif(s.state, s.time_ns, 0)) / 1e9"
    " FROM process p JOIN thread x USING (process_id) JOIN sample s USING (thread_id)"
    " JOIN location a USING (location_id) WHERE p.run_id = ?1 AND a.inlining_id IS NOT NULL"
    " GROUP BY 1, 2 ORDER BY 1, 2";

/* Rests below a nanosecond are rounding. */
static void move_real(struct as_grid_column *column, size_t from, size_t to, double amount)
{
    const double rest = column->real.at[from] - amount;

    column->real.at[from] = rest > 1e-9 ? rest : 0;
    column->real.at[to] += amount;
}

static int move_self_samples(struct inlined_tree *w, struct as_rows *rows)
{
    const uint32_t path = as_map_u64_get(&w->path_of, (uint64_t)as_rows_integer(rows, 0));
    size_t row;

    if (path == AS_MAP_NONE) /* left out, and counted with the small paths */
        return 0;
    AS_TRY(inlined_row(w, path, as_rows_integer(rows, 1), &row));
    if (row == path)
        return 0;
    COLUMN(w, AS_TREE_SELF_N)->whole.at[path] -= as_rows_integer(rows, 2);
    COLUMN(w, AS_TREE_SELF_N)->whole.at[row] += as_rows_integer(rows, 2);
    move_real(COLUMN(w, AS_TREE_SELF_S), path, row, as_rows_real(rows, 3));
    move_real(COLUMN(w, AS_TREE_BLOCKED_S), path, row, as_rows_real(rows, 4));
    return 0;
}

/* ---- Order --------------------------------------------------------------------------------- */

/* Computes the depth of each row; `depth` is zero at first. A row may precede its parent. Returns
 * the max depth. */
static uint32_t find_depths(const int64_t *parent, size_t n, uint32_t *depth)
{
    uint32_t most = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t below = 0;
        int64_t at = (int64_t)i;

        for (; at >= 0 && !depth[at]; at = parent[at])
            below++;
        below += at >= 0 ? depth[at] : 0;
        most = below > most ? below : most;
        for (at = (int64_t)i; at >= 0 && !depth[at]; at = parent[at])
            depth[at] = below--;
    }
    return most;
}

/* Computes the new positions of rows by depth, so that parents come first. Rows of equal depth keep
 * their order. */
static void place_rows(const uint32_t *depth, size_t n, uint32_t *first, uint32_t most,
                       uint32_t *place)
{
    for (size_t i = 0; i < n; i++)
        first[depth[i] + 1]++;
    for (uint32_t d = 0; d <= most; d++)
        first[d + 1] += first[d];
    for (size_t i = 0; i < n; i++)
        place[i] = first[depth[i]]++;
}

static void permute(void *at, size_t n, size_t size_b, const uint32_t *place, void *spare)
{
    if (!n)
        return;
    memcpy(spare, at, n * size_b);
    for (size_t i = 0; i < n; i++)
        memcpy((char *)at + place[i] * size_b, (char *)spare + i * size_b, size_b);
}

static int order_rows(struct as_grid *grid)
{
    const size_t n = grid->row_n;
    int64_t *parent = grid->column.at[AS_TREE_PARENT]->whole.at;
    uint32_t *depth = as_arena_array(&grid->arena, uint32_t, n);
    uint32_t *place = as_arena_array(&grid->arena, uint32_t, n);
    void *spare = as_arena_alloc(&grid->arena, n * sizeof(int64_t), sizeof(int64_t));

    if (!depth || !place || !spare)
        return AS_ERR_NOMEM;
    const uint32_t most = find_depths(parent, n, depth);
    uint32_t *first = as_arena_array(&grid->arena, uint32_t, most + 2);
    if (!first)
        return AS_ERR_NOMEM;
    place_rows(depth, n, first, most, place);
    for (size_t i = 0; i < n; i++)
        parent[i] = parent[i] < 0 ? -1 : (int64_t)place[parent[i]];
    for (size_t i = AS_TREE_PARENT; i < AS_TREE_WRITTEN_N; i++) {
        struct as_grid_column *it = grid->column.at[i];

        permute(it->real.at, it->real.n, sizeof *it->real.at, place, spare);
        permute(it->whole.at, it->whole.n, sizeof *it->whole.at, place, spare);
        permute(it->text.at, it->text.n, sizeof *it->text.at, place, spare);
    }
    return 0;
}

/* ---- All of it ----------------------------------------------------------------------------- */

int as_calltree_inline(const struct as_document *document, struct as_grid *grid,
                       struct as_error *err)
{
    struct inlined_tree w = {.grid = grid};
    struct as_map_u64 *const maps[] = {&w.call_of, &w.path_of, &w.row_of, &w.category_of};
    const size_t map_n = sizeof maps / sizeof *maps, path_n = grid->row_n;

    for (size_t i = 0; i < map_n; i++)
        as_map_u64_init(maps[i]);
    int rc = each_row(document, &w, call_sql, add_inlined_call, err);
    if (rc == 0 && w.call.n) {
        rc = each_row(document, &w, category_sql, map_inlined_category, err);
        if (rc == 0 && hang_paths(&w, grid->column.at[AS_TREE_ID]->whole.n) < 0)
            rc = as_error_nomem(err, "the call tree");
        if (rc == 0)
            rc = each_row(document, &w, self_sql, move_self_samples, err);
        if (rc == 0 && grid->row_n > path_n && order_rows(grid) < 0)
            rc = as_error_nomem(err, "the call tree");
    }
    for (size_t i = 0; i < map_n; i++)
        as_map_u64_fini(maps[i]);
    as_vec_fini(&w.call);
    as_vec_fini(&w.missing);
    return rc;
}
