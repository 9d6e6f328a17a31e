/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stability of repeated runs of one command, as a whole and for each part: spread, outliers, drift
 * and two groups.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "compare/measure.h"

struct stability_box {
    struct as_stability result; /* first member: the caller has a pointer to it */
    struct as_arena arena;
};

struct stability_work {
    struct as_set set; /* repetitions without failed ones */
    struct as_notes notes;
    struct as_stability *result;
    struct as_arena *arena; /* owns the result */
    struct as_repeats all;
    double *x, *sorted; /* work space: one value for each run */
};

/* ---- Runs ---------------------------------------------------------------------------------- */

static bool is_good(const struct as_run *run, void *context)
{
    struct as_stability *result = context;
    if (strcmp(run->kind, "warm-up") == 0)
        result->warm_up_n++;
    if (strcmp(run->kind, "repeat") != 0)
        return false;
    if (run->is_over && !run->is_failed)
        return true;
    result->failed_n++;
    return false;
}

static int list_runs(struct stability_work *w, struct as_error *err)
{
    const size_t n = w->set.run.n;
    uint32_t *index = as_arena_array(&w->set.arena, uint32_t, n + 1);
    int64_t *id = as_arena_array(w->arena, int64_t, n + 1);
    double *wall = as_arena_array(w->arena, double, n + 1);
    w->x = as_arena_array(&w->set.arena, double, n + 1);
    w->sorted = as_arena_array(&w->set.arena, double, n + 1);
    if (!index || !id || !wall || !w->x || !w->sorted)
        return as_error_nomem(err, "repeated runs");
    for (size_t i = 0; i < n; i++) {
        index[i] = (uint32_t)i;
        id[i] = w->set.run.at[i].id;
        wall[i] = w->set.run.at[i].wall_s;
    }
    w->all = (struct as_repeats){index, n};
    w->result->repeat_n = n;
    w->result->run_id = id;
    w->result->all_s = wall;
    return 0;
}

/* ---- The wall time ------------------------------------------------------------------------- */

static struct as_run_spread spread_of(const struct as_spread *it)
{
    const struct as_interval at = it->median_interval;
    return (struct as_run_spread){
        .min = it->min,
        .mean = it->mean,
        .max = it->max,
        .deviation = it->deviation,
        .median = as_value_measured(it->median, fmax(at.low, 0), at.high, (int64_t)it->n),
        .robust_deviation = it->robust_deviation};
}

static int make_outlier(struct stability_work *w, size_t run, const struct as_spread *spread,
                        struct as_outlier *out, struct as_error *err)
{
    const double x = w->result->all_s[run], score = as_spread_score(spread, x);
    char text[256];
    snprintf(text, sizeof text,
             "run %lld took %.4g s, %.1f %% %s than the median (%.1f robust deviations)",
             (long long)w->result->run_id[run], x, 100 * fabs(x / spread->median - 1),
             score > 0 ? "more" : "less", fabs(score));
    *out = (struct as_outlier){.run_id = w->result->run_id[run],
                               .wall_s = x,
                               .score = score,
                               .text = as_set_text(w->arena, text)};
    return out->text ? 0 : as_error_nomem(err, "outliers");
}

static int find_outliers(struct stability_work *w, const struct as_spread *spread,
                         struct as_error *err)
{
    struct as_outlier *outlier = as_arena_array(w->arena, struct as_outlier, spread->n);
    if (!outlier)
        return as_error_nomem(err, "outliers");
    w->result->outlier = outlier;
    for (size_t i = 0; i < spread->n; i++)
        if (as_spread_is_outlier(spread, w->result->all_s[i]))
            AS_TRY(make_outlier(w, i, spread, &outlier[w->result->outlier_n++], err));
    return 0;
}

static int find_drift(struct stability_work *w, const struct as_spread *spread,
                      struct as_error *err)
{
    struct as_trend trend;
    const size_t n = spread->n;
    w->result->drift_p = NAN;
    if (n < 3)
        return 0;
    double *pairs = as_malloc(n * (n - 1) / 2 * sizeof *pairs);
    if (!pairs)
        return as_error_nomem(err, "the drift of repeated runs");
    as_trend_of(w->result->all_s, n, pairs, &trend);
    as_free(pairs);
    const double pct = spread->median > 0 ? 100 / spread->median : 0;
    w->result->drift_pct = as_value_derived(trend.slope * pct, trend.interval.low * pct,
                                            trend.interval.high * pct, (int64_t)n);
    w->result->drift_p = trend.p;
    return 0;
}

