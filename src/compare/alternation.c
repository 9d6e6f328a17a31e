/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares wall times of two commands that ran alternately (`assay repeat --against`), and decides
 * whether more pairs are needed. Runs of A have the kind "repeat", runs of B "against".
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "compare/measure.h"

#define ALLOWED (1 - AS_STAT_LEVEL)

struct alternation_box {
    struct as_alternation result; /* first member: the caller has a pointer to it */
    struct as_arena arena;
};

struct alternation_work {
    struct as_set set; /* runs of both commands without failed ones */
    struct as_alternation *result;
    struct as_arena *arena;
    struct as_notes notes;
    struct as_turn *turn;
};

/* Returns the command of a run: 0 for A, 1 for B, -1 for another run. */
static int side_of(const struct as_run *run)
{
    return strcmp(run->kind, "repeat") == 0 ? 0 : strcmp(run->kind, AS_AGAINST) == 0 ? 1 : -1;
}

static bool is_of_alternation(const struct as_run *run, void *context)
{
    struct as_alternation *it = context;
    const int side = side_of(run);

    if (side < 0)
        return false;
    if (!it->side[side].command)
        it->side[side].command = run->command ? run->command : "";
    if (run->is_over && !run->is_failed && run->wall_s > 0)
        return true;
    it->side[side].failed_n++;
    return false;
}

/* ---- Sides --------------------------------------------------------------------------------- */

static int make_alternation_side(struct alternation_work *w, int number, double *x,
                                 struct as_error *err)
{
    struct as_alternation_side *side = &w->result->side[number];
    size_t n = 0;

    side->name = number ? "B" : "A";
    side->command = as_set_text(w->arena, side->command ? side->command : "");
    if (!side->command)
        return as_error_nomem(err, "runs in turns");
    as_vec_foreach (&w->set.run, run) {
        if (side_of(run) != number)
            continue;
        x[n++] = run->wall_s;
        if (!side->run_id)
            side->run_id = run->id;
    }
    side->repeat_n = (unsigned)n;
    if (n == 1)
        side->wall_s = as_value_measured(x[0], 0, INFINITY, 1);
    if (n > 1) {
        const struct as_estimate it = as_estimate_runs(x, n, 0);
        const double half =
            as_stat_student_quantile(0.5 + AS_STAT_LEVEL / 2, it.freedom) * sqrt(it.variance);
        side->wall_s = as_value_measured(it.mean, fmax(it.mean - half, 0), it.mean + half, it.n);
    }
    return 0;
}

static int make_alternation_runs(struct alternation_work *w, struct as_error *err)
{
    const size_t n = w->set.run.n;
    struct as_alternation_run *run = as_arena_array(w->arena, struct as_alternation_run, n + 1);
    double *x = as_arena_array(&w->set.arena, double, n + 1);

    w->turn = as_arena_array(&w->set.arena, struct as_turn, n + 1);
    if (!run || !x || !w->turn)
        return as_error_nomem(err, "runs in turns");
    for (size_t i = 0; i < n; i++) {
        const struct as_run *it = &w->set.run.at[i];

        run[i] = (struct as_alternation_run){it->id, it->wall_s, side_of(it) == 1};
        w->turn[i] = (struct as_turn){(double)it->id, it->wall_s, side_of(it) == 1};
    }
    w->result->run = run;
    w->result->run_n = n;
    AS_TRY(make_alternation_side(w, 0, x, err));
    return make_alternation_side(w, 1, x, err);
}

/* ---- The verdict --------------------------------------------------------------------------- */

static enum as_alternation_verdict verdict_of(const struct as_interval *ratio)
{
    if (ratio->low > 1 || ratio->high < 1)
        return ratio->low > 1 ? AS_ALTERNATION_SLOWER : AS_ALTERNATION_FASTER;
    return ratio->low >= 1 - AS_ALTERNATION_EQUAL_PCT / 100.0 &&
                   ratio->high <= 1 + AS_ALTERNATION_EQUAL_PCT / 100.0
               ? AS_ALTERNATION_EQUAL
               : AS_ALTERNATION_OPEN;
}

const char *as_alternation_word(enum as_alternation_verdict verdict)
{
    static const char *const words[] = {[AS_ALTERNATION_OPEN] = "open",
                                        [AS_ALTERNATION_FASTER] = "faster",
                                        [AS_ALTERNATION_SLOWER] = "slower",
                                        [AS_ALTERNATION_EQUAL] = "equal"};
    _Static_assert(sizeof words / sizeof *words == AS_ALTERNATION_EQUAL + 1,
                   "an entry for each of the enumeration");
    assert((unsigned)verdict < sizeof words / sizeof *words);
    return words[verdict];
}

