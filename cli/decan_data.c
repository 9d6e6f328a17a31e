/* SPDX-License-Identifier: Apache-2.0 */
/* `assay decan` for programs: JSON with loops, their buckets, and what each variant took; CSV with
 * a row for each of the last. */
#include <math.h>

#include "base/error.h"
#include "compared.h"
#include "decan_view.h"

static const char *reliability_of(const struct as_decan_measured *take)
{
    static const char *const word[] = {[AS_DECAN_UNRELIABLE] = "unreliable",
                                       [AS_DECAN_WEAK] = "weak",
                                       [AS_DECAN_RELIABLE] = "reliable"};
    _Static_assert(sizeof word / sizeof *word == AS_DECAN_RELIABLE + 1,
                   "an entry for each of the enumeration");
    return take->n ? word[take->reliability] : NULL;
}

/* Each number of a take, by its name here and there. */
struct number {
    const char *key;
    double value;
};
enum { NUMBERS_N = 10 };

static void numbers_of(const struct as_decan_measured *take, struct number *out)
{
    const double none = (double)NAN;
    const struct number all[NUMBERS_N] = {
        {"iteration_cycles", take->n ? take->median : none},
        {"iteration_cycles_low", take->n ? take->low : none},
        {"iteration_cycles_high", take->n ? take->high : none},
        {"iteration_cycles_least", take->n ? take->least : none},
        {"stability", take->n ? take->stability : none},
        {"iterations_mean", take->n ? take->iterations : none},
        {"instance_cycles", take->n ? take->instance : none},
        {"instance_cycles_low", take->n ? take->instance_low : none},
        {"instance_cycles_high", take->n ? take->instance_high : none},
        {"speedup", take->n ? take->speedup : none}};
    for (size_t i = 0; i < NUMBERS_N; i++)
        out[i] = all[i];
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void write_finite_number(struct as_json *json, const char *key, double value)
{
    as_json_key(json, key);
    if (isfinite(value))
        as_json_double(json, value);
    else
        as_json_null(json);
}

static void write_variant_json(struct as_json *json, const struct as_decan_measured *take)
{
    struct number number[NUMBERS_N];
    numbers_of(take, number);
    as_json_object_begin(json);
    as_json_key_string(json, "variant", take->variant);
    as_json_key_string(json, "missing", take->reason);
    as_json_key_u64(json, "n", take->n);
    as_json_key_u64(json, "disturbed", take->disturbed);
    as_json_key_u64(json, "ended", take->ended);
    for (size_t i = 0; i < NUMBERS_N; i++)
        write_finite_number(json, number[i].key, number[i].value);
    as_json_key_string(json, "reliability", reliability_of(take));
    as_json_key_bool(json, "decides", take->decides);
    as_json_key_bool(json, "chains", take->chains);
    as_json_object_end(json);
}

/* Writes low, high and number of instances of each value; null: no bound. */
static void write_bounds(struct as_json *json, const struct as_decan_bucket *it)
{
    const struct as_metric *metric;
    as_json_key(json, "bounds");
    as_json_object_begin(json);
    for (size_t i = 0; (metric = as_decan_column(i)); i++) {
        if (!isfinite(it->column[i]) || isnan(it->column_low[i]))
            continue;
        as_json_key(json, metric->name);
        as_json_object_begin(json);
        write_finite_number(json, "low", it->column_low[i]);
        write_finite_number(json, "high", it->column_high[i]);
        as_json_key_u64(json, "n", it->column_n[i]);
        as_json_object_end(json);
    }
    as_json_object_end(json);
}

static void write_decan_bucket(struct as_json *json, const struct as_decan_bucket *it, bool is_main)
{
    const struct as_metric *metric;
    as_json_object_begin(json);
    as_json_key_double(json, "iterations_from", it->low);
    as_json_key_double(json, "iterations_below", it->high);
    as_json_key_bool(json, "main", is_main);
    write_finite_number(json, "share", it->share);
    as_json_key_string(json, "verdict", it->verdict);
    as_json_key_string(json, "title", it->title);
    as_json_key_string(json, "confidence", it->confidence);
    as_json_key_string(json, "doubt", it->doubt);
    as_json_key_string(json, "text", it->text);
    as_json_key(json, "values");
    as_json_object_begin(json);
    for (size_t i = 0; (metric = as_decan_column(i)); i++)
        if (isfinite(it->column[i]))
            as_json_key_double(json, metric->name, it->column[i]);
    as_json_object_end(json);
    write_bounds(json, it);
    as_json_key(json, "variants");
    as_json_array_begin(json);
    for (size_t i = 0; i < it->take_n; i++)
        write_variant_json(json, &it->take[i]);
    as_json_array_end(json);
    as_json_object_end(json);
}

static void write_decan_loop(struct as_json *json, const struct as_decan_loop *loop,
                             const char *name)
{
    as_json_object_begin(json);
    as_json_key_i64(json, "loop_id", loop->loop_id);
    as_json_key_string(json, "name", name);
    as_json_key_hex(json, "address", loop->address);
    as_json_key_double(json, "share", loop->share);
    as_json_key_string(json, "refused", loop->reason);
    as_json_key_u64(json, "held", loop->held);
    as_json_key_u64(json, "wide", loop->wide);
    as_json_key_u64(json, "faulted", loop->faulted);
    as_json_key_u64(json, "endless", loop->endless);
    as_json_key_u64(json, "threads", loop->threads);
    write_finite_number(json, "waits", loop->gained);
    as_json_key(json, "buckets");
    as_json_array_begin(json);
    for (size_t i = 0; i < loop->bucket_n; i++)
        write_decan_bucket(json, &loop->bucket[i], i == loop->main);
    as_json_array_end(json);
    as_json_object_end(json);
}

int as_decan_json(struct as_decan_view *view, struct as_error *err)
{
    const struct as_decan_result *result = view->result;
    struct as_json json;
    int rc = 0;
    as_compared_json_begin(&json, view->cli, view->experiment, "loops");
    as_json_array_begin(&json);
    for (size_t i = 0; rc == 0 && i < result->loop_n; i++) {
        rc = as_decan_view_name(view, &result->loop[i], err);
        write_decan_loop(&json, &result->loop[i], as_str_z(&view->name));
    }
    as_json_array_end(&json);
    as_json_key_i64(&json, "varied_run", result->varied.run_id);
    as_json_key_u64(&json, "runs", result->runs);
    as_json_key_u64(&json, "wanted", result->wanted);
    as_json_key_double(&json, "spent", result->spent);
    if (result->together) {
        as_json_key_double(&json, "together_share", result->met);
        as_json_key_double(&json, "together_threads", result->team);
    }
    if (result->runs)
        as_json_key_double(&json, "cycle_ns", result->cycle_ns);
    as_json_key_double(&json, "slowdown", result->slowdown);
    as_json_key_double(&json, "refused_share", result->refused_share);
    as_json_key_u64(&json, "lost", result->lost);
    as_json_key_u64(&json, "threads_missed", result->threads_missed);
    as_json_key_bool(&json, "ended_otherwise", result->differs);
    as_json_key_bool(&json, "interrupted", result->interrupted);
    as_compared_json_end(&json);
    return rc;
}

/* ---- CSV ----------------------------------------------------------------------------------- */

static void write_decan_csv_header(struct as_csv *csv)
{
    static const char *const first[] = {
        "loop_id",          "name",    "address",    "share",   "refused", "iterations_from",
        "iterations_below", "verdict", "confidence", "variant", "missing", "n",
        "disturbed",        "ended",   "reliability"};
    struct number number[NUMBERS_N];
    const struct as_decan_measured none = {0};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        as_csv_string(csv, first[i]);
    numbers_of(&none, number);
    for (size_t i = 0; i < NUMBERS_N; i++)
        as_csv_string(csv, number[i].key);
    as_csv_row_end(csv);
}

static void write_csv_real(struct as_csv *csv, double value)
{
    if (isfinite(value))
        as_csv_double(csv, value);
    else
        as_csv_string(csv, "");
}

static void write_loop_fields(struct as_csv *csv, const struct as_decan_loop *loop,
                              const char *name)
{
    as_csv_i64(csv, loop->loop_id);
    as_csv_string(csv, name);
    as_csv_hex(csv, loop->address);
    as_csv_double(csv, loop->share);
    as_csv_string(csv, loop->reason ? loop->reason : "");
}

static void write_decan_csv_row(struct as_csv *csv, const struct as_decan_bucket *it,
                                const struct as_decan_measured *take)
{
    struct number number[NUMBERS_N];
    numbers_of(take, number);
    as_csv_double(csv, it->low);
    as_csv_double(csv, it->high);
    as_csv_string(csv, it->verdict);
    as_csv_string(csv, it->confidence);
    as_csv_string(csv, take->variant);
    as_csv_string(csv, take->reason ? take->reason : "");
    as_csv_u64(csv, take->n);
    as_csv_u64(csv, take->disturbed);
    as_csv_u64(csv, take->ended);
    as_csv_string(csv, take->n ? reliability_of(take) : "");
    for (size_t i = 0; i < NUMBERS_N; i++)
        write_csv_real(csv, number[i].value);
    as_csv_row_end(csv);
}

enum { ROW_FIELDS = 10 + NUMBERS_N };

int as_decan_csv(struct as_decan_view *view, struct as_error *err)
{
    const struct as_decan_result *result = view->result;
    struct as_csv csv;
    as_cli_csv(view->cli, &csv);
    write_decan_csv_header(&csv);
    for (size_t i = 0; i < result->loop_n; i++) {
        const struct as_decan_loop *loop = &result->loop[i];
        AS_TRY(as_decan_view_name(view, loop, err));
        for (size_t b = 0; b < loop->bucket_n; b++)
            for (size_t k = 0; k < loop->bucket[b].take_n; k++) {
                write_loop_fields(&csv, loop, as_str_z(&view->name));
                write_decan_csv_row(&csv, &loop->bucket[b], &loop->bucket[b].take[k]);
            }
        if (loop->bucket_n)
            continue;
        write_loop_fields(&csv, loop, as_str_z(&view->name));
        for (unsigned k = 0; k < ROW_FIELDS; k++)
            as_csv_string(&csv, "");
        as_csv_row_end(&csv);
    }
    return 0;
}
