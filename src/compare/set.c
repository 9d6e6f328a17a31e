/* SPDX-License-Identifier: Apache-2.0 */
/* Reads runs, and the costs of objects in them, into arrays. */
#include "compare/set.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/index.h"
#include "base/str.h"
#include "compare/statistics.h"

void as_set_init(struct as_set *set)
{
    *set = (struct as_set){0};
    as_arena_init(&set->arena);
    as_map_u64_init(&set->index);
}

void as_set_fini(struct as_set *set)
{
    as_arena_fini(&set->arena);
    as_map_u64_fini(&set->index);
    as_vec_fini(&set->run);
    as_vec_fini(&set->object);
    as_vec_fini(&set->metric);
}

char *as_set_text(struct as_arena *arena, const char *text)
{
    return text ? as_arena_strndup(arena, text, strlen(text)) : NULL;
}

const char *as_set_column(struct as_set *set, struct as_rows *rows, int column)
{
    const char *there = as_rows_text(rows, column);
    const char *copy = as_set_text(&set->arena, there);
    set->failed |= there && !copy;
    return copy;
}

int as_set_each(struct as_set *set, struct as_experiment *experiment, const char *sql,
                int64_t parameter, size_t run,
                int (*take)(struct as_set *, struct as_rows *, size_t), struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(experiment, sql, &rows, err));
    as_rows_bind_integer(rows, 1, parameter);
    int rc;
    while ((rc = as_rows_next(rows, err)) > 0) {
        if (take(set, rows, run) < 0 || set->failed) {
            rc = as_error_nomem(err, "what is compared");
            break;
        }
    }
    as_rows_close(&rows);
    return rc;
}

/* ---- Runs ---------------------------------------------------------------------------------- */

#define SETTING(name)                                                                              \
    "(SELECT CAST(value AS INTEGER) FROM v_values v WHERE v.metric = '" name                       \
    "' AND v.object_kind = 'run' AND v.object_id = r.run_id)"

/* clang-format off */
static const char run_sql[] =
    "SELECT r.run_id, r.kind, r.label, r.command, r.host, r.event, r.rate_hz, r.wall_s,"
    " r.sampled_time_s, r.sample_n, r.state = 'complete',"
    " ifnull(r.exit_signal, 0) != 0 OR ifnull(r.exit_code, 0) != 0, h.cpu_n,"
    " " SETTING("scale_nodes") ", " SETTING("scale_processes") ", " SETTING("scale_threads") ","
    " " SETTING("scale_weak") ", " SETTING("scale_reference") ","
    " (SELECT group_concat(name || char(31) || value, char(30)) FROM"
    "   (SELECT name, value FROM run_setting s WHERE s.run_id = r.run_id ORDER BY name))"
    " FROM v_runs r LEFT JOIN run x USING (run_id) LEFT JOIN host h ON h.host_id = x.host_id"
    " WHERE ?1 = 0 ORDER BY r.run_id";
/* clang-format on */

static int read_set_run(struct as_set *set, struct as_rows *rows, size_t unused)
{
    (void)unused;
    const bool timed = as_rows_kind(rows, 7) != AS_SQL_CELL_NULL;
    return as_vec_push(&set->run,
                       (struct as_run){.id = as_rows_integer(rows, 0),
                                       .kind = as_set_column(set, rows, 1),
                                       .label = as_set_column(set, rows, 2),
                                       .command = as_set_column(set, rows, 3),
                                       .host = as_set_column(set, rows, 4),
                                       .event = as_set_column(set, rows, 5),
                                       .rate_hz = as_rows_integer(rows, 6),
                                       .wall_s = timed ? as_rows_real(rows, 7) : NAN,
                                       .sampled_s = as_rows_real(rows, 8),
                                       .sample_n = as_rows_integer(rows, 9),
                                       .is_over = as_rows_integer(rows, 10) && timed,
                                       .is_failed = as_rows_integer(rows, 11) != 0,
                                       .cpu_n = as_rows_integer(rows, 12),
                                       .setting = as_set_column(set, rows, 18),
                                       .scale = {.nodes = as_rows_integer(rows, 13),
                                                 .processes = as_rows_integer(rows, 14),
                                                 .threads = as_rows_integer(rows, 15),
                                                 .weak = as_rows_integer(rows, 16) != 0,
                                                 .is_reference = as_rows_integer(rows, 17) != 0}});
}

