/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the results of a campaign: a row of the table `trial` for each candidate, best first. A
 * row has the command for the user and what changed in the program (compare/).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "compare/compare.h"
#include "machine/machine.h"
#include "trial/campaign.h"

/* Max number of changed functions and loops named per candidate. */
#define CHANGES_MOST 3
/* Max number of candidates with a search for changes. */
#define WHYS_MOST 8
/* Share of its CPUs used by other processes from which the host counts as busy. */
#define BUSY 0.2

/* ---- Reasons ------------------------------------------------------------------------------- */

static void print_row(struct as_str *out, const struct as_compare_row *row)
{
    const struct as_compare_cell *a = &row->cell[0], *b = &row->cell[1];

    as_str_appendf(out, "%s%s%s%s %.2f to %.2f s", out->n ? "; " : "",
                   row->object.kind == AS_OBJECT_LOOP ? "loop " : "",
                   row->object.kind == AS_OBJECT_LOOP ? row->object.where : row->object.name,
                   row->object.kind == AS_OBJECT_LOOP && !row->object.where[0] ? row->object.name
                                                                               : "",
                   a->time_s.origin ? a->time_s.value : 0, b->time_s.origin ? b->time_s.value : 0);
    if (b->differs_n)
        as_str_appendf(out, " (%s)", b->differs[0]);
}

/* Writes the functions and loops with a certain change of at least 1 % of the time. */
static void write_changes(struct as_str *out, const struct as_comparison *it)
{
    size_t message = 0;

    for (size_t i = 0; i < it->row_n && message < CHANGES_MOST; i++) {
        const struct as_compare_row *row = &it->row[i];
        const bool is_alone = !row->cell[0].time_s.origin || !row->cell[1].time_s.origin;
        const double change = fabs((row->cell[1].time_s.origin ? row->cell[1].time_s.value : 0) -
                                   (row->cell[0].time_s.origin ? row->cell[0].time_s.value : 0));
        const double whole = it->side[0].wall_s.value;
        if (change < 0.01 * whole || !(row->cell[1].significant || is_alone))
            continue;
        print_row(out, row);
        message++;
    }
}

