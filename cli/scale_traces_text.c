/* SPDX-License-Identifier: Apache-2.0 */
/* A scaling model as text: sentences, factors over sizes, laws, projections. */
#include <math.h>
#include <stdio.h>

#include "compared.h"
#include "scale.h"

#define SIZES_SHOWN      8u /* measured: the reference and the largest */
#define PROJECTION_SHOWN 3u
#define COLUMNS_MAX      (SIZES_SHOWN + 1)
/* Laws need this many sizes for an interval that says something. */
#define SIZES_ENOUGH 4u

enum as_scaling_factor as_scale_lowest(const struct as_scaling_model *model)
{
    const struct as_scaling_row *row = &model->row.at[model->measured_n - 1];
    enum as_scaling_factor lowest = AS_SCALING_GLOBAL;
    double min = INFINITY;
    for (unsigned f = 0; f < AS_SCALING_FACTORS_N; f++)
        if (as_scaling_is_leaf(model, f) && row->factor[f].value < min) {
            min = row->factor[f].value;
            lowest = f;
        }
    return lowest;
}

static bool is_shown(const struct as_scaling_model *model, unsigned factor)
{
    for (size_t i = 0; i < model->measured_n; i++)
        if (!isnan(model->row.at[i].factor[factor].value))
            return factor != AS_SCALING_THREADS || model->has_threads;
    return false;
}

/* "Serialisation" within a tree. */
static void write_title(struct as_table *table, unsigned factor)
{
    as_table_f(table, "%*s%s", (int)(2 * as_scaling_depth(factor)), "", as_scaling_title(factor));
}

