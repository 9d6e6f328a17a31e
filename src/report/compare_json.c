/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes scalability, stability, alternation and comparison as JSON values.
 * doc/reference/report-data.md lists the keys.
 */
#include <math.h>

#include "base/json.h"
#include "report/report.h"

static void key_string(struct as_json *json, const char *key, const char *text)
{
    as_json_key(json, key);
    as_json_string(json, text);
}

static void key_count(struct as_json *json, const char *key, int64_t n)
{
    as_json_key(json, key);
    as_json_i64(json, n);
}

static void key_double(struct as_json *json, const char *key, double x)
{
    as_json_key(json, key);
    as_json_double(json, x);
}

static void key_bool(struct as_json *json, const char *key, bool x)
{
    as_json_key(json, key);
    as_json_bool(json, x);
}

static void quantity(struct as_json *json, const struct as_bounded_value *it)
{
    if (!it->origin || isnan(it->value)) {
        as_json_null(json);
        return;
    }
    as_json_object_begin(json);
    key_double(json, "value", it->value);
    key_double(json, "low", it->low);
    key_double(json, "high", it->high);
    key_count(json, "n", it->n);
    key_string(json, "origin", as_origin_word(it->origin));
    as_json_object_end(json);
}

static void key_quantity(struct as_json *json, const char *key, const struct as_bounded_value *it)
{
    as_json_key(json, key);
    quantity(json, it);
}

static void key_quantities(struct as_json *json, const char *key, const struct as_bounded_value *it,
                           size_t n)
{
    as_json_key(json, key);
    as_json_array_begin(json);
    for (size_t i = 0; i < n; i++)
        quantity(json, &it[i]);
    as_json_array_end(json);
}

static void key_texts(struct as_json *json, const char *key, const char *const *text, size_t n)
{
    as_json_key(json, key);
    as_json_array_begin(json);
    for (size_t i = 0; i < n; i++)
        as_json_string(json, text[i]);
    as_json_array_end(json);
}

static void key_notes(struct as_json *json, const char *method, const char *const *note, size_t n)
{
    key_string(json, "method", method);
    key_texts(json, "notes", note, n);
}

static const char *object_word(enum as_object_kind kind)
{
    return kind == AS_OBJECT_CATEGORY   ? "category"
           : kind == AS_OBJECT_FUNCTION ? "function"
                                        : "loop";
}

static void key_object(struct as_json *json, const struct as_compared *it)
{
    key_string(json, "object", object_word(it->kind));
    key_count(json, "id", it->id);
    key_string(json, "name", it->name);
    key_string(json, "where", it->where);
}

/* ---- Scalability --------------------------------------------------------------------------- */

/* Writes settings such as {"size": "1000"}, which vary besides nodes, processes and threads. */
static void key_settings(struct as_json *json, const struct as_scalability *of,
                         const struct as_scale_point *it)
{
    as_json_key(json, "settings");
    as_json_object_begin(json);
    for (size_t i = 0; i < of->varied_n; i++) {
        as_json_key(json, of->varied[i]);
        if (it->setting[i])
            as_json_string(json, it->setting[i]);
        else
            as_json_null(json);
    }
    as_json_object_end(json);
}

static void point(struct as_json *json, const struct as_scalability *of,
                  const struct as_scale_point *it)
{
    as_json_object_begin(json);
    key_count(json, "run_id", it->run_id);
    key_string(json, "label", it->label);
    key_count(json, "nodes", it->nodes);
    key_count(json, "processes", it->processes);
    as_json_key(json, "threads");
    if (it->threads)
        as_json_i64(json, it->threads);
    else
        as_json_null(json);
    key_settings(json, of, it);
    key_count(json, "base", (int64_t)it->base);
    key_count(json, "repeats", it->repeat_n);
    key_count(json, "failed", it->failed_n);
    key_bool(json, "oversubscribed", it->oversubscribed);
    key_quantity(json, "wall_s", &it->wall_s);
    key_quantity(json, "speedup", &it->speedup);
    key_quantity(json, "efficiency", &it->efficiency);
    as_json_object_end(json);
}

static void scale_row(struct as_json *json, const struct as_scale_row *it, size_t n)
{
    as_json_object_begin(json);
    key_object(json, &it->object);
    key_quantities(json, "time_s", it->time_s, n);
    key_quantities(json, "thread_s", it->thread_s, n);
    key_quantities(json, "speedup", it->speedup, n);
    key_quantities(json, "efficiency", it->efficiency, n);
    key_quantities(json, "cpu_efficiency", it->cpu_efficiency, n);
    as_json_object_end(json);
}

