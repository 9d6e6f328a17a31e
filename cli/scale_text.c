/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scaling as tables and as CSV.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/short_name.h"
#include "compared.h"
#include "scale.h"

#define POINTS_MOST 32 /* of a table; CSV and JSON have all */

/* ---- The application ----------------------------------------------------------------------- */

static void point_row(struct as_table *table, const struct as_scalability *it, size_t i)
{
    const struct as_scale_point *point = &it->point[i];
    as_table_f(table, "%s%s%s", point->label, point->oversubscribed ? "*" : "",
               i == it->reference ? " (reference)" : "");
    as_table_u64(table, point->repeat_n);
    as_cell_seconds(table, point->wall_s.origin ? point->wall_s.value : NAN);
    as_cell_interval(table, &point->wall_s, 1, 3);
    if (!it->weak) {
        if (point->speedup.origin)
            as_table_f(table, "%.2f", point->speedup.value);
        else
            as_table_string(table, point->failed_n ? "failed" : NULL);
    }
    if (it->is_flat)
        return;
    as_cell_efficiency(table, &point->efficiency, point->repeat_n == 1);
    as_cell_interval(table, &point->efficiency, 100, 0);
}

static int show_points(struct as_cli *cli, const struct as_scalability *it, struct as_error *err)
{
    struct as_table table;
    struct as_column column[8];
    size_t n = 0;
    column[n++] = (struct as_column){.title = "point"};
    column[n++] = (struct as_column){.title = "runs", .align = AS_ALIGN_RIGHT};
    column[n++] = (struct as_column){.title = "wall s", .align = AS_ALIGN_RIGHT};
    column[n++] = (struct as_column){.title = "95 %", .align = AS_ALIGN_RIGHT};
    if (!it->weak)
        column[n++] = (struct as_column){.title = "speed-up", .align = AS_ALIGN_RIGHT};
    if (!it->is_flat) {
        column[n++] = (struct as_column){.title = "efficiency", .align = AS_ALIGN_RIGHT};
        column[n++] = (struct as_column){.title = "95 %", .align = AS_ALIGN_RIGHT};
    }
    as_table_init(&table, column, n);
    for (size_t i = 0; i < it->point_n; i++)
        point_row(&table, it, i);
    const int rc = as_table_print(&table, &cli->out, as_cli_table_width(cli), cli->color, err);
    as_table_fini(&table);
    return rc;
}

/* ---- Its parts ----------------------------------------------------------------------------- */

static void part_row(struct as_table *table, const struct as_scalability *it,
                     const struct as_scale_row *row, size_t point_n)
{
    const struct as_bounded_value *at = &row->thread_s[it->reference];
    as_cell_seconds(table, at->origin ? at->value : NAN);
    for (size_t i = 0; i < point_n; i++)
        if (i != it->reference && it->is_flat)
            as_cell_seconds(table, row->thread_s[i].origin ? row->thread_s[i].value : NAN);
        else if (i != it->reference)
            as_cell_efficiency(table, &row->efficiency[i], false);
    as_table_string(table, row->object.where);
    as_table_string(table, row->object.name);
}

static size_t part_columns(const struct as_scalability *it, enum as_object_kind kind,
                           size_t point_n, struct as_column *column)
{
    size_t n = 0;
    column[n++] = (struct as_column){.title = "thread s", .align = AS_ALIGN_RIGHT};
    for (size_t i = 0; i < point_n; i++)
        if (i != it->reference)
            column[n++] =
                (struct as_column){.title = it->point[i].label, .align = AS_ALIGN_RIGHT, .wide = 6};
    column[n++] = (struct as_column){.title = kind == AS_OBJECT_CATEGORY ? NULL : "where",
                                     .shrink = AS_SHRINK_START,
                                     .least = 14};
    column[n++] = (struct as_column){.title = as_compared_word(kind),
                                     .shrink = AS_SHRINK_MIDDLE,
                                     .least = 16,
                                     .shorten = as_short_name};
    return n;
}

/* Running time of all categories at a point, or that of the row where one is given. */
static double time_at(const struct as_scalability *it, const struct as_scale_row *row, size_t point)
{
    double sum = 0;
    if (row)
        return row->time_s[point].origin ? row->time_s[point].value : 0;
    for (size_t i = 0; i < it->row_n; i++)
        if (it->row[i].object.kind == AS_OBJECT_CATEGORY)
            sum += time_at(it, &it->row[i], point);
    return sum;
}

static bool is_shown(const struct as_cli *cli, const struct as_scalability *it,
                     const struct as_scale_row *row)
{
    for (size_t i = 0; i < it->point_n; i++)
        if (as_compared_is_shown(cli, time_at(it, row, i), time_at(it, NULL, i)))
            return true;
    return false;
}

