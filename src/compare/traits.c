/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads static properties of functions and loops: compiler and flags of their units, metrics of
 * analyses (packed share, paths, accesses), versions of a loop, and called categories. differs.c
 * compares them between sides.
 */
#include <string.h>

#include "base/error.h"
#include "compare/set.h"

static struct as_compared_object *known_object(struct as_set *set, enum as_object_kind kind,
                                               int64_t id)
{
    const uint32_t at = as_set_find(set, kind, id);
    return at == AS_MAP_NONE ? NULL : &set->object.at[at];
}

/* ---- Units --------------------------------------------------------------------------------- */

/* An inlined function has compiler and flags of the function that contains it. */
static const char unit_sql[] =
    "SELECT i.inlined_id, u.compiler || ifnull(' ' || u.compiler_version, ''), u.flags"
    " FROM inlining i JOIN function f USING (function_id) JOIN unit u USING (unit_id)"
    " WHERE ?1 = 0 UNION ALL"
    " SELECT f.function_id, u.compiler || ifnull(' ' || u.compiler_version, ''), u.flags"
    " FROM function f JOIN unit u USING (unit_id) WHERE ?1 = 0";

static int read_unit_trait(struct as_set *set, struct as_rows *rows, size_t unused)
{
    struct as_compared_object *it = known_object(set, AS_OBJECT_FUNCTION, as_rows_integer(rows, 0));
    (void)unused;
    if (it) {
        it->compiler = as_set_column(set, rows, 1);
        it->flags = as_set_column(set, rows, 2);
    }
    return 0;
}

/* A loop has compiler and flags of its function. */
static void copy_units_to_loops(struct as_set *set)
{
    as_vec_foreach (&set->object, it) {
        const struct as_compared_object *function =
            it->kind == AS_OBJECT_LOOP ? known_object(set, AS_OBJECT_FUNCTION, it->function_id)
                                       : NULL;
        if (function) {
            it->compiler = function->compiler;
            it->flags = function->flags;
        }
    }
}

/* ---- Versions of loops --------------------------------------------------------------------- */

static const char version_sql[] =
    "SELECT o.loop_id, v.versions FROM loop o JOIN (SELECT source,"
    "  group_concat(iif(n > 1, n || ' ', '') || role, ' + ') AS versions"
    "  FROM (SELECT coalesce(source_loop_id, loop_id) AS source, role, count(*) AS n FROM loop"
    "    WHERE role IS NOT NULL GROUP BY 1, 2 ORDER BY 1, role != 'main', role) GROUP BY source)"
    " v ON v.source = coalesce(o.source_loop_id, o.loop_id) WHERE ?1 = 0";

static int read_versions_trait(struct as_set *set, struct as_rows *rows, size_t unused)
{
    struct as_compared_object *it = known_object(set, AS_OBJECT_LOOP, as_rows_integer(rows, 0));
    (void)unused;
    if (it)
        it->versions = as_set_column(set, rows, 1);
    return 0;
}

/* ---- Static metrics ------------------------------------------------------------------------ */

/* Metrics of the topic `options` are left out: they rate the flags, which are compared already. */
static const char metric_sql[] =
    "SELECT metric_id, name, ifnull(title, name), unit, ifnull(topic, ''), better = 'neither'"
    " FROM metric m WHERE ?1 = 0 AND ifnull(topic, '') != 'options' AND (EXISTS (SELECT 1"
    "   FROM value v WHERE v.metric_id = m.metric_id AND v.object_kind IN ('function', 'loop'))"
    "  OR EXISTS (SELECT 1 FROM metric_set_column c JOIN metric_set s USING (metric_set_id)"
    "   WHERE c.metric_id = m.metric_id AND s.object_kind IN ('function', 'loop')))"
    " ORDER BY topic, position, metric_id";

static int read_code_metric(struct as_set *set, struct as_rows *rows, size_t unused)
{
    struct as_code_metric *it = as_arena_array(&set->arena, struct as_code_metric, 1);
    (void)unused;
    if (!it)
        return AS_ERR_NOMEM;
    *it = (struct as_code_metric){.id = as_rows_integer(rows, 0),
                                  .name = as_set_column(set, rows, 1),
                                  .title = as_set_column(set, rows, 2),
                                  .unit = as_set_column(set, rows, 3),
                                  .topic = as_set_column(set, rows, 4),
                                  .is_neutral = as_rows_integer(rows, 5) != 0};
    return as_vec_push(&set->metric, it);
}

static enum as_origin origin_of_word(const char *word)
{
#define ORIGIN_OF(name, number, text)                                                              \
    if (word && strcmp(word, text) == 0)                                                           \
        return AS_ORIGIN_##name;
    AS_ORIGIN_LIST(ORIGIN_OF)
#undef ORIGIN_OF
    return AS_ORIGIN_DERIVED;
}

/* A value of this run follows that of all runs, and replaces it. */
static int read_code_value(struct as_set *set, const struct as_code_metric *metric,
                           enum as_object_kind kind, struct as_rows *rows)
{
    struct as_compared_object *it = known_object(set, kind, as_rows_integer(rows, 0));
    struct as_code_value *value = it ? it->value : NULL;
    if (!it)
        return 0;
    while (value && value->metric != metric)
        value = value->next;
    if (!value) {
        value = as_arena_array(&set->arena, struct as_code_value, 1);
        if (!value)
            return AS_ERR_NOMEM;
        *value = (struct as_code_value){.next = it->value, .metric = metric};
        it->value = value;
    }
    value->value = (struct as_bounded_value){.value = as_rows_real(rows, 1),
                                             .low = as_rows_real(rows, 2),
                                             .high = as_rows_real(rows, 3),
                                             .n = as_rows_integer(rows, 4),
                                             .origin = (int)origin_of_word(as_rows_text(rows, 5))};
    return 0;
}