int as_set_runs(struct as_set *set, struct as_experiment *experiment, struct as_error *err)
{
    return as_set_each(set, experiment, run_sql, 0, 0, read_set_run, err);
}

void as_set_choose(struct as_set *set, bool (*keep)(const struct as_run *, void *), void *context)
{
    size_t n = 0;
    as_vec_foreach (&set->run, it)
        if (keep(it, context))
            set->run.at[n++] = *it;
    set->run.n = n;
}

/* ---- Costs --------------------------------------------------------------------------------- */

static uint64_t key_of(enum as_object_kind kind, int64_t id)
{
    return (uint64_t)kind << 56 | (uint64_t)id;
}

uint32_t as_set_find(const struct as_set *set, enum as_object_kind kind, int64_t id)
{
    return as_map_u64_get(&set->index, key_of(kind, id));
}

/* Returns the object with this kind and id, which is added if it is new; NULL without memory. */
static struct as_compared_object *object_of(struct as_set *set, enum as_object_kind kind,
                                            int64_t id)
{
    uint32_t at = as_set_find(set, kind, id);
    if (at == AS_MAP_NONE) {
        struct as_cost *cost = as_arena_array(&set->arena, struct as_cost, set->run.n);
        at = (uint32_t)set->object.n;
        if (!cost ||
            as_vec_push(&set->object, (struct as_compared_object){.kind = kind,
                                                                  .id = id,
                                                                  .name = "?",
                                                                  .module = "",
                                                                  .where = "",
                                                                  .instruction_n = -1,
                                                                  .cost = cost}) < 0 ||
            as_map_u64_put(&set->index, key_of(kind, id), at) < 0)
            return NULL;
    }
    return &set->object.at[at];
}

/* Kinds of objects as in enum as_object_kind: functions of the source, loops, categories. */
static const char cost_sql[] =
    "WITH " AS_SET_SOURCE_SQL ", spent AS (SELECT iif(t.object_kind = 'frame', 'function',"
    "   t.object_kind) AS kind, ifnull(s.as_id, t.object_id) AS id, t.thread_id,"
    "   sum(t.exclusive_n) AS n, sum(t.exclusive_ns) AS ns FROM thread_time t"
    "  LEFT JOIN source s ON t.object_kind IN ('frame', 'function') AND s.id = t.object_id"
    "  WHERE t.run_id = ?1 AND t.object_kind IN ('frame', 'function', 'loop', 'category')"
    "   AND " AS_SET_IS_FRAME_SQL " GROUP BY 1, 2, 3)"
    " SELECT kind, id, sum(n), sum(ns), max(ns), n FROM spent"
    " GROUP BY kind, id HAVING sum(n) > 0";

static int read_set_cost(struct as_set *set, struct as_rows *rows, size_t run)
{
    struct as_compared_object *it =
        object_of(set, as_object_kind_of(as_rows_text(rows, 0)), as_rows_integer(rows, 1));
    if (!it)
        return AS_ERR_NOMEM;
    it->cost[run] = (struct as_cost){.time_s = (double)as_rows_integer(rows, 3) / 1e9,
                                     .thread_s = (double)as_rows_integer(rows, 4) / 1e9,
                                     .sample_n = as_rows_integer(rows, 2),
                                     .thread_sample_n = as_rows_integer(rows, 5)};
    return 0;
}

/* ---- Names --------------------------------------------------------------------------------- */

static const char *place_of(struct as_set *set, const struct as_compared_object *it)
{
    struct as_str where = {0};
    if (!it->file)
        return it->module;
    as_str_appendf(&where, "%s:%lld", it->file, (long long)it->line);
    if (it->last_line > it->line)
        as_str_appendf(&where, "-%lld", (long long)it->last_line);
    if (it->role && strcmp(it->role, "main") != 0)
        as_str_appendf(&where, " %s", it->role);
    const char *copy = where.failed ? NULL : as_set_text(&set->arena, as_str_z(&where));
    as_str_fini(&where);
    return copy ? copy : "";
}

