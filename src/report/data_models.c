/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models of a traced run: its simulations on other machines, and its scaling model
 * (doc/reference/report-data.md). Bounded: so many simulations have time lines, of so many threads.
 */
#include "report/data.h"

#include "base/error.h"

/* The recorded run of the run ?1: itself, or that which it simulates. */
#define RECORDED                                                                                   \
    "(SELECT iif(role IS 'simulation', reference_id, run_id) FROM run WHERE run_id = ?1)"
#define SIMULATED "FROM v_simulations WHERE recorded_run_id = " RECORDED

#define LINES_MOST   "8"
#define THREADS_MOST "64"

/* Runs that have a time line: the recorded one, and simulated ones, that of the report first. */
#define OF_LINES                                                                                   \
    "(run_id = " RECORDED " OR run_id IN (SELECT run_id " SIMULATED                                \
    " ORDER BY run_id <> ?1, run_id LIMIT " LINES_MOST "))"

static const char recorded_sql[] =
    "SELECT recorded_run_id, recorded_time_s, ideal_time_s " SIMULATED " ORDER BY run_id DESC";

static const char simulations_sql[] =
    "SELECT run_id, label, settings, time_s, ratio, parallel_pct " SIMULATED " ORDER BY run_id";

static const char settings_sql[] =
    "SELECT run_id, name, value FROM v_simulation_settings WHERE recorded_run_id = " RECORDED
    " ORDER BY run_id, name";

static const char traces_sql[] = "SELECT run_id, elapsed_s, bin_s, bin_n FROM v_traces"
                                 " WHERE " OF_LINES " ORDER BY run_id";

static const char lanes_sql[] =
    "SELECT run_id, number, location FROM v_trace_locations WHERE " OF_LINES
    " AND number < " THREADS_MOST " ORDER BY run_id, number";

static const char lines_sql[] =
    "SELECT run_id, number, name, title, bins FROM v_trace_timeline WHERE " OF_LINES
    " AND number < " THREADS_MOST " ORDER BY run_id, number, position";

static const char model_sql[] =
    "SELECT kind, is_given, is_doubtful, work, growth, size_n, lowest FROM v_scalings"
    " WHERE run_id = ?1";

static const char factors_sql[] =
    "SELECT part, factor, title, depth, size, trace_n, value, low, high FROM v_scaling_factors"
    " WHERE run_id = ?1 ORDER BY part, position, place";

static const char laws_sql[] =
    "SELECT factor, title, law, formula, a, f, error, used_law, used_value, rival_law, rival_value"
    " FROM v_scaling_laws WHERE run_id = ?1 ORDER BY position";

struct model_part {
    const char *key, *sql;
    bool is_one;
};

static int has_model(struct as_document *document, const char *sql, bool *has, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(document->experiment, sql, &rows, err));
    as_rows_bind_integer(rows, 1, document->run_id);
    const int rc = as_rows_next(rows, err);
    *has = rc > 0;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* The key with its parts, or null where the first rows are missing. */
static int write_model(struct as_document *document, const char *key, const char *needed,
                       const struct model_part *part, size_t part_n, struct as_error *err)
{
    bool has;
    AS_TRY(has_model(document, needed, &has, err));
    as_json_key(&document->json, key);
    if (!has) {
        as_json_null(&document->json);
        return 0;
    }
    as_json_object_begin(&document->json);
    for (size_t i = 0; i < part_n; i++)
        AS_TRY(as_data_rows(document, part[i].key, part[i].sql, part[i].is_one, err));
    as_json_object_end(&document->json);
    return 0;
}

int as_data_models(struct as_document *document, struct as_error *err)
{
    static const struct model_part simulated[] = {
        {"recorded", recorded_sql, true},  {"simulations", simulations_sql, false},
        {"settings", settings_sql, false}, {"traces", traces_sql, false},
        {"locations", lanes_sql, false},   {"timeline", lines_sql, false}};
    static const struct model_part scaling[] = {
        {"model", model_sql, true}, {"factors", factors_sql, false}, {"laws", laws_sql, false}};
    AS_TRY(write_model(document, "simulated", simulations_sql, simulated,
                       sizeof simulated / sizeof *simulated, err));
    return write_model(document, "scaling", model_sql, scaling, sizeof scaling / sizeof *scaling,
                       err);
}
