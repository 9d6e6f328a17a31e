/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each thread of a run is to it. Launchers (processes that are no rank in a run of ranks) and
 * idle helpers wait through the run: their waiting is nobody's loss, and the load is shared out
 * among the others. Who compares loads or adds waiting up asks `thread.role`, and nothing else.
 */
#include "experiment/roles.h"
#include "experiment/internal.h"

/* Idle: a thread that ran less than a hundredth of the longest; or less than a tenth, and computed
 * less than a hundredth of the one that computed most: a helper that looks after messages. The
 * longest of a rank always works: a rank that has nothing to do is part of the imbalance. Where
 * the longest has few samples nobody can be told apart from it. */
static const char sql[] =
    "UPDATE thread SET computing_ns = o.running_ns - o.parallel_ns,"
    " role = CASE WHEN o.is_launcher THEN 'launcher'"
    "  WHEN o.most_n < 30 OR o.running_ns >= 0.1 * o.most_ns THEN 'worker'"
    "  WHEN o.rank IS NOT NULL AND o.place = 1 THEN 'worker'"
    "  WHEN o.running_ns >= 0.01 * o.most_ns"
    "   AND o.running_ns - o.parallel_ns >= 0.01 * o.most_computing_ns THEN 'worker'"
    "  ELSE 'idle' END"
    " FROM (SELECT *, max(CASE WHEN NOT is_launcher THEN running_ns END) OVER () AS most_ns,"
    "   max(CASE WHEN NOT is_launcher THEN running_n ELSE 0 END) OVER () AS most_n,"
    "   max(CASE WHEN NOT is_launcher THEN running_ns - parallel_ns END) OVER ()"
    "    AS most_computing_ns,"
    "   row_number() OVER (PARTITION BY rank ORDER BY running_ns DESC, thread_id) AS place"
    "  FROM (SELECT x.thread_id, p.rank,"
    "    p.rank IS NULL AND EXISTS (SELECT 1 FROM process q WHERE q.run_id = ?1"
    "     AND q.rank IS NOT NULL) AS is_launcher,"
    "    ifnull(t.exclusive_ns, 0) AS running_ns, ifnull(t.exclusive_n, 0) AS running_n,"
    "    (SELECT ifnull(sum(y.exclusive_ns), 0) FROM parallel_category c JOIN thread_time y"
    "     ON y.object_id = c.category_id WHERE y.run_id = ?1 AND y.object_kind = 'category'"
    "     AND y.thread_id = x.thread_id) AS parallel_ns"
    "   FROM process p JOIN thread x USING (process_id)"
    "   LEFT JOIN object_time t ON t.run_id = ?1 AND t.object_kind = 'thread'"
    "    AND t.object_id = x.thread_id WHERE p.run_id = ?1)) o"
    " WHERE thread.thread_id = o.thread_id";

int as_roles_set(struct assay_experiment *experiment, int64_t run_id, struct assay_error *err)
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