/* Failed runs count as done, so the series ends after the planned number of runs. */
static int judge_alternation(struct alternation_work *w, struct as_error *err)
{
    struct as_alternation *it = w->result;
    const size_t a = it->side[0].repeat_n + it->side[0].failed_n,
                 b = it->side[1].repeat_n + it->side[1].failed_n;
    struct as_paired paired;
    struct as_interval ratio;

    it->pair_n = a < b ? a : b;
    if (it->planned_n < it->pair_n)
        it->planned_n = it->pair_n;
    if (as_paired_of(w->turn, w->set.run.n, &paired) < 0)
        return as_error_nomem(err, "runs in turns");
    as_paired_interval(&paired, as_look_alpha_of(ALLOWED, it->pair_n, it->planned_n), &ratio,
                       &it->p);
    (void)as_look_number(it->pair_n, &it->is_look);
    it->is_look |= it->pair_n == it->planned_n;
    if (isinf(paired.variance))
        return 0;
    it->difference_pct = as_value_measured(100 * expm1(paired.difference), 100 * (ratio.low - 1),
                                           100 * (ratio.high - 1), (int64_t)w->set.run.n);
    it->verdict = verdict_of(&ratio);
    return 0;
}

/* ---- The whole ----------------------------------------------------------------------------- */

static int read_planned(struct alternation_work *w, struct as_experiment *experiment,
                        struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(experiment,
                        "SELECT max(cast(value AS INTEGER)) FROM run_setting"
                        " WHERE name = '" AS_ALTERNATION_RUNS "'",
                        &rows, err));
    rc = as_rows_next(rows, err);
    if (rc > 0 && as_rows_integer(rows, 0) > 0)
        w->result->planned_n = (size_t)as_rows_integer(rows, 0);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static void note_alternation(struct alternation_work *w)
{
    const struct as_alternation *it = w->result;

    for (int i = 0; i < 2; i++)
        if (it->side[i].failed_n)
            as_note(&w->notes, w->arena, "%u run%s of %s failed and %s left out.",
                    it->side[i].failed_n, it->side[i].failed_n == 1 ? "" : "s", it->side[i].name,
                    it->side[i].failed_n == 1 ? "is" : "are");
    if (it->pair_n < it->planned_n && it->verdict != AS_ALTERNATION_OPEN && it->is_look)
        as_note(&w->notes, w->arena,
                "Ended after %zu of %zu pairs: the answer is certain. The interval is corrected "
                "for the repeated tests.",
                it->pair_n, it->planned_n);
    if (it->verdict == AS_ALTERNATION_OPEN && it->difference_pct.origin)
        as_note(&w->notes, w->arena,
                "It is not known whether they differ: use more pairs, longer runs or a quieter "
                "host.");
}

static const char alternation_method[] =
    "Each run is compared with the neighbouring runs of the other command, on logarithms, so that "
    "slow drift cancels out. Student's t, with its level divided over the repeated tests.";

static int evaluate_alternation(struct alternation_work *w, struct as_experiment *experiment,
                                struct as_error *err)
{
    w->result->method = alternation_method;
    AS_TRY(read_planned(w, experiment, err));
    AS_TRY(make_alternation_runs(w, err));
    AS_TRY(judge_alternation(w, err));
    note_alternation(w);
    return as_notes_take(&w->notes, w->arena, &w->result->note, &w->result->note_n, err);
}

static bool has_against(const struct as_set *set)
{
    as_vec_foreach (&set->run, run)
        if (side_of(run) == 1)
            return true;
    return false;
}

int as_compare_alternation(struct as_experiment *experiment, struct as_alternation **out,
                           struct as_error *err)
{
    struct alternation_work w = {0};
    struct alternation_box *box = NULL;

    *out = NULL;
    as_set_init(&w.set);
    int rc = as_set_runs(&w.set, experiment, err);
    if (rc == 0 && has_against(&w.set)) {
        box = as_calloc(1, sizeof *box);
        rc = box ? 0 : as_error_nomem(err, "runs in turns");
    }
    if (rc == 0 && box) {
        as_arena_init(&box->arena);
        w.arena = &box->arena;
        w.result = *out = &box->result;
        as_set_choose(&w.set, is_of_alternation, w.result);
        rc = evaluate_alternation(&w, experiment, err);
        if (rc < 0)
            as_alternation_free(out);
    }
    as_vec_fini(&w.notes.text);
    as_set_fini(&w.set);
    return rc;
}

void as_alternation_free(struct as_alternation **alternation)
{
    struct alternation_box *box = (struct alternation_box *)(void *)*alternation;

    if (box)
        as_arena_fini(&box->arena);
    as_free(box);
    *alternation = NULL;
}
