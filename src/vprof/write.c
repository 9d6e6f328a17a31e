/* SPDX-License-Identifier: Apache-2.0 */
/* Writes results of instances to the profiled run: metrics of loops and buckets, and a section of
 * the page of the loop. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "vprof/metrics.h"
#include "vprof/timed.h"

enum { METRICS_N = AS_TIMED_TOTALS - AS_TIMED_SET, BINS_MOST = 128 };

/* Decimal places of the metrics. */
static const int digits_of[METRICS_N] = {0, 2, 3, 3, 3, 3, 1, 4, 3, 0, 0, 0, 4};

static struct as_bounded_value measured(double value, uint64_t n)
{
    return as_value_measured(value, value, value, (int64_t)n);
}

/* One instance has neither deviation nor stability. */
static void fill_values(const struct as_vprof_bucket *it, bool has_iterations, double cycle_ns,
                        struct as_bounded_value *out)
{
    out[0] = measured(it->instances, it->n);
    if (has_iterations)
        out[1] = measured(it->iterations, it->n);
    out[7] = measured(it->share, it->n);
    if (isnan(it->median))
        return;
    if (has_iterations) {
        out[2] = measured(it->median, it->n);
        out[3] = measured(it->mean, it->n);
        if (it->n > 1)
            out[4] = measured(it->deviation, it->n);
        if (cycle_ns > 0)
            out[12] = measured(it->median * cycle_ns, it->n);
    }
    if (it->n > 1)
        out[5] = measured(it->stability, it->n);
    out[6] = measured(it->instance, it->n);
}

struct writing {
    const struct as_timed *timed;
    const struct as_vprof_result *result;
    struct as_metric_set *set;
};

/* Rows of process, thread, beginning (ticks), iterations, cycles. */
static int write_chosen(const struct writing *to, const struct as_subject *of,
                        const struct as_vprof_bucket *it, struct as_error *err)
{
    double row[AS_VPROF_CHOSEN_N * 5];
    for (unsigned i = 0; i < it->chosen_n; i++) {
        const struct as_vprof_instance *one = &it->chosen[i];
        const double cell[5] = {one->pid, one->tid, (double)one->begun, one->iterations,
                                one->cycles};
        memcpy(&row[i * 5], cell, sizeof cell);
    }
    const struct as_array array = {"instances_chosen", AS_ARRAY_F64, it->chosen_n * 5, row};
    return it->chosen_n ? as_experiment_array(to->timed->experiment, of, &array, err) : 0;
}

/* Writes the histogram of cycles per iteration. */
static int write_histogram(const struct writing *to, const struct as_vprof_loop *loop,
                           struct as_error *err)
{
    const struct as_subject of = {AS_OBJECT_LOOP, loop->loop_id, to->timed->run_id, 0};
    double edge[BINS_MOST + 1];
    int64_t count[BINS_MOST];
    size_t n = 0;
    for (size_t i = 0; i < loop->cost_n && n + 2 < BINS_MOST; i++) {
        if (n && loop->cost[i].low > edge[n] * 1.01)
            count[n++] = 0, edge[n] = loop->cost[i].low; /* an empty class */
        edge[n] = n ? edge[n] : loop->cost[i].low;
        count[n++] = (int64_t)loop->cost[i].n;
        edge[n] = loop->cost[i].high;
    }
    int64_t metric_id;
    const struct as_metric metric = as_timed_metric_of(AS_TIMED_CYCLES);
    AS_TRY(as_experiment_metric(to->timed->experiment, &metric, &metric_id, err));
    const struct as_value_histogram histogram = {edge, count, n, AS_ORIGIN_MEASURED};
    return n ? as_experiment_histogram(to->timed->experiment, metric_id, &of, &histogram, err) : 0;
}

