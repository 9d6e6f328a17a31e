/* SPDX-License-Identifier: Apache-2.0 */
/* A roofline of characters: logarithmic axes, slopes of bandwidths, peaks, points as letters. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "roofline_view.h"

enum { PLOT_COLUMNS = 64, PLOT_ROWS = 15, PLOT_LETTERS = 26 };

struct roof_plot {
    char cell[PLOT_ROWS][PLOT_COLUMNS + 1];
    double x_low, x_high, y_low, y_high; /* powers of ten */
};

static bool can_plot(const struct as_roof_point *point)
{
    return point->flops > 0 && point->intensity > 0 && point->flop_s > 0 && isfinite(point->flop_s);
}

static int plot_column(const struct roof_plot *p, double x)
{
    return (int)lround((x - p->x_low) / (p->x_high - p->x_low) * (PLOT_COLUMNS - 1));
}

static int plot_row(const struct roof_plot *p, double y)
{
    return (int)lround((p->y_high - y) / (p->y_high - p->y_low) * (PLOT_ROWS - 1));
}

static void plot_mark(struct roof_plot *p, int column, int row, char mark)
{
    if (column >= 0 && column < PLOT_COLUMNS && row >= 0 && row < PLOT_ROWS)
        p->cell[row][column] = mark;
}

/* From a column on, as far as it goes. */
static void plot_name(struct roof_plot *p, int column, int row, const char *name)
{
    for (; *name; name++)
        plot_mark(p, column++, row, *name);
}

/* The row of a roof in a column; -1: not drawn there, above another roof or outside. */
static int roof_row(const struct roof_plot *p, const struct as_roof *roof, double top, double slope,
                    int column)
{
    const double x = p->x_low + (p->x_high - p->x_low) * column / (PLOT_COLUMNS - 1);
    const double y = log10(roof->value) + (roof->is_bandwidth ? x : 0);
    const bool hidden =
        roof->is_bandwidth ? top > 0 && y > log10(top) : slope > 0 && y > log10(slope) + x;
    const int row = hidden ? -1 : plot_row(p, y);
    return row < PLOT_ROWS ? row : -1;
}

static char mark_of(const struct as_roof *roof, bool is_flat)
{
    if (!roof->is_bandwidth)
        return '-';
    return roof->is_huge ? ':' : is_flat ? '.' : '/';
}

static void plot_roof(struct roof_plot *p, const struct as_roof *roof, double top, double slope)
{
    int last = -1;
    for (int column = 0; column < PLOT_COLUMNS; column++) {
        const int row = roof_row(p, roof, top, slope, column);
        plot_mark(p, column, row, mark_of(roof, row == last));
        last = row;
    }
}

/* Slopes have their name at the beginning, peaks at the end. */
static void plot_roof_name(struct roof_plot *p, const struct as_roof *roof, double top,
                           double slope)
{
    const int n = (int)strlen(roof->name);
    int column = roof->is_bandwidth ? 0 : PLOT_COLUMNS - 1;
    const int step = roof->is_bandwidth ? 1 : -1;
    while (column >= 0 && column < PLOT_COLUMNS && roof_row(p, roof, top, slope, column) < 0)
        column += step;
    plot_name(p, roof->is_bandwidth ? column : column + 1 - n,
              column >= 0 && column < PLOT_COLUMNS ? roof_row(p, roof, top, slope, column) : -1,
              roof->name);
}

/* Chooses all bandwidths, and the highest peak and the scalar addition of a type. */
static size_t choose_roofs(const struct as_roofline *it, const char *number, bool is_all,
                           struct as_roof *out)
{
    const struct as_roof *roof = is_all ? it->all : it->one, *highest = NULL;
    const size_t n = is_all ? it->all_n : it->one_n;
    size_t chosen = 0;
    for (size_t i = 0; i < n; i++)
        if (!roof[i].is_bandwidth && strstr(roof[i].name, number) &&
            (!highest || roof[i].value > highest->value))
            highest = &roof[i];
    for (size_t i = 0; i < n; i++)
        if (roof[i].is_bandwidth || &roof[i] == highest ||
            (strstr(roof[i].name, number) && strstr(roof[i].name, "add") &&
             strstr(roof[i].name, "scalar")))
            out[chosen++] = roof[i];
    return chosen;
}