static int read_values(struct as_set *set, struct as_experiment *experiment,
                       const struct as_code_metric *metric, enum as_object_kind kind,
                       struct as_error *err)
{
    const struct as_subject of = {.kind = kind, .run_id = set->run.n ? set->run.at[0].id : 0};
    struct as_rows *rows;
    int rc;
    AS_TRY(as_experiment_values(experiment, metric->id, &of, &rows, err));
    while ((rc = as_rows_next(rows, err)) > 0)
        if (read_code_value(set, metric, kind, rows) < 0) {
            rc = as_error_nomem(err, "what is compared");
            break;
        }
    as_rows_close(&rows);
    return rc;
}

static int read_all_values(struct as_set *set, struct as_experiment *experiment,
                           struct as_error *err)
{
    AS_TRY(as_set_each(set, experiment, metric_sql, 0, 0, read_code_metric, err));
    as_vec_foreach (&set->metric, it) {
        AS_TRY(read_values(set, experiment, *it, AS_OBJECT_FUNCTION, err));
        AS_TRY(read_values(set, experiment, *it, AS_OBJECT_LOOP, err));
    }
    return 0;
}

/* ---- Calls --------------------------------------------------------------------------------- */

static const char inclusive_sql[] =
    "WITH " AS_SET_SOURCE_SQL " SELECT iif(t.object_kind = 'loop', 'loop', 'function'),"
    " iif(t.object_kind = 'loop', t.object_id, s.as_id), t.inclusive_n"
    " FROM object_time t LEFT JOIN source s ON s.id = t.object_id WHERE t.run_id = ?1"
    " AND t.object_kind IN ('function', 'frame', 'loop') AND " AS_SET_IS_FRAME_SQL;

static int add_inclusive_count(struct as_set *set, struct as_rows *rows, size_t unused)
{
    struct as_compared_object *it =
        known_object(set, as_object_kind_of(as_rows_text(rows, 0)), as_rows_integer(rows, 1));
    (void)unused;
    if (it)
        it->inclusive_n += as_rows_integer(rows, 2);
    return 0;
}

/* Samples in direct callees of a function or loop, by category, without its own category. */
static const char called_sql[] =
    "WITH " AS_SET_SOURCE_SQL
    " SELECT s.as_id, l.loop_id, g.name, ifnull(g.title, g.name), sum(t.inclusive_n)"
    " FROM callpath_time t JOIN callpath c USING (callpath_id)"
    " JOIN callpath p ON p.callpath_id = c.parent_id"
    " JOIN category g ON g.category_id = c.category_id"
    " LEFT JOIN location l ON l.location_id = c.call_location_id"
    " LEFT JOIN inlining i USING (inlining_id)"
    " JOIN source s ON s.id = ifnull(i.inlined_id, p.function_id)"
    " WHERE t.run_id = ?1 AND c.category_id IS NOT p.category_id"
    " AND c.function_id != p.function_id GROUP BY 1, 2, 3";

static int add_called(struct as_set *set, struct as_compared_object *it, struct as_rows *rows)
{
    struct as_called *called = it ? it->called : NULL;
    const char *name = as_rows_text(rows, 2);
    if (!it || !name)
        return 0;
    while (called && strcmp(called->name, name) != 0)
        called = called->next;
    if (!called) {
        called = as_arena_array(&set->arena, struct as_called, 1);
        if (!called)
            return AS_ERR_NOMEM;
        *called = (struct as_called){.next = it->called,
                                     .name = as_set_column(set, rows, 2),
                                     .title = as_set_column(set, rows, 3)};
        if (set->failed)
            return AS_ERR_NOMEM;
        it->called = called;
    }
    called->sample_n += as_rows_integer(rows, 4);
    return 0;
}

static int add_called_of_row(struct as_set *set, struct as_rows *rows, size_t unused)
{
    (void)unused;
    if (add_called(set, known_object(set, AS_OBJECT_FUNCTION, as_rows_integer(rows, 0)), rows) < 0)
        return AS_ERR_NOMEM;
    return add_called(set, known_object(set, AS_OBJECT_LOOP, as_rows_integer(rows, 1)), rows);
}

int as_set_traits(struct as_set *set, struct as_experiment *experiment, struct as_error *err)
{
    AS_TRY(as_set_each(set, experiment, unit_sql, 0, 0, read_unit_trait, err));
    copy_units_to_loops(set);
    AS_TRY(as_set_each(set, experiment, version_sql, 0, 0, read_versions_trait, err));
    AS_TRY(read_all_values(set, experiment, err));
    for (size_t i = 0; i < set->run.n; i++) {
        AS_TRY(as_set_each(set, experiment, inclusive_sql, set->run.at[i].id, i,
                           add_inclusive_count, err));
        AS_TRY(
            as_set_each(set, experiment, called_sql, set->run.at[i].id, i, add_called_of_row, err));
    }
    return 0;
}
