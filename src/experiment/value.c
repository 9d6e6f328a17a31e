/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics, values, findings and flags. A quantity without origin or outside its bounds is a defect
 * of the caller and refused: rule 3 of the house ends here.
 */
#include <math.h>

#include "base/stat.h"
#include "experiment/internal.h"

/* ---- Quantities -------------------------------------------------------------------------- */

struct assay_quantity assay_measured(double value, double low, double high, int64_t n)
{
    return (struct assay_quantity){value, low, high, n, ASSAY_ORIGIN_MEASURED};
}

struct assay_quantity assay_exact(double value, int64_t n)
{
    return (struct assay_quantity){value, value, value, n, ASSAY_ORIGIN_EXACT};
}

struct assay_quantity assay_derived(double value, double low, double high, int64_t n)
{
    return (struct assay_quantity){value, low, high, n, ASSAY_ORIGIN_DERIVED};
}

struct assay_quantity assay_modelled(double value, double low, double high)
{
    return (struct assay_quantity){value, low, high, 0, ASSAY_ORIGIN_MODELLED};
}

struct assay_quantity assay_simulated(double value, double low, double high, int64_t n)
{
    return (struct assay_quantity){value, low, high, n, ASSAY_ORIGIN_SIMULATED};
}

struct assay_quantity assay_share(int64_t part, int64_t whole)
{
    const double share = (double)part / (double)whole;
    const struct as_interval it = as_stat_wilson(share, (double)whole, AS_STAT_LEVEL);

    return assay_measured(share, it.low, it.high, whole);
}

const char *as_quantity_origin(int origin)
{
    switch (origin) {
#define ORIGIN_WORD(name, number, word)                                                            \
    case number:                                                                                   \
        return word;
        ASSAY_ORIGIN_LIST(ORIGIN_WORD)
#undef ORIGIN_WORD
    default:
        return NULL;
    }
}

int as_quantity_check(const struct assay_quantity *it, const char *of, struct assay_error *err)
{
    if (!as_quantity_origin(it->origin))
        return as_error_set(err, ASSAY_ERR_INTERNAL, "value of %s: has no origin", of);
    if (!isfinite(it->value))
        return as_error_set(err, ASSAY_ERR_INTERNAL, "value of %s: is not a finite number", of);
    if (!(it->low <= it->value && it->value <= it->high))
        return as_error_set(err, ASSAY_ERR_INTERNAL,
                            "value of %s: %g is not within its interval %g to %g", of, it->value,
                            it->low, it->high);
    if (it->n < 0)
        return as_error_set(err, ASSAY_ERR_INTERNAL, "value of %s: a negative count behind it", of);
    return 0;
}

/* ---- Metrics and values ------------------------------------------------------------------ */

int assay_experiment_metric(struct assay_experiment *experiment, const struct assay_metric *metric,
                            int64_t *id, struct assay_error *err)
{
    static const char *const better[] = {"neither", "higher", "lower"};
    sqlite3_stmt *s;

    AS_TRY(as_batch_check(experiment, err));
    AS_TRY(as_sql_prepare(experiment,
                          "INSERT INTO metric (name, unit, meaning, formula, better, title, topic,"
                          " good, fair, position) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
                          " ON CONFLICT (name) DO UPDATE SET unit = ?2, meaning = ?3, formula = ?4,"
                          " better = ?5, title = ?6, topic = ?7, good = ?8, fair = ?9,"
                          " position = ?10 RETURNING metric_id",
                          &experiment->metric, err));
    s = experiment->metric;
    sqlite3_clear_bindings(s);
    sqlite3_bind_text(s, 1, metric->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, metric->unit, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, metric->meaning, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 4, metric->formula, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 5, better[metric->better], -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 6, metric->title, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 7, metric->topic, -1, SQLITE_STATIC);
    if (metric->good < metric->fair || metric->good > metric->fair) {
        sqlite3_bind_double(s, 8, metric->good);
        sqlite3_bind_double(s, 9, metric->fair);
    }
    sqlite3_bind_int(s, 10, metric->position);
    return as_sql_insert(experiment, s, "writing a metric", id, err);
}

