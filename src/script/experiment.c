/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lua objects for experiments: rows of views and of read-only SQL, values of metrics, and loops of
 * the binaries that ran.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "script/internal.h"

struct opened_experiment {
    struct as_experiment *experiment;
    struct as_catalogue *catalogue; /* opened at the first use of code */
};

/* ---- Opening --------------------------------------------------------------------------------- */

static int collect_experiment(lua_State *L)
{
    struct opened_experiment *it = lua_touserdata(L, 1);
    as_catalogue_free(&it->catalogue);
    as_experiment_close(&it->experiment, NULL);
    return 0;
}

/* Applies the limits of the script to the SQL that it runs. */
static int limit_statements(lua_State *L, struct as_experiment *experiment, struct as_error *err)
{
    const struct as_script *script = as_script_of(L);
    const struct as_sql_limits limits = {.deadline_ns = script->deadline,
                                         .memory_b = script->request->memory_limit_b,
                                         .also_b = &script->held_b,
                                         .interrupted = script->request->interrupted};
    return as_experiment_limit_sql(experiment, &limits, err);
}

int as_script_open_experiment(lua_State *L, const char *path)
{
    struct as_error err;
    struct opened_experiment *it = lua_newuserdatauv(L, sizeof *it, 1);
    memset(it, 0, sizeof *it);
    as_script_become(L, AS_SCRIPT_EXPERIMENT);
    lua_getmetatable(L, -1);
    lua_pushcfunction(L, collect_experiment);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2); /* set it again: Lua looks for __gc only then */
    lua_newtable(L);
    lua_setiuservalue(L, -2, 1);
    if (as_experiment_read(path, &it->experiment, &err) < 0 ||
        limit_statements(L, it->experiment, &err) < 0)
        return as_script_fail(L, &err);
    return 1;
}

int as_script_open_any(lua_State *L, const char *path)
{
    struct stat st;
    const bool is_directory = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    return is_directory ? as_script_open_experiment(L, path) : as_script_open_module(L, path);
}

static struct opened_experiment *experiment_of(lua_State *L)
{
    return as_script_check(L, AS_SCRIPT_EXPERIMENT);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void close_box_of_rows(void *box)
{
    as_rows_close(box);
}

static void push_cell(lua_State *L, struct as_rows *rows, int column)
{
    size_t size_b;
    const void *blob;
    switch (as_rows_kind(rows, column)) {
    case AS_SQL_CELL_INTEGER:
        lua_pushinteger(L, as_rows_integer(rows, column));
        break;
    case AS_SQL_CELL_REAL:
        lua_pushnumber(L, as_rows_real(rows, column));
        break;
    case AS_SQL_CELL_TEXT:
        lua_pushstring(L, as_rows_text(rows, column));
        break;
    case AS_SQL_CELL_BLOB:
        blob = as_rows_blob(rows, column, &size_b);
        lua_pushlstring(L, blob ? blob : "", blob ? size_b : 0);
        break;
    default:
        lua_pushnil(L);
    }
}

static void push_row(lua_State *L, struct as_rows *rows)
{
    const int n = as_rows_column_n(rows);
    lua_createtable(L, 0, n);
    for (int c = 0; c < n; c++) {
        push_cell(L, rows, c);
        lua_setfield(L, -2, as_rows_column(rows, c));
    }
}

/* Opens rows of `sql` in a box, which stays on the stack. The values from index `first` on are
 * its parameters. */
static struct as_rows **open_rows(lua_State *L, const char *sql, int first)
{
    struct opened_experiment *it = experiment_of(L);
    const int last = lua_gettop(L);
    struct as_error err;
    struct as_rows **rows = as_script_box(L, sizeof(struct as_rows *), close_box_of_rows);
    if (as_rows_open(it->experiment, sql, rows, &err) < 0)
        as_script_fail(L, &err);
    for (int i = first; i <= last; i++)
        if (lua_isinteger(L, i))
            as_rows_bind_integer(*rows, i - first + 1, lua_tointeger(L, i));
        else if (!lua_isnil(L, i))
            as_rows_bind_text(*rows, i - first + 1, luaL_checkstring(L, i));
    return rows;
}

/* Pushes all rows as a list. */
static int list_rows(lua_State *L, const char *sql, int first)
{
    struct as_rows **rows = open_rows(L, sql, first);
    struct as_error err;
    lua_Integer n = 0;
    int rc;
    lua_newtable(L);
    while ((rc = as_rows_next(*rows, &err)) > 0) {
        push_row(L, *rows);
        lua_rawseti(L, -2, ++n);
    }
    as_rows_close(rows);
    return rc < 0 ? as_script_fail(L, &err) : 1;
}

static int experiment_query(lua_State *L)
{
    return list_rows(L, luaL_checkstring(L, 2), 3);
}

/* Iterator. Its upvalues are the box of the rows, and the experiment, which must outlive them. */
static int next_row(lua_State *L)
{
    struct as_rows **rows = as_script_unbox(L, lua_upvalueindex(1));
    struct as_error err;
    const int rc = *rows ? as_rows_next(*rows, &err) : 0;
    if (rc < 0)
        return as_script_fail(L, &err);
    if (rc > 0)
        push_row(L, *rows);
    else {
        as_rows_close(rows);
        lua_pushnil(L);
    }
    return 1;
}

static int experiment_rows(lua_State *L)
{
    open_rows(L, luaL_checkstring(L, 2), 3);
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, next_row, 2);
    return 1;
}

