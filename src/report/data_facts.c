/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the report data that are rows of one statement: environment, metrics, checks,
 * findings and caveats. Also writes the what-ifs with their curves.
 */
#include "report/data.h"

#include "base/error.h"
#include "report/facts.h"

static const char run_sql[] = "SELECT * FROM v_runs WHERE run_id = ?1";

static const char environment_sql[] =
    "SELECT name, value FROM run_environment WHERE run_id = ?1 ORDER BY name";

static const char overheads_sql[] =
    "SELECT part, cpu_ns / 1e9 AS cpu_s, wall_ns / 1e9 AS wall_s, origin FROM overhead"
    " WHERE run_id = ?1 ORDER BY overhead_id";

/*
 * Metrics of the run as an object. A value of the run itself precedes one that holds in all runs.
 * With max() the other columns come from the same row.
 */
const char as_facts_metrics_sql[] =
    "SELECT m.name, ifnull(m.title, m.name) AS title, ifnull(m.topic, 'other') AS \"group\","
    " m.unit, v.value AS \"quantity.value\", v.low, v.high, v.n, v.origin,"
    " m.better,"
    " CASE WHEN m.good IS NULL OR m.better = 'neither' THEN 'none'"
    "  WHEN m.better = 'higher' AND v.value >= m.good"
    "   OR m.better = 'lower' AND v.value <= m.good THEN 'good'"
    "  WHEN m.better = 'higher' AND v.value >= m.fair"
    "   OR m.better = 'lower' AND v.value <= m.fair THEN 'fair'"
    "  ELSE 'poor' END AS rating,"
    " m.good, m.fair, m.meaning, m.formula"
    " FROM (SELECT *, max(run_id) FROM value WHERE object_kind = 'run' AND object_id = ?1"
    "  AND run_id IN (0, ?1) GROUP BY metric_id) v JOIN metric m USING (metric_id)"
    " ORDER BY m.topic IS NULL, CASE m.topic WHEN 'time' THEN 1 WHEN 'parallel' THEN 2"
    "  WHEN 'code' THEN 3 ELSE 4 END, m.topic, m.position, m.name";

const char as_facts_checks_sql[] = "SELECT name, title, score, weight, state, text, advice"
                                   " FROM v_checks WHERE run_id = ?1 ORDER BY position, name";

const char as_facts_findings_sql[] =
    "SELECT rank, level, topic, rule, object_kind AS object, object_id AS id, text, workaround,"
    " command,"
    " gain_s AS \"gain_s.value\", gain_low_s, gain_high_s, ifnull(gain_n, 0), gain_origin, time_s,"
    " measured, more FROM " AS_FACTS_FINDINGS;

/* Tries of the run. For a run that is itself a try they are those of the unchanged program. */
static const char tries_sql[] =
    "SELECT rank, name, title, what, verdict, said, n, base_s, ratio, ratio_low, ratio_high,"
    " gain_s AS \"gain_s.value\", gain_low_s, gain_high_s, n, 'measured' AS origin, result,"
    " differs_by, command, why FROM v_tries WHERE run_id IN (?1,"
    " (SELECT reference_id FROM run WHERE run_id = ?1)) ORDER BY rank";

static const char balance_sql[] =
    "SELECT over, is_main, n, min_s, mean_s, max_s, balance_pct FROM v_balance WHERE run_id = ?1"
    " ORDER BY is_main DESC";

static const char flags_sql[] =
    "SELECT object_kind AS object, object_id AS id, name, n, text FROM v_flags"
    " WHERE ifnull(run_id, 0) IN (0, ?1) ORDER BY " AS_FACTS_GRAVEST ", n DESC, flag_id";

/* ---- What-ifs ----------------------------------------------------------------------------- */

static const char what_ifs_sql[] =
    "SELECT name, title, meaning, object_kind AS object,"
    " speedup AS \"speedup.value\", speedup_low, speedup_high, n, origin,"
    " gain_s AS \"gain_s.value\", gain_low_s, gain_high_s, n, origin, to_80_n"
    " FROM v_what_ifs WHERE run_id = ?1 ORDER BY position, name";

static const char *const object_sql[][2] = {
    {"id", "SELECT object_id FROM v_what_if_objects WHERE run_id = ?1 AND name = ?2"
           " ORDER BY position"},
    {"each_s", "SELECT gain_s FROM v_what_if_objects WHERE run_id = ?1 AND name = ?2"
               " ORDER BY position"},
    {"cumulative", "SELECT speedup FROM v_what_if_objects WHERE run_id = ?1 AND name = ?2"
                   " ORDER BY position"},
};

/* Writes one member of all objects of a what-if as an array. */
static int write_list(struct as_document *document, const char *const what[2], const char *name,
                      struct as_error *err)
{
    struct as_rows *rows;
    int more;

    AS_TRY(as_rows_open(document->experiment, what[1], &rows, err));
    as_rows_bind_integer(rows, 1, document->run_id);
    as_rows_bind_text(rows, 2, name);
    as_json_key(&document->json, what[0]);
    as_json_array_begin(&document->json);
    while ((more = as_rows_next(rows, err)) > 0) {
        if (as_rows_kind(rows, 0) == AS_SQL_CELL_INTEGER)
            as_json_i64(&document->json, as_rows_integer(rows, 0));
        else
            as_json_double(&document->json, as_rows_real(rows, 0));
    }
    if (more == 0)
        as_json_array_end(&document->json);
    as_rows_close(&rows);
    return more;
}

static int write_what_if(struct as_document *document, struct as_rows *rows, struct as_error *err)
{
    as_json_object_begin(&document->json);
    as_data_row(&document->json, rows);
    for (size_t i = 0; i < sizeof object_sql / sizeof *object_sql; i++)
        AS_TRY(write_list(document, object_sql[i], as_rows_text(rows, 0), err));
    as_json_object_end(&document->json);
    return 0;
}

static int write_what_ifs(struct as_document *document, struct as_error *err)
{
    struct as_rows *rows;
    int more, rc = 0;

    AS_TRY(as_rows_open(document->experiment, what_ifs_sql, &rows, err));
    as_rows_bind_integer(rows, 1, document->run_id);
    as_json_key(&document->json, "what_ifs");
    as_json_array_begin(&document->json);
    while (rc == 0 && (more = as_rows_next(rows, err)) != 0)
        rc = more < 0 ? more : write_what_if(document, rows, err);
    if (rc == 0)
        as_json_array_end(&document->json);
    as_rows_close(&rows);
    return rc;
}

int as_data_facts(struct as_document *document, struct as_error *err)
{
    AS_TRY(as_data_rows(document, "run", run_sql, true, err));
    AS_TRY(as_data_rows(document, "environment", environment_sql, false, err));
    AS_TRY(as_data_rows(document, "overheads", overheads_sql, false, err));
    AS_TRY(as_data_rows(document, "metrics", as_facts_metrics_sql, false, err));
    AS_TRY(as_data_rows(document, "balance", balance_sql, false, err));
    AS_TRY(write_what_ifs(document, err));
    AS_TRY(as_data_rows(document, "checks", as_facts_checks_sql, false, err));
    AS_TRY(as_data_rows(document, "findings", as_facts_findings_sql, false, err));
    AS_TRY(as_data_rows(document, "tries", tries_sql, false, err));
    return as_data_rows(document, "flags", flags_sql, false, err);
}