static void write_percent(struct as_table *table, const struct as_scaling_cell *cell)
{
    if (isnan(cell->value))
        as_table_string(table, "?");
    else if (isnan(cell->low))
        as_table_f(table, "%.1f %%", 100 * cell->value);
    else
        as_table_f(table, "%.1f+-%.1f %%", 100 * cell->value, 50 * (cell->high - cell->low));
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Columns of one table: places of rows of the model. */
struct size_columns {
    size_t at[COLUMNS_MAX], n;
    char title[COLUMNS_MAX][24];
    struct as_column column[COLUMNS_MAX];
};

static void add_size(struct size_columns *columns, const struct as_scaling_model *model, size_t at)
{
    const size_t i = ++columns->n;
    columns->at[i] = at;
    snprintf(columns->title[i], sizeof columns->title[i], "%.0f", model->row.at[at].size);
    columns->column[i] = (struct as_column){.title = columns->title[i], .align = AS_ALIGN_RIGHT};
}

static void begin_sizes(struct as_cli *cli, struct as_table *table, struct size_columns *columns,
                        const char *heading)
{
    as_compared_heading(cli, heading);
    columns->column[0] = (struct as_column){.title = "threads"};
    as_table_init(table, columns->column, columns->n + 1);
}

static int end_sizes(struct as_cli *cli, struct as_table *table, struct as_error *err)
{
    const int rc = as_table_print(table, &cli->out, as_cli_table_width(cli), cli->color, err);
    as_table_fini(table);
    return rc;
}

static int show_measured(struct as_cli *cli, const struct as_scaling_model *model,
                         struct as_error *err)
{
    struct size_columns columns = {.n = 0};
    struct as_table table;
    const size_t left_out = model->measured_n > SIZES_SHOWN ? model->measured_n - SIZES_SHOWN : 0;
    for (size_t i = 0; i < model->measured_n; i++)
        if (i == 0 || i > left_out)
            add_size(&columns, model, i);
    begin_sizes(cli, &table, &columns, "Efficiency by size");
    for (unsigned f = 0; f < AS_SCALING_FACTORS_N; f++) {
        if (!is_shown(model, f))
            continue;
        write_title(&table, f);
        for (size_t i = 1; i <= columns.n; i++)
            write_percent(&table, &model->row.at[columns.at[i]].factor[f]);
    }
    as_table_string(&table, "Speed-up");
    for (size_t i = 1; i <= columns.n; i++)
        as_table_f(&table, "%.2f", model->row.at[columns.at[i]].speedup.value);
    as_table_string(&table, "Time, s");
    for (size_t i = 1; i <= columns.n; i++)
        as_table_f(&table, "%.3f", model->row.at[columns.at[i]].elapsed_s.value);
    return end_sizes(cli, &table, err);
}

static int show_fits(struct as_cli *cli, const struct as_scaling_model *model, struct as_error *err)
{
    static const struct as_column columns[] = {
        {.title = "factor"},
        {.title = "law"},
        {.title = "a", .align = AS_ALIGN_RIGHT},
        {.title = "f", .align = AS_ALIGN_RIGHT},
        {.title = "error", .align = AS_ALIGN_RIGHT},
    };
    struct as_table table;
    as_compared_heading(cli, "Laws (P: threads; error: of a size left out)");
    as_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (unsigned f = 0; f < AS_SCALING_FACTORS_N; f++) {
        const struct as_scaling_fit *fit = &model->fit[f];
        const struct as_law *law = &fit->choice.law;
        if (!fit->is_fitted)
            continue;
        as_table_string(&table, as_scaling_title(f));
        as_table_string(&table, as_law_formula(law->kind));
        as_table_f(&table, "%.4f", law->a);
        if (law->kind == AS_LAW_CONSTANT)
            as_table_string(&table, NULL);
        else
            as_table_f(&table, "%.4f", law->f);
        if (isfinite(fit->choice.validation[law->kind]))
            as_table_f(&table, "%.1f %%", 100 * fit->choice.validation[law->kind]);
        else
            as_table_string(&table, "?");
    }
    return end_sizes(cli, &table, err);
}

static void write_projected(struct as_table *table, const struct as_scaling_cell *cell,
                            double factor, int digits, const char *unit)
{
    if (isnan(cell->value))
        as_table_string(table, "?");
    else if (!isfinite(cell->low) || !isfinite(cell->high) ||
             (cell->low <= 0 && cell->high >= 10 * cell->value))
        as_table_f(table, "%.*f%s (?)", digits, factor * cell->value, unit);
    else
        as_table_f(table, "%.*f%s (%.*f-%.*f)", digits, factor * cell->value, unit, digits,
                   factor * cell->low, digits, factor * cell->high);
}

static int show_projected(struct as_cli *cli, const struct as_scaling_model *model,
                          struct as_error *err)
{
    struct size_columns columns = {.n = 0};
    struct as_table table;
    for (size_t i = model->measured_n; i < model->row.n && columns.n < PROJECTION_SHOWN; i++)
        add_size(&columns, model, i);
    if (columns.n == 0)
        return 0;
    begin_sizes(cli, &table, &columns, "Projection (95 % interval)");
    for (unsigned f = 0; f < AS_SCALING_FACTORS_N; f++) {
        if (!is_shown(model, f))
            continue;
        write_title(&table, f);
        for (size_t i = 1; i <= columns.n; i++)
            write_projected(&table, &model->row.at[columns.at[i]].factor[f], 100, 0, " %");
    }
    as_table_string(&table, "Speed-up");
    for (size_t i = 1; i <= columns.n; i++)
        write_projected(&table, &model->row.at[columns.at[i]].speedup, 1, 1, "");
    return end_sizes(cli, &table, err);
}

/* ---- Sentences ------------------------------------------------------------------------------- */

static void show_kind(struct as_cli *cli, const struct as_scaling_model *model)
{
    const char *kind = model->is_weak ? "weak" : "strong";
    const char *work = model->has_counters ? "instructions" : "useful time";
    if (model->is_given)
        as_cli_wrapped(cli, "", "Scaling is %s, as given.", kind);
    else if (model->is_doubtful)
        as_cli_wrapped(cli, "",
                       "Scaling is taken as %s, but %s grow with the threads to the power %.2f; "
                       "use --weak or --strong.",
                       kind, work, model->growth);
    else
        as_cli_wrapped(cli, "", "Scaling is %s: %s grow with the threads to the power %.2f.", kind,
                       work, model->growth);
}

static void show_lowest(struct as_cli *cli, const struct as_scaling_model *model)
{
    const struct as_scaling_row *last = &model->row.at[model->measured_n - 1];
    const enum as_scaling_factor lowest = as_scale_lowest(model);
    as_cli_wrapped(cli, "",
                   "With %.0f threads the speed-up is %.2f, the global efficiency %.1f %%. The "
                   "lowest factor is %s: %.1f %%.",
                   last->size, last->speedup.value, 100 * last->factor[AS_SCALING_GLOBAL].value,
                   as_scaling_title(lowest), 100 * last->factor[lowest].value);
}

static void show_warnings(struct as_cli *cli, const struct as_scaling_model *model)
{
    if (model->measured_n < SIZES_ENOUGH)
        as_cli_wrapped(cli, "  - ", "%zu sizes do not determine the laws; record %u or more.",
                       model->measured_n, SIZES_ENOUGH);
    for (unsigned f = 0; f < AS_SCALING_FACTORS_N; f++) {
        const struct as_scaling_fit *fit = &model->fit[f];
        if (fit->is_fitted && fit->has_rival)
            as_cli_wrapped(cli, "  - ",
                           "%s: the points do not determine the law. With %.0f threads %s gives "
                           "%.0f %%, %s %.0f %%.",
                           as_scaling_title(f), model->row.at[model->row.n - 1].size,
                           as_law_word(fit->used), 100 * fit->value, as_law_word(fit->rival),
                           100 * fit->rival_value);
    }
}

int as_scale_model_text(struct as_cli *cli, const struct as_scaling_model *model,
                        struct as_error *err)
{
    if (model->measured_n > 1)
        show_kind(cli, model);
    show_lowest(cli, model);
    int rc = show_measured(cli, model, err);
    if (rc == 0 && model->measured_n >= AS_SCALING_SIZES_MIN)
        rc = show_fits(cli, model, err);
    if (rc == 0)
        rc = show_projected(cli, model, err);
    if (rc == 0 && model->measured_n > 1) {
        as_compared_heading(cli, "Caveats");
        if (model->row.n > model->measured_n)
            as_cli_wrapped(cli, "  - ",
                           "Intervals hold if the laws go on beyond the sizes measured.");
        show_warnings(cli, model);
    }
    return rc;
}
