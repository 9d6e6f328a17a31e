/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes results to the profiled run: metrics by variant and bucket, metrics by bucket, a section
 * of the page of the loop, a finding, and the refused loops.
 */
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "decan/internal.h"
#include "decan/metrics.h"

enum { VARIED_METRICS_N = AS_TAKE_COLUMNS + AS_DECAN_COLUMNS };

struct decan_writing {
    const struct as_decan *decan;
    struct as_metric_set *takes, *loops;
};

/* ---- Sets ----------------------------------------------------------------------------------- */

/* Decimal places of the columns of a variant. */
static const int take_digits[AS_TAKE_COLUMNS] = {0, 3, 3, 3, 1, 2, 3, 0, 0};

/* Returns true for a column with an interval. Counts, words and ceilings have none. */
static bool is_bounded_column(unsigned column)
{
    return column >= AS_DECAN_COLUMN_DRIFT &&
           (column < AS_DECAN_COLUMN_FP_USE || (column - AS_DECAN_COLUMN_FP_USE) % 3 != 0);
}

static int open_sets(struct decan_writing *to, struct as_error *err)
{
    struct as_experiment *experiment = to->decan->timed.experiment;
    struct as_set_metric metric[VARIED_METRICS_N];
    assert(as_decan_metric_n == VARIED_METRICS_N);
    for (unsigned i = 0; i < VARIED_METRICS_N; i++) {
        const bool is_take = i < AS_TAKE_COLUMNS;
        const bool is_timing = i == AS_TAKE_CYCLES || i == AS_TAKE_SPEEDUP || i == AS_TAKE_INSTANCE;
        metric[i] = (struct as_set_metric){
            .metric = as_decan_metric[i].metric,
            .origin = is_take && i != AS_TAKE_SPEEDUP ? AS_ORIGIN_MEASURED : AS_ORIGIN_DERIVED,
            .digits = is_take ? take_digits[i] : 3,
            .bounded = is_take ? is_timing : is_bounded_column(i - AS_TAKE_COLUMNS)};
        metric[i].metric.pass = AS_DECAN_PASS;
    }
    AS_TRY(as_metric_set_open(experiment, "variants", AS_OBJECT_LOOP, AS_DECAN_PASS, metric,
                              AS_TAKE_COLUMNS, &to->takes, err));
    return as_metric_set_open(experiment, "decan", AS_OBJECT_LOOP, AS_DECAN_PASS,
                              metric + AS_TAKE_COLUMNS, AS_DECAN_COLUMNS, &to->loops, err);
}

static struct as_bounded_value varied_number(double value, uint32_t n)
{
    return as_value_measured(value, value, value, n);
}

/* Returns a median with its interval, which is unbounded for too few instances. */
static struct as_bounded_value median_of(double median, double low, double high, uint32_t n)
{
    return as_value_measured(median, isnan(low) ? 0 : fmin(low, median),
                             isnan(high) ? INFINITY : fmax(high, median), n);
}

/* Returns the speed-up of a variant, with bounds by both medians. */
static struct as_bounded_value speedup_of(const struct as_decan_measured *reference,
                                          const struct as_decan_measured *take)
{
    if (isnan(take->speedup))
        return (struct as_bounded_value){0};
    const double low = isnan(reference->low) || isnan(take->high)
                           ? 0
                           : fmin(take->speedup, reference->low / take->high);
    const double high = isnan(reference->high) || isnan(take->low) || !(take->low > 0)
                            ? INFINITY
                            : fmax(take->speedup, reference->high / take->low);
    return as_value_derived(take->speedup, low, high, take->n);
}

