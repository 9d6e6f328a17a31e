/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two or more experiments side by side. It aligns functions and loops, and compares their
 * times by Welch's test over repetitions or samples, corrected for multiple tests. It reports
 * whether the code differs. The first side is the reference of all others.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "compare/comparison.h"

/* Objects with fewer samples on both sides together are not tested. */
#define SAMPLES_FEWEST (2 * AS_FEW_SAMPLES)
#define SIGNIFICANT    (1 - AS_STAT_LEVEL)

struct box {
    struct as_comparison result; /* first member: the caller has a pointer to it */
    struct as_arena arena;
};

const char *as_aligned_word(enum as_aligned by)
{
    switch (by) {
#define ALIGNED_WORD(name, word)                                                                   \
    case AS_ALIGNED_##name:                                                                        \
        return word;
        AS_ALIGNED_LIST(ALIGNED_WORD)
#undef ALIGNED_WORD
    default:
        return "?";
    }
}

/* ---- Reading the sides ------------------------------------------------------------------ */

static int list_repeats(struct as_comparison_work *w, size_t side, struct as_error *err)
{
    const size_t n = w->set[side].run.n;
    uint32_t *run = as_arena_array(&w->scratch, uint32_t, n);
    if (!run)
        return as_error_nomem(err, "the runs that are compared");
    for (size_t i = 0; i < n; i++)
        run[i] = (uint32_t)i;
    w->repeats[side] = (struct as_repeats){run, n};
    return 0;
}

static int read_sides(struct as_comparison_work *w, struct as_error *err)
{
    size_t most = 1;
    for (size_t i = 0; i < w->side_n; i++) {
        struct as_experiment *experiment = w->request[i].experiment;
        AS_TRY(as_set_runs(&w->set[i], experiment, err));
        AS_TRY(as_runs_choose(&w->set[i], &w->request[i], &w->failed_n[i], err));
        AS_TRY(list_repeats(w, i, err));
        AS_TRY(as_set_objects(&w->set[i], experiment, err));
        AS_TRY(as_set_code(&w->set[i], experiment, err));
        AS_TRY(as_set_traits(&w->set[i], experiment, err));
        most = w->repeats[i].n > most ? w->repeats[i].n : most;
    }
    w->x = as_arena_array(&w->scratch, double, most);
    return w->x ? 0 : as_error_nomem(err, "the runs that are compared");
}

/* ---- Parts: the costs of a row on a side --------------------------------------------------- */

/* Adds a clone or version to its row: costs and digests of code are sums. */
static int add_part(struct as_comparison_work *w, size_t side,
                    const struct as_compared_object *object, size_t row)
{
    struct as_compared_object *part = &w->part[row * w->side_n + side];
    const size_t run_n = w->set[side].run.n;
    if (!part->cost) {
        *part = *object;
        return 0;
    }
    struct as_cost *sum = as_arena_array(&w->scratch, struct as_cost, run_n);
    if (!sum)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < run_n; i++) {
        sum[i] = part->cost[i];
        sum[i].time_s += object->cost[i].time_s;
        sum[i].sample_n += object->cost[i].sample_n;
    }
    part->cost = sum;
    part->own_n = part->own_n && object->own_n ? part->own_n + object->own_n : 0;
    part->digest += object->digest; /* a sum does not depend on the order */
    part->instruction_n = part->instruction_n >= 0 && object->instruction_n >= 0
                              ? part->instruction_n + object->instruction_n
                              : -1;
    return 0;
}

static int make_parts(struct as_comparison_work *w, struct as_error *err)
{
    w->part =
        as_arena_array(&w->scratch, struct as_compared_object, w->alignment.row.n * w->side_n + 1);
    if (!w->part)
        return as_error_nomem(err, "what is compared");
    for (size_t s = 0; s < w->side_n; s++)
        for (size_t i = 0; i < w->set[s].object.n; i++)
            if (w->alignment.row_of[s][i] != AS_INDEX_NONE &&
                add_part(w, s, &w->set[s].object.at[i], w->alignment.row_of[s][i]) < 0)
                return as_error_nomem(err, "what is compared");
    if (as_fact_of(w->set, w->side_n, &w->alignment, w->part, &w->scratch, &w->code_facts) < 0)
        return as_error_nomem(err, "what is compared");
    return 0;
}

