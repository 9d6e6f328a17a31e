/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the tables for adding up samples. Call paths get preorder numbers, so that "is an ancestor
 * of" is a comparison of two numbers.
 */
#include <string.h>

#include "experiment/summary.h"

static const char reading[] = "reading what its samples belong to";

static int end_of(struct as_experiment *experiment, const char *table, size_t *end,
                  struct as_error *err)
{
    char sql[128];
    int64_t most = 0;

    sqlite3_snprintf(sizeof sql, sql, "SELECT max(%s_id) FROM %s", table, table);
    AS_TRY(as_sql_integer(experiment, sql, &most, err));
    if (most < 0 || most >= UINT32_MAX)
        return as_error_set(err, AS_ERR_LIMIT, "%s: table %s has too many rows for the summary",
                            experiment->db_path, table);
    *end = (size_t)most + 1;
    return 0;
}

/* Calls `take` with each row of up to six ids. */
static int each_row(struct as_experiment *experiment, const char *sql, struct as_tables *tables,
                    void (*take)(struct as_tables *, const uint32_t *id), struct as_error *err)
{
    sqlite3_stmt *s = NULL;
    uint32_t id[6] = {0};
    int rc = 0, code = sqlite3_prepare_v2(experiment->db, sql, -1, &s, NULL);
    const int n = sqlite3_column_count(s);

    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(s);
        if (code != SQLITE_ROW)
            break;
        for (int i = 0; i < n; i++)
            id[i] = (uint32_t)sqlite3_column_int64(s, i);
        take(tables, id);
    }
    if (code != SQLITE_DONE)
        rc = as_sql_failure(experiment->db_path, experiment->db, code, reading, err);
    sqlite3_finalize(s);
    return rc;
}

static void store_function_module(struct as_tables *tables, const uint32_t *id)
{
    tables->function_module[id[0]] = id[1];
}

static void store_loop_parent(struct as_tables *tables, const uint32_t *id)
{
    tables->loop_parent[id[0]] = id[1];
}

static void store_location_place(struct as_tables *tables, const uint32_t *id)
{
    tables->location[id[0]] =
        (struct as_summary_place){.loop = id[1], .block = id[2], .line = id[3], .inlining = id[4]};
    tables->has_frame[id[5]] |= id[4] != 0;
}

static void store_inlining_node(struct as_tables *tables, const uint32_t *id)
{
    const uint32_t parent = id[1] < id[0] ? id[1] : 0;

    tables->inlining[id[0]] = (struct as_inlining_node){.parent = parent, .inlined = id[2]};
    tables->has_frame[id[2]] = true;
}

static void store_inlined_category(struct as_tables *tables, const uint32_t *id)
{
    tables->no_memory |=
        as_map_u64_put(&tables->inlined_category, as_inlined_category_key(id[0], id[1]), id[2]) < 0;
}

static void store_path_node(struct as_tables *tables, const uint32_t *id)
{
    tables->path[id[0]] = (struct as_path_node){
        .parent = id[1], .function = id[2], .call_location = id[3], .category = id[4]};
}

/*
 * Numbers the paths in preorder without recursion. The parent of a path may have any id. Subtree
 * sizes are therefore found from the leaves, by counting down the children of each path.
 */
static int number_paths(struct as_experiment *experiment, struct as_tables *t, struct as_error *err)
{
    const size_t end = t->id_end[AS_OBJECT_CALLPATH];
    uint32_t *child_n = as_arena_array(&t->arena, uint32_t, end);
    uint32_t *size = as_arena_array(&t->arena, uint32_t, end);
    uint32_t *order = as_arena_array(&t->arena, uint32_t, end);
    size_t n = 0, all = 0;

    t->at = as_arena_array(&t->arena, uint32_t, end + 1);
    if (!child_n || !size || !order || !t->at)
        return as_error_nomem(err, experiment->db_path);
    for (uint32_t i = 1; i < end; i++) {
        all += t->path[i].function != 0;
        child_n[t->path[i].parent] += t->path[i].function != 0;
    }
    for (uint32_t i = 1; i < end; i++)
        if (t->path[i].function && !child_n[i])
            order[n++] = i; /* leaves first; a parent comes after its last child */
    for (size_t i = 0; i < n; i++) {
        const uint32_t parent = t->path[order[i]].parent;

        size[order[i]]++;
        size[parent] += size[order[i]];
        if (--child_n[parent] == 0 && parent)
            order[n++] = parent;
    }
    if (n != all)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: damaged: its call paths form a circle; restore a backup",
                            experiment->db_path);
    /* Parents before children. `last` of a parent is the last number given to its children so
     * far. */
    uint32_t top = 0;
    while (n-- > 0) {
        struct as_path_node *node = &t->path[order[n]];
        uint32_t *before = node->parent ? &t->path[node->parent].last : &top;

        node->first = *before + 1;
        *before += size[order[n]];
        node->last = node->first;
        t->at[node->first] = order[n];
    }
    return 0;
}