static int store_variant_row(const struct decan_writing *to, struct as_subject of,
                             const struct as_decan_measured *reference,
                             const struct as_decan_measured *it, const char *bucket,
                             struct as_error *err)
{
    const struct as_row_context where = {.variant = it->variant, .bucket = bucket};
    struct as_bounded_value value[AS_TAKE_COLUMNS] = {0};
    if (!it->n && !it->disturbed && !it->ended)
        return 0;
    AS_TRY(as_experiment_add_context(to->decan->timed.experiment, &where, &of.context_id, err));
    value[AS_TAKE_N] = varied_number(it->n, it->n);
    value[AS_TAKE_DISTURBED] = varied_number(it->disturbed, it->n);
    value[AS_TAKE_ENDED] = varied_number(it->ended, it->n);
    if (it->n) {
        value[AS_TAKE_CYCLES] = median_of(it->median, it->low, it->high, it->n);
        value[AS_TAKE_LEAST] = varied_number(it->least, it->n);
        if (it->n > 1)
            value[AS_TAKE_STABILITY] = varied_number(it->stability, it->n);
        value[AS_TAKE_INSTANCE] =
            median_of(it->instance, it->instance_low, it->instance_high, it->n);
        value[AS_TAKE_ITERATIONS] = varied_number(it->iterations, it->n);
        if (reference)
            value[AS_TAKE_SPEEDUP] = speedup_of(reference, it);
    }
    return as_metric_set_add(to->takes, &of, it->n, value, err);
}

static const struct as_decan_measured *reference_of(const struct as_decan_bucket *bucket)
{
    const struct as_decan_measured *reference = as_bucket_variant(bucket, AS_VARIANT_REF);
    return reference ? reference : as_bucket_variant(bucket, AS_VARIANT_ORIG);
}

/* ---- Buckets -------------------------------------------------------------------------------- */

/* Returns the share of waiting for data in per cent, with bounds by both medians. */
static struct as_bounded_value waits_of(const struct as_decan_bucket *bucket, double pct)
{
    const struct as_decan_measured *orig = as_bucket_variant(bucket, AS_VARIANT_ORIG);
    const struct as_decan_measured *own = orig ? orig : reference_of(bucket);
    const struct as_decan_measured *near = as_bucket_variant(bucket, AS_VARIANT_DL1);
    double low = 0, high = 100;
    if (own && near && !isnan(own->low) && !isnan(near->high) && own->low > 0)
        low = fmin(pct, fmax(0, 100 * (1 - near->high / own->low)));
    if (own && near && !isnan(own->high) && !isnan(near->low) && own->high > 0)
        high = fmax(pct, fmax(0, 100 * (1 - near->low / own->high)));
    return as_value_derived(pct, low, high, near ? near->n : 0);
}

static struct as_bounded_value column_of(const struct as_decan_bucket *it, size_t i)
{
    const double value = it->column[i], low = it->column_low[i], high = it->column_high[i];
    return as_value_derived(value, isnan(low) ? value : fmin(low, value),
                            isnan(high) ? value : fmax(high, value), it->column_n[i]);
}

static int write_columns(const struct decan_writing *to, const struct as_subject *of,
                         const struct as_decan_bucket *it, double waits, struct as_error *err)
{
    struct as_bounded_value value[AS_DECAN_COLUMNS] = {0};
    const struct as_decan_measured *reference = reference_of(it);
    const int64_t n = reference ? reference->n : 0;
    for (size_t i = 0; i < AS_DECAN_COLUMNS; i++)
        if (isfinite(it->column[i]))
            value[i] = column_of(it, i);
    if (isfinite(waits))
        value[AS_DECAN_COLUMN_WAITS] = waits_of(it, waits);
    return as_metric_set_add(to->loops, of, n, value, err);
}

/* Writes metrics of a loop. Those of the whole loop are those of its main bucket, except waiting,
 * which covers all buckets. */
static int write_values(const struct decan_writing *to, const struct as_decan_loop *loop,
                        struct as_error *err)
{
    const struct as_subject whole = {AS_OBJECT_LOOP, loop->loop_id, to->decan->timed.run_id, 0};
    for (size_t i = 0; i < loop->bucket_n; i++) {
        const struct as_decan_bucket *it = &loop->bucket[i];
        const struct as_decan_measured *reference = reference_of(it);
        struct as_subject of = whole;
        char name[64];
        as_bucket_name(it, name, sizeof name);
        for (size_t k = 0; k < it->take_n; k++) {
            AS_TRY(store_variant_row(to, whole, reference, &it->take[k], name, err));
            if (i == loop->main)
                AS_TRY(store_variant_row(to, whole, reference, &it->take[k], NULL, err));
        }
        const struct as_row_context where = {.bucket = name};
        AS_TRY(as_experiment_add_context(to->decan->timed.experiment, &where, &of.context_id, err));
        AS_TRY(write_columns(to, &of, it, it->column[AS_DECAN_COLUMN_WAITS], err));
    }
    return write_columns(to, &whole, &loop->bucket[loop->main], 100 * loop->gained, err);
}