/* Returns what changed in the program, or NULL if that is unknown; the gain stands without it. */
static const char *find_why(struct as_trial *t, const struct as_candidate *it)
{
    const struct as_compare_request side[] = {
        {.experiment = t->experiment, .name = AS_TRIAL_BASE, .runs = AS_TRIAL_BASE},
        {.experiment = t->experiment, .name = it->name, .runs = it->name}};
    struct as_comparison *comparison;
    struct as_str out = {0};

    if (as_compare_experiments(side, 2, &comparison, NULL) < 0)
        return NULL;
    write_changes(&out, comparison);
    as_comparison_free(&comparison);
    const char *copy =
        out.n && !out.failed ? as_arena_strndup(&t->arena, as_str_z(&out), out.n) : NULL;
    as_str_fini(&out);
    return copy;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static const char *what_word(unsigned what)
{
    static const char *const words[16] = {[AS_TRIAL_ENV] = "env",
                                          [AS_TRIAL_THREADS] = "threads",
                                          [AS_TRIAL_PLACEMENT] = "placement",
                                          [AS_TRIAL_FLAGS] = "flags",
                                          [3] = "env+threads",
                                          [5] = "env+placement",
                                          [6] = "threads+placement",
                                          [7] = "env+threads+placement",
                                          [9] = "env+flags",
                                          [10] = "threads+flags",
                                          [11] = "env+threads+flags",
                                          [12] = "placement+flags",
                                          [13] = "env+placement+flags",
                                          [14] = "threads+placement+flags",
                                          [15] = "env+threads+placement+flags"};
    return words[what & 15] ? words[what & 15] : "env";
}

/* Fills in {profile}: the user's profile is in the directory where the program runs. */
static const char *typed(struct as_trial *t, const char *text)
{
    const char *filled =
        text ? as_build_tree_fill(&t->build_tree, text, "{profile}", "$PWD/profile") : NULL;
    return filled ? filled : "";
}

/* Returns the build command for the user; a profile-guided build has two steps. */
static const char *build_command(struct as_trial *t, const struct as_candidate *it)
{
    struct as_str out = {0};

    if (!it->flags)
        return NULL;
    if (it->train) {
        const char *first = typed(t, as_build_tree_command(&t->build_tree, it->train));
        const char *run = as_candidate_type(it, &t->facts, first, &t->arena);
        as_str_appendf(&out, "%s && ", run ? run : "");
        if (it->merge)
            as_str_appendf(&out, "%s && ", typed(t, it->merge));
        as_str_appendz(&out, "make it anew: ");
    }
    if (it->only) {
        as_str_appendf(&out, "%s for", it->flags);
        for (size_t i = 0; it->only[i]; i++)
            as_str_appendf(&out, " %s", it->only[i]);
        as_str_appendz(&out, " alone, and ");
    }
    const char *command = as_build_tree_command(&t->build_tree, it->only ? "" : it->flags);
    as_str_appendz(&out, typed(t, command));
    const char *copy = out.failed ? NULL : as_arena_strndup(&t->arena, as_str_z(&out), out.n);
    as_str_fini(&out);
    return copy;
}

static bool was_measured(const struct as_candidate *it)
{
    return it->verdict == AS_TRIAL_GAIN || it->verdict == AS_TRIAL_HARM ||
           it->verdict == AS_TRIAL_NONE || it->verdict == AS_TRIAL_OPEN ||
           it->verdict == AS_TRIAL_DIFFERS;
}

static void fill_ratio(const struct as_trial *t, const struct as_candidate *it,
                       struct as_row_trial *row)
{
    const struct as_racer *racer = it->racer < 0 ? NULL : &t->race.racer.at[it->racer];

    row->base_s = row->ratio = row->ratio_low = row->ratio_high = NAN;
    if (!racer || !racer->run_n || !was_measured(it) || isnan(racer->ratio))
        return;
    row->base_s = t->base_s;
    row->ratio = racer->ratio;
    if (isinf(racer->interval.high))
        return;
    row->ratio_low = racer->interval.low;
    row->ratio_high = racer->interval.high;
}

static int add_trial(struct as_trial *t, const struct as_candidate *it, int64_t position,
                     struct as_error *err)
{
    char result[300], rules[400];
    struct as_row_trial row = {.run_id = t->result->base_run_id,
                               .position = position,
                               .name = it->name,
                               .title = it->title,
                               .what = what_word(it->what),
                               .verdict = as_trial_word(it->verdict),
                               .said = it->message,
                               .n = (int64_t)it->run_n,
                               .differs_by = NAN,
                               .why = it->why,
                               .rules = rules,
                               .variant_id = it->run_id};

    snprintf(rules, sizeof rules, " %s ", it->finding);
    fill_ratio(t, it, &row);
    if (was_measured(it) && it->run_n) {
        as_output_describe(&it->output, result, sizeof result);
        row.result = result;
        if (it->output.is_known && !isinf(it->output.relative))
            row.differs_by = it->output.relative;
    }
    row.command = as_candidate_type(it, &t->facts, build_command(t, it), &t->arena);
    return as_experiment_add_trial(t->experiment, &row, NULL, err);
}

/* ---- Order --------------------------------------------------------------------------------- */

static int verdict_order(const struct as_candidate *it)
{
    static const int order[] = {
        [AS_TRIAL_GAIN] = 0,     [AS_TRIAL_DIFFERS] = 1, [AS_TRIAL_NONE] = 2,
        [AS_TRIAL_OPEN] = 3,     [AS_TRIAL_HARM] = 4,    [AS_TRIAL_SAME] = 5,
        [AS_TRIAL_TOO_LONG] = 6, [AS_TRIAL_FAILED] = 7,  [AS_TRIAL_NO_BUILD] = 8,
        [AS_TRIAL_NOT_RUN] = 9};
    return order[it->verdict];
}

static double ratio_of(const struct as_trial *t, const struct as_candidate *it)
{
    const double ratio = it->racer < 0 ? 1 : t->race.racer.at[it->racer].ratio;
    return isnan(ratio) ? 1 : ratio;
}

static int by_worth(const void *a, const void *b, void *context)
{
    const struct as_trial *t = context;
    const struct as_candidate *x = &t->candidate.at[*(const size_t *)a],
                              *y = &t->candidate.at[*(const size_t *)b];
    const double p = ratio_of(t, x), q = ratio_of(t, y);

    if (verdict_order(x) != verdict_order(y))
        return verdict_order(x) - verdict_order(y);
    return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

/* ---- Host ---------------------------------------------------------------------------------- */

/* Computes the mean base time over the race, and tests if other processes used the CPUs. */
static int look_at_host(struct as_trial *t, struct as_error *err)
{
    struct as_moments base = {0};
    struct as_rows *rows;
    double others = NAN;
    int rc;

    as_vec_foreach (&t->race.run, it)
        if (it->racer == AS_RACE_BASE)
            as_moments_add(&base, it->x);
    t->base_s = base.n > 0 ? base.mean : t->base_s;
    AS_TRY(as_rows_open(t->experiment,
                        "SELECT 1000.0 * sum(w.others_ns) / sum(r.wall_ns * r.usable_milli_cpu_n)"
                        " FROM run r JOIN run_waiting w USING (run_id)"
                        " WHERE r.label = '" AS_TRIAL_BASE "' AND ?1 > 0",
                        &rows, err));
    as_rows_bind_integer(rows, 1, 1);
    rc = as_rows_next(rows, err);
    if (rc > 0 && as_rows_kind(rows, 0) != AS_SQL_CELL_NULL)
        others = as_rows_real(rows, 0);
    as_rows_close(&rows);
    t->result->is_busy = others > BUSY;
    if (others > BUSY)
        as_trial_note(t, "the host was busy: other programs used %.0f %% of its CPUs%s",
                      100 * fmin(others, 1),
                      t->is_single ? "; waiting for one is not counted"
                                   : ", so small gains are not measurable");
    return rc < 0 ? rc : 0;
}

static void find_whys(struct as_trial *t, const size_t *order)
{
    size_t asked = 0;

    for (size_t i = 0; i < t->candidate.n && asked < WHYS_MOST; i++) {
        struct as_candidate *it = &t->candidate.at[order[i]];
        if (it->run_n && (it->verdict == AS_TRIAL_GAIN || it->verdict == AS_TRIAL_HARM ||
                          it->verdict == AS_TRIAL_DIFFERS)) {
            it->why = find_why(t, it);
            asked++;
        }
    }
}

static int write_rows(struct as_trial *t, const size_t *order, struct as_error *err)
{
    AS_TRY(as_experiment_begin(t->experiment, err));
    for (size_t i = 0; i < t->candidate.n; i++)
        AS_TRY(add_trial(t, &t->candidate.at[order[i]], (int64_t)i + 1, err));
    return as_experiment_commit(t->experiment, err);
}

int as_trial_write(struct as_trial *t, struct as_error *err)
{
    size_t *order = as_calloc(t->candidate.n + 1, sizeof *order);
    int rc = order ? 0 : as_error_nomem(err, "what was tried");

    for (size_t i = 0; rc == 0 && i < t->candidate.n; i++)
        order[i] = i;
    if (rc == 0) {
        qsort_r(order, t->candidate.n, sizeof *order, by_worth, t);
        rc = look_at_host(t, err);
    }
    if (rc == 0) {
        find_whys(t, order);
        rc = write_rows(t, order, err);
    }
    as_free(order);
    return rc;
}