void as_report_scalability_json(const struct as_scalability *it, struct as_json *json)
{
    if (!it) {
        as_json_null(json);
        return;
    }
    as_json_object_begin(json);
    key_count(json, "reference_run", it->point[it->reference].run_id);
    key_count(json, "reference", (int64_t)it->reference);
    key_string(json, "mode", it->weak ? "weak" : "strong");
    as_json_key(json, "varied");
    as_json_array_begin(json);
    for (size_t i = 0; i < it->varied_n; i++)
        as_json_string(json, it->varied[i]);
    as_json_array_end(json);
    as_json_key(json, "points");
    as_json_array_begin(json);
    for (size_t i = 0; i < it->point_n; i++)
        point(json, it, &it->point[i]);
    as_json_array_end(json);
    as_json_key(json, "rows");
    as_json_array_begin(json);
    for (size_t i = 0; i < it->row_n; i++)
        scale_row(json, &it->row[i], it->point_n);
    as_json_array_end(json);
    key_notes(json, it->method, it->note, it->note_n);
    as_json_object_end(json);
}

/* ---- Stability ----------------------------------------------------------------------------- */

static void key_spread(struct as_json *json, const struct as_run_spread *it, const double *all,
                       size_t n)
{
    as_json_key(json, "wall_s");
    as_json_object_begin(json);
    key_double(json, "min", it->min);
    key_double(json, "median", it->median.value);
    key_double(json, "median_low", it->median.low);
    key_double(json, "median_high", it->median.high);
    key_double(json, "mean", it->mean);
    key_double(json, "max", it->max);
    key_double(json, "deviation", it->deviation);
    key_double(json, "robust_deviation", it->robust_deviation);
    as_json_key(json, "all");
    as_json_array_begin(json);
    for (size_t i = 0; i < n; i++)
        as_json_double(json, all[i]);
    as_json_array_end(json);
    as_json_object_end(json);
}

