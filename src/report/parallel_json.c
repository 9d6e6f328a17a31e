/* SPDX-License-Identifier: Apache-2.0 */
/* The parallel behaviour of a run as JSON (doc/reference/json.md): the rows of views. Times are
 * seconds. */
#include <math.h>

#include "analytics/state/analysis.h"
#include "base/error.h"
#include "experiment/metric_names.h"
#include "report/data.h"
#include "report/parallel.h"

/* Position of a call: "solve, solve.c:120". */
#define PLACE_SQL                                                                                  \
    "function || ifnull(', ' || replace(source_file, rtrim(source_file, replace(source_file, '/'," \
    " '')), '') || ':' || line, '') AS place"

static const char head_sql[] =
    "SELECT elapsed_s, events_n, matched_n AS messages_matched_n,"
    " sends_n AS sends_without_partner_n, receives_n AS receives_without_partner_n,"
    " unmet_n AS collectives_without_partners_n, broken_n FROM v_traces WHERE run_id = ?1";

static const char part_sql[] =
    "SELECT efficient_from_s AS efficiency_begin_s, efficient_to_s AS efficiency_end_s"
    " FROM v_traces WHERE run_id = ?1 AND efficient_from_s IS NOT NULL";

static const struct {
    const char *key, *metric;
} shares[] = {
    {"parallel_efficiency", AS_METRIC_trace_parallel_efficiency_pct},
    {"load_balance", AS_METRIC_trace_load_balance_pct},
    {"communication_efficiency", AS_METRIC_trace_communication_efficiency_pct},
    {"mpi_parallel_efficiency", AS_METRIC_trace_mpi_parallel_efficiency_pct},
    {"mpi_load_balance", AS_METRIC_trace_mpi_load_balance_pct},
    {"mpi_communication_efficiency", AS_METRIC_trace_mpi_communication_efficiency_pct},
    {"mpi_startup_efficiency", AS_METRIC_trace_mpi_startup_efficiency_pct},
    {"mpi_serialisation_efficiency", AS_METRIC_trace_mpi_serialisation_efficiency_pct},
    {"mpi_transfer_efficiency", AS_METRIC_trace_mpi_transfer_efficiency_pct},
    {"openmp_parallel_efficiency", AS_METRIC_trace_openmp_parallel_efficiency_pct},
    {"openmp_load_balance", AS_METRIC_trace_openmp_load_balance_pct},
    {"openmp_communication_efficiency", AS_METRIC_trace_openmp_communication_efficiency_pct},
    {"process_load_balance", AS_METRIC_trace_process_load_balance_pct},
    {"process_serialisation", AS_METRIC_trace_process_serialisation_pct},
    {"process_transfer", AS_METRIC_trace_process_transfer_pct},
    {"thread_efficiency", AS_METRIC_trace_thread_efficiency_pct},
    {"openmp_region_efficiency", AS_METRIC_trace_openmp_region_efficiency_pct},
    {"serial_region_efficiency", AS_METRIC_trace_serial_region_efficiency_pct},
};

/* prose: off (SQL) */
static const struct {
    const char *key, *sql;
} list[] = {
    {"locations",
     "SELECT l.rank, tid, events_n, begin_s, end_s," AS_PARALLEL_STATES_SQL
     " waiting_s, late_s, path_s AS critical_path_s FROM v_trace_locations l"
     " LEFT JOIN v_trace_states s USING (run_id, number) WHERE run_id = ?1 GROUP BY number"
     " ORDER BY number"},
    {"waits",
     "SELECT kind, routine, " PLACE_SQL ", number AS location, n, time_s, longest_s"
     " FROM v_trace_waits WHERE run_id = ?1 ORDER BY time_s DESC, number, trace_site_id, kind"},
    {"late", "SELECT number AS location, routine, " PLACE_SQL ", n AS waits_n, direct_s, total_s"
             " FROM v_trace_late WHERE run_id = ?1 ORDER BY total_s DESC, number, trace_site_id"},
    {"calls",
     "SELECT number AS location, routine, " PLACE_SQL ", calls_n, time_s, longest_s, waiting_s,"
     " transfer_s, overhead_s, sent_b, received_b FROM v_trace_calls WHERE run_id = ?1"
     " ORDER BY number, trace_site_id"},
    {"messages", "SELECT from_rank AS \"from\", to_rank AS \"to\", n, size_b FROM v_trace_messages"
                 " WHERE run_id = ?1 ORDER BY from_rank, to_rank"},
    {"phases", "SELECT name AS region, iteration, calls_n, begin_s, end_s, rank_n AS ranks_n,"
               " thread_n AS threads_n, time_s, useful_s, mpi_s, busiest_number AS busiest,"
               " parallel_pct / 100 AS parallel_efficiency, balance_pct / 100 AS load_balance,"
               " communication_pct / 100 AS communication_efficiency,"
               " mpi_parallel_pct / 100 AS mpi_parallel_efficiency,"
               " mpi_balance_pct / 100 AS mpi_load_balance,"
               " mpi_communication_pct / 100 AS mpi_communication_efficiency,"
               " mpi_serialisation_pct / 100 AS mpi_serialisation_efficiency,"
               " mpi_transfer_pct / 100 AS mpi_transfer_efficiency"
               " FROM v_trace_phases WHERE run_id = ?1 ORDER BY number"},
};
/* prose: on */

/* Writes the members of each row of a statement, as an object each if `are_objects`. */
static int write_members(struct as_experiment *experiment, int64_t run_id, const char *sql,
                         bool are_objects, struct as_json *json, struct as_error *err)
{
    struct as_rows *rows;
    int rc;
    AS_TRY(as_rows_open(experiment, sql, &rows, err));
    as_rows_bind_integer(rows, 1, run_id);
    while ((rc = as_rows_next(rows, err)) > 0) {
        if (are_objects)
            as_json_object_begin(json);
        as_data_row(json, rows);
        if (are_objects)
            as_json_object_end(json);
    }
    as_rows_close(&rows);
    return rc;
}

int as_parallel_json(struct as_experiment *experiment, int64_t run_id, struct as_json *json,
                     struct as_error *err)
{
    as_json_object_begin(json);
    AS_TRY(write_members(experiment, run_id, head_sql, false, json, err));
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double share;
        AS_TRY(as_parallel_share(experiment, run_id, shares[i].metric, &share, err));
        as_json_key_double(json, shares[i].key, share);
    }
    AS_TRY(write_members(experiment, run_id, part_sql, false, json, err));
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        as_json_key(json, list[i].key);
        as_json_array_begin(json);
        AS_TRY(write_members(experiment, run_id, list[i].sql, true, json, err));
        as_json_array_end(json);
    }
    as_json_object_end(json);
    return 0;
}
