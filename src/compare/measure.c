/* SPDX-License-Identifier: Apache-2.0 */
/* Computes quantities from the costs of objects in runs. */
#include "compare/measure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* ---- Values of repetitions ----------------------------------------------------------------- */

void as_repeats_wall(const struct as_set *set, const struct as_repeats *repeats, double *x)
{
    for (size_t i = 0; i < repeats->n; i++)
        x[i] = set->run.at[repeats->run[i]].wall_s;
}

void as_repeats_cost(const struct as_compared_object *object, const struct as_repeats *repeats,
                     enum as_cost_part part, double *x)
{
    for (size_t i = 0; i < repeats->n; i++) {
        const struct as_cost *cost = &object->cost[repeats->run[i]];
        x[i] = part == AS_COST_TIME ? cost->time_s : cost->thread_s;
    }
}

int64_t as_repeats_samples(const struct as_compared_object *object,
                           const struct as_repeats *repeats)
{
    int64_t n = 0;
    for (size_t i = 0; i < repeats->n; i++)
        n += object->cost[repeats->run[i]].sample_n;
    return n;
}

double as_repeats_quantum(const struct as_set *set, const struct as_repeats *repeats)
{
    const struct as_run *run = repeats->n ? &set->run.at[repeats->run[0]] : NULL;
    return run && run->sample_n ? run->sampled_s / (double)run->sample_n : 0;
}

/* ---- Estimates ----------------------------------------------------------------------------- */

static int64_t samples_of(const struct as_cost *cost, enum as_cost_part part)
{
    return part == AS_COST_TIME ? cost->sample_n : cost->thread_sample_n;
}

struct as_estimate as_repeats_estimate(const struct as_set *set,
                                       const struct as_compared_object *object,
                                       const struct as_repeats *repeats, enum as_cost_part part,
                                       double *x)
{
    if (repeats->n == 1) {
        const struct as_run *run = &set->run.at[repeats->run[0]];
        const struct as_cost *cost = &object->cost[repeats->run[0]];
        return as_estimate_samples(samples_of(cost, part), run->sample_n, run->sampled_s);
    }
    as_repeats_cost(object, repeats, part, x);
    return as_estimate_runs(x, repeats->n, as_repeats_quantum(set, repeats));
}

static struct as_bounded_value quantity_of_run(const struct as_run *run, const struct as_cost *cost,
                                               enum as_cost_part part)
{
    const int64_t n = samples_of(cost, part);
    if (run->sample_n < 1)
        return (struct as_bounded_value){0};
    const struct as_bounded_value share = as_value_share(n, run->sample_n);
    return as_value_measured(share.value * run->sampled_s, share.low * run->sampled_s,
                             share.high * run->sampled_s, n);
}

/* Caches the last quantile, since thousands of rows have the same degrees of freedom. */
static double quantile_of(double freedom)
{
    static _Thread_local double of, known;
    if (of != freedom) {
        known = as_stat_student_quantile(0.5 + AS_STAT_LEVEL / 2, freedom);
        of = freedom;
    }
    return known;
}

/* Returns an estimate with its interval. The lower bound of a time is at least 0. */
static struct as_bounded_value quantity_of_estimate(const struct as_estimate *it)
{
    const double half = quantile_of(it->freedom) * sqrt(it->variance);
    return as_value_measured(it->mean, fmax(it->mean - half, 0), it->mean + half, it->n);
}

struct as_bounded_value as_repeats_quantity(const struct as_set *set,
                                            const struct as_compared_object *object,
                                            const struct as_repeats *repeats,
                                            enum as_cost_part part, double *x)
{
    if (repeats->n == 0)
        return (struct as_bounded_value){0};
    if (repeats->n == 1)
        return quantity_of_run(&set->run.at[repeats->run[0]], &object->cost[repeats->run[0]], part);
    const struct as_estimate estimate = as_repeats_estimate(set, object, repeats, part, x);
    return quantity_of_estimate(&estimate);
}

struct as_bounded_value as_repeats_wall_quantity(const struct as_set *set,
                                                 const struct as_repeats *repeats, double *x)
{
    if (repeats->n == 0)
        return (struct as_bounded_value){0};
    as_repeats_wall(set, repeats, x);
    if (repeats->n == 1)
        return as_value_measured(x[0], 0, INFINITY, 1);
    const struct as_estimate estimate = as_estimate_runs(x, repeats->n, 0);
    return quantity_of_estimate(&estimate);
}

double as_object_share(const struct as_set *set, const struct as_compared_object *object)
{
    double most = 0;
    for (size_t i = 0; i < set->run.n; i++)
        if (set->run.at[i].sampled_s > 0)
            most = fmax(most, object->cost[i].time_s / set->run.at[i].sampled_s);
    return most;
}

/* ---- Results ------------------------------------------------------------------------------- */

void as_note(struct as_notes *notes, struct as_arena *arena, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    const char *copy = as_set_text(arena, line);
    if (!copy || as_vec_push(&notes->text, copy) < 0)
        notes->failed = true;
}

void *as_keep(struct as_arena *arena, const void *at, size_t n, size_t size_b)
{
    void *copy = as_arena_calloc(arena, n ? n : 1, size_b, _Alignof(max_align_t));
    if (copy && n)
        memcpy(copy, at, n * size_b);
    return copy;
}

int as_notes_take(struct as_notes *notes, struct as_arena *arena, const char *const **out,
                  size_t *out_n, struct as_error *err)
{
    *out_n = notes->text.n;
    *out = as_keep(arena, notes->text.at, notes->text.n, sizeof *notes->text.at);
    const bool failed = notes->failed || !*out;
    as_vec_fini(&notes->text);
    return failed ? as_error_nomem(err, "notes on a comparison") : 0;
}

int as_compared_of(struct as_arena *arena, const struct as_compared_object *object,
                   struct as_compared *out, struct as_error *err)
{
    *out = (struct as_compared){.kind = object->kind,
                                .id = object->id,
                                .name = as_set_text(arena, object->name),
                                .where = as_set_text(arena, object->where)};
    return out->name && out->where ? 0 : as_error_nomem(err, "a row of a comparison");
}
