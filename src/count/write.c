/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes counts to the profiled run: metrics of loops and functions, executions of their blocks,
 * sections of their pages, and reasons of refused objects.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "count/counted.h"
#include "count/metrics.h"
#include "count/traffic.h"

enum { COUNTED_METRICS = AS_COUNTS + 1 }; /* and the intensity */

struct counts_writing {
    struct as_block_counting *counting;
    struct as_metric_set *loops, *functions;
    struct as_count_result *result;
};

/* ---- Objects as rows ----------------------------------------------------------------------- */

static int find_id(struct as_block_counting *counting, struct as_counted_object *object,
                   struct as_error *err)
{
    struct as_catalogue_module *code = counting->module.at[object->module].code;
    return object->it.kind == AS_OBJECT_LOOP
               ? as_catalogue_row_loop(code, object->number, &object->it.id, err)
               : as_catalogue_row_function(code, object->number, &object->it.id, err);
}

static int set_object_share(void *context, struct as_rows *row, struct as_error *err)
{
    struct as_block_counting *counting = context;
    const bool is_loop = strcmp(as_rows_text(row, 0), "loop") == 0;
    (void)err;
    as_vec_foreach (&counting->object, object)
        if (object->it.id == as_rows_integer(row, 1) &&
            (object->it.kind == AS_OBJECT_LOOP) == is_loop)
            object->it.share = as_rows_real(row, 2);
    return 0;
}

static const char shares_sql[] =
    "SELECT object_kind, object_id, exclusive_share FROM object_time"
    " WHERE run_id = ?1 AND object_kind IN ('loop', 'function') AND exclusive_n > 0";

/* ---- Values -------------------------------------------------------------------------------- */

static int open_set(struct as_block_counting *counting, const char *name, enum as_object_kind kind,
                    struct as_metric_set **out, struct as_error *err)
{
    struct as_set_metric metric[COUNTED_METRICS];
    assert(as_count_metric_n == COUNTED_METRICS);
    for (unsigned i = 0; i < COUNTED_METRICS; i++) {
        metric[i] =
            (struct as_set_metric){.metric = as_count_metric[i].metric,
                                   .origin = i < AS_COUNTS ? AS_ORIGIN_EXACT : AS_ORIGIN_DERIVED,
                                   .digits = i < AS_COUNTS ? 0 : 6};
        assert(i == AS_COUNTS || strcmp(metric[i].metric.name, as_count_word(i)) == 0);
        metric[i].metric.pass = AS_COUNT_PASS;
    }
    return as_metric_set_open(counting->experiment, name, kind, AS_COUNT_PASS, metric,
                              COUNTED_METRICS, out, err);
}

static int write_values(const struct counts_writing *to, const struct as_count_object *it,
                        struct as_error *err)
{
    const struct as_subject of = {it->kind, it->id, to->counting->run_id, 0};
    const int64_t n = (int64_t)it->count[AS_COUNT_START];
    const double intensity = as_count_intensity(it);
    struct as_bounded_value value[COUNTED_METRICS] = {0};
    for (unsigned i = 0; i < AS_COUNTS; i++)
        value[i] = as_value_exact(it->count[i], n);
    if (!isnan(intensity))
        value[AS_COUNTS] = as_value_derived(intensity, intensity, intensity, n);
    return as_metric_set_add(it->kind == AS_OBJECT_LOOP ? to->loops : to->functions, &of, n, value,
                             err);
}

/* ---- Pages and flags ----------------------------------------------------------------------- */

static int write_page(const struct counts_writing *to, const struct as_count_object *it,
                      struct as_error *err)
{
    const bool is_loop = it->kind == AS_OBJECT_LOOP;
    const char *const column[] = {"what", "executed", is_loop ? "per iteration" : "per call"};
    struct as_sql_cell cell[AS_COUNTS * 3];
    size_t rows = 0;
    const double starts = it->count[AS_COUNT_START];
    for (unsigned i = 0; i < AS_COUNTS; i++) {
        if (it->count[i] == 0)
            continue;
        cell[rows * 3] = as_sql_cell_text(as_count_metric[i].metric.title);
        cell[rows * 3 + 1] = as_sql_cell_real(it->count[i]);
        cell[rows * 3 + 2] =
            starts > 0 ? as_sql_cell_real(it->count[i] / starts) : (struct as_sql_cell){0};
        rows++;
    }
    const struct as_detail detail = {
        .of = {it->kind, it->id, to->counting->run_id, 0},
        .name = "executed",
        .title = "Executed",
        .position = 43,
        .text = is_loop ? "Counted, including inner loops, without callees."
                        : "Counted, including its loops, without callees.",
        .column = column,
        .column_n = 3,
        .cell = cell,
        .row_n = rows,
        .pass = AS_COUNT_PASS};
    return as_experiment_detail(to->counting->experiment, &detail, err);
}

static int write_flag(const struct counts_writing *to, const struct as_count_object *it,
                      const char *name, const char *text, int64_t n, struct as_error *err)
{
    const struct as_flag flag = {.run_id = to->counting->run_id,
                                 .kind = it->kind,
                                 .object_id = it->id,
                                 .name = name,
                                 .text = text,
                                 .n = n,
                                 .pass = AS_COUNT_PASS};
    return as_experiment_flag(to->counting->experiment, &flag, err);
}