static int make_tables(struct as_experiment *experiment, struct as_tables *t, struct as_error *err)
{
    static const struct {
        enum as_object_kind kind;
        const char *table;
    } by[] = {
        {AS_OBJECT_MODULE, "module"},     {AS_OBJECT_FUNCTION, "function"},
        {AS_OBJECT_LOOP, "loop"},         {AS_OBJECT_BLOCK, "block"},
        {AS_OBJECT_LINE, "line"},         {AS_OBJECT_CALLPATH, "callpath"},
        {AS_OBJECT_CATEGORY, "category"}, {AS_OBJECT_FRAME, "function"},
    };

    for (size_t i = 0; i < sizeof by / sizeof *by; i++)
        AS_TRY(end_of(experiment, by[i].table, &t->id_end[by[i].kind], err));
    AS_TRY(end_of(experiment, "location", &t->location_end, err));
    AS_TRY(end_of(experiment, "inlining", &t->inlining_end, err));
    t->path = as_arena_array(&t->arena, struct as_path_node, t->id_end[AS_OBJECT_CALLPATH]);
    t->location = as_arena_array(&t->arena, struct as_summary_place, t->location_end);
    t->function_module = as_arena_array(&t->arena, uint32_t, t->id_end[AS_OBJECT_FUNCTION]);
    t->loop_parent = as_arena_array(&t->arena, uint32_t, t->id_end[AS_OBJECT_LOOP]);
    t->inlining = as_arena_array(&t->arena, struct as_inlining_node, t->inlining_end);
    t->has_frame = as_arena_array(&t->arena, bool, t->id_end[AS_OBJECT_FUNCTION]);
    if (!t->path || !t->location || !t->function_module || !t->loop_parent || !t->inlining ||
        !t->has_frame)
        return as_error_nomem(err, experiment->db_path);
    return 0;
}

int as_tables_load(struct as_experiment *experiment, struct as_tables *t, struct as_error *err)
{
    as_arena_init(&t->arena);
    as_map_u64_init(&t->inlined_category);
    AS_TRY(make_tables(experiment, t, err));
    AS_TRY(each_row(experiment, "SELECT function_id, module_id FROM function", t,
                    store_function_module, err));
    AS_TRY(each_row(experiment, "SELECT loop_id, parent_id FROM loop", t, store_loop_parent, err));
    AS_TRY(each_row(experiment,
                    "SELECT location_id, loop_id, block_id, line_id, inlining_id, function_id"
                    " FROM location",
                    t, store_location_place, err));
    AS_TRY(each_row(experiment, "SELECT inlining_id, parent_id, inlined_id FROM inlining", t,
                    store_inlining_node, err));
    AS_TRY(each_row(experiment,
                    "SELECT frame_category_id, inlining_id, category_id FROM inlined_category", t,
                    store_inlined_category, err));
    if (t->no_memory)
        return as_error_nomem(err, experiment->db_path);
    AS_TRY(each_row(experiment,
                    "SELECT callpath_id, parent_id, function_id, call_location_id, category_id"
                    " FROM callpath",
                    t, store_path_node, err));
    return number_paths(experiment, t, err);
}

void as_tables_fini(struct as_tables *tables)
{
    as_map_u64_fini(&tables->inlined_category);
    as_arena_fini(&tables->arena);
}