/* ---- Cells --------------------------------------------------------------------------------- */

static enum as_code_change code_change(const struct as_compared_object *a,
                                       const struct as_compared_object *b)
{
    if (!a->own_n || !b->own_n)
        return AS_CODE_UNKNOWN;
    return a->own_n == b->own_n && a->digest == b->digest ? AS_CODE_SAME : AS_CODE_DIFFERS;
}

static int64_t instructions_of(const struct as_compared_object *it)
{
    return it->instruction_n >= 0 ? it->instruction_n : it->own_n > 0 ? it->own_n : -1;
}

static struct as_estimate estimate(struct as_comparison_work *w, size_t side,
                                   const struct as_compared_object *part)
{
    return as_repeats_estimate(&w->set[side], part, &w->repeats[side], AS_COST_TIME, w->x);
}

static void compare_cell(struct as_comparison_work *w, const struct as_compared_object *part,
                         size_t base, size_t side, struct as_compare_cell *cell)
{
    const struct as_estimate a = estimate(w, base, &part[base]), b = estimate(w, side, &part[side]);
    const int64_t samples = as_repeats_samples(&part[base], &w->repeats[base]) +
                            as_repeats_samples(&part[side], &w->repeats[side]);
    const struct as_difference difference = as_difference_of(&a, &b);
    cell->difference_pct = as_difference_pct(&difference, a.n < b.n ? a.n : b.n);
    cell->p = samples >= SAMPLES_FEWEST ? difference.p : NAN;
    cell->code = code_change(&part[base], &part[side]);
}

