/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the results of a run's code as values and tables of its loops and functions. Flags the
 * modules with unreadable code.
 */
#include <string.h>

#include "base/error.h"
#include "experiment/metric_names.h"
#include "quality/detail.h"
#include "quality/metrics.h"
#include "quality/run.h"
#include "quality/unit_run.h"

enum metric { /* metrics of loops first, in the order of `names` */
              PATHS,
              STEERING,
              ACCESS,
              ACCESS_LEAST,
              ACCESS_MOST,
              INDIRECT,
              SCATTERS,
              MEETING,
              SWITCHES,
              RELOADS,
              REWRITES,
              SPINS,
              RESUMED,
              MERGES,
              STRIDED,
              UNIT,
              UNKNOWN,
              STEADY,
              PACKED,
              DIVIDES,
              COMPARED_ROOTS,
              CARRIED,
              SUMS,
              OTHER_CARRIED,
              BEGUN,
              DATA_EXITS,
              WIDE,
              CALLS,
              ROOT_CALLS,
              COMPLEX_CALLS,
              MATH_CALLS,
              POINTER_CALLS,
              BRANCH_STALLS,
              DATA_BRANCHES,
              MISPREDICTIONS,
              OPTIONS, /* metrics of functions start here */
              STRAIGHT_N,
              STRAIGHT_PACKED,
              BLOCK_COPIES,
              METRIC_COUNT
};

static const char *const names[METRIC_COUNT] = {AS_METRIC_flow_paths,
                                                AS_METRIC_flow_steering_pct,
                                                AS_METRIC_array_access_efficiency_pct,
                                                AS_METRIC_array_access_least_pct,
                                                AS_METRIC_array_access_most_pct,
                                                AS_METRIC_access_indirect_n,
                                                AS_METRIC_access_scatter_n,
                                                AS_METRIC_access_meeting_n,
                                                AS_METRIC_flow_switch_n,
                                                AS_METRIC_access_reload_n,
                                                AS_METRIC_access_rewrite_n,
                                                AS_METRIC_flow_spin_n,
                                                AS_METRIC_access_resumed_n,
                                                AS_METRIC_flow_merge_n,
                                                AS_METRIC_access_strided_n,
                                                AS_METRIC_access_unit_n,
                                                AS_METRIC_access_unknown_n,
                                                AS_METRIC_access_steady_n,
                                                AS_METRIC_fp_packed_pct,
                                                AS_METRIC_fp_divide_n,
                                                AS_METRIC_fp_compared_root_n,
                                                AS_METRIC_fp_carried_n,
                                                AS_METRIC_fp_sum_n,
                                                AS_METRIC_other_carried_n,
                                                AS_METRIC_carried_begun_n,
                                                AS_METRIC_data_exit_n,
                                                AS_METRIC_wide_access_pct,
                                                AS_METRIC_call_n,
                                                AS_METRIC_root_call_n,
                                                AS_METRIC_complex_call_n,
                                                AS_METRIC_math_call_n,
                                                AS_METRIC_pointer_call_n,
                                                AS_METRIC_branch_stall_pct,
                                                AS_METRIC_data_branch_n,
                                                AS_METRIC_mispredict_cy,
                                                AS_METRIC_compilation_options_pct,
                                                AS_METRIC_straight_instruction_n,
                                                AS_METRIC_straight_packed_pct,
                                                AS_METRIC_block_copy_pct};

struct value_writer {
    const struct as_quality_pass *pass;
    int64_t metric[METRIC_COUNT];
};

static int define_metrics(struct value_writer *w, struct as_error *err)
{
    for (size_t i = 0; i < as_quality_metric_n; i++) {
        int64_t id;

        AS_TRY(as_experiment_metric(w->pass->experiment, &as_quality_metric[i].metric, &id, err));
        for (int k = 0; k < METRIC_COUNT; k++)
            if (strcmp(names[k], as_quality_metric[i].metric.name) == 0)
                w->metric[k] = id;
    }
    for (int k = 0; k < METRIC_COUNT; k++)
        if (!w->metric[k])
            return as_error_set(err, AS_ERR_INTERNAL, "metric %s: is not in data/quality",
                                names[k]);
    return 0;
}

/* ---- Values of loops ----------------------------------------------------------------------- */

static int set_value(const struct value_writer *w, enum metric metric, int64_t loop_id,
                     struct as_bounded_value quantity, struct as_error *err)
{
    const struct as_subject loop = {.kind = AS_OBJECT_LOOP, .object_id = loop_id};

    return as_experiment_value(w->pass->experiment, w->metric[metric], &loop, quantity, err);
}

static int set_count(const struct value_writer *w, enum metric metric, int64_t loop_id, double n,
                     struct as_error *err)
{
    return set_value(w, metric, loop_id, as_value_exact(n, 1), err);
}

/* Writes both bounds, and the value if the bounds are equal. */
static int write_access(const struct value_writer *w, int64_t id, double low, double high,
                        struct as_error *err)
{
    if (high - low < 1e-9)
        AS_TRY(set_value(w, ACCESS, id, as_value_derived(low, low, low, 1), err));
    AS_TRY(set_value(w, ACCESS_LEAST, id, as_value_derived(low, low, low, 1), err));
    return set_value(w, ACCESS_MOST, id, as_value_derived(high, high, high, 1), err);
}