/* ---- Runs and views -------------------------------------------------------------------------- */

static int experiment_path(lua_State *L)
{
    return as_script_push_text(L, as_experiment_path(experiment_of(L)->experiment));
}

static int experiment_runs(lua_State *L)
{
    return list_rows(L, "SELECT * FROM v_runs ORDER BY run_id", 2);
}

/* Pushes the rows of the run at index 2, or of the last run without one. */
static int rows_of_run(lua_State *L, const char *sql)
{
    lua_settop(L, 2);
    return list_rows(L, sql, 2);
}

#define OF_RUN " WHERE run_id = ifnull(?1, (SELECT max(run_id) FROM run))"

static int experiment_functions(lua_State *L)
{
    return rows_of_run(L, "SELECT * FROM v_functions" OF_RUN);
}

static int experiment_loops(lua_State *L)
{
    return rows_of_run(L, "SELECT * FROM v_loops" OF_RUN);
}

static int experiment_modules(lua_State *L)
{
    return rows_of_run(L, "SELECT * FROM v_modules" OF_RUN);
}

/* ---- Values of a metric ---------------------------------------------------------------------- */

static int64_t metric_of(lua_State *L, struct opened_experiment *it, const char *name)
{
    struct as_error err;
    struct as_rows **rows = as_script_box(L, sizeof(struct as_rows *), close_box_of_rows);
    if (as_rows_open(it->experiment, "SELECT metric_id FROM metric WHERE name = ?1", rows, &err) <
        0)
        as_script_fail(L, &err);
    as_rows_bind_text(*rows, 1, name);
    const int rc = as_rows_next(*rows, &err);
    const int64_t id = rc > 0 ? as_rows_integer(*rows, 0) : 0;
    as_rows_close(rows);
    if (rc < 0)
        as_script_fail(L, &err);
    if (rc == 0)
        luaL_error(L, "no metric is called '%s'; the table metric lists them", name);
    return id;
}

/* Method metric(name, [kind], [run]): pushes a table from object ids to values. */
static int experiment_metric(lua_State *L)
{
    struct opened_experiment *it = experiment_of(L);
    const char *name = luaL_checkstring(L, 2);
    const enum as_object_kind kind = as_object_kind_of(luaL_optstring(L, 3, "loop"));
    struct as_subject of = {.kind = kind, .run_id = luaL_optinteger(L, 4, 0)};
    struct as_error err;
    int rc;
    if (!kind)
        return luaL_argerror(L, 3, "no object is of this kind");
    const int64_t metric_id = metric_of(L, it, name);
    struct as_rows **rows = as_script_box(L, sizeof(struct as_rows *), close_box_of_rows);
    if (as_experiment_values(it->experiment, metric_id, &of, rows, &err) < 0)
        return as_script_fail(L, &err);
    lua_newtable(L);
    while ((rc = as_rows_next(*rows, &err)) > 0) {
        push_cell(L, *rows, 1);
        lua_rawseti(L, -2, as_rows_integer(*rows, 0));
    }
    as_rows_close(rows);
    return rc < 0 ? as_script_fail(L, &err) : 1;
}

/* ---- Code ------------------------------------------------------------------------------------ */

