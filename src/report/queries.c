/* SPDX-License-Identifier: Apache-2.0 */
#include "report/queries.h"

#include <assert.h>

#include "base/error.h"
#include "profile/profile.h"

/* clang-format off */
static const char *const query_sql[AS_QUERIES_N] = {
    [AS_QUERY_RUN_COUNTS] = "SELECT count(*), max(run_id), sum(run_id = ?1) FROM v_run_states",
    [AS_QUERY_RUNS_UNFINISHED] =
        "SELECT run_id, state FROM v_run_states WHERE ?1 IN (0, run_id)"
        " AND is_unfinished ORDER BY run_id",
    [AS_QUERY_RUNS_TO_ATTRIBUTE] =
        "SELECT run_id, is_unsummed FROM v_run_states WHERE is_unfinished"
        " ORDER BY run_id",
    [AS_QUERY_RUNS_WITHOUT_ADVICE] =
        "SELECT run_id FROM v_run_states WHERE has_samples AND NOT is_advised",
    [AS_QUERY_RUN_OF_COMMAND] =
        "SELECT run_id, ifnull(exit_code, -1), ifnull(exit_signal, 0) FROM v_run_states"
        " WHERE kind = 'profile' AND argv = ?1 ORDER BY run_id DESC LIMIT 1",
    [AS_QUERY_RUN_COMMAND] =
        "SELECT value FROM json_each((SELECT argv FROM v_run_states WHERE run_id = ?1))",
    [AS_QUERY_LAST_PROFILE] =
        "SELECT run_id, command, cwd FROM v_run_states WHERE kind = 'profile'"
        " AND ifnull(role, 'main') = 'main' ORDER BY run_id DESC LIMIT 1",
    [AS_QUERY_RANK_CPU_WAIT] =
        "SELECT ifnull(max(runnable_time_s), 0) FROM v_threads"
        " WHERE run_id = ?1 AND rank IS NOT NULL",
    [AS_QUERY_LOOP_PLACE] =
        "SELECT function, source_file, line FROM v_places"
        " WHERE object_kind = 'loop' AND object_id = ?1",
    [AS_QUERY_FUNCTION_PLACE] =
        "SELECT function, source_file, line FROM v_places"
        " WHERE object_kind = 'function' AND object_id = ?1",
    [AS_QUERY_CODE_PLACES] =
        "SELECT address, module, function, source_file, line FROM v_places"
        " WHERE object_kind = 'location' AND function IS NOT NULL ORDER BY address, object_id",
    [AS_QUERY_METRIC] = "SELECT 1 FROM v_metrics WHERE name = ?1",
    [AS_QUERY_TRACED_RUN] =
        "SELECT run_id, traced_id FROM (SELECT 0 AS place, run_id,"
        " ifnull(traced_run_id, run_id) AS traced_id FROM v_traces UNION ALL"
        " SELECT 1, run_id, run_id FROM v_run_states WHERE kind = 'trace')"
        " ORDER BY place, run_id DESC LIMIT 1",
    [AS_QUERY_TRACE_CLOCK] =
        "SELECT count(*) OVER (), machine, uncertain_s, drift, residual_s, drift IS NULL"
        " FROM v_trace_clocks WHERE run_id = ?1 AND related = 'measured'"
        " ORDER BY uncertain_s DESC LIMIT 1",
    [AS_QUERY_TRACE_SAMPLES] =
        "SELECT number, location, name, routine, ifnull(function, module),"
        " iif(source_file IS NULL, NULL, replace(source_file, rtrim(source_file,"
        " replace(source_file, '/', '')), '') || ':' || line), caller, n, time_s, share_pct"
        " FROM v_trace_samples WHERE run_id = ?1"
        " ORDER BY number, time_s DESC, function, line, caller",
    [AS_QUERY_TRACE_PARTIAL] =
        "SELECT 1 FROM v_flags WHERE run_id = ?1 AND name = '" AS_FLAG_TRACE_PARTIAL "'",
    [AS_QUERY_TRACE_FINDINGS] =
        "SELECT text, workaround FROM v_findings WHERE run_id = ?1"
        " AND rule IN ('late', 'waiting_in_turn', 'transfer', 'serialisation')"
        " ORDER BY rank",
    [AS_QUERY_TRACE_CAVEATS] =
        "SELECT text FROM v_flags WHERE run_id = ?1 AND name IN ('crashed',"
        " 'killed', 'failed', 'busy_host', 'trace_range', 'trace_ring', 'trace_off',"
        " 'trace_lost', 'trace_missed', 'trace_static', 'function_untraced',"
        " 'functions_untraced', 'functions_lost', 'functions_cost',"
        " 'worksharing_unseen', 'trace_not_simulated') ORDER BY name = 'busy_host', flag_id",
    [AS_QUERY_TRIES] =
        "SELECT name, title, what, verdict, said, n, base_s, ratio, ratio_low, ratio_high, gain_s,"
        " gain_low_s, gain_high_s, result, differs_by, command, why, rules, rank, run_id,"
        " variant_id FROM v_tries ORDER BY run_id, rank",
    [AS_QUERY_TRY_COUNT] = "SELECT count(*) FROM v_tries",
};
/* clang-format on */

