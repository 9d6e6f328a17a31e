/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets the role of each thread in its run. Launchers (processes without a rank in a run with ranks)
 * and idle helper threads wait through the run. Their waiting is not a loss, and they take no share
 * of the load. Comparisons of load and sums of waiting use `thread.role`, and nothing else.
 */
#include "experiment/roles.h"
#include "experiment/internal.h"

/* A thread is idle if it ran less than 1 % of the longest one. It is also idle if it ran less
 * than 10 % and computed less than 1 % of the maximum: a helper that handles messages. The
 * longest thread of a rank is always a worker, because a rank without work is part of the
 * imbalance. If the longest thread has fewer than 30 samples, shares of samples say little: then a
 * thread with less than 10 % of the largest CPU time is idle. A daemon that MPI starts for a
 * program without mpirun is a launcher. */
static const char sql[] =
    "UPDATE thread SET computing_ns = o.running_ns - o.parallel_ns,"
    " role = CASE WHEN o.is_launcher THEN 'launcher'"
    "  WHEN o.running_ns >= 0.1 * o.most_ns AND o.most_n >= 30 THEN 'worker'"
    "  WHEN o.rank IS NOT NULL AND o.place = 1 THEN 'worker'"
    "  WHEN o.most_n < 30 THEN iif(o.cpu_ns < 0.1 * o.most_cpu_ns, 'idle', 'worker')"
    "  WHEN o.running_ns >= 0.01 * o.most_ns"
    "   AND o.running_ns - o.parallel_ns >= 0.01 * o.most_computing_ns THEN 'worker'"
    "  ELSE 'idle' END"
    " FROM (SELECT *, max(CASE WHEN NOT is_launcher THEN running_ns END) OVER () AS most_ns,"
    "   max(CASE WHEN NOT is_launcher THEN running_n ELSE 0 END) OVER () AS most_n,"
    "   max(CASE WHEN NOT is_launcher THEN cpu_ns END) OVER () AS most_cpu_ns,"
    "   max(CASE WHEN NOT is_launcher THEN running_ns - parallel_ns END) OVER ()"
    "    AS most_computing_ns,"
    "   row_number() OVER (PARTITION BY rank ORDER BY running_ns DESC, cpu_ns DESC, thread_id)"
    "    AS place"
    "  FROM (SELECT x.thread_id, p.rank, x.cpu_ns,"
    "    p.rank IS NULL AND (p.exe GLOB '*/orted' OR p.exe GLOB '*/prted' OR EXISTS (SELECT 1"
    "     FROM process q WHERE q.run_id = ?1 AND q.rank IS NOT NULL)) AS is_launcher,"
    "    ifnull(t.exclusive_ns, 0) AS running_ns, ifnull(t.exclusive_n, 0) AS running_n,"
    "    (SELECT ifnull(sum(y.exclusive_ns), 0) FROM parallel_category c JOIN thread_time y"
    "     ON y.object_id = c.category_id WHERE y.run_id = ?1 AND y.object_kind = 'category'"
    "     AND y.thread_id = x.thread_id) AS parallel_ns"
    "   FROM process p JOIN thread x USING (process_id)"
    "   LEFT JOIN object_time t ON t.run_id = ?1 AND t.object_kind = 'thread'"
    "    AND t.object_id = x.thread_id WHERE p.run_id = ?1)) o"
    " WHERE thread.thread_id = o.thread_id";

int as_roles_set(struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    sqlite3_stmt *update = NULL;
    int rc = as_sql_prepare(experiment, sql, &update, err);

    if (rc == 0) {
        sqlite3_bind_int64(update, 1, run_id);
        rc = as_sql_insert(experiment, update, "writing what threads are", NULL, err);
    }
    sqlite3_finalize(update);
    return rc;
}