static struct as_catalogue *catalogue_of(lua_State *L, struct opened_experiment *it)
{
    const struct as_script_request *request = as_script_of(L)->request;
    const struct as_catalogue_options how = {.jobs = request->jobs};
    struct as_error err;
    if (!it->catalogue && as_catalogue_new(it->experiment, &how, &it->catalogue, &err) < 0)
        as_script_fail(L, &err);
    return it->catalogue;
}

/* Pushes the module of a row; each module is opened once. */
static void push_listed(lua_State *L, int64_t module_id)
{
    struct opened_experiment *it = experiment_of(L);
    struct as_catalogue_module *listed;
    struct as_error err;
    lua_getiuservalue(L, 1, 1);
    if (lua_rawgeti(L, -1, module_id) != LUA_TNIL) {
        lua_remove(L, -2);
        return;
    }
    lua_pop(L, 1);
    struct as_catalogue *catalogue = catalogue_of(L, it);
    if (as_catalogue_open_row(catalogue, module_id, 1, AS_CATALOGUE_ANALYSED, &listed, &err) < 0)
        as_script_fail(L, &err);
    if (!listed->object || !listed->program) {
        lua_pushstring(L, listed->trouble.code ? listed->trouble.text
                                               : "the module has no file that could be analysed");
        as_catalogue_close(catalogue, &listed);
        luaL_error(L, "%s", lua_tostring(L, -1));
    }
    as_script_lend_module(L, 1, catalogue, listed);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, module_id);
    lua_remove(L, -2);
}

static int experiment_module(lua_State *L)
{
    push_listed(L, luaL_checkinteger(L, 2));
    return 1;
}

/* Pushes the code of the loop `loop_id`. */
static int experiment_loop(lua_State *L)
{
    struct opened_experiment *it = experiment_of(L);
    const int64_t loop_id = luaL_checkinteger(L, 2);
    struct as_error err;
    struct as_rows **rows = as_script_box(L, sizeof(struct as_rows *), close_box_of_rows);
    if (as_rows_open(it->experiment,
                     "SELECT f.module_id, l.address, l.depth FROM loop l"
                     " JOIN function f USING (function_id) WHERE l.loop_id = ?1",
                     rows, &err) < 0)
        return as_script_fail(L, &err);
    as_rows_bind_integer(*rows, 1, loop_id);
    const int rc = as_rows_next(*rows, &err);
    const int64_t module_id = rc > 0 ? as_rows_integer(*rows, 0) : 0;
    const uint64_t address = rc > 0 ? (uint64_t)as_rows_integer(*rows, 1) : 0;
    const uint32_t depth = rc > 0 ? (uint32_t)as_rows_integer(*rows, 2) : 0;
    as_rows_close(rows);
    if (rc < 0)
        return as_script_fail(L, &err);
    if (rc == 0)
        return luaL_argerror(L, 2, "no loop of the experiment has this number");
    push_listed(L, module_id);
    lua_replace(L, 1); /* as_script_push uses the module at index 1 */
    const struct as_script_module *module = lua_touserdata(L, 1);
    return as_script_push(L, AS_SCRIPT_LOOP,
                          as_catalogue_find_loop(module->listed, address, depth));
}

static const struct as_script_field experiment_fields[] = {
    {"path", "text", "its directory, as it was given", experiment_path},
    {"runs", "list of row", "of v_runs, in order", experiment_runs},
    {"functions", "([run]) list of row", "of v_functions; without a run those of the last",
     experiment_functions},
    {"loops", "([run]) list of row", "of v_loops", experiment_loops},
    {"modules", "([run]) list of row", "of v_modules", experiment_modules},
    {"query", "(sql, ...) list of row",
     "rows of SQL that reads; further values are its parameters ?1, ?2, ...", experiment_query},
    {"rows", "(sql, ...) iterator", "the same one by one: for row in exp:rows(sql) do",
     experiment_rows},
    {"metric", "(name, [kind], [run]) table of number",
     "values by the number of the object; kind is loop where it is not given, or run, function, "
     "...",
     experiment_metric},
    {"module", "(module_id) module", "the code of a module that ran", experiment_module},
    {"loop", "(loop_id) loop or nil", "the code of a loop of the experiment", experiment_loop},
    {0}};

const struct as_script_kind as_script_experiment_kind = {
    "experiment",
    "What is known of runs. A row is a table from column to value; "
    "doc/reference/experiment-tables.md has all views and columns.",
    experiment_fields};
