/* SPDX-License-Identifier: Apache-2.0 */
/* Reads counts, routines and counters of a traced run from the views of its experiment. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "report/parallel.h"

struct parallel_reading {
    struct as_parallel *to;
    bool failed; /* no memory */
};

static const char *copy_column(struct parallel_reading *in, struct as_rows *row, int column)
{
    const char *z = as_rows_text(row, column);
    const char *copy = z ? as_arena_strndup(&in->to->arena, z, strlen(z)) : NULL;
    in->failed |= z && !copy;
    return copy;
}

static double known_real(struct as_rows *row, int column)
{
    return as_rows_kind(row, column) == AS_SQL_CELL_NULL ? (double)NAN : as_rows_real(row, column);
}

/* ---- Counts ---------------------------------------------------------------------------------- */

static const char counts_sql[] =
    "SELECT elapsed_s, cost_s, cost_most_s, record_ns, points_s, events_n, lost_n, damaged_n,"
    " broken_n, violated_n, missed_n, doubtful_n, summed_n, filtered_n, samples_lost_n"
    " FROM v_traces WHERE run_id = ?1";

static int read_counts(struct as_experiment *experiment, int64_t run_id, struct as_parallel *to,
                       struct as_error *err)
{
    double *const real[] = {&to->elapsed_s, &to->cost_s, &to->cost_most_s, &to->record_ns,
                            &to->points_s};
    int64_t *const count[] = {&to->events_n,   &to->lost_n,        &to->damaged_n,  &to->broken_n,
                              &to->violated_n, &to->missed_n,      &to->doubtful_n, &to->summed_n,
                              &to->filtered_n, &to->samples_lost_n};
    enum { REALS = sizeof real / sizeof *real };
    struct as_rows *rows;
    AS_TRY(as_rows_open(experiment, counts_sql, &rows, err));
    as_rows_bind_integer(rows, 1, run_id);
    int rc = as_rows_next(rows, err);
    for (int i = 0; rc > 0 && i < REALS; i++)
        *real[i] = known_real(rows, i);
    for (int i = 0; rc > 0 && i < (int)(sizeof count / sizeof *count); i++)
        *count[i] = as_rows_integer(rows, REALS + i);
    as_rows_close(&rows);
    if (rc == 0)
        rc = as_error_set(err, AS_ERR_NOT_FOUND, "%s: run %lld has no trace; use assay trace",
                          as_experiment_path(experiment), (long long)run_id);
    return rc < 0 ? rc : 0;
}

/* ---- Rows of threads ------------------------------------------------------------------------- */

#define THREAD_SQL "l.number, ifnull(l.rank, -1), l.pid, l.tid, l.queue"
enum { THREAD_COLUMNS = 5 };

static struct as_parallel_thread read_thread(struct parallel_reading *in, struct as_rows *row)
{
    return (struct as_parallel_thread){.number = as_rows_integer(row, 0),
                                       .rank = as_rows_integer(row, 1),
                                       .pid = as_rows_integer(row, 2),
                                       .tid = as_rows_integer(row, 3),
                                       .queue = copy_column(in, row, 4)};
}

/* prose: off (SQL) */
static const char routines_sql[] =
    "SELECT " THREAD_SQL ", c.kind_of_routine, c.routine, sum(c.calls_n), sum(c.open_n),"
    " sum(c.sent_b), sum(c.received_b), sum(c.time_s), max(c.longest_s),"
    " iif(count(c.transfer_s), sum(c.waiting_s), NULL), sum(c.transfer_s), sum(c.overhead_s)"
    " FROM v_trace_calls c JOIN v_trace_locations l USING (run_id, number) WHERE run_id = ?1"
    " GROUP BY number, c.kind_of_routine, c.routine ORDER BY number, sum(c.time_s) DESC, c.routine";
/* prose: on */

static int add_routine(void *context, struct as_rows *row, struct as_error *err)
{
    struct parallel_reading *in = context;
    const int at = THREAD_COLUMNS;
    const struct as_parallel_routine it = {.of = read_thread(in, row),
                                           .group = copy_column(in, row, at),
                                           .routine = copy_column(in, row, at + 1),
                                           .calls_n = as_rows_integer(row, at + 2),
                                           .open_n = as_rows_integer(row, at + 3),
                                           .sent_b = as_rows_integer(row, at + 4),
                                           .received_b = as_rows_integer(row, at + 5),
                                           .time_s = as_rows_real(row, at + 6),
                                           .longest_s = as_rows_real(row, at + 7),
                                           .waiting_s = known_real(row, at + 8),
                                           .transfer_s = known_real(row, at + 9),
                                           .overhead_s = known_real(row, at + 10)};
    return in->failed || as_vec_push(&in->to->routine, it) < 0
               ? as_error_nomem(err, "routines of a trace")
               : 0;
}

/* prose: off (SQL) */
static const char counters_sql[] =
    "SELECT " THREAD_SQL ", c.name, c.n, c.first, c.last, c.least, c.most, c.computing"
    " FROM v_trace_counters c JOIN v_trace_locations l USING (run_id, number) WHERE run_id = ?1"
    " ORDER BY number, c.name";
/* prose: on */

static int add_counter(void *context, struct as_rows *row, struct as_error *err)
{
    struct parallel_reading *in = context;
    const int at = THREAD_COLUMNS;
    const struct as_parallel_counter it = {.of = read_thread(in, row),
                                           .name = copy_column(in, row, at),
                                           .n = as_rows_integer(row, at + 1),
                                           .first = as_rows_integer(row, at + 2),
                                           .last = as_rows_integer(row, at + 3),
                                           .least = as_rows_integer(row, at + 4),
                                           .most = as_rows_integer(row, at + 5),
                                           .computing = as_rows_integer(row, at + 6)};
    return in->failed || as_vec_push(&in->to->counter, it) < 0
               ? as_error_nomem(err, "counters of a trace")
               : 0;
}

/* ---- All ------------------------------------------------------------------------------------- */

int as_parallel_read(struct as_experiment *experiment, int64_t run_id, struct as_parallel *out,
                     struct as_error *err)
{
    struct parallel_reading in = {.to = out};
    *out = (struct as_parallel){0};
    as_arena_init(&out->arena);
    AS_TRY(read_counts(experiment, run_id, out, err));
    AS_TRY(as_rows_each(experiment, routines_sql, run_id, add_routine, &in, err));
    return as_rows_each(experiment, counters_sql, run_id, add_counter, &in, err);
}

void as_parallel_release(struct as_parallel *parallel)
{
    as_vec_fini(&parallel->routine);
    as_vec_fini(&parallel->counter);
    as_arena_fini(&parallel->arena);
}

int as_parallel_share(struct as_experiment *experiment, int64_t run_id, const char *metric,
                      double *out, struct as_error *err)
{
    struct as_rows *rows;
    *out = (double)NAN;
    AS_TRY(as_rows_open(experiment,
                        "SELECT value / 100 FROM v_values WHERE object_kind = 'run'"
                        " AND object_id = ?1 AND run_id = ?1 AND context_id = 0"
                        " AND metric = ?2",
                        &rows, err));
    as_rows_bind_integer(rows, 1, run_id);
    as_rows_bind_text(rows, 2, metric);
    const int rc = as_rows_next(rows, err);
    if (rc > 0)
        *out = known_real(rows, 0);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}
