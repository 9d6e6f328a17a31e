/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay scale --trace TRACE...`: traces of several sizes become points, the points a scaling
 * model. Traces are read side by side.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/pool.h"
#include "scale.h"
#include "sheet.h"
#include "stops.h"
#include "trace_input.h"

#define PROJECTIONS_MAX 16u
/* Points of a stored curve, at equal ratios of the size. */
#define CURVE_POINTS 33u

struct trace_points {
    struct as_cli *cli;
    struct as_trace_input *input;
    struct as_scaling_point *point;
    struct as_scaling_model model;
};

/* ---- Options --------------------------------------------------------------------------------- */

/* Options that say how to run a command. */
static int refuse_options(struct as_cli *cli, struct as_error *err)
{
    static const struct {
        enum as_option_id option;
        const char *word;
    } refused[] = {{AS_OPTION_THREADS, "threads"},     {AS_OPTION_PROCESSES, "processes"},
                   {AS_OPTION_NODES, "nodes"},         {AS_OPTION_VARY, "vary"},
                   {AS_OPTION_REPEATS, "repeats"},     {AS_OPTION_READ, "read"},
                   {AS_OPTION_REFERENCE, "reference"}, {AS_OPTION_PIN, "pin"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (as_given(&cli->args, refused[i].option))
            return as_error_set(err, AS_ERR_USAGE,
                                "--trace: nothing is run, --%s has no effect; remove it",
                                refused[i].word);
    if (as_given(&cli->args, AS_OPTION_WEAK) && as_given(&cli->args, AS_OPTION_STRONG))
        return as_error_set(err, AS_ERR_USAGE,
                            "--weak: --strong is set too; remove one of the "
                            "two");
    if (cli->args.positional_n == 0)
        return as_error_set(err, AS_ERR_USAGE,
                            "--trace: no trace is given; use 'assay scale --trace 1.assay 2.assay "
                            "4.assay'");
    return 0;
}

/* Without --project: 2, 4 and 8 times the largest size. */
static int choose_sizes(struct trace_points *t, double size[static PROJECTIONS_MAX], size_t *n,
                        struct as_error *err)
{
    uint32_t largest = 0;
    AS_TRY(as_scale_sizes(t->cli, AS_OPTION_PROJECT, "project", size, PROJECTIONS_MAX, n, err));
    for (size_t i = 0; i < t->cli->args.positional_n; i++)
        largest = t->point[i].thread_n > largest ? t->point[i].thread_n : largest;
    for (unsigned i = 0; *n < 3 && !as_given(&t->cli->args, AS_OPTION_PROJECT); i++)
        size[(*n)++] = (double)largest * (2 << i);
    return 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int read_points(void *context, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    struct trace_points *t = context;
    (void)worker;
    for (size_t i = from; i < to; i++) {
        struct as_error why = {0};
        int rc = as_stops_came() ? as_error_set(err, AS_ERR_LIMIT, "scale: stopped") : 0;
        AS_TRY(rc);
        rc = as_scaling_point_read(as_str_z(&t->input[i].streams), &t->point[i], &why);
        if (rc < 0)
            return as_error_set(err, rc, "%s: %s", t->cli->args.positional[i], why.text);
    }
    return 0;
}

static int open_all(struct trace_points *t, struct as_error *err)
{
    struct as_pool *pool = NULL;
    const size_t n = t->cli->args.positional_n;
    for (size_t i = 0; i < n; i++) {
        AS_TRY(as_trace_input_open(t->cli->args.positional[i], 0, &t->input[i], err));
        as_trace_input_note(t->cli, t->cli->args.positional[i], &t->input[i]);
    }
    AS_TRY(as_pool_new(&pool, t->cli->jobs, err));
    const int rc = as_pool_for(pool, n, 1, read_points, t, err);
    as_pool_free(&pool);
    return rc;
}

static void note_unsimulated(const struct trace_points *t)
{
    for (size_t i = 0; i < t->cli->args.positional_n; i++)
        if (t->point[i].unsimulated[0])
            as_cli_note(t->cli, "%s: serialisation and transfer are missing: %s",
                        t->cli->args.positional[i], t->point[i].unsimulated);
}

/* ---- Data ------------------------------------------------------------------------------------ */

static const struct as_field factor_fields[] = {
    {"factor", NULL, 0}, {"size", NULL, 0}, {"is_projected", NULL, 0},
    {"value", NULL, 0},  {"low", NULL, 0},  {"high", NULL, 0},
};
#define FACTOR_FIELDS_N (sizeof factor_fields / sizeof *factor_fields)
/* Besides the factors. */
enum { FACTOR_ELAPSED = AS_SCALING_FACTORS_N, FACTOR_SPEEDUP, FACTOR_ROWS_N };

static struct as_cell number_cell(double value)
{
    return isfinite(value) ? as_cell_real(value) : (struct as_cell){.kind = AS_CELL_NONE};
}

static void fill_factor(void *context, size_t row, struct as_cell *cell)
{
    const struct trace_points *t = context;
    const size_t at = row / FACTOR_ROWS_N, factor = row % FACTOR_ROWS_N;
    const struct as_scaling_row *it = &t->model.row.at[at];
    const struct as_scaling_cell *value = factor == FACTOR_ELAPSED   ? &it->elapsed_s
                                          : factor == FACTOR_SPEEDUP ? &it->speedup
                                                                     : &it->factor[factor];
    cell[0] =
        as_cell_text(factor == FACTOR_ELAPSED   ? "elapsed_s"
                     : factor == FACTOR_SPEEDUP ? "speedup"
                                                : as_scaling_word((enum as_scaling_factor)factor));
    cell[1] = number_cell(it->size);
    cell[2] = as_cell_bool(at >= t->model.measured_n);
    cell[3] = number_cell(value->value);
    cell[4] = number_cell(value->low);
    cell[5] = number_cell(value->high);
}

static const struct as_field fit_fields[] = {
    {"factor", NULL, 0}, {"law", NULL, 0},   {"formula", NULL, 0},   {"a", NULL, 0},
    {"f", NULL, 0},      {"error", NULL, 0}, {"rival_law", NULL, 0}, {"rival_value", NULL, 0},
};
#define FIT_FIELDS_N (sizeof fit_fields / sizeof *fit_fields)

static void fill_fit(void *context, size_t row, struct as_cell *cell)
{
    const struct trace_points *t = context;
    unsigned factor = 0;
    for (;; factor++)
        if (t->model.fit[factor].is_fitted && row-- == 0)
            break;
    const struct as_scaling_fit *fit = &t->model.fit[factor];
    const struct as_law *law = &fit->choice.law;
    cell[0] = as_cell_text(as_scaling_word(factor));
    cell[1] = as_cell_text(as_law_word(law->kind));
    cell[2] = as_cell_text(as_law_formula(law->kind));
    cell[3] = number_cell(law->a);
    cell[4] = number_cell(law->kind == AS_LAW_CONSTANT ? (double)NAN : law->f);
    cell[5] = number_cell(fit->choice.validation[law->kind]);
    if (fit->has_rival) {
        cell[6] = as_cell_text(as_law_word(fit->rival));
        cell[7] = number_cell(fit->rival_value);
    }
}

static void show_data(struct trace_points *t)
{
    size_t fit_n = 0;
    for (unsigned i = 0; i < AS_SCALING_FACTORS_N; i++)
        fit_n += t->model.fit[i].is_fitted;
    const struct as_sheet factors = {factor_fields, FACTOR_FIELDS_N, t->model.row.n * FACTOR_ROWS_N,
                                     t, fill_factor};
    const struct as_sheet fits = {fit_fields, FIT_FIELDS_N, fit_n, t, fill_fit};
    if (t->cli->format == AS_FORMAT_CSV) {
        as_sheet_csv_header(t->cli, &factors);
        as_sheet_csv_rows(t->cli, &factors);
        return;
    }
    struct as_facts facts;
    as_facts_begin(&facts, t->cli);
    as_facts_cell(&facts, "scaling", as_cell_text(t->model.is_weak ? "weak" : "strong"));
    as_facts_cell(&facts, "is_given", as_cell_bool(t->model.is_given));
    as_facts_cell(&facts, "growth", number_cell(t->model.growth));
    as_facts_cell(&facts, "lowest_factor",
                  as_cell_text(as_scaling_word(as_scale_lowest(&t->model))));
    as_facts_sheet(&facts, "factors", &factors);
    as_facts_sheet(&facts, "fits", &fits);
    as_facts_end(&facts);
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Models the traces once more, at the sizes of a curve from the smallest to the largest size. */
static int store_model(const struct trace_points *t, enum as_scaling_kind kind,
                       struct as_error *err)
{
    struct as_scaling_model curve = {0};
    double size[CURVE_POINTS], largest = 0;
    as_vec_foreach (&t->model.row, row)
        largest = fmax(largest, row->size);
    const double smallest = t->model.row.at[0].size;
    for (unsigned i = 0; i < CURVE_POINTS; i++)
        size[i] = smallest * pow(largest / smallest, (double)i / (CURVE_POINTS - 1));
    int rc = as_scaling_model_of(t->point, t->cli->args.positional_n, kind, size, CURVE_POINTS,
                                 &curve, err);
    if (rc == 0)
        rc = as_scale_store(t->cli, &t->model, &curve, err);
    as_scaling_model_fini(&curve);
    return rc;
}

static int model_points(struct trace_points *t, struct as_error *err)
{
    const struct as_arguments *args = &t->cli->args;
    double size[PROJECTIONS_MAX];
    size_t size_n = 0;
    AS_TRY(open_all(t, err));
    AS_TRY(choose_sizes(t, size, &size_n, err));
    const enum as_scaling_kind kind = as_given(args, AS_OPTION_WEAK)     ? AS_SCALING_WEAK
                                      : as_given(args, AS_OPTION_STRONG) ? AS_SCALING_STRONG
                                                                         : AS_SCALING_DETECT;
    AS_TRY(as_scaling_model_of(t->point, args->positional_n, kind, size, size_n, &t->model, err));
    note_unsimulated(t);
    if (as_given(args, AS_OPTION_SCALE_STORE))
        AS_TRY(store_model(t, kind, err));
    if (t->cli->format == AS_FORMAT_TEXT)
        return as_scale_model_text(t->cli, &t->model, err);
    show_data(t);
    return 0;
}

int as_scale_traces(struct as_cli *cli, struct as_error *err)
{
    struct trace_points t = {.cli = cli};
    AS_TRY(refuse_options(cli, err));
    AS_TRY(as_scale_store_check(cli, err));
    t.input = as_calloc(cli->args.positional_n, sizeof *t.input);
    t.point = as_calloc(cli->args.positional_n, sizeof *t.point);
    const int rc = t.input && t.point ? model_points(&t, err) : as_error_nomem(err, "the traces");
    as_scaling_model_fini(&t.model);
    for (size_t i = 0; t.input && i < cli->args.positional_n; i++)
        as_trace_input_close(&t.input[i]);
    as_free(t.input);
    as_free(t.point);
    if (as_stops_came())
        cli->status = as_stops_status();
    return rc;
}
