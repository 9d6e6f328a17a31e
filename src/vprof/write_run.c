/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the other facts of timing: entries of loops, counted or estimated; overhead of timing;
 * instances in order of time.
 */
#include <assert.h>

#include "base/error.h"
#include "vprof/line.h"
#include "vprof/metrics.h"
#include "vprof/timed.h"

struct as_metric as_timed_metric_of(unsigned number)
{
    assert(as_vprof_metric_n == AS_TIMED_METRICS && number < AS_TIMED_METRICS);
    struct as_metric metric = as_vprof_metric[number].metric;
    metric.pass = AS_VPROF_PASS;
    return metric;
}

static int write_alone(const struct as_timed *timed, unsigned number, const struct as_subject *of,
                       struct as_bounded_value value, struct as_error *err)
{
    int64_t id;
    const struct as_metric metric = as_timed_metric_of(number);
    AS_TRY(as_experiment_metric(timed->experiment, &metric, &id, err));
    return as_experiment_value(timed->experiment, id, of, value, err);
}

/* ---- A loop -------------------------------------------------------------------------------- */

static struct as_bounded_value total(double value, bool is_exact, uint64_t timed)
{
    return is_exact ? as_value_exact(value, 1)
                    : as_value_measured(value, value, value, (int64_t)timed);
}

int as_timed_write_totals(const struct as_timed *timed, const struct as_vprof_loop *loop,
                          struct as_error *err)
{
    const struct as_subject of = {AS_OBJECT_LOOP, loop->loop_id, timed->run_id, 0};
    AS_TRY(write_alone(timed, AS_TIMED_TOTALS, &of,
                       total(loop->instances, loop->is_counted, loop->timed), err));
    return loop->has_iterations
               ? write_alone(timed, AS_TIMED_TOTALS + 1, &of,
                             total(loop->iterations, loop->is_exact, loop->timed), err)
               : 0;
}

/* ---- The run ------------------------------------------------------------------------------- */

int as_timed_write_run(const struct as_timed *timed, const struct as_vprof_result *result,
                       struct as_error *err)
{
    const struct as_subject run = {AS_OBJECT_RUN, timed->run_id, timed->run_id, 0};
    const double cost = 100 * result->overhead, refused = 100 * result->refused_share;
    const struct as_bounded_value value[] = {
        as_value_derived(cost, cost, cost, 1), as_value_exact(result->every, 1),
        as_value_measured(result->empty_cycles, result->empty_cycles, result->empty_cycles, 1),
        as_value_measured(refused, refused, refused, (int64_t)result->loop_n),
        as_value_exact((double)result->threads_missed, 1)};
    const bool was_timed = result->timed_run != 0;
    for (size_t i = 0; i < sizeof value / sizeof *value; i++)
        if (was_timed || i == 3)
            AS_TRY(write_alone(timed, AS_TIMED_RUN + (unsigned)i, &run, value[i], err));
    return was_timed
               ? as_tick_flag(&timed->tick, timed->experiment, timed->run_id, AS_VPROF_PASS, err)
               : 0;
}

/* ---- The order of time --------------------------------------------------------------------- */

enum { LINE_COLUMNS = 5 };

static void fill_instance(const struct as_timed *timed, const struct as_vprof_loop *loop,
                          const struct as_vprof_instance *it, struct as_sql_cell *cell)
{
    const double ticks = it->begun > timed->first ? (double)(it->begun - timed->first) : 0;
    const double each = loop->has_iterations && it->iterations > 1 ? it->iterations : 1;
    cell[0] = as_sql_cell_real(ticks * timed->tick.ns / 1e9);
    cell[1] = as_sql_cell_real(it->cycles / each);
    cell[2] = loop->has_iterations ? as_sql_cell_integer((int64_t)it->iterations)
                                   : (struct as_sql_cell){0};
    cell[3] = as_sql_cell_integer(it->pid);
    cell[4] = as_sql_cell_integer(it->tid);
}

int as_timed_write_line(const struct as_timed *timed, const struct as_vprof_loop *loop,
                        struct as_error *err)
{
    const char *const column[LINE_COLUMNS] = {
        "second", loop->has_iterations ? "cycles/iteration" : "cycles/instance", "iterations",
        "process", "thread"};
    struct as_sql_cell cell[AS_LINE_MOST * LINE_COLUMNS];
    for (size_t i = 0; i < loop->line_n; i++)
        fill_instance(timed, loop, &loop->line[i], &cell[i * LINE_COLUMNS]);
    const struct as_detail detail = {
        .of = {AS_OBJECT_LOOP, loop->loop_id, timed->run_id, 0},
        .name = "instance_line",
        .title = "Instances over time",
        .position = 42,
        .text = "Randomly chosen undisturbed instances over the run, in seconds since its first "
                "thread began.",
        .column = column,
        .column_n = LINE_COLUMNS,
        .cell = cell,
        .row_n = loop->line_n,
        .pass = AS_VPROF_PASS};
    return as_experiment_detail(timed->experiment, &detail, err);
}
