/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay query EXP SQL`: one statement that reads, and its rows.
 */
#include "rows.h"

#include <sys/time.h>

#include "base/clock.h"
#include "base/error.h"
#include "query_limits.h"

static int limit_query(struct as_experiment *experiment, const struct as_limits *of,
                       struct as_error *err)
{
    const int64_t time_ns = (int64_t)of->time_s * 1000000000;
    const struct as_sql_limits limits = {.deadline_ns = time_ns ? as_monotonic_ns() + time_ns : 0,
                                         .memory_b = of->memory_mib << 20};

    return as_experiment_limit_sql(experiment, &limits, err);
}

int as_verb_query(struct as_cli *cli, struct as_error *err)
{
    static const struct as_rows_style style = {0};
    struct as_experiment *experiment = NULL;
    struct as_rows *rows = NULL;
    struct as_limits limits;
    int rc;

    AS_TRY(as_limits_of(&cli->args, &limits, err));
    AS_TRY(as_experiment_read(cli->args.positional[0], &experiment, err));
    /* CPU time: a pager may hold the output for longer than the statement may run. */
    as_limits_watch(&limits, ITIMER_PROF,
                    "assay: SQL: stopped: a call exceeded --time-limit, and the output is lost; "
                    "raise the limit\n");
    rc = limit_query(experiment, &limits, err);
    if (rc == 0)
        rc = as_rows_open(experiment, cli->args.positional[1], &rows, err);
    if (rc == 0)
        rc = as_rows_show(cli, rows, &style, err);
    as_rows_close(&rows);
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}