static void choose_frame(struct roof_plot *p, const struct as_roofline *it, const size_t *row,
                         size_t row_n, const struct as_roof *roof, size_t roof_n)
{
    double low = INFINITY, high = -INFINITY;
    p->x_low = -1.5;
    p->x_high = 1.5;
    for (size_t i = 0; i < row_n; i++) {
        const struct as_roof_point *point = &it->point[row[i]];
        if (!can_plot(point))
            continue;
        const double x = log10(point->intensity), y = log10(point->flop_s);
        p->x_low = x - 0.25 < p->x_low ? x - 0.25 : p->x_low;
        p->x_high = x + 0.25 > p->x_high ? x + 0.25 : p->x_high;
        low = y < low ? y : low;
        high = y > high ? y : high;
    }
    for (size_t i = 0; i < roof_n; i++)
        if (!roof[i].is_bandwidth && log10(roof[i].value) > high)
            high = log10(roof[i].value);
    p->y_high = high + 0.1;
    p->y_low = low - 0.2 < high - 2.5 ? low - 0.2 : high - 2.5;
}

static void print_plot(const struct roof_plot *p, const struct as_roofline *it, bool is_all,
                       struct as_str *out)
{
    as_str_appendf(out, "\n%9s%*s%u core%s\n", "GFLOP/s", PLOT_COLUMNS - 6, "roofs of ",
                   is_all ? it->core_n : 1, is_all ? "s" : "");
    for (int row = 0; row < PLOT_ROWS; row++) {
        const double y = p->y_high - (p->y_high - p->y_low) * row / (PLOT_ROWS - 1);
        size_t n = PLOT_COLUMNS;
        while (n > 0 && p->cell[row][n - 1] == ' ')
            n--;
        if (row % 2 == 0)
            as_str_appendf(out, "%9.3g |%.*s\n", pow(10, y - 9), (int)n, p->cell[row]);
        else
            as_str_appendf(out, "%9s |%.*s\n", "", (int)n, p->cell[row]);
    }
    as_str_appendf(out, "%9s +", "");
    for (int i = 0; i < PLOT_COLUMNS; i++)
        as_str_appendz(out, "-");
    as_str_appendf(out, "\n%10s%-12.3g%*s%.3g flop/B\n", "", pow(10, p->x_low), PLOT_COLUMNS - 24,
                   "", pow(10, p->x_high));
}

void as_roofline_plot(const struct as_roofline *it, const size_t *row, size_t row_n,
                      struct as_str *out)
{
    struct roof_plot p;
    struct as_roof roof[AS_ROOFS_MAX];
    double single = 0, all = 0, cores = 0, top = 0, slope = 0;
    for (size_t i = 0; i < row_n; i++)
        if (can_plot(&it->point[row[i]])) {
            single += it->point[row[i]].single_share * it->point[row[i]].time_s;
            cores += it->point[row[i]].core_n * it->point[row[i]].time_s;
            all += it->point[row[i]].time_s;
        }
    if (all <= 0)
        return;
    memset(p.cell, ' ', sizeof p.cell);
    const bool is_all = it->all_n && cores > 1.5 * all;
    const size_t roof_n = choose_roofs(it, single > all / 2 ? "f32" : "f64", is_all, roof);
    choose_frame(&p, it, row, row_n, roof, roof_n);
    for (size_t i = 0; i < roof_n; i++) {
        top = !roof[i].is_bandwidth && roof[i].value > top ? roof[i].value : top;
        slope = roof[i].is_bandwidth && roof[i].value > slope ? roof[i].value : slope;
    }
    for (size_t i = 0; i < roof_n; i++)
        plot_roof(&p, &roof[i], top, slope);
    for (size_t i = roof_n; i-- > 0;)
        plot_roof_name(&p, &roof[i], top, slope);
    for (size_t i = row_n < PLOT_LETTERS ? row_n : PLOT_LETTERS; i-- > 0;) {
        const struct as_roof_point *point = &it->point[row[i]];
        if (can_plot(point))
            plot_mark(&p, plot_column(&p, log10(point->intensity)),
                      plot_row(&p, log10(point->flop_s)), (char)('A' + i));
    }
    print_plot(&p, it, is_all, out);
}