static const char function_sql[] =
    "SELECT f.function_id, f.name, f.linkage_name, m.name, s.path, l.number, f.address"
    " FROM function f JOIN module m USING (module_id) LEFT JOIN line l USING (line_id)"
    " LEFT JOIN source_file s USING (source_file_id) WHERE ?1 = 0";

static int read_set_function(struct as_set *set, struct as_rows *rows, size_t unused)
{
    (void)unused;
    const uint32_t at = as_set_find(set, AS_OBJECT_FUNCTION, as_rows_integer(rows, 0));
    if (at == AS_MAP_NONE)
        return 0;
    struct as_compared_object *it = &set->object.at[at];
    it->name = as_set_column(set, rows, 1);
    it->linkage = as_set_column(set, rows, 2);
    it->module = as_set_column(set, rows, 3);
    it->file = as_path_last(as_set_column(set, rows, 4));
    it->line = as_rows_integer(rows, 5);
    it->address = as_rows_integer(rows, 6);
    it->function_id = it->id;
    it->where = place_of(set, it);
    return it->name && it->module ? 0 : AS_ERR_NOMEM;
}

/* Function and depth of a loop are those in the source, even if the function is inlined. */
#define LOOP_DEPTH_SQL                                                                             \
    "o.depth - ifnull((WITH RECURSIVE up (parent_id, inlining_id, depth) AS ("                     \
    "  SELECT parent_id, inlining_id, depth FROM loop WHERE loop_id = o.parent_id"                 \
    "  UNION SELECT p.parent_id, p.inlining_id, p.depth FROM up u"                                 \
    "  JOIN loop p ON p.loop_id = u.parent_id WHERE u.inlining_id IS o.inlining_id)"               \
    " SELECT max(depth) FROM up WHERE inlining_id IS NOT o.inlining_id), 0)"

static const char loop_sql[] =
    "WITH " AS_SET_SOURCE_SQL ", nested AS (SELECT o.*, x.as_id, " LOOP_DEPTH_SQL " AS level"
    "  FROM loop o LEFT JOIN inlining i USING (inlining_id)"
    "  JOIN source x ON x.id = ifnull(i.inlined_id, o.function_id))"
    " SELECT o.loop_id, f.name, m.name, s.path, l.number, e.number, o.address, o.level, o.role,"
    " o.instruction_n, f.function_id,"
    " row_number() OVER (PARTITION BY f.function_id, o.level, o.role ORDER BY o.address),"
    " count(*) OVER (PARTITION BY f.function_id, o.level, o.role)"
    " FROM nested o JOIN function f ON f.function_id = o.as_id"
    " JOIN module m USING (module_id) LEFT JOIN line l ON l.line_id = o.first_line_id"
    " LEFT JOIN line e ON e.line_id = o.last_line_id"
    " LEFT JOIN source_file s ON s.source_file_id = l.source_file_id WHERE ?1 = 0";

static int read_set_loop(struct as_set *set, struct as_rows *rows, size_t unused)
{
    (void)unused;
    const uint32_t at = as_set_find(set, AS_OBJECT_LOOP, as_rows_integer(rows, 0));
    if (at == AS_MAP_NONE)
        return 0;
    struct as_compared_object *it = &set->object.at[at];
    const bool counted = as_rows_kind(rows, 9) != AS_SQL_CELL_NULL;
    it->name = as_set_column(set, rows, 1);
    it->module = as_set_column(set, rows, 2);
    it->file = as_path_last(as_set_column(set, rows, 3));
    it->line = as_rows_integer(rows, 4);
    it->last_line = as_rows_integer(rows, 5);
    it->address = as_rows_integer(rows, 6);
    it->depth = as_rows_integer(rows, 7);
    it->role = as_set_column(set, rows, 8);
    it->instruction_n = counted ? as_rows_integer(rows, 9) : -1;
    it->function_id = as_rows_integer(rows, 10);
    it->ordinal = as_rows_integer(rows, 11);
    it->sibling_n = as_rows_integer(rows, 12);
    it->where = place_of(set, it);
    return it->name && it->module ? 0 : AS_ERR_NOMEM;
}