/* ---- The page ------------------------------------------------------------------------------- */

enum { PAGE_COLUMNS = 11, PAGE_ROWS = 96 };

static const char *reliability_word(const struct as_decan_measured *it)
{
    static const char *const word[] = {[AS_DECAN_UNRELIABLE] = "unreliable",
                                       [AS_DECAN_WEAK] = "weak",
                                       [AS_DECAN_RELIABLE] = "reliable"};
    _Static_assert(sizeof word / sizeof *word == AS_DECAN_RELIABLE + 1,
                   "an entry for each of the enumeration");
    return it->n ? word[it->reliability] : it->reason;
}

static void fill_row(const char *bucket, const struct as_decan_measured *it,
                     struct as_sql_cell *cell)
{
    cell[0] = as_sql_cell_text(bucket);
    cell[1] = as_sql_cell_text(it->variant);
    cell[2] = as_sql_cell_integer(it->n);
    if (it->n) {
        cell[3] = as_sql_cell_real(it->median);
        if (!isnan(it->low) && !isnan(it->high)) {
            cell[4] = as_sql_cell_real(it->low);
            cell[5] = as_sql_cell_real(it->high);
        }
        cell[6] = as_sql_cell_real(it->least);
        cell[7] = as_sql_cell_real(it->stability);
        cell[8] = as_sql_cell_real(it->instance);
        if (!isnan(it->speedup))
            cell[9] = as_sql_cell_real(it->speedup);
    }
    cell[10] = as_sql_cell_text(reliability_word(it));
}

static int write_page(const struct decan_writing *to, const struct as_decan_loop *loop,
                      struct as_error *err)
{
    static const char *const column[PAGE_COLUMNS] = {
        "Iterations",      "Variant",   "Instances",  "Cycles/iteration",
        "from (95 %)",     "to (95 %)", "Least",      "Stability",
        "Cycles/instance", "Speed-up",  "Reliability"};
    struct as_sql_cell cell[PAGE_ROWS * PAGE_COLUMNS] = {0};
    char name[PAGE_ROWS][64];
    size_t rows = 0;
    for (size_t i = 0; i < loop->bucket_n; i++)
        for (size_t k = 0; k < loop->bucket[i].take_n && rows < PAGE_ROWS; k++) {
            as_bucket_name(&loop->bucket[i], name[rows], sizeof name[rows]);
            fill_row(name[rows], &loop->bucket[i].take[k], &cell[rows * PAGE_COLUMNS]);
            rows++;
        }
    const struct as_detail detail = {
        .of = {AS_OBJECT_LOOP, loop->loop_id, to->decan->timed.run_id, 0},
        .name = "variants",
        .title = "Cycles without",
        .position = 44,
        .text = loop->bucket[loop->main].text,
        .column = column,
        .column_n = PAGE_COLUMNS,
        .cell = cell,
        .row_n = rows,
        .pass = AS_DECAN_PASS};
    return as_experiment_detail(to->decan->timed.experiment, &detail, err);
}

/* ---- Findings and flags --------------------------------------------------------------------- */

