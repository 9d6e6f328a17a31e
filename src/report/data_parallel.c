/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parallel behaviour of a traced run: states of threads over time, wait states, and the
 * communication matrix (doc/reference/report-data.md). A page shows a max number of threads and
 * pairs.
 */
#include "report/data.h"

#include "base/error.h"

static const char trace_sql[] =
    "SELECT t.traced_run_id, elapsed_s, from_s, to_s, bin_s, bin_n, location_n, rank_n, events_n, "
    "lost_n,"
    " damaged_n, broken_n, matched_n, sends_n, receives_n, unmet_n, waited_s, record_ns, cost_s,"
    " cost_most_s, points_s FROM v_traces t WHERE run_id = ?1";

/* ?1 is the run of the report. */
#define SHOWN "number < " AS_DATA_THREADS_MOST

static const char locations_sql[] =
    "SELECT number, location, rank, thread, begin_s, end_s, events_n, waiting_s, late_s, path_s,"
    " mpi_waiting_s, mpi_transfer_s, mpi_overhead_s"
    " FROM v_trace_locations WHERE run_id = ?1 AND " SHOWN " ORDER BY number";

static const char states_sql[] =
    "SELECT number, name, title, time_s FROM v_trace_states WHERE run_id = ?1 AND " SHOWN
    " ORDER BY number, position";

static const char timeline_sql[] =
    "SELECT number, name, title, bins FROM v_trace_timeline WHERE run_id = ?1 AND " SHOWN
    " ORDER BY number, position";

static const char counters_sql[] =
    "SELECT number, location, name, unit, n, first, last, least, most, bins FROM v_trace_counters"
    " WHERE run_id = ?1 AND " SHOWN " ORDER BY name, number";

static const char offs_sql[] =
    "SELECT number, location, begin_s, end_s, off_s, n, reason FROM v_trace_offs"
    " WHERE run_id = ?1 AND " SHOWN " ORDER BY number, begin_s LIMIT 2000";

/* The code positions with the most samples for each thread and state. */
static const char samples_sql[] =
    "SELECT number, location, name, title, routine, function, module, source_file, line, caller, n,"
    " time_s, share_pct FROM (SELECT p.*, s.title, row_number() OVER (PARTITION BY p.number, p.name"
    " ORDER BY p.time_s DESC, p.function, p.line, p.caller) AS place FROM v_trace_samples p"
    " LEFT JOIN v_trace_states s ON s.run_id = p.run_id AND s.number = p.number"
    " AND s.name = p.name WHERE p.run_id = ?1 AND p." SHOWN ") WHERE place <= 20"
    " ORDER BY time_s DESC, number, name, place LIMIT 2000";

/* Wait states of all threads together; `location` is the thread with the longest wait. */
static const char waits_sql[] =
    "SELECT kind, title, routine, function, source_file, line, sum(n) AS n, sum(time_s) AS time_s,"
    " max(longest_s) AS longest_s, max(CASE place WHEN 1 THEN location END) AS location,"
    " count(*) AS location_n FROM (SELECT *, row_number() OVER (PARTITION BY kind, trace_site_id"
    " ORDER BY time_s DESC, number) AS place FROM v_trace_waits WHERE run_id = ?1)"
    " GROUP BY kind, trace_site_id ORDER BY sum(time_s) DESC, kind, trace_site_id LIMIT 200";

static const char late_sql[] =
    "SELECT number, location, routine, function, source_file, line, n, direct_s, total_s,"
    " longest_s, elapsed_s FROM v_trace_late WHERE run_id = ?1"
    " ORDER BY total_s DESC, number, trace_site_id LIMIT 500";

/* Regions over all calls, then their iterations. */
static const char phases_sql[] =
    "SELECT name, iteration, calls_n, begin_s, end_s, rank_n, thread_n, time_s, useful_s, mpi_s,"
    " busiest_rank, parallel_pct, balance_pct, communication_pct, mpi_parallel_pct,"
    " mpi_balance_pct, mpi_communication_pct, mpi_serialisation_pct, mpi_transfer_pct"
    " FROM v_trace_phases WHERE run_id = ?1"
    " ORDER BY number LIMIT 4096";

/* By simulations of the trace. */
static const char gains_sql[] =
    "SELECT name, title, saved_s, low_s, high_s, share_pct FROM v_trace_gains WHERE run_id = ?1"
    " ORDER BY position";

static const char messages_sql[] =
    "SELECT \"from\", \"to\", n, size_b FROM (SELECT from_rank AS \"from\", to_rank AS \"to\", n,"
    " size_b FROM v_trace_messages WHERE run_id = ?1 ORDER BY size_b DESC LIMIT 16384)"
    " ORDER BY 1, 2";

static const char sizes_sql[] =
    "SELECT from_b, below_b, n, size_b, wait_s FROM v_trace_message_sizes WHERE run_id = ?1"
    " ORDER BY from_b";

/* Level 3 is the timeline itself. */
#define FINER " FROM v_trace_levels WHERE run_id = ?1 AND " SHOWN

static const struct as_data_finer finer_levels = {
    .sizes_sql = "SELECT level, min(bin_s), sum(length(bins))" FINER
                 " AND level < ?2 GROUP BY level ORDER BY level",
    .rows_sql = "SELECT number, name, segment, bins" FINER
                " AND level = ?2 ORDER BY number, position, segment",
    .below = 3,
};

static int was_traced(struct as_document *document, bool *was, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(document->experiment, "SELECT 1 FROM trace WHERE run_id = ?1", &rows, err));
    as_rows_bind_integer(rows, 1, document->run_id);
    const int rc = as_rows_next(rows, err);
    *was = rc > 0;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

int as_data_parallel(struct as_document *document, struct as_error *err)
{
    static const struct {
        const char *key, *sql;
    } part[] = {{"locations", locations_sql}, {"states", states_sql}, {"timeline", timeline_sql},
                {"counters", counters_sql},   {"offs", offs_sql},     {"samples", samples_sql},
                {"waits", waits_sql},         {"late", late_sql},     {"messages", messages_sql},
                {"sizes", sizes_sql},         {"phases", phases_sql}, {"gains", gains_sql}};
    bool was;
    AS_TRY(was_traced(document, &was, err));
    as_json_key(&document->json, "parallel");
    if (!was) {
        as_json_null(&document->json);
        return 0;
    }
    as_json_object_begin(&document->json);
    AS_TRY(as_data_rows(document, "trace", trace_sql, true, err));
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        AS_TRY(as_data_rows(document, part[i].key, part[i].sql, false, err));
    AS_TRY(as_data_levels(document, &finer_levels, err));
    as_json_object_end(&document->json);
    return 0;
}
