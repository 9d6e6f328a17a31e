/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics, values, histograms, findings and flags. A quantity without an origin or outside its
 * bounds is a defect of the caller and is refused.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/stat.h"
#include "base/str.h"
#include "experiment/internal.h"

/* ---- Quantities -------------------------------------------------------------------------- */

struct as_bounded_value as_value_measured(double value, double low, double high, int64_t n)
{
    return (struct as_bounded_value){value, low, high, n, AS_ORIGIN_MEASURED};
}

struct as_bounded_value as_value_exact(double value, int64_t n)
{
    return (struct as_bounded_value){value, value, value, n, AS_ORIGIN_EXACT};
}

struct as_bounded_value as_value_derived(double value, double low, double high, int64_t n)
{
    return (struct as_bounded_value){value, low, high, n, AS_ORIGIN_DERIVED};
}

struct as_bounded_value as_value_modelled(double value, double low, double high)
{
    return (struct as_bounded_value){value, low, high, 0, AS_ORIGIN_MODELLED};
}

struct as_bounded_value as_value_simulated(double value, double low, double high, int64_t n)
{
    return (struct as_bounded_value){value, low, high, n, AS_ORIGIN_SIMULATED};
}

struct as_bounded_value as_value_share(int64_t part, int64_t whole)
{
    const double share = (double)part / (double)whole;
    const struct as_interval it = as_stat_wilson(share, (double)whole, AS_STAT_LEVEL);

    return as_value_measured(share, it.low, it.high, whole);
}

const char *as_origin_word(int origin)
{
    switch (origin) {
#define ORIGIN_WORD(name, number, word)                                                            \
    case number:                                                                                   \
        return word;
        AS_ORIGIN_LIST(ORIGIN_WORD)
#undef ORIGIN_WORD
    default:
        return NULL;
    }
}

int as_quantity_check(const struct as_bounded_value *it, const char *of, struct as_error *err)
{
    if (!as_origin_word(it->origin))
        return as_error_set(err, AS_ERR_INTERNAL, "value of %s: has no origin", of);
    if (!isfinite(it->value))
        return as_error_set(err, AS_ERR_INTERNAL, "value of %s: is not a finite number", of);
    if (!(it->low <= it->value && it->value <= it->high))
        return as_error_set(err, AS_ERR_INTERNAL,
                            "value of %s: %g is not within its interval %g to %g", of, it->value,
                            it->low, it->high);
    if (it->n < 0)
        return as_error_set(err, AS_ERR_INTERNAL, "value of %s: a negative count behind it", of);
    return 0;
}

/* ---- Objects ----------------------------------------------------------------------------- */

const char *as_object_word(enum as_object_kind kind)
{
    switch (kind) {
#define OBJECT_WORD(name, number, word)                                                            \
    case AS_OBJECT_##name:                                                                         \
        return word;
        AS_OBJECT_LIST(OBJECT_WORD)
#undef OBJECT_WORD
    }
    return NULL;
}

enum as_object_kind as_object_kind_of(const char *word)
{
#define OBJECT_KIND(name, number, text)                                                            \
    if (word && strcmp(word, text) == 0)                                                           \
        return AS_OBJECT_##name;
    AS_OBJECT_LIST(OBJECT_KIND)
#undef OBJECT_KIND
    return (enum as_object_kind)0;
}

/* ---- Metrics and values ------------------------------------------------------------------ */

int as_experiment_metric(struct as_experiment *experiment, const struct as_metric *metric,
                         int64_t *id, struct as_error *err)
{
    static const char *const better[] = {"neither", "higher", "lower"};
    assert((size_t)metric->better < sizeof better / sizeof *better);
    const bool rated = metric->good < metric->fair || metric->good > metric->fair;
    const struct as_row_metric row = {
        .name = metric->name,
        .unit = metric->unit,
        .meaning = metric->meaning,
        .formula = metric->formula,
        .better = better[metric->better],
        .title = metric->title,
        .topic = metric->topic,
        .good = rated ? metric->good : (double)NAN,
        .fair = rated ? metric->fair : (double)NAN,
        .position = as_known(metric->position),
        .pass = as_pass_name(experiment, metric->pass),
    };

    return as_row_add(experiment, AS_TABLE_metric, &row, id, err);
}

int as_experiment_value(struct as_experiment *experiment, int64_t metric_id,
                        const struct as_subject *subject, struct as_bounded_value quantity,
                        struct as_error *err)
{
    const struct as_row_value row = {
        .metric_id = metric_id,
        .object_kind = subject->kind,
        .object_id = subject->object_id,
        .run_id = subject->run_id,
        .context_id = subject->context_id,
        .value = quantity.value,
        .origin = (enum as_origin)quantity.origin,
        .low = quantity.low,
        .high = quantity.high,
        .n = quantity.n,
    };

