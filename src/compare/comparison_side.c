/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the sides as wholes: commands, wall times, and the difference from the first side. Runs
 * that alternated are compared in pairs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/comparison.h"

struct as_bounded_value as_difference_pct(const struct as_difference *it, int64_t n)
{
    if (isnan(it->ratio))
        return (struct as_bounded_value){0};
    return as_value_derived(100 * (it->ratio - 1), 100 * (it->interval.low - 1),
                            100 * (it->interval.high - 1), n);
}

static int make_side(struct as_comparison_work *w, size_t s, struct as_compare_side *out,
                     struct as_error *err)
{
    const struct as_run *run = &w->set[s].run.at[0];
    *out = (struct as_compare_side){
        .name = as_set_text(w->arena, w->request[s].name),
        .experiment = as_set_text(w->arena, as_experiment_path(w->request[s].experiment)),
        .command = as_set_text(w->arena, run->command ? run->command : ""),
        .host = as_set_text(w->arena, run->host ? run->host : ""),
        .event = as_set_text(w->arena, run->event ? run->event : ""),
        .run_id = run->id,
        .rate_hz = run->rate_hz,
        .repeat_n = (unsigned)w->repeats[s].n,
        .failed_n = w->failed_n[s],
        .wall_s = as_repeats_wall_quantity(&w->set[s], &w->repeats[s], w->x)};
    return out->name && out->experiment && out->command && out->host && out->event
               ? 0
               : as_error_nomem(err, "the sides of a comparison");
}

static bool is_of(const struct as_comparison_work *w, size_t side, int64_t run_id)
{
    as_vec_foreach (&w->set[side].run, it)
        if (it->id == run_id)
            return true;
    return false;
}

static int by_place(const void *a, const void *b)
{
    const struct as_turn *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Lists the runs of two sides in order of time. Returns false if they did not alternate. */
static bool list_turns(struct as_comparison_work *w, size_t side, struct as_turn *turn)
{
    const size_t first_n = w->set[0].run.n, n = first_n + w->set[side].run.n;
    size_t changes = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_variant = i >= first_n;
        const struct as_run *run =
            is_variant ? &w->set[side].run.at[i - first_n] : &w->set[0].run.at[i];
        if (!(run->wall_s > 0) || (is_variant && is_of(w, 0, run->id)))
            return false;
        turn[i] = (struct as_turn){(double)run->id, run->wall_s, is_variant};
    }
    qsort(turn, n, sizeof *turn, by_place);
    for (size_t i = 1; i < n; i++)
        changes += turn[i].is_variant != turn[i - 1].is_variant;
    return changes + 1 >= n / 2 && changes >= 3;
}

/*
 * Compares two sides of one experiment in pairs, which cancels slow changes of the host. Returns
 * false if their runs did not alternate.
 */
static bool compare_turns(struct as_comparison_work *w, size_t side, struct as_difference *out)
{
    const size_t n = w->set[0].run.n + w->set[side].run.n;
    struct as_turn *turn = as_arena_array(&w->scratch, struct as_turn, n);
    struct as_paired it;
    double p;
    if (!turn || strcmp(as_experiment_path(w->request[0].experiment),
                        as_experiment_path(w->request[side].experiment)) != 0)
        return false;
    if (!list_turns(w, side, turn) || as_paired_of(turn, n, &it) < 0 || isinf(it.variance))
        return false;
    *out = (struct as_difference){.ratio = exp(it.difference)};
    as_paired_interval(&it, 1 - AS_STAT_LEVEL, &out->interval, &p);
    out->p = p;
    return true;
}

static void compare_walls(struct as_comparison_work *w, struct as_compare_side *side)
{
    struct as_estimate first = {0};
    for (size_t s = 0; s < w->side_n; s++) {
        as_repeats_wall(&w->set[s], &w->repeats[s], w->x);
        const struct as_estimate it = as_estimate_runs(w->x, w->repeats[s].n, 0);
        if (s == 0) {
            first = it;
            continue;
        }
        struct as_difference difference;
        side[s].in_turns = compare_turns(w, s, &difference);
        if (!side[s].in_turns)
            difference = as_difference_of(&first, &it);
        side[s].difference_pct = as_difference_pct(&difference, it.n < first.n ? it.n : first.n);
        side[s].is_slower = side[s].difference_pct.low > 0;
        side[s].is_faster = side[s].difference_pct.high < 0;
    }
}

int as_comparison_sides(struct as_comparison_work *w, struct as_error *err)
{
    struct as_compare_side *side = as_arena_array(w->arena, struct as_compare_side, w->side_n);
    if (!side)
        return as_error_nomem(err, "the sides of a comparison");
    for (size_t s = 0; s < w->side_n; s++)
        AS_TRY(make_side(w, s, &side[s], err));
    compare_walls(w, side);
    w->result->side = side;
    w->result->side_n = w->side_n;
    return 0;
}