static void key_outliers(struct as_json *json, const struct as_stability *it)
{
    as_json_key(json, "outliers");
    as_json_array_begin(json);
    for (size_t i = 0; i < it->outlier_n; i++) {
        as_json_object_begin(json);
        key_count(json, "run_id", it->outlier[i].run_id);
        key_double(json, "wall_s", it->outlier[i].wall_s);
        key_double(json, "score", it->outlier[i].score);
        key_string(json, "text", it->outlier[i].text);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

static void key_levels(struct as_json *json, const struct as_stability *it)
{
    as_json_key(json, "levels");
    as_json_array_begin(json);
    for (int i = 0; it->two_levels && i < 2; i++) {
        as_json_object_begin(json);
        key_double(json, "mean_s", it->level_s[i]);
        key_count(json, "n", it->level_n[i]);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

static void stability_row(struct as_json *json, const struct as_stability_row *it)
{
    as_json_object_begin(json);
    key_object(json, &it->object);
    key_double(json, "min_s", it->time_s.min);
    key_double(json, "median_s", it->time_s.median.value);
    key_double(json, "median_low_s", it->time_s.median.low);
    key_double(json, "median_high_s", it->time_s.median.high);
    key_double(json, "mean_s", it->time_s.mean);
    key_double(json, "max_s", it->time_s.max);
    key_double(json, "deviation_s", it->time_s.deviation);
    key_double(json, "deviation_pct", it->deviation_pct);
    key_count(json, "outliers", it->outlier_n);
    as_json_object_end(json);
}

void as_report_stability_json(const struct as_stability *it, struct as_json *json)
{
    if (!it) {
        as_json_null(json);
        return;
    }
    as_json_object_begin(json);
    key_count(json, "repeats", (int64_t)it->repeat_n);
    key_count(json, "failed", it->failed_n);
    key_count(json, "warm_up", it->warm_up_n);
    key_spread(json, &it->wall_s, it->all_s, it->repeat_n);
    key_outliers(json, it);
    key_quantity(json, "drift_pct", &it->drift_pct);
    key_double(json, "drift_p", it->drift_p);
    key_levels(json, it);
    as_json_key(json, "rows");
    as_json_array_begin(json);
    for (size_t i = 0; i < it->row_n; i++)
        stability_row(json, &it->row[i]);
    as_json_array_end(json);
    key_notes(json, it->method, it->note, it->note_n);
    as_json_object_end(json);
}

/* ---- Alternation --------------------------------------------------------------------------- */

static void alternation_side(struct as_json *json, const struct as_alternation_side *it)
{
    as_json_object_begin(json);
    key_string(json, "name", it->name);
    key_string(json, "command", it->command);
    key_count(json, "run_id", it->run_id);
    key_count(json, "repeats", it->repeat_n);
    key_count(json, "failed", it->failed_n);
    key_quantity(json, "wall_s", &it->wall_s);
    as_json_object_end(json);
}

static void key_turns(struct as_json *json, const struct as_alternation *it)
{
    as_json_key(json, "runs");
    as_json_array_begin(json);
    for (size_t i = 0; i < it->run_n; i++) {
        as_json_object_begin(json);
        key_count(json, "run_id", it->run[i].run_id);
        key_string(json, "of", it->run[i].is_b ? "B" : "A");
        key_double(json, "wall_s", it->run[i].wall_s);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

void as_report_alternation_json(const struct as_alternation *it, struct as_json *json)
{
    if (!it) {
        as_json_null(json);
        return;
    }
    as_json_object_begin(json);
    key_count(json, "pairs", (int64_t)it->pair_n);
    key_count(json, "planned", (int64_t)it->planned_n);
    as_json_key(json, "sides");
    as_json_array_begin(json);
    for (int i = 0; i < 2; i++)
        alternation_side(json, &it->side[i]);
    as_json_array_end(json);
    key_string(json, "verdict", as_alternation_word(it->verdict));
    key_quantity(json, "difference_pct", &it->difference_pct);
    key_double(json, "p", it->p);
    key_turns(json, it);
    key_notes(json, it->method, it->note, it->note_n);
    as_json_object_end(json);
}

/* ---- Comparison ---------------------------------------------------------------------------- */

/* Writes a side. Sides are named A, B, ...: short for headings, and unique. */
static void side(struct as_json *json, const struct as_compare_side *it, size_t number)
{
    const char letter[] = {(char)('A' + number % 26), '\0'};
    as_json_object_begin(json);
    key_string(json, "name", letter);
    key_string(json, "given", it->name);
    key_string(json, "experiment", it->experiment);
    key_string(json, "command", it->command);
    key_string(json, "host", it->host);
    key_string(json, "event", it->event);
    key_count(json, "rate_hz", it->rate_hz);
    key_count(json, "repeats", it->repeat_n);
    key_count(json, "failed", it->failed_n);
    key_quantity(json, "wall_s", &it->wall_s);
    key_quantity(json, "difference_pct", &it->difference_pct);
    key_bool(json, "in_turns", it->in_turns);
    as_json_object_end(json);
}

static const char *code_word(enum as_code_change code)
{
    return code == AS_CODE_SAME ? "same" : code == AS_CODE_DIFFERS ? "differs" : NULL;
}

static void key_facts(struct as_json *json, const char *key, const struct as_compare_fact *fact,
                      size_t fact_n, size_t side_n)
{
    as_json_key(json, key);
    as_json_array_begin(json);
    for (size_t i = 0; i < fact_n; i++) {
        as_json_object_begin(json);
        key_string(json, "topic", fact[i].topic);
        key_string(json, "name", fact[i].name);
        key_string(json, "title", fact[i].title);
        key_string(json, "unit", fact[i].unit);
        as_json_key(json, "texts");
        as_json_array_begin(json);
        for (size_t s = 0; s < side_n; s++)
            as_json_string(json, fact[i].text[s]);
        as_json_array_end(json);
        if (fact[i].value)
            key_quantities(json, "values", fact[i].value, side_n);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

static void cell(struct as_json *json, const struct as_compare_cell *it)
{
    as_json_object_begin(json);
    key_quantity(json, "difference_pct", &it->difference_pct);
    key_double(json, "p", it->p);
    key_bool(json, "significant", it->significant);
    key_string(json, "code", code_word(it->code));
    key_texts(json, "differs", it->differs, it->differs_n);
    as_json_object_end(json);
}

static void compare_row(struct as_json *json, const struct as_compare_row *it, size_t n)
{
    as_json_object_begin(json);
    key_object(json, &it->object);
    key_string(json, "aligned_by", as_aligned_word(it->aligned_by));
    as_json_key(json, "time_s");
    as_json_array_begin(json);
    for (size_t i = 0; i < n; i++)
        quantity(json, &it->cell[i].time_s);
    as_json_array_end(json);
    key_quantity(json, "difference_pct", &it->cell[n - 1].difference_pct);
    key_bool(json, "significant", it->cell[n - 1].significant);
    key_string(json, "code", code_word(it->cell[n - 1].code));
    as_json_key(json, "instructions");
    as_json_array_begin(json);
    for (size_t i = 0; i < n; i++) {
        if (it->cell[i].instruction_n < 0)
            as_json_null(json);
        else
            as_json_i64(json, it->cell[i].instruction_n);
    }
    as_json_array_end(json);
    as_json_key(json, "each");
    as_json_array_begin(json);
    for (size_t i = 1; i < n; i++)
        cell(json, &it->cell[i]);
    as_json_array_end(json);
    key_facts(json, "facts", it->fact, it->fact_n, n);
    key_facts(json, "cqa", it->cqa, it->cqa_n, n);
    as_json_object_end(json);
}

void as_report_comparison_json(const struct as_comparison *it, struct as_json *json)
{
    if (!it) {
        as_json_null(json);
        return;
    }
    as_json_object_begin(json);
    as_json_key(json, "sides");
    as_json_array_begin(json);
    for (size_t i = 0; i < it->side_n; i++)
        side(json, &it->side[i], i);
    as_json_array_end(json);
    key_facts(json, "facts", it->fact, it->fact_n, it->side_n);
    as_json_key(json, "rows");
    as_json_array_begin(json);
    for (size_t i = 0; i < it->row_n; i++)
        compare_row(json, &it->row[i], it->side_n);
    as_json_array_end(json);
    key_count(json, "tested", (int64_t)it->tested_n);
    key_count(json, "significant", (int64_t)it->significant_n);
    key_notes(json, it->method, it->note, it->note_n);
    as_json_object_end(json);
}