static int write_loop(const struct value_writer *w, int64_t id, const struct as_loop_facts *facts,
                      struct as_error *err)
{
    const uint32_t fp_n = facts->fp_packed_n + facts->fp_scalar_n;
    const uint32_t *stream = facts->stream_n;

    AS_TRY(set_count(w, PATHS, id, (double)facts->path_n, err));
    if (facts->insn_n)
        AS_TRY(set_count(w, STEERING, id, 100.0 * facts->steer_n / facts->insn_n, err));
    if (facts->access_low >= 0)
        AS_TRY(write_access(w, id, 100 * facts->access_low, 100 * facts->access_high, err));
    AS_TRY(set_count(w, INDIRECT, id, stream[AS_STRIDE_INDIRECT], err));
    AS_TRY(set_count(w, SCATTERS, id, facts->scatter_n, err));
    AS_TRY(set_count(w, MEETING, id, facts->meeting_n, err));
    AS_TRY(set_count(w, SWITCHES, id, facts->switch_n, err));
    AS_TRY(set_count(w, RELOADS, id, facts->reload_n, err));
    AS_TRY(set_count(w, REWRITES, id, facts->rewrite_n, err));
    AS_TRY(set_count(w, SPINS, id, facts->spin_n, err));
    AS_TRY(set_count(w, RESUMED, id, facts->resumed_n, err));
    AS_TRY(set_count(w, MERGES, id, facts->merge_n, err));
    AS_TRY(set_count(w, STRIDED, id, stream[AS_STRIDE_CONSTANT], err));
    AS_TRY(set_count(w, UNIT, id, stream[AS_STRIDE_ZERO] + stream[AS_STRIDE_UNIT], err));
    AS_TRY(set_count(w, UNKNOWN, id, stream[AS_STRIDE_UNKNOWN] - facts->steady_n, err));
    AS_TRY(set_count(w, STEADY, id, facts->steady_n, err));
    if (fp_n)
        AS_TRY(set_count(w, PACKED, id, 100.0 * facts->fp_packed_n / fp_n, err));
    AS_TRY(set_count(w, DIVIDES, id, facts->fp_divide_n, err));
    AS_TRY(set_count(w, COMPARED_ROOTS, id, facts->compared_root_n, err));
    AS_TRY(set_count(w, CARRIED, id, facts->fp_carried_n, err));
    AS_TRY(set_count(w, SUMS, id, facts->fp_sum_n, err));
    AS_TRY(set_count(w, OTHER_CARRIED, id, facts->other_carried_n, err));
    AS_TRY(set_count(w, BEGUN, id, facts->begun_n, err));
    AS_TRY(set_count(w, DATA_EXITS, id, facts->data_exit_n, err));
    if (facts->moving_n)
        AS_TRY(set_count(w, WIDE, id, 100.0 * facts->wide_n / facts->moving_n, err));
    return set_count(w, CALLS, id, facts->call_n, err);
}

static int write_calls(const struct value_writer *w, int64_t id,
                       const struct as_quality_calls *calls, struct as_error *err)
{
    AS_TRY(set_count(w, ROOT_CALLS, id, calls->root_n, err));
    AS_TRY(set_count(w, COMPLEX_CALLS, id, calls->complex_n, err));
    AS_TRY(set_count(w, MATH_CALLS, id, calls->math_n, err));
    return set_count(w, POINTER_CALLS, id, calls->pointer_n, err);
}

static int write_loops(const struct value_writer *w, struct as_error *err)
{
    as_vec_foreach (&w->pass->loop, it) {
        if (it->wants_values) {
            AS_TRY(write_loop(w, it->id, &it->facts, err));
            AS_TRY(write_calls(w, it->id, &it->calls, err));
        }
        if (it->wants_page)
            AS_TRY(as_quality_details(w->pass->experiment, it->id, it->program, it->at, err));
    }
    return 0;
}

/* ---- Functions and modules ----------------------------------------------------------------- */

static int write_straight(const struct value_writer *w, struct as_error *err)
{
    as_vec_foreach (&w->pass->straight, it) {
        const struct as_subject function = {.kind = AS_OBJECT_FUNCTION, .object_id = it->id};
        const uint32_t fp_n = it->facts.fp_packed_n + it->facts.fp_scalar_n;

        AS_TRY(as_experiment_value(w->pass->experiment, w->metric[STRAIGHT_N], &function,
                                   as_value_exact(it->facts.insn_n, 1), err));
        if (fp_n)
            AS_TRY(as_experiment_value(w->pass->experiment, w->metric[STRAIGHT_PACKED], &function,
                                       as_value_exact(100.0 * it->facts.fp_packed_n / fp_n, 1),
                                       err));
    }
    return 0;
}

/* ---- Samples at single instructions -------------------------------------------------------- */