const char *as_query_text(enum as_query query)
{
    assert((unsigned)query < AS_QUERIES_N && query_sql[query]);
    return query_sql[query];
}

int as_query_open(struct as_experiment *experiment, enum as_query query, struct as_rows **out,
                  struct as_error *err)
{
    return as_rows_open(experiment, as_query_text(query), out, err);
}

int as_query_open_of(struct as_experiment *experiment, enum as_query query, int64_t id,
                     struct as_rows **out, struct as_error *err)
{
    AS_TRY(as_query_open(experiment, query, out, err));
    as_rows_bind_integer(*out, 1, id);
    return 0;
}

int as_query_each(struct as_experiment *experiment, enum as_query query, int64_t id,
                  int (*each)(void *context, struct as_rows *row, struct as_error *err),
                  void *context, struct as_error *err)
{
    return as_rows_each(experiment, as_query_text(query), id, each, context, err);
}

/* ---- Views ----------------------------------------------------------------------------------- */

static void append_limit(const struct as_view_part *part, struct as_str *sql)
{
    if (part->limit)
        as_str_appendf(sql, " LIMIT %llu", (unsigned long long)part->limit);
}

/* Appends the conditions of the rows. Rows for every run have NULL or 0 as run. */
static void append_where(const struct as_view_part *part, struct as_str *sql)
{
    const char *const condition[] = {part->of_run ? "ifnull(run_id, 0) IN (0, ?1)" : NULL,
                                     part->by_region ? "name GLOB ?2" : NULL,
                                     part->iterations == AS_VIEW_WHOLE ? "iteration IS NULL"
                                     : part->iterations == AS_VIEW_ONE
                                         ? "?3 BETWEEN iteration AND iteration + calls_n - 1"
                                         : NULL};
    const char *joint = " WHERE ";
    for (size_t i = 0; i < sizeof condition / sizeof *condition; i++) {
        if (!condition[i])
            continue;
        as_str_appendf(sql, "%s%s", joint, condition[i]);
        joint = " AND ";
    }
}

void as_view_append_statement(const struct as_report_view *view, const struct as_view_part *part,
                              struct as_str *sql)
{
    as_str_appendz(sql, "SELECT ");
    if (!part->text)
        as_str_appendz(sql, "*");
    else if (part->with_run)
        as_str_appendz(sql, "run_id AS run, ");
    for (size_t i = 0; part->text && i < part->text_n; i++)
        as_str_appendf(sql, "%s%s AS \"%s\"", i ? ", " : "", part->text[i]->sql,
                       part->text[i]->title);
    as_str_appendf(sql, " FROM %s", view->from);
    append_where(part, sql);
    as_str_appendz(sql, " ORDER BY ");
    if (part->sort)
        as_str_appendf(sql, "%s IS NULL, %s%s, ", part->sort, part->sort,
                       part->is_falling ? " DESC" : "");
    as_str_appendz(sql, view->order);
    append_limit(part, sql);
}

void as_view_append_paths(const struct as_report_view *view, const struct as_view_part *part,
                          struct as_str *sql)
{
    as_str_appendz(sql, "SELECT run_id, callpath_id, inlining_id, parent_id, parent_inlining_id,"
                        " function || iif(is_inlined, ' (inlined)', ''), category");
    for (size_t i = 0; i < part->text_n; i++)
        as_str_appendf(sql, ", %s", part->text[i]->sql);
    as_str_appendf(sql, " FROM %s", view->from);
    if (part->of_run)
        as_str_appendz(sql, " WHERE run_id = ?1");
    as_str_appendf(sql, " ORDER BY %s", view->order);
    append_limit(part, sql);
}

int as_view_open_columns(struct as_experiment *experiment, const struct as_report_view *view,
                         struct as_rows **out, struct as_error *err)
{
    struct as_str sql = {0};
    as_str_appendf(&sql, "SELECT * FROM %s LIMIT 0", view->from);
    const int rc = sql.failed ? as_error_nomem(err, "the statement")
                              : as_rows_open(experiment, as_str_z(&sql), out, err);
    as_str_fini(&sql);
    return rc;
}
