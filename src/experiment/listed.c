/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the code of a run without measurements as objects with sums of 0, so that views and
 * reports show it. */
#include <stdio.h>

#include "experiment/internal.h"

#define NOTHING                                                                                    \
    "0 AS thread_n, 0 AS exclusive_n, 0 AS exclusive_ns, 0 AS exclusive_share, 0 AS "              \
    "exclusive_low,"                                                                               \
    " 0 AS exclusive_high, 0 AS inclusive_n, 0 AS inclusive_ns, 0 AS inclusive_share,"             \
    " 0 AS inclusive_low, 0 AS inclusive_high, 0 AS blocked_ns, 0 AS blocked_inclusive_ns,"        \
    " 0 AS thread_min_ns, 0 AS thread_mean_ns, 0 AS thread_max_ns, 0 AS thread_deviation_ns,"      \
    " NULL AS category_id, 0 AS few_samples"

int as_experiment_list_code(struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    static const char sql[] =
        "INSERT OR REPLACE INTO object_time (run_id, object_kind, object_id, thread_n, exclusive_n,"
        " exclusive_ns, exclusive_share, exclusive_low, exclusive_high, inclusive_n, inclusive_ns,"
        " inclusive_share, inclusive_low, inclusive_high, blocked_ns, blocked_inclusive_ns,"
        " thread_min_ns, thread_mean_ns, thread_max_ns, thread_deviation_ns, category_id,"
        " few_samples) SELECT %lld, 'loop', loop_id, " NOTHING " FROM loop"
        " UNION ALL SELECT %lld, 'function', function_id, " NOTHING " FROM function"
        " WHERE function_id IN (SELECT function_id FROM loop)";
    char text[sizeof sql + 64];

    AS_TRY(as_batch_check(experiment, err));
    snprintf(text, sizeof text, sql, (long long)run_id, (long long)run_id);
    return as_sql_run(experiment, text, "listing code", err);
}