int assay_experiment_value(struct assay_experiment *experiment, int64_t metric_id,
                           enum assay_object_kind kind, int64_t object_id, int64_t run_id,
                           struct assay_quantity quantity, struct assay_error *err)
{
    sqlite3_stmt *s;

    AS_TRY(as_batch_check(experiment, err));
    AS_TRY(as_quantity_check(&quantity, "a metric", err));
    AS_TRY(as_sql_prepare(experiment,
                          "INSERT INTO value (metric_id, object_kind, object_id, run_id, value,"
                          " origin, low, high, n) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
                          " ON CONFLICT DO UPDATE SET value = ?5, origin = ?6, low = ?7,"
                          " high = ?8, n = ?9",
                          &experiment->value, err));
    s = experiment->value;
    sqlite3_bind_int64(s, 1, metric_id);
    sqlite3_bind_int64(s, 2, (int64_t)kind);
    sqlite3_bind_int64(s, 3, object_id);
    sqlite3_bind_int64(s, 4, run_id);
    sqlite3_bind_double(s, 5, quantity.value);
    sqlite3_bind_text(s, 6, as_quantity_origin(quantity.origin), -1, SQLITE_STATIC);
    sqlite3_bind_double(s, 7, quantity.low);
    sqlite3_bind_double(s, 8, quantity.high);
    sqlite3_bind_int64(s, 9, quantity.n);
    return as_sql_insert(experiment, s, "writing a value", NULL, err);
}

/* ---- Findings and flags ------------------------------------------------------------------ */

static void bind_run(sqlite3_stmt *s, int64_t run_id)
{
    if (run_id)
        sqlite3_bind_int64(s, 1, run_id);
    else
        sqlite3_bind_null(s, 1);
}

int assay_experiment_finding(struct assay_experiment *experiment, const struct assay_finding *it,
                             struct assay_error *err)
{
    static const char *const level[] = {NULL, "gain", "potential", "hint", "expert"};
    sqlite3_stmt *s;

    AS_TRY(as_batch_check(experiment, err));
    if (it->gain)
        AS_TRY(as_quantity_check(it->gain, "a gain", err));
    AS_TRY(
        as_sql_prepare(experiment,
                       "INSERT INTO finding (run_id, object_kind, object_id, level, topic, text,"
                       " workaround, gain, gain_low, gain_high, gain_origin, gain_n, time_ns, pass)"
                       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                       &experiment->finding, err));
    s = experiment->finding;
    sqlite3_clear_bindings(s);
    bind_run(s, it->run_id);
    sqlite3_bind_int64(s, 2, (int64_t)it->kind);
    sqlite3_bind_int64(s, 3, it->object_id);
    sqlite3_bind_text(s, 4, level[it->level], -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 5, it->topic, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 6, it->text, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 7, it->workaround, -1, SQLITE_STATIC);
    if (it->gain) {
        sqlite3_bind_double(s, 8, it->gain->value);
        sqlite3_bind_double(s, 9, it->gain->low);
        sqlite3_bind_double(s, 10, it->gain->high);
        sqlite3_bind_text(s, 11, as_quantity_origin(it->gain->origin), -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 12, it->gain->n);
    }
    if (it->time_ns > 0)
        sqlite3_bind_int64(s, 13, it->time_ns);
    sqlite3_bind_text(s, 14, it->pass, -1, SQLITE_STATIC);
    return as_sql_insert(experiment, s, "writing a finding", NULL, err);
}

int assay_experiment_flag(struct assay_experiment *experiment, const struct assay_flag *it,
                          struct assay_error *err)
{
    sqlite3_stmt *s;

    AS_TRY(as_batch_check(experiment, err));
    AS_TRY(as_sql_prepare(experiment,
                          "INSERT INTO flag (run_id, object_kind, object_id, name, text, n)"
                          " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                          &experiment->flag, err));
    s = experiment->flag;
    bind_run(s, it->run_id);
    sqlite3_bind_int64(s, 2, (int64_t)it->kind);
    sqlite3_bind_int64(s, 3, it->object_id);
    sqlite3_bind_text(s, 4, it->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 5, it->text, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 6, it->n);
    return as_sql_insert(experiment, s, "writing a flag", NULL, err);
}