static const char category_sql[] =
    "SELECT category_id, ifnull(title, name) FROM category WHERE ?1 = 0";

static int read_set_category(struct as_set *set, struct as_rows *rows, size_t unused)
{
    (void)unused;
    const uint32_t at = as_set_find(set, AS_OBJECT_CATEGORY, as_rows_integer(rows, 0));
    if (at == AS_MAP_NONE)
        return 0;
    set->object.at[at].name = as_set_column(set, rows, 1);
    return set->object.at[at].name ? 0 : AS_ERR_NOMEM;
}

/* Adds the functions of loops that have no time of their own. */
static int add_functions_of_loops(struct as_set *set, struct as_error *err)
{
    for (size_t i = 0; i < set->object.n; i++) {
        const struct as_compared_object *it = &set->object.at[i];
        if (it->kind == AS_OBJECT_LOOP && it->function_id &&
            !object_of(set, AS_OBJECT_FUNCTION, it->function_id))
            return as_error_nomem(err, "what is compared");
    }
    return 0;
}

int as_set_objects(struct as_set *set, struct as_experiment *experiment, struct as_error *err)
{
    for (size_t i = 0; i < set->run.n; i++)
        AS_TRY(as_set_each(set, experiment, cost_sql, set->run.at[i].id, i, read_set_cost, err));
    AS_TRY(as_set_each(set, experiment, loop_sql, 0, 0, read_set_loop, err));
    AS_TRY(add_functions_of_loops(set, err));
    AS_TRY(as_set_each(set, experiment, function_sql, 0, 0, read_set_function, err));
    return as_set_each(set, experiment, category_sql, 0, 0, read_set_category, err);
}

/* ---- Code ---------------------------------------------------------------------------------- */

/* Returns the length of the operation of an instruction: its prefixes and its mnemonic. */
static size_t operation_n(const char *text)
{
    static const char *const prefix[] = {"lock",  "rep", "repe",    "repne", "repz",
                                         "repnz", "bnd", "notrack", "data16"};
    size_t from = 0, n = strcspn(text, " ");
    for (size_t i = 0; text[n] && i < sizeof prefix / sizeof *prefix; i++) {
        if (strlen(prefix[i]) == n - from && memcmp(text + from, prefix[i], n - from) == 0) {
            from = n + 1;
            n = from + strcspn(text + from, " ");
            i = (size_t)-1;
        }
    }
    return n;
}

static void add_operation(struct as_set *set, enum as_object_kind kind, int64_t id,
                          const char *text)
{
    const uint32_t at = id ? as_set_find(set, kind, id) : AS_MAP_NONE;
    if (at == AS_MAP_NONE)
        return;
    struct as_compared_object *it = &set->object.at[at];
    const size_t n = operation_n(text);
    it->own_n++;
    for (size_t i = 0; i <= n; i++) /* the end of a word is part of the digest */
        it->digest = as_hash_mix(it->digest, i < n ? (uint8_t)text[i] : 0x100);
}

static int read_set_code(struct as_set *set, struct as_rows *rows, size_t unused)
{
    (void)unused;
    const char *operation = as_rows_text(rows, 2);
    if (operation) {
        add_operation(set, AS_OBJECT_FUNCTION, as_rows_integer(rows, 0), operation);
        add_operation(set, AS_OBJECT_LOOP, as_rows_integer(rows, 1), operation);
    }
    return 0;
}

int as_set_code(struct as_set *set, struct as_experiment *experiment, struct as_error *err)
{
    return as_set_each(set, experiment,
                       "SELECT function_id, loop_id, text FROM disassembly WHERE ?1 = 0"
                       " ORDER BY module_id, address",
                       0, 0, read_set_code, err);
}