static int write_values(const struct writing *to, const struct as_vprof_loop *loop,
                        struct as_error *err)
{
    struct as_subject of = {AS_OBJECT_LOOP, loop->loop_id, to->timed->run_id, 0};
    struct as_bounded_value value[METRICS_N] = {0};
    const uint64_t looked_at = loop->timed - loop->disturbed;
    if (loop->all.n)
        fill_values(&loop->all, loop->has_iterations, to->result->cycle_ns, value);
    value[8] = measured(loop->imbalance, looked_at);
    value[9] = measured((double)loop->disturbed, loop->timed);
    value[10] = measured((double)loop->switched, loop->timed);
    value[11] = measured((double)loop->faulted, loop->timed);
    AS_TRY(as_metric_set_add(to->set, &of, (int64_t)looked_at, value, err));
    for (size_t i = 0; i < loop->bucket_n; i++) {
        const struct as_vprof_bucket *it = &loop->bucket[i];
        struct as_bounded_value part[METRICS_N] = {0};
        char name[96];
        const int n = snprintf(name, sizeof name, "%.0f to %.0f iterations", it->low,
                               it->high > it->low ? it->high - 1 : it->high);
        if (it->is_split)
            snprintf(name + n, sizeof name - (size_t)n, ", %.3g to %.3g cycles each",
                     it->cycles_low, it->cycles_high);
        const struct as_row_context where = {.bucket = name};
        AS_TRY(as_experiment_add_context(to->timed->experiment, &where, &of.context_id, err));
        fill_values(it, true, to->result->cycle_ns, part);
        AS_TRY(as_metric_set_add(to->set, &of, (int64_t)it->n, part, err));
        AS_TRY(write_chosen(to, &of, it, err));
    }
    return loop->has_iterations ? write_histogram(to, loop, err) : 0;
}

enum { COLUMNS_N = 8, BUCKETS_MOST = 64 };

struct page_part {
    const char *name, *title, *from, *text;
    const struct as_vprof_bucket *bucket;
    size_t n;
    int position;
    double above; /* 1: the upper bound is one less */
};

/* Rounds a bound of a class to three decimal places. */
static double rounded(double bound)
{
    return round(bound * 1000) / 1000;
}

static int write_part(const struct writing *to, int64_t loop_id, const struct page_part *part,
                      struct as_error *err)
{
    const char *const column[COLUMNS_N] = {
        part->from,         "to",        "instances timed", "share %",
        "cycles/iteration", "deviation", "stability",       "cycles/instance"};
    struct as_sql_cell cell[BUCKETS_MOST * COLUMNS_N];
    const size_t n = part->n < BUCKETS_MOST ? part->n : BUCKETS_MOST;
    for (size_t i = 0; i < n; i++) {
        const struct as_vprof_bucket *it = &part->bucket[i];
        const double value[COLUMNS_N] = {rounded(it->low), rounded(it->high - part->above),
                                         (double)it->n,    100 * it->share,
                                         it->median,       it->deviation,
                                         it->stability,    it->instance};
        for (size_t c = 0; c < COLUMNS_N; c++)
            cell[i * COLUMNS_N + c] =
                (struct as_sql_cell){.kind = AS_SQL_CELL_REAL, .real = value[c]};
    }
    const struct as_detail detail = {.of = {AS_OBJECT_LOOP, loop_id, to->timed->run_id, 0},
                                     .name = part->name,
                                     .title = part->title,
                                     .position = part->position,
                                     .text = part->text,
                                     .column = column,
                                     .column_n = COLUMNS_N,
                                     .cell = cell,
                                     .row_n = n,
                                     .pass = AS_VPROF_PASS};
    return as_experiment_detail(to->timed->experiment, &detail, err);
}

static int write_page(const struct writing *to, const struct as_vprof_loop *loop,
                      struct as_error *err)
{
    char text[256], timed[32] = "all";
    if (to->result->every > 1)
        snprintf(timed, sizeof timed, "one of %u", to->result->every);
    snprintf(text, sizeof text,
             "%s%.0f instances in %u thread%s, %s timed; %llu of %llu were disturbed and are left "
             "out. In %llu the thread left the CPU, in %llu it had a major page fault.",
             loop->is_counted ? "" : "About ", loop->instances, loop->threads,
             loop->threads == 1 ? "" : "s", timed, (unsigned long long)loop->disturbed,
             (unsigned long long)loop->timed, (unsigned long long)loop->switched,
             (unsigned long long)loop->faulted);
    const struct page_part by_iterations = {"instances",
                                            "Instances by iterations",
                                            "iterations from",
                                            text,
                                            loop->bucket,
                                            loop->bucket_n,
                                            40,
                                            1};
    const struct page_part by_cost = {"instance_cycles",
                                      "Instances by cycles",
                                      "cycles from",
                                      NULL,
                                      loop->cost,
                                      loop->cost_n,
                                      41,
                                      0};
    AS_TRY(write_part(to, loop->loop_id, &by_iterations, err));
    AS_TRY(as_timed_write_line(to->timed, loop, err));
    AS_TRY(as_timed_write_paths(to->timed, loop, err));
    return loop->has_iterations ? write_part(to, loop->loop_id, &by_cost, err) : 0;
}

