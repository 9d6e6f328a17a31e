/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass: metrics, what-ifs, flags, findings, then checks of a run, each by the statements of its
 * table. What a statement means is said in data/advise/; here is only how its rows are taken.
 */
#include <math.h>
#include <string.h>

#include "advise/advise.h"
#include "advise/run.h"
#include "advise/tables.h"
#include "base/error.h"
#include "base/stat.h"

/* ---- Metrics ------------------------------------------------------------------------------- */

/* Sums of values drawn by samples. */
struct draws {
    double n, sum, squares, least, most;
};

static void draw(struct draws *d, double value, double weight)
{
    d->least = d->n > 0 ? fmin(d->least, value) : value;
    d->most = d->n > 0 ? fmax(d->most, value) : value;
    d->n += weight;
    d->sum += weight * value;
    d->squares += weight * value * value;
}

/* Which values the samples met is not exact; the error is that of a mean of n draws. */
static double mean_of(const struct draws *d, double sigmas)
{
    const double mean = d->sum / d->n, variance = fmax(0, d->squares / d->n - mean * mean);

    return fmax(d->least, fmin(d->most, mean + sigmas * sqrt(variance / d->n)));
}

/*
 * Mean of values weighted by samples. With a third and fourth column, bounds, rows whose value is
 * not known widen the interval: the value is that of the others, as far as the bounds allow it.
 */
static int compute_weighted_mean(struct as_rows *rows, struct as_bounded_value *out,
                                 struct as_error *err)
{
    const double sigmas = as_stat_normal_quantile(0.5 + AS_STAT_LEVEL / 2);
    const bool bounded = as_rows_column_n(rows) > 3;
    struct draws known = {0}, low = {0}, high = {0};
    int rc;

    while ((rc = as_rows_next(rows, err)) > 0) {
        const double weight = as_rows_real(rows, 1);

        if (as_rows_kind(rows, 0) != AS_SQL_CELL_NULL)
            draw(&known, as_rows_real(rows, 0), weight);
        draw(&low, as_rows_real(rows, bounded ? 2 : 0), weight);
        draw(&high, as_rows_real(rows, bounded ? 3 : 0), weight);
    }
    if (rc < 0 || !(known.n > 0))
        return rc;
    const double least = mean_of(&low, -sigmas), most = mean_of(&high, sigmas);
    const double value = fmax(mean_of(&low, 0), fmin(mean_of(&high, 0), mean_of(&known, 0)));
    *out = as_value_derived(value, fmin(value, least), fmax(value, most), (int64_t)known.n);
    return 1;
}

static int read_metric_quantity(struct as_rows *rows, enum as_metric_kind kind,
                                struct as_bounded_value *out, struct as_error *err)
{
    const int rc = as_rows_next(rows, err);

    if (rc <= 0 || as_rows_kind(rows, 0) == AS_SQL_CELL_NULL)
        return rc < 0 ? rc : 0;
    if (kind == AS_METRIC_EXACT) {
        *out = as_value_exact(as_rows_real(rows, 0), as_rows_integer(rows, 1));
    } else if (kind == AS_METRIC_VALUE) {
        *out = as_value_measured(as_rows_real(rows, 0), as_rows_real(rows, 1),
                                 as_rows_real(rows, 2), as_rows_integer(rows, 3));
    } else {
        /* A part above the whole means that their samples were put down differently: no share. */
        if (as_rows_integer(rows, 1) <= 0 || as_rows_integer(rows, 0) > as_rows_integer(rows, 1))
            return 0;
        *out = as_value_share(as_rows_integer(rows, 0), as_rows_integer(rows, 1));
        out->value *= 100;
        out->low *= 100;
        out->high *= 100;
    }
    return 1;
}

static int make_metric(const struct as_advice *a, const struct as_metric_row *row,
                       struct as_error *err)
{
    const struct as_subject run = {
        .kind = AS_OBJECT_RUN, .object_id = a->run_id, .run_id = a->run_id};
    struct as_metric metric = row->metric;
    struct as_bounded_value quantity;
    struct as_rows *rows;
    int64_t id;
    int rc;

    metric.pass = AS_ADVISE_PASS;
    AS_TRY(as_experiment_metric(a->experiment, &metric, &id, err));
    AS_TRY(as_advice_open_rows(a, row->sql, &rows, err));
    rc = row->kind == AS_METRIC_MEAN ? compute_weighted_mean(rows, &quantity, err)
                                     : read_metric_quantity(rows, row->kind, &quantity, err);
    as_rows_close(&rows);
    return rc <= 0 ? rc : as_experiment_value(a->experiment, id, &run, quantity, err);
}