/* Writes "The loop at a.c:3", or its address without debug information. */
static int name_loop(const struct decan_writing *to, int64_t loop_id, char *out, size_t out_b,
                     struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(to->decan->timed.experiment,
                        "SELECT s.path, l.number, o.address FROM loop o"
                        " LEFT JOIN line l ON l.line_id = o.first_line_id"
                        " LEFT JOIN source_file s USING (source_file_id) WHERE o.loop_id = ?1",
                        &rows, err));
    as_rows_bind_integer(rows, 1, loop_id);
    const int rc = as_rows_next(rows, err);
    const char *path = rc > 0 ? as_rows_text(rows, 0) : NULL;
    if (path)
        snprintf(out, out_b, "The loop at %s:%" PRId64, as_path_last(path),
                 as_rows_integer(rows, 1));
    else if (rc > 0)
        snprintf(out, out_b, "The loop at 0x%" PRIx64, (uint64_t)as_rows_integer(rows, 2));
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* Writes the finding. An undecided verdict appears on the page of the loop only. */
static int write_finding(const struct decan_writing *to, const struct as_decan_loop *loop,
                         struct as_error *err)
{
    const struct as_decan_bucket *main = &loop->bucket[loop->main];
    char name[256] = "A loop", text[AS_DECAN_TEXT_B + sizeof name];
    if (!main->text[0] || !as_measurements_exist(main) ||
        (enum as_decan_verdict)main->column[AS_DECAN_COLUMN_VERDICT] == AS_DECAN_UNKNOWN)
        return 0;
    AS_TRY(name_loop(to, loop->loop_id, name, sizeof name, err));
    const bool is_word = islower((unsigned char)main->text[1]); /* not RAM */
    snprintf(text, sizeof text, "%s: %c%s", name,
             is_word ? tolower((unsigned char)main->text[0]) : main->text[0], main->text + 1);
    const struct as_finding finding = {
        .of = {AS_OBJECT_LOOP, loop->loop_id, to->decan->timed.run_id, 0},
        .level = AS_FINDING_EXPERT,
        .topic = "differential",
        .text = text,
        .time_ns = (int64_t)(loop->share * to->decan->timed.wall_ns),
        .pass = AS_DECAN_PASS,
        .rule = "decan_verdict"};
    return as_experiment_finding(to->decan->timed.experiment, &finding, err);
}

static int write_refusal(const struct decan_writing *to, const struct as_decan_loop *loop,
                         struct as_error *err)
{
    const struct as_flag flag = {.run_id = to->decan->timed.run_id,
                                 .kind = AS_OBJECT_LOOP,
                                 .object_id = loop->loop_id,
                                 .name = "loop_not_varied",
                                 .text = loop->reason,
                                 .n = 1,
                                 .pass = AS_DECAN_PASS};
    return as_experiment_flag(to->decan->timed.experiment, &flag, err);
}

static const struct as_metric run_metrics[] = {
    {"variants_run_n", "1", "Runs with variants of loops.", "counted", AS_BETTER_NEITHER,
     "Runs with variants", "trust", 0, 0, 60, AS_DECAN_PASS},
    {"variants_spent_pct", "%", "Share of these runs spent in variants and their undo log.",
     "ticks of variants / processor time", AS_BETTER_NEITHER, "Cost of variants", "trust", 0, 0, 61,
     AS_DECAN_PASS},
    {"variants_refused_pct", "%", "Share of the time of the chosen loops that could not be varied.",
     "samples in refused loops / samples in chosen loops", AS_BETTER_NEITHER, "Not varied", "trust",
     0, 0, 62, AS_DECAN_PASS},
    {"variants_lost_n", "1", "Instances of variants that were lost: the buffer was full.",
     "counted", AS_BETTER_LOWER, "Variants lost", "trust", 0, 0, 63, AS_DECAN_PASS}};

/* Writes a flag that hardware counters of instances were not read, with the reason. */
static int write_no_counters(const struct decan_writing *to, struct as_error *err)
{
    const int64_t run_id = to->decan->timed.run_id;
    struct as_rows *rows;
    char text[512] = "no counters of instances: assay reads none there";
    AS_TRY(as_rows_open(to->decan->timed.experiment,
                        "SELECT f.value FROM host_fact f JOIN run r USING (host_id)"
                        " WHERE r.run_id = ?1 AND f.name = 'pmu' AND f.value LIKE 'none: %'",
                        &rows, err));
    as_rows_bind_integer(rows, 1, run_id);
    const int rc = as_rows_next(rows, err);
    if (rc > 0)
        snprintf(text, sizeof text, "no counters of instances: %s",
                 as_rows_text(rows, 0) + strlen("none: "));
    as_rows_close(&rows);
    const struct as_flag flag = {.run_id = run_id,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = run_id,
                                 .name = "variants_without_counters",
                                 .text = text,
                                 .n = 1,
                                 .pass = AS_DECAN_PASS};
    return rc < 0 ? rc : as_experiment_flag(to->decan->timed.experiment, &flag, err);
}