static int show_parts(struct as_cli *cli, const struct as_scalability *it, enum as_object_kind kind,
                      struct as_error *err)
{
    struct as_column column[POINTS_MOST + 3];
    const size_t point_n = it->point_n < POINTS_MOST ? it->point_n : POINTS_MOST;
    const size_t limit = as_compared_limit(cli);
    struct as_table table;
    size_t shown = 0;
    as_table_init(&table, column, part_columns(it, kind, point_n, column));
    for (size_t i = 0; i < it->row_n && shown < limit; i++) {
        if (it->row[i].object.kind != kind || !is_shown(cli, it, &it->row[i]))
            continue;
        part_row(&table, it, &it->row[i], point_n);
        shown++;
    }
    return as_compared_table(cli, kind, &table, shown, err);
}

static void show_heading(struct as_cli *cli, const struct as_scalability *it)
{
    as_cli_styled(cli, AS_STYLE_BOLD,
                  it->is_flat ? "Settings"
                  : it->weak  ? "Weak scaling"
                              : "Strong scaling");
    for (size_t i = 0; i < it->varied_n; i++)
        as_cli_print(cli, ", %s", it->varied[i]);
    as_cli_print(cli, it->is_flat ? "\n" : ", processes x threads\n");
}

int as_scale_text(struct as_cli *cli, const struct as_scalability *it, struct as_error *err)
{
    static const enum as_object_kind kinds[] = {AS_OBJECT_CATEGORY, AS_OBJECT_FUNCTION,
                                                AS_OBJECT_LOOP};
    show_heading(cli, it);
    AS_TRY(show_points(cli, it, err));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        AS_TRY(show_parts(cli, it, kinds[i], err));
    static const char *const legend =
        "Efficiency: + good (80 % or more), ~ fair (50 %), ! poor, ? its interval is wider than 40 "
        "points. Parts: own time of the thread with most of it.";
    static const char *const flat =
        "Speed-up over the reference. Parts: own seconds of the thread with most of it, at the "
        "reference, then at each other point.";
    as_out_c(&cli->out, '\n');
    as_compared_notes(cli, it->is_flat ? &flat : &legend, 1);
    as_compared_notes(cli, it->note, it->note_n);
    return 0;
}

/* ---- CSV ----------------------------------------------------------------------------------- */

static void csv_head(struct as_csv *csv, const char *object, const struct as_compared *it,
                     const struct as_scale_point *point)
{
    as_csv_string(csv, object);
    as_csv_string(csv, it ? it->name : NULL);
    as_csv_string(csv, it ? it->where : NULL);
    as_csv_string(csv, point->label);
    as_csv_i64(csv, point->nodes);
    as_csv_i64(csv, point->processes);
    if (point->threads)
        as_csv_i64(csv, point->threads);
    else
        as_csv_string(csv, NULL);
    as_csv_u64(csv, point->repeat_n);
}

static void csv_settings(struct as_csv *csv, const struct as_scalability *it,
                         const struct as_scale_point *point)
{
    for (size_t i = 0; i < it->varied_n; i++)
        as_csv_string(csv, point->setting[i]);
}

void as_scale_csv(struct as_cli *cli, const struct as_scalability *it)
{
    static const char *const names[] = {"object",
                                        "name",
                                        "where",
                                        "point",
                                        "nodes",
                                        "processes",
                                        "threads",
                                        "repeats",
                                        "time_s",
                                        "time_low_s",
                                        "time_high_s",
                                        "thread_s",
                                        "thread_low_s",
                                        "thread_high_s",
                                        "speedup",
                                        "speedup_low",
                                        "speedup_high",
                                        "efficiency",
                                        "efficiency_low",
                                        "efficiency_high",
                                        "cpu_efficiency",
                                        "cpu_efficiency_low",
                                        "cpu_efficiency_high"};
    const struct as_bounded_value none = {0};
    struct as_csv csv;
    as_cli_csv(cli, &csv);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        as_csv_string(&csv, names[i]);
    for (size_t i = 0; i < it->varied_n; i++)
        as_csv_string(&csv, it->varied[i]);
    as_csv_row_end(&csv);
    for (size_t i = 0; i < it->point_n; i++) {
        const struct as_scale_point *point = &it->point[i];
        csv_head(&csv, "run", NULL, point);
        const struct as_bounded_value *const at[] = {&point->wall_s, &none, &point->speedup,
                                                     &point->efficiency, &none};
        for (size_t k = 0; k < 5; k++)
            as_csv_quantity(&csv, at[k]);
        csv_settings(&csv, it, point);
        as_csv_row_end(&csv);
    }
    for (size_t r = 0; r < it->row_n; r++) {
        const struct as_scale_row *row = &it->row[r];
        for (size_t i = 0; i < it->point_n; i++) {
            csv_head(&csv, as_compared_word(row->object.kind), &row->object, &it->point[i]);
            const struct as_bounded_value *const at[] = {&row->time_s[i], &row->thread_s[i],
                                                         &row->speedup[i], &row->efficiency[i],
                                                         &row->cpu_efficiency[i]};
            for (size_t k = 0; k < 5; k++)
                as_csv_quantity(&csv, at[k]);
            csv_settings(&csv, it, &it->point[i]);
            as_csv_row_end(&csv);
        }
    }
}
