/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of the threads of a run over time, from samples and switch records
 * (doc/reference/report-data.md). If there are too many threads, those with the longest running
 * time are shown.
 */
#include "report/data.h"

#include "base/error.h"

/* The threads to show; ?1 is the run. */
#define SHOWN                                                                                      \
    "WITH shown AS (SELECT thread_id, process_id, pid, rank, tid, name, role, omp_thread, "        \
    "start_s,"                                                                                     \
    " cpu_time_s, runnable_time_s, blocked_time_s FROM v_threads WHERE run_id = ?1 AND thread_id"  \
    " IN (SELECT thread_id FROM v_thread_levels WHERE run_id = ?1)"                                \
    " ORDER BY ifnull(cpu_time_s, 0) DESC, thread_id LIMIT " AS_DATA_THREADS_MOST ") "

/* The timeline: the finest level with one row of bins per thread. */
static const char line_sql[] =
    "SELECT level, min(bin_s) AS bin_s, max(json_array_length(bins)) AS bin_n,"
    " (SELECT count(DISTINCT thread_id) FROM v_thread_levels WHERE run_id = ?1) AS thread_n"
    " FROM v_thread_levels WHERE run_id = ?1 GROUP BY level HAVING max(segment) = 0"
    " ORDER BY level LIMIT 1";

/* The name of a thread has what distinguishes it: rank, process, and position in its process.
 * Working threads come before those of runtimes and launchers. */
static const char threads_sql[] = SHOWN
    ", own AS (SELECT *, row_number() OVER (PARTITION BY process_id ORDER BY omp_thread IS"
    " NULL, omp_thread, start_s, thread_id) - 1 AS place, min(process_id) OVER ()"
    " <> max(process_id) OVER () AS are_several FROM shown)"
    " SELECT thread_id AS number, CASE WHEN rank IS NOT NULL THEN 'rank ' || rank"
    " WHEN are_several THEN 'process ' || pid ELSE 'thread ' || place END"
    " || CASE WHEN place > 0 AND (rank IS NOT NULL OR are_several) THEN ', thread ' || place"
    " ELSE '' END AS label, rank, tid, name, role, cpu_time_s, runnable_time_s,"
    " blocked_time_s FROM own ORDER BY ifnull(role, 'worker') <> 'worker', rank IS NULL, rank,"
    " process_id, place";

static const char bins_sql[] =
    SHOWN "SELECT thread_id AS number, name, bins FROM v_thread_levels WHERE run_id = ?1"
          " AND level = ?2"
          " AND thread_id IN (SELECT thread_id FROM shown) ORDER BY thread_id, position";

#define FINER                                                                                      \
    " FROM v_thread_levels WHERE run_id = ?1 AND thread_id IN (SELECT thread_id FROM shown)"

static const char sizes_sql[] = SHOWN "SELECT level, min(bin_s), sum(length(bins))" FINER
                                      " AND level < ?2 GROUP BY level ORDER BY level";

static const char rows_sql[] = SHOWN "SELECT thread_id AS number, name, segment, bins" FINER
                                     " AND level = ?2 ORDER BY thread_id, position, segment";

/* Sets `*level` to the level of the timeline, or to -1 if there is none. */
static int level_of_line(struct as_document *document, int64_t *level, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(document->experiment, line_sql, &rows, err));
    as_rows_bind_integer(rows, 1, document->run_id);
    const int more = as_rows_next(rows, err);
    *level = more > 0 ? as_rows_integer(rows, 0) : -1;
    as_rows_close(&rows);
    return more < 0 ? more : 0;
}

int as_data_over_time(struct as_document *document, struct as_error *err)
{
    struct as_data_finer finer = {.sizes_sql = sizes_sql, .rows_sql = rows_sql};
    AS_TRY(level_of_line(document, &finer.below, err));
    as_json_key(&document->json, "over_time");
    if (finer.below < 0) {
        as_json_null(&document->json);
        return 0;
    }
    as_json_object_begin(&document->json);
    AS_TRY(as_data_rows(document, "line", line_sql, true, err));
    AS_TRY(as_data_rows(document, "threads", threads_sql, false, err));
    AS_TRY(as_data_level(document, "timeline", bins_sql, finer.below, err));
    AS_TRY(as_data_levels(document, &finer, err));
    as_json_object_end(&document->json);
    return 0;
}