/* Flags a run without a varied loop; the reason is that of the hottest loop. */
static int flag_refused_run(const struct decan_writing *to, struct as_error *err)
{
    const struct as_decan_result *result = to->decan->result;
    const struct as_decan_loop *hottest = NULL;
    char text[512];

    for (size_t i = 0; i < result->loop_n; i++) {
        const struct as_decan_loop *loop = &result->loop[i];

        if (!loop->reason)
            return 0;
        if (!hottest || loop->share > hottest->share)
            hottest = loop;
    }
    if (!hottest)
        return 0;
    snprintf(text, sizeof text, "no loop was varied: %s", hottest->reason);
    const struct as_flag flag = {.run_id = to->decan->timed.run_id,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = to->decan->timed.run_id,
                                 .name = "no_loop_varied",
                                 .text = text,
                                 .n = 1,
                                 .pass = AS_DECAN_PASS};
    return as_experiment_flag(to->decan->timed.experiment, &flag, err);
}

static int write_run(const struct decan_writing *to, struct as_error *err)
{
    const struct as_decan_result *result = to->decan->result;
    const int64_t run_id = to->decan->timed.run_id;
    const struct as_subject run = {AS_OBJECT_RUN, run_id, run_id, 0};
    const double value[] = {result->runs, 100 * result->spent, 100 * result->refused_share,
                            (double)result->lost};
    for (size_t i = 0; i < sizeof run_metrics / sizeof *run_metrics; i++) {
        int64_t id;
        AS_TRY(as_experiment_metric(to->decan->timed.experiment, &run_metrics[i], &id, err));
        AS_TRY(as_experiment_value(to->decan->timed.experiment, id, &run,
                                   as_value_measured(value[i], value[i], value[i], 1), err));
    }
    AS_TRY(write_no_counters(to, err));
    AS_TRY(flag_refused_run(to, err));
    if (!result->differs)
        return 0;
    const struct as_flag flag = {
        .run_id = run_id,
        .kind = AS_OBJECT_RUN,
        .object_id = run_id,
        .name = "variants_ended_otherwise",
        .text = "the program ended differently with variants: it may check its own code, or other "
                "threads read what a loop stores; results are up to then",
        .n = 1,
        .pass = AS_DECAN_PASS};
    return as_experiment_flag(to->decan->timed.experiment, &flag, err);
}

/* ---- All ------------------------------------------------------------------------------------ */

static int write_loops(const struct decan_writing *to, struct as_error *err)
{
    const struct as_decan_result *result = to->decan->result;
    for (size_t i = 0; i < result->loop_n; i++) {
        const struct as_decan_loop *loop = &result->loop[i];
        if (loop->reason) {
            AS_TRY(write_refusal(to, loop, err));
            continue;
        }
        AS_TRY(write_values(to, loop, err));
        AS_TRY(write_page(to, loop, err));
        AS_TRY(write_finding(to, loop, err));
    }
    AS_TRY(as_tick_flag(&to->decan->timed.tick, to->decan->timed.experiment,
                        to->decan->timed.run_id, AS_DECAN_PASS, err));
    return write_run(to, err);
}

static int store_variants(void *context, struct as_error *err)
{
    struct decan_writing *to = context;
    int rc = open_sets(to, err);
    if (rc == 0)
        rc = write_loops(to, err);
    as_metric_set_close(&to->takes);
    as_metric_set_close(&to->loops);
    return rc;
}

/* Stores loops that were chosen by name beside those of earlier passes. */
static int store_chosen_loops(void *context, struct as_error *err)
{
    struct decan_writing *to = context;
    const struct as_decan_result *result = to->decan->result;
    const int64_t run_id = to->decan->timed.run_id;
    const struct as_subject run = {AS_OBJECT_RUN, run_id, run_id, 0};
    struct as_experiment *experiment = to->decan->timed.experiment;
    AS_TRY(as_experiment_forget_object(experiment, &run, AS_DECAN_PASS, err));
    for (size_t i = 0; i < result->loop_n; i++) {
        const struct as_subject of = {AS_OBJECT_LOOP, result->loop[i].loop_id, run_id, 0};
        AS_TRY(as_experiment_forget_object(experiment, &of, AS_DECAN_PASS, err));
    }
    return store_variants(to, err);
}

int as_decan_write(const struct as_decan *decan, struct as_error *err)
{
    struct decan_writing to = {.decan = decan};
    struct as_experiment *experiment = decan->timed.experiment;
    return decan->request->loops
               ? as_experiment_batch(experiment, store_chosen_loops, &to, err)
               : as_experiment_write_pass(experiment, decan->timed.run_id, AS_DECAN_PASS,
                                          store_variants, &to, err);
}