static void make_cells(struct as_comparison_work *w, const struct as_compared_object *part,
                       struct as_compare_cell *cell)
{
    size_t base = w->side_n;
    for (size_t s = 0; s < w->side_n; s++) {
        cell[s] = (struct as_compare_cell){.p = NAN, .instruction_n = -1};
        if (!part[s].cost)
            continue;
        cell[s].time_s =
            as_repeats_quantity(&w->set[s], &part[s], &w->repeats[s], AS_COST_TIME, w->x);
        cell[s].instruction_n = instructions_of(&part[s]);
        if (base == w->side_n)
            base = s;
        else
            compare_cell(w, part, base, s, &cell[s]);
    }
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static bool is_large(const struct as_comparison_work *w, const struct as_compared_object *part)
{
    for (size_t s = 0; s < w->side_n; s++)
        if (part[s].cost && as_object_share(&w->set[s], &part[s]) >= AS_COMPARE_LEAST_SHARE)
            return true;
    return false;
}

/* Makes the row of the result. `aligned_by` has a meaning only if several sides have the object. */
static int make_row(struct as_comparison_work *w, size_t at, struct as_compare_row *row,
                    struct as_compare_cell *cell, struct as_error *err)
{
    const struct as_aligned_row *aligned = &w->alignment.row.at[at];
    make_cells(w, &w->part[at * w->side_n], cell);
    *row = (struct as_compare_row){.aligned_by = aligned->by, .cell = cell};
    const struct as_object_facts *code_facts = &w->code_facts[at * w->side_n];
    if (as_compare_fill_row(w->arena, code_facts, w->side_n, row, cell) < 0 ||
        as_loop_code_compare(w->arena, code_facts, w->side_n, row) < 0)
        return as_error_nomem(err, "the rows of a comparison");
    return as_compared_of(w->arena, aligned->object, &row->object, err);
}

static int make_rows(struct as_comparison_work *w, struct as_error *err)
{
    const size_t n = w->alignment.row.n;
    struct as_compare_row *row = as_arena_array(w->arena, struct as_compare_row, n + 1);
    struct as_compare_cell *cell =
        as_arena_array(w->arena, struct as_compare_cell, n * w->side_n + 1);
    if (!row || !cell)
        return as_error_nomem(err, "the rows of a comparison");
    w->result->row = row;
    for (size_t i = 0; i < n; i++) {
        if (!is_large(w, &w->part[i * w->side_n]))
            continue;
        const size_t to = w->result->row_n++;
        AS_TRY(make_row(w, i, &row[to], &cell[to * w->side_n], err));
    }
    return 0;
}

/* ---- Significance -------------------------------------------------------------------------- */

struct family {
    struct as_compare_cell **cell;
    double *p, *adjusted;
    size_t *order;
    size_t n;
};

static void decide(struct as_comparison *result, const struct family *family)
{
    as_benjamini_hochberg(family->p, family->n, family->order, family->adjusted);
    for (size_t i = 0; i < family->n; i++) {
        struct as_compare_cell *cell = family->cell[i];
        cell->p = family->adjusted[i];
        cell->significant = cell->p <= SIGNIFICANT;
        result->tested_n += !isnan(cell->p);
        result->significant_n += cell->significant;
    }
}

/*
 * Tests all functions and loops on all sides as one family. At most 5 % of the significant
 * differences are false. At most 5 % of comparisons between equal programs find a difference.
 */
static int find_significant(struct as_comparison_work *w, struct as_error *err)
{
    const size_t n = w->result->row_n * w->side_n;
    struct family family = {.cell = as_arena_array(&w->scratch, struct as_compare_cell *, n + 1),
                            .p = as_arena_array(&w->scratch, double, n + 1),
                            .adjusted = as_arena_array(&w->scratch, double, n + 1),
                            .order = as_arena_array(&w->scratch, size_t, n + 1),
                            .n = n};
    if (!family.cell || !family.p || !family.adjusted || !family.order)
        return as_error_nomem(err, "the rows of a comparison");
    for (size_t i = 0; i < n; i++) {
        const struct as_compare_row *row = &w->result->row[i / w->side_n];
        family.cell[i] = (struct as_compare_cell *)(uintptr_t)&row->cell[i % w->side_n];
        family.p[i] = family.cell[i]->p;
    }
    decide(w->result, &family);
    return 0;
}

/* Returns the difference between the first and the last side in s; a missing time counts as 0. */
static double change_s(const struct as_compare_row *row, size_t side_n)
{
    const struct as_bounded_value *first = &row->cell[0].time_s,
                                  *last = &row->cell[side_n - 1].time_s;
    return fabs((last->origin ? last->value : 0) - (first->origin ? first->value : 0));
}

static int by_change(const void *a, const void *b, void *context)
{
    const struct as_compare_row *x = a, *y = b;
    const size_t n = *(const size_t *)context;
    const double cx = change_s(x, n), cy = change_s(y, n);
    if (x->object.kind != y->object.kind)
        return x->object.kind == AS_OBJECT_FUNCTION ? -1 : 1;
    if (cx != cy)
        return cx < cy ? 1 : -1;
    return (x->object.id > y->object.id) - (x->object.id < y->object.id);
}

/* ---- Notes --------------------------------------------------------------------------------- */

static void note_differences(struct as_comparison_work *w)
{
    const struct as_compare_side *side = w->result->side;
    for (size_t s = 1; s < w->side_n; s++) {
        if (strcmp(side[0].host, side[s].host) != 0)
            as_note(&w->notes, w->arena,
                    "%s ran on %s, %s on %s: the machine may be the cause of "
                    "differences.",
                    side[0].name, side[0].host, side[s].name, side[s].host);
        if (strcmp(side[0].event, side[s].event) != 0)
            as_note(&w->notes, w->arena,
                    "%s was sampled by %s, %s by %s: times of functions and loops are not "
                    "comparable.",
                    side[0].name, side[0].event, side[s].name, side[s].event);
        if (side[0].rate_hz != side[s].rate_hz)
            as_note(&w->notes, w->arena, "%s was sampled %lld times per second, %s %lld times.",
                    side[0].name, (long long)side[0].rate_hz, side[s].name,
                    (long long)side[s].rate_hz);
    }
}

/* Repetitions with a larger standard deviation, in per cent, were disturbed by external load. */
#define DISTURBED_PCT 5

static void note_disturbed(struct as_comparison_work *w, size_t side)
{
    struct as_moments moments = {0};
    as_vec_foreach (&w->set[side].run, it)
        as_moments_add(&moments, it->wall_s);
    const double pct = 100 * as_moments_deviation(&moments) / moments.mean;
    if (w->repeats[side].n >= 3 && pct > DISTURBED_PCT)
        as_note(
            &w->notes, w->arena,
            "Wall times of %s vary by %.0f %% (standard deviation): external load changed between "
            "the runs and appears as a difference.",
            w->result->side[side].name, pct);
}

static void note_repeats(struct as_comparison_work *w)
{
    bool is_single = false;
    for (size_t s = 0; s < w->side_n; s++) {
        is_single |= w->repeats[s].n == 1;
        note_disturbed(w, s);
        if (w->failed_n[s])
            as_note(&w->notes, w->arena, "%u run%s of %s failed and %s left out.", w->failed_n[s],
                    w->failed_n[s] == 1 ? "" : "s", w->result->side[s].name,
                    w->failed_n[s] == 1 ? "is" : "are");
    }
    for (size_t s = 1; s < w->side_n; s++)
        if (w->result->side[s].in_turns)
            as_note(&w->notes, w->arena,
                    "%s and %s ran alternately: each wall time is compared with those before and "
                    "after it.",
                    w->result->side[0].name, w->result->side[s].name);
    if (is_single)
        as_note(&w->notes, w->arena,
                "A single run does not show the variation between runs: intervals contain "
                "sampling noise only, and the wall time has none. Use 'assay repeat'.");
}

/* ---- The whole ----------------------------------------------------------------------------- */

static const char method[] =
    "Welch's test on logarithms, over repetitions, or over the samples of a single run; "
    "significant at 5 % after the correction of Benjamini and Hochberg for many comparisons.";

static int fill_comparison(struct as_comparison_work *w, struct as_error *err)
{
    w->result->method = method;
    AS_TRY(read_sides(w, err));
    AS_TRY(as_align(w->set, w->side_n, &w->alignment, err));
    AS_TRY(make_parts(w, err));
    AS_TRY(as_comparison_sides(w, err));
    AS_TRY(make_rows(w, err));
    AS_TRY(find_significant(w, err));
    qsort_r((void *)(uintptr_t)w->result->row, w->result->row_n, sizeof *w->result->row, by_change,
            &w->side_n);
    AS_TRY(as_environments_compare(w->arena, w->request, w->set, w->side_n, w->result, err));
    note_differences(w);
    note_repeats(w);
    return as_notes_take(&w->notes, w->arena, &w->result->note, &w->result->note_n, err);
}

static int set_up(struct as_comparison_work *w, struct as_error *err)
{
    w->set = as_arena_array(&w->scratch, struct as_set, w->side_n);
    w->repeats = as_arena_array(&w->scratch, struct as_repeats, w->side_n);
    w->failed_n = as_arena_array(&w->scratch, unsigned, w->side_n);
    if (!w->set || !w->repeats || !w->failed_n)
        return as_error_nomem(err, "a comparison");
    for (size_t i = 0; i < w->side_n; i++)
        as_set_init(&w->set[i]);
    return 0;
}

static void tear_down(struct as_comparison_work *w)
{
    for (size_t i = 0; w->set && w->failed_n && i < w->side_n; i++)
        as_set_fini(&w->set[i]);
    as_alignment_fini(&w->alignment);
    as_vec_fini(&w->notes.text);
    as_arena_fini(&w->scratch);
}

int as_compare_experiments(const struct as_compare_request *side, size_t n,
                           struct as_comparison **out, struct as_error *err)
{
    struct as_comparison_work w = {.request = side, .side_n = n};
    struct box *box = as_calloc(1, sizeof *box);
    *out = NULL;
    if (!box)
        return as_error_nomem(err, "a comparison");
    as_arena_init(&box->arena);
    as_arena_init(&w.scratch);
    as_arena_init(&w.alignment.arena);
    w.arena = &box->arena;
    w.result = *out = &box->result;
    int rc = n < 2
                 ? as_error_set(err, AS_ERR_USAGE, "compare: only one experiment; use two or more")
                 : set_up(&w, err);
    if (rc == 0)
        rc = fill_comparison(&w, err);
    tear_down(&w);
    if (rc < 0)
        as_comparison_free(out);
    return rc;
}

void as_comparison_free(struct as_comparison **comparison)
{
    struct box *box = (struct box *)(void *)*comparison;
    if (box)
        as_arena_fini(&box->arena);
    as_free(box);
    *comparison = NULL;
}