static int write_share(const struct value_writer *w, enum metric metric, enum as_object_kind kind,
                       int64_t id, int64_t part, int64_t n, struct as_error *err)
{
    const struct as_subject of = {.kind = kind, .object_id = id, .run_id = w->pass->run_id};
    struct as_bounded_value pct = as_value_share(part, n);

    pct.value *= 100;
    pct.low *= 100;
    pct.high *= 100;
    return as_experiment_value(w->pass->experiment, w->metric[metric], &of, pct, err);
}

static int write_branches_of(const struct value_writer *w, const struct as_quality_hot_loop *it,
                             const struct as_spot *spot, size_t n, struct as_error *err)
{
    const struct as_subject of = {
        .kind = AS_OBJECT_LOOP, .object_id = it->id, .run_id = w->pass->run_id};
    struct as_branch_spots found;

    as_spots_behind_branches(it->program, it->at, it->id, spot, n, it->counted ? it->block : NULL,
                             it->counted ? it->block_n : 0, &found);
    if (!found.branch_n)
        return 0;
    const double cycles = found.wrong_n * w->pass->mispredicted_cy;

    AS_TRY(write_share(w, BRANCH_STALLS, AS_OBJECT_LOOP, it->id, found.behind, found.all, err));
    AS_TRY(as_experiment_value(w->pass->experiment, w->metric[DATA_BRANCHES], &of,
                               as_value_exact(found.branch_n, 1), err));
    return cycles > 0 ? as_experiment_value(w->pass->experiment, w->metric[MISPREDICTIONS], &of,
                                            as_value_derived(cycles, 0, cycles, 1), err)
                      : 0;
}

static int write_branches(const struct value_writer *w, struct as_error *err)
{
    const struct as_spot *spot = w->pass->spot.at;
    const size_t n = w->pass->spot.n;

    as_vec_foreach (&w->pass->loop, it) {
        size_t first = 0, end;

        while (first < n && spot[first].loop_id != it->id)
            first++;
        if (first == n || !it->wants_branches)
            continue;
        for (end = first; end < n && spot[end].function_id == spot[first].function_id;)
            end++;
        while (first && spot[first - 1].function_id == spot[end - 1].function_id)
            first--;
        AS_TRY(write_branches_of(w, it, spot + first, end - first, err));
    }
    return 0;
}

static int write_copying(const struct value_writer *w, struct as_error *err)
{
    as_vec_foreach (&w->pass->copying, it)
        AS_TRY(write_share(w, BLOCK_COPIES, AS_OBJECT_FUNCTION, it->function_id, it->n, it->of_n,
                           err));
    return 0;
}

/* Flags a measured core table that could not be read: the metrics of loops then use the built-in
 * table. */
static int write_passed_over(const struct as_quality_pass *pass, struct as_error *err)
{
    const struct as_flag flag = {.run_id = pass->run_id,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = pass->run_id,
                                 .name = "core_table_not_read",
                                 .text = pass->unread.text,
                                 .n = 1};

    return pass->unread.text[0] ? as_experiment_flag(pass->experiment, &flag, err) : 0;
}

/* Flags modules with unreadable code. */
static int write_unread(const struct value_writer *w, struct as_error *err)
{
    as_vec_foreach (&w->pass->module, it) {
        const struct as_flag flag = {.run_id = w->pass->run_id,
                                     .kind = AS_OBJECT_MODULE,
                                     .object_id = it->id,
                                     .name = "code_not_read",
                                     .text = it->code ? it->code->trouble.text : "",
                                     .n = 1};

        if (it->code && !it->code->program)
            AS_TRY(as_experiment_flag(w->pass->experiment, &flag, err));
    }
    return 0;
}

/* ---- Code quality analysis ----------------------------------------------------------------- */

static bool is_analysed(const struct value_writer *w)
{
    as_vec_foreach (&w->pass->loop, it)
        if (it->cqa.is_there)
            return true;
    return false;
}

static int write_analysed(const struct value_writer *w, struct as_error *err)
{
    struct as_cqa_writer writer;

    if (!is_analysed(w))
        return 0;
    AS_TRY(as_cqa_writer_open(w->pass->experiment, w->pass->run_id, &writer, err));
    int rc = 0;
    as_vec_foreach (&w->pass->loop, it) {
        if (rc == 0 && it->cqa.is_there)
            rc = as_cqa_write(&writer, it->id, &it->cqa, err);
        if (rc == 0 && it->core.insn_n)
            rc = as_core_write(w->pass->experiment, it->id, &it->core, err);
    }
    as_cqa_writer_close(&writer);
    return rc;
}

/* ---- All ----------------------------------------------------------------------------------- */

int as_quality_pass_write(const struct as_quality_pass *pass, struct as_error *err)
{
    struct value_writer w = {.pass = pass};

    AS_TRY(define_metrics(&w, err));
    AS_TRY(write_unread(&w, err));
    AS_TRY(write_passed_over(pass, err));
    AS_TRY(write_loops(&w, err));
    AS_TRY(write_straight(&w, err));
    AS_TRY(write_branches(&w, err));
    AS_TRY(write_copying(&w, err));
    AS_TRY(write_analysed(&w, err));
    return as_quality_units(pass->experiment, pass->run_id, w.metric[OPTIONS], err);
}