static void find_levels(struct stability_work *w, size_t n)
{
    struct as_modes modes;
    as_modes_of(w->sorted, n, &modes);
    w->result->two_levels = modes.two;
    w->result->level_s[0] = modes.low_mean;
    w->result->level_s[1] = modes.high_mean;
    w->result->level_n[0] = (unsigned)modes.low_n;
    w->result->level_n[1] = (unsigned)modes.high_n;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static int make_stability_row(struct stability_work *w, const struct as_compared_object *object,
                              struct as_stability_row *out, struct as_error *err)
{
    struct as_spread spread;
    as_repeats_cost(object, &w->all, AS_COST_TIME, w->x);
    as_spread_of(w->x, w->all.n, w->sorted, &spread);
    *out = (struct as_stability_row){.time_s = spread_of(&spread)};
    out->deviation_pct = spread.mean > 0 ? 100 * spread.deviation / spread.mean : 0;
    for (size_t i = 0; i < w->all.n; i++)
        out->outlier_n += as_spread_is_outlier(&spread, w->x[i]);
    return as_compared_of(w->arena, object, &out->object, err);
}

static int kind_order(enum as_object_kind kind)
{
    return kind == AS_OBJECT_CATEGORY ? 0 : kind == AS_OBJECT_FUNCTION ? 1 : 2;
}

static int by_stable_time(const void *a, const void *b)
{
    const struct as_stability_row *x = a, *y = b;
    if (x->object.kind != y->object.kind)
        return kind_order(x->object.kind) - kind_order(y->object.kind);
    if (x->time_s.mean != y->time_s.mean)
        return x->time_s.mean < y->time_s.mean ? 1 : -1;
    return (x->object.id > y->object.id) - (x->object.id < y->object.id);
}

static int make_stability_rows(struct stability_work *w, struct as_error *err)
{
    struct as_stability_row *row =
        as_arena_array(w->arena, struct as_stability_row, w->set.object.n + 1);
    if (!row)
        return as_error_nomem(err, "the rows of repeated runs");
    as_vec_foreach (&w->set.object, it)
        if (as_object_share(&w->set, it) >= AS_COMPARE_LEAST_SHARE)
            AS_TRY(make_stability_row(w, it, &row[w->result->row_n++], err));
    qsort(row, w->result->row_n, sizeof *row, by_stable_time);
    w->result->row = row;
    return 0;
}

/* ---- The whole ----------------------------------------------------------------------------- */

static void note_runs(struct stability_work *w)
{
    const struct as_stability *it = w->result;
    if (it->failed_n)
        as_note(&w->notes, w->arena, "%u run%s failed and %s left out.", it->failed_n,
                it->failed_n == 1 ? "" : "s", it->failed_n == 1 ? "is" : "are");
    if (it->repeat_n && it->repeat_n < 6)
        as_note(&w->notes, w->arena,
                "%zu run%s are too few for a 95 %% interval of the median, which needs 6.",
                it->repeat_n, it->repeat_n == 1 ? "" : "s");
    if (it->repeat_n >= 3 && it->drift_p <= 0.05)
        as_note(
            &w->notes, w->arena,
            "The wall time drifts: %+.2f %% a run (Mann-Kendall, p = %.2g). The machine warms up "
            "or fills its memory; compare with other commands by alternating runs (--against).",
            it->drift_pct.value, it->drift_p);
    if (it->two_levels)
        as_note(&w->notes, w->arena,
                "The wall times fall in two groups: %u runs about %.4g s, %u runs about %.4g s. "
                "Possible causes: placement on CPUs or memory nodes, frequency, external load.",
                it->level_n[0], it->level_s[0], it->level_n[1], it->level_s[1]);
}

static const char method[] =
    "Interval of the median by order statistics; outliers are beyond 3.5 robust deviations "
    "(1.4826 MAD) from the median; drift by the Mann-Kendall test and the Theil-Sen slope.";

static int evaluate_stability(struct stability_work *w, struct as_experiment *experiment,
                              struct as_error *err)
{
    struct as_spread spread;
    w->result->method = method;
    AS_TRY(list_runs(w, err));
    if (w->all.n) {
        as_spread_of(w->result->all_s, w->all.n, w->sorted, &spread);
        w->result->wall_s = spread_of(&spread);
        find_levels(w, w->all.n);
        AS_TRY(find_outliers(w, &spread, err));
        AS_TRY(find_drift(w, &spread, err));
        AS_TRY(as_set_objects(&w->set, experiment, err));
        AS_TRY(make_stability_rows(w, err));
    }
    note_runs(w);
    return as_notes_take(&w->notes, w->arena, &w->result->note, &w->result->note_n, err);
}

int as_compare_stability(struct as_experiment *experiment, struct as_stability **out,
                         struct as_error *err)
{
    struct stability_work w = {0};
    struct as_stability counts = {0};
    struct stability_box *box = NULL;
    *out = NULL;
    as_set_init(&w.set);
    int rc = as_set_runs(&w.set, experiment, err);
    if (rc == 0)
        as_set_choose(&w.set, is_good, &counts);
    if (rc == 0 && w.set.run.n + counts.failed_n) {
        box = as_calloc(1, sizeof *box);
        rc = box ? 0 : as_error_nomem(err, "repeated runs");
    }
    if (rc == 0 && box) {
        as_arena_init(&box->arena);
        box->result = counts;
        w.arena = &box->arena;
        w.result = *out = &box->result;
        rc = evaluate_stability(&w, experiment, err);
        if (rc < 0)
            as_stability_free(out);
    }
    as_vec_fini(&w.notes.text);
    as_set_fini(&w.set);
    return rc;
}

void as_stability_free(struct as_stability **stability)
{
    struct stability_box *box = (struct stability_box *)(void *)*stability;
    if (box)
        as_arena_fini(&box->arena);
    as_free(box);
    *stability = NULL;
}