    AS_TRY(as_batch_check(experiment, err));
    AS_TRY(as_quantity_check(&quantity, "a metric", err));
    return as_row_add(experiment, AS_TABLE_value, &row, NULL, err);
}

/* ---- Histograms -------------------------------------------------------------------------- */

static int check_histogram(const struct as_value_histogram *it, int64_t *n, struct as_error *err)
{
    *n = 0;
    if (!as_origin_word((int)it->origin))
        return as_error_set(err, AS_ERR_INTERNAL, "a histogram: has no origin");
    for (size_t i = 0; i < it->bin_n; i++) {
        if (!(it->edge[i] < it->edge[i + 1]) || it->count[i] < 0)
            return as_error_set(err, AS_ERR_INTERNAL,
                                "a histogram: bin %zu is %g to %g and holds %lld", i, it->edge[i],
                                it->edge[i + 1], (long long)it->count[i]);
        *n += it->count[i];
    }
    return 0;
}

int as_experiment_histogram(struct as_experiment *experiment, int64_t metric_id,
                            const struct as_subject *subject, const struct as_value_histogram *it,
                            struct as_error *err)
{
    struct as_row_histogram row = {
        .metric_id = metric_id,
        .object_kind = subject->kind,
        .object_id = subject->object_id,
        .run_id = subject->run_id,
        .context_id = subject->context_id,
        .origin = it->origin,
    };
    struct as_str edges = {0}, counts = {0};
    int rc;

    AS_TRY(as_batch_check(experiment, err));
    AS_TRY(check_histogram(it, &row.n, err));
    for (size_t i = 0; i <= it->bin_n; i++)
        as_str_appendf(&edges, "%s%.17g", i ? "," : "[", it->edge[i]);
    for (size_t i = 0; i < it->bin_n; i++)
        as_str_appendf(&counts, "%s%lld", i ? "," : "[", (long long)it->count[i]);
    as_str_appendz(&edges, "]");
    as_str_appendz(&counts, it->bin_n ? "]" : "[]");
    row.edges = as_str_z(&edges);
    row.counts = as_str_z(&counts);
    rc = edges.failed || counts.failed
             ? as_error_nomem(err, experiment->db_path)
             : as_row_add(experiment, AS_TABLE_histogram, &row, NULL, err);
    as_str_fini(&edges);
    as_str_fini(&counts);
    return rc;
}

/* ---- Findings and flags ------------------------------------------------------------------ */

int as_experiment_finding(struct as_experiment *experiment, const struct as_finding *it,
                          struct as_error *err)
{
    static const char *const level[] = {NULL, "gain", "potential", "hint", "expert"};
    assert(it->level >= AS_FINDING_GAIN && it->level <= AS_FINDING_EXPERT);
    struct as_row_finding row = {
        .run_id = it->of.run_id,
        .object_kind = it->of.kind,
        .object_id = it->of.object_id,
        .topic = it->topic,
        .level = level[it->level],
        .text = it->text,
        .workaround = it->workaround,
        .gain = (double)NAN,
        .gain_low = (double)NAN,
        .gain_high = (double)NAN,
        .time_ns = {it->time_ns, it->time_ns > 0},
        .pass = as_pass_name(experiment, it->pass),
        .rule = it->rule,
        .command = it->command,
    };

    AS_TRY(as_batch_check(experiment, err));
    if (it->gain) {
        AS_TRY(as_quantity_check(it->gain, "a gain", err));
        row.gain = it->gain->value;
        row.gain_low = it->gain->low;
        row.gain_high = it->gain->high;
        row.gain_origin = as_origin_word(it->gain->origin);
        row.gain_n = as_known(it->gain->n);
    }
    struct as_row_finding_more more = {0};
    AS_TRY(as_row_add(experiment, AS_TABLE_finding, &row, &more.finding_id, err));
    for (size_t i = 0; i < it->other_n; i++) {
        more.position = (int64_t)i + 1;
        more.text = it->other[i].text;
        more.workaround = it->other[i].workaround;
        AS_TRY(as_experiment_add_finding_more(experiment, &more, err));
    }
    return 0;
}

int as_experiment_flag(struct as_experiment *experiment, const struct as_flag *it,
                       struct as_error *err)
{
    const struct as_row_flag row = {
        .run_id = it->run_id,
        .object_kind = it->kind,
        .object_id = it->object_id,
        .name = it->name,
        .n = it->n,
        .text = it->text,
        .pass = as_pass_name(experiment, it->pass),
    };

    return as_row_add(experiment, AS_TABLE_flag, &row, NULL, err);
}