static int write_object(const struct counts_writing *to, const struct as_count_object *it,
                        struct as_error *err)
{
    if (it->reason)
        return write_flag(to, it, "not_counted", it->reason, 1, err);
    if (it->count[AS_COUNT_UNSURE] > 0)
        AS_TRY(write_flag(to, it, "counts_unsure",
                          "the active lanes or bytes of some instructions are unknown: sums are "
                          "upper bounds",
                          (int64_t)it->count[AS_COUNT_UNSURE], err));
    if (it->open)
        AS_TRY(write_flag(to, it, "counts_cut",
                          "threads ended inside a loop of it: its last entry is not counted",
                          (int64_t)it->open, err));
    AS_TRY(write_values(to, it, err));
    return it->count[AS_COUNT_INSTRUCTION] > 0 ? write_page(to, it, err) : 0;
}

/* ---- Blocks -------------------------------------------------------------------------------- */

static int write_blocks(const struct counts_writing *to, const struct as_counted_module *module,
                        struct as_error *err)
{
    as_vec_foreach (&module->ran, ran) {
        struct as_row_block_count row = {.run_id = to->counting->run_id,
                                         .executed_n = (int64_t)ran->runs};
        AS_TRY(as_catalogue_row_block(module->code, ran->block, &row.block_id, err));
        AS_TRY(as_experiment_add_block_count(to->counting->experiment, &row, err));
    }
    return 0;
}

/* ---- All ----------------------------------------------------------------------------------- */

static int write_objects(const struct counts_writing *to, struct as_error *err)
{
    struct as_block_counting *counting = to->counting;
    as_vec_foreach (&counting->object, object)
        AS_TRY(find_id(counting, object, err));
    AS_TRY(as_rows_each(counting->experiment, shares_sql, counting->run_id, set_object_share,
                        counting, err));
    as_vec_foreach (&counting->object, object)
        AS_TRY(write_object(to, &object->it, err));
    as_vec_foreach (&counting->module, module)
        AS_TRY(write_blocks(to, module, err));
    return 0;
}

/* ---- The run ------------------------------------------------------------------------------- */

static const struct as_metric counting_metrics[] = {
    {"counting_slowdown_x", "x",
     "CPU time of the counted run relative to the profiled run: the cost of counting.",
     "CPU time / CPU time", AS_BETTER_NEITHER, "Cost of counting", "trust", 0, 0, 60,
     AS_COUNT_PASS},
    {"counting_refused_pct", "%",
     "Share of the time of the chosen functions and loops that could not be counted.",
     "samples in refused code / samples in chosen code", AS_BETTER_NEITHER, "Not counted", "trust",
     0, 0, 61, AS_COUNT_PASS},
    {"counting_threads_missed_n", "1",
     "Threads that could not be counted: with any, counts are lower bounds.", "counted",
     AS_BETTER_NEITHER, "Threads not counted", "trust", 0, 0, 62, AS_COUNT_PASS}};

static int write_run(const struct counts_writing *to, struct as_error *err)
{
    struct as_block_counting *counting = to->counting;
    struct as_count_result *result = to->result;
    const struct as_subject run = {AS_OBJECT_RUN, counting->run_id, counting->run_id, 0};
    result->refused_share = as_counting_refused(counting);
    const double slowdown = result->slowdown, refused = 100 * result->refused_share;
    const struct as_bounded_value value[] = {
        as_value_derived(slowdown, slowdown, slowdown, 1),
        as_value_measured(refused, refused, refused, (int64_t)counting->object.n),
        as_value_exact((double)result->threads_missed, 1)};
    const bool known[] = {slowdown > 0, counting->object.n > 0, result->counted_run != 0};
    for (size_t i = 0; i < sizeof counting_metrics / sizeof *counting_metrics; i++) {
        int64_t id;
        if (!known[i])
            continue;
        AS_TRY(as_experiment_metric(counting->experiment, &counting_metrics[i], &id, err));
        AS_TRY(as_experiment_value(counting->experiment, id, &run, value[i], err));
    }
    return 0;
}

static int store_counts(void *context, struct as_error *err)
{
    struct counts_writing *to = context;
    int rc = open_set(to->counting, "loop_counts", AS_OBJECT_LOOP, &to->loops, err);
    if (rc == 0)
        rc = open_set(to->counting, "function_counts", AS_OBJECT_FUNCTION, &to->functions, err);
    if (rc == 0)
        rc = write_objects(to, err);
    if (rc == 0 && to->counting->traffic)
        rc = as_level_traffic_write(to->counting, err);
    if (rc == 0)
        rc = write_run(to, err);
    as_metric_set_close(&to->loops);
    as_metric_set_close(&to->functions);
    return rc;
}

int as_counting_write(struct as_block_counting *counting, struct as_count_result *result,
                      struct as_error *err)
{
    struct counts_writing to = {.counting = counting, .result = result};
    return as_experiment_write_pass(counting->experiment, counting->run_id, AS_COUNT_PASS,
                                    store_counts, &to, err);
}