/* ---- Checks ------------------------------------------------------------------- */

/* Whether a rule has said what to do: it is said once. */
static int is_rule_reported(const struct as_advice *a, const struct as_check_row *row,
                            bool *is_reported, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    *is_reported = false;
    if (!row->said_by)
        return 0;
    AS_TRY(as_advice_open_rows(
        a,
        "SELECT 1 FROM finding WHERE run_id = ?1 AND ?2 GLOB '* ' || rule || ' *'"
        " UNION ALL SELECT 1 FROM flag WHERE run_id = ?1 AND ?2 GLOB '* ' || name || ' *'",
        &rows, err));
    as_rows_bind_text(rows, 2, row->said_by);
    rc = as_rows_next(rows, err);
    *is_reported = rc > 0;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static int make_check(const struct as_advice *a, const struct as_check_row *row,
                      struct as_error *err)
{
    struct as_rows *rows;
    bool is_reported;
    int rc;

    AS_TRY(is_rule_reported(a, row, &is_reported, err));
    AS_TRY(as_advice_open_rows(a, row->sql, &rows, err));
    rc = as_rows_next(rows, err);
    if (rc > 0) {
        const bool known = as_rows_kind(rows, 0) != AS_SQL_CELL_NULL;
        const double score = known ? fmin(1, fmax(0, as_rows_real(rows, 0))) : -1;
        const char *text = as_rows_text(rows, 1);
        const struct as_check check = {
            .run_id = a->run_id,
            .name = row->name,
            .title = row->title,
            .weight = row->weight,
            .position = row->position,
            .score = score,
            .pass = AS_ADVISE_PASS,
            .text = text ? text : "",
            .advice = score < 0.999 && !is_reported ? as_rows_text(rows, 2) : NULL};

        rc = as_experiment_check(a->experiment, &check, err);
    }
    as_rows_close(&rows);
    return rc;
}

/* ---- All ----------------------------------------------------------------------------------- */

static int read_time(struct as_advice *a, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_advice_open_rows(a, "SELECT ifnull(wall_ns, 0) / 1e9 FROM run WHERE run_id = ?1",
                               &rows, err));
    rc = as_rows_next(rows, err);
    if (rc > 0)
        a->time_s = as_rows_real(rows, 0);
    else if (rc == 0)
        rc = as_error_set(err, AS_ERR_NOT_FOUND, "%s: has no run %lld",
                          as_experiment_path(a->experiment), (long long)a->run_id);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static int advise(void *context, struct as_error *err)
{
    const struct as_advice *a = context;
    const struct as_rule_choice all = {0};

    for (size_t i = 0; i < as_advise_metric_n; i++)
        AS_TRY(make_metric(a, &as_advise_metric[i], err));
    AS_TRY(as_advise_what_ifs(a, err));
    AS_TRY(as_advise_flags(a, err));
    AS_TRY(as_advise_findings(a, &all, err));
    for (size_t i = 0; i < as_advise_check_n; i++)
        AS_TRY(make_check(a, &as_advise_check[i], err));
    return 0;
}

struct on_code {
    struct as_advice advice;
    const struct as_rule_choice *choice;
};

static int advise_on_code(void *context, struct as_error *err)
{
    const struct on_code *it = context;

    return as_advise_findings(&it->advice, it->choice, err);
}

int as_advise_run(struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    struct as_advice a = {.experiment = experiment, .run_id = run_id};
    int rc = as_advice_open(&a, err);

    if (rc == 0)
        rc = read_time(&a, err);
    if (rc == 0)
        rc = as_experiment_write_pass(experiment, run_id, AS_ADVISE_PASS, advise, &a, err);
    as_advice_close(&a);
    return rc;
}

int as_advise_code(struct as_experiment *experiment, const struct as_rule_choice *choice,
                   struct as_error *err)
{
    struct on_code it = {.advice = {.experiment = experiment}, .choice = choice};

    int rc = as_advice_open(&it.advice, err);
    if (rc == 0)
        rc = as_experiment_write_pass(experiment, 0, AS_ADVISE_PASS, advise_on_code, &it, err);
    as_advice_close(&it.advice);
    return rc;
}