static int write_refusal(const struct writing *to, const struct as_vprof_loop *loop,
                         struct as_error *err)
{
    const struct as_flag flag = {.run_id = to->timed->run_id,
                                 .kind = AS_OBJECT_LOOP,
                                 .object_id = loop->loop_id,
                                 .name = "loop_not_timed",
                                 .text = loop->reason,
                                 .n = 1,
                                 .pass = AS_VPROF_PASS};
    return as_experiment_flag(to->timed->experiment, &flag, err);
}

static int flag_cpu_time(const struct writing *to, const struct as_vprof_loop *loop,
                         struct as_error *err)
{
    const struct as_flag flag = {
        .run_id = to->timed->run_id,
        .kind = AS_OBJECT_LOOP,
        .object_id = loop->loop_id,
        .name = "instances_interrupted",
        .text = "the thread left the CPU in every instance that was timed: its times are CPU time, "
                "with caches that others used; use a quiet machine",
        .n = loop->timed,
        .pass = AS_VPROF_PASS};
    return as_experiment_flag(to->timed->experiment, &flag, err);
}

static int write_loops(void *context, struct as_error *err)
{
    const struct writing *to = context;
    as_vec_foreach (&to->timed->loop, loop) {
        const struct as_vprof_loop *it = &loop->it;
        if (it->reason) {
            AS_TRY(write_refusal(to, it, err));
            continue;
        }
        AS_TRY(as_timed_write_totals(to->timed, it, err));
        if (it->is_cpu_time)
            AS_TRY(flag_cpu_time(to, it, err));
        if (it->timed)
            AS_TRY(write_values(to, it, err));
        if (it->timed)
            AS_TRY(write_page(to, it, err));
    }
    return 0;
}

static int store_instances(void *context, struct as_error *err)
{
    struct writing *to = context;
    struct as_set_metric metrics[METRICS_N];
    for (unsigned i = 0; i < METRICS_N; i++)
        metrics[i] = (struct as_set_metric){.metric = as_timed_metric_of(AS_TIMED_SET + i),
                                            .origin = AS_ORIGIN_MEASURED,
                                            .digits = digits_of[i]};
    AS_TRY(as_metric_set_open(to->timed->experiment, "instances", AS_OBJECT_LOOP, AS_VPROF_PASS,
                              metrics, METRICS_N, &to->set, err));
    int rc = write_loops(to, err);
    if (rc == 0)
        rc = as_timed_write_run(to->timed, to->result, err);
    as_metric_set_close(&to->set);
    return rc;
}

/* Stores results of added loops. Facts of the run are those of its last run with timing. */
static int store_joining_loops(void *context, struct as_error *err)
{
    struct writing *to = context;
    struct as_subject of = {AS_OBJECT_RUN, to->timed->run_id, to->timed->run_id, 0};
    AS_TRY(as_experiment_forget_object(to->timed->experiment, &of, AS_VPROF_PASS, err));
    of.kind = AS_OBJECT_LOOP;
    as_vec_foreach (&to->timed->loop, loop) {
        of.object_id = loop->it.loop_id;
        AS_TRY(as_experiment_forget_object(to->timed->experiment, &of, AS_VPROF_PASS, err));
    }
    return store_instances(to, err);
}

int as_timed_write(const struct as_timed *timed, const struct as_vprof_result *result,
                   struct as_error *err)
{
    struct writing to = {.timed = timed, .result = result};
    if (timed->request->joins)
        return as_experiment_batch(timed->experiment, store_joining_loops, &to, err);
    return as_experiment_write_pass(timed->experiment, timed->run_id, AS_VPROF_PASS,
                                    store_instances, &to, err);
}
