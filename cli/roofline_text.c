/* SPDX-License-Identifier: Apache-2.0 */
/* A roofline as text of 80 columns: ceilings, the hottest loops and functions, a plot, notes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "roofline_view.h"
#include "text.h"

enum { ROWS_USUAL = 16, PLOT_WIDTH = 76 };

void as_roofline_amount(char *out, size_t out_b, double value)
{
    static const char prefix[] = " kMGTPE";
    unsigned power = 0;
    while (value >= 999.5 && power + 2 < sizeof prefix) {
        value /= 1000;
        power++;
    }
    if (power)
        snprintf(out, out_b, "%.*f%c",
                 value < 9.995   ? 2
                 : value < 99.95 ? 1
                                 : 0,
                 value, prefix[power]);
    else
        snprintf(out, out_b, "%.0f", value);
}

/* ---- Ceilings ------------------------------------------------------------------------------ */

static const struct as_roof *roof_named(const struct as_roof *roof, size_t n, const char *first,
                                        const char *second)
{
    const struct as_roof *highest = NULL;
    for (size_t i = 0; i < n; i++)
        if (!roof[i].is_bandwidth && strncmp(roof[i].name, first, strlen(first)) == 0 &&
            strstr(roof[i].name, second) && (!highest || roof[i].value > highest->value))
            highest = &roof[i];
    return highest;
}

static void print_ceilings(struct as_cli *cli, const char *before, const struct as_roof *roof,
                           size_t n)
{
    static const char *const peak[][2] = {{"FMA f64", ""}, {"add f64", "scalar"}, {"FMA f32", ""}};
    struct as_str s = {0};
    for (size_t i = 0; i < n; i++)
        if (roof[i].is_bandwidth)
            as_str_appendf(&s, "%s%s %.4g", s.n ? ", " : "", roof[i].name, roof[i].value / 1e9);
    if (s.n)
        as_str_appendz(&s, " GB/s");
    for (size_t i = 0; i < sizeof peak / sizeof *peak; i++) {
        const struct as_roof *it = roof_named(roof, n, peak[i][0], peak[i][1]);
        if (it)
            as_str_appendf(&s, "%s%s %.4g", i ? ", " : "; ", it->name, it->value / 1e9);
    }
    if (roof_named(roof, n, "", ""))
        as_str_appendz(&s, " GFLOP/s");
    if (s.n)
        as_cli_fact(cli, before, as_str_z(&s));
    as_str_fini(&s);
}

static void print_head(struct as_cli *cli, const struct as_roofline *it)
{
    char all[32];
    snprintf(all, sizeof all, "%u cores", it->core_n);
    print_ceilings(cli, "1 core", it->one, it->one_n);
    print_ceilings(cli, all, it->all, it->all_n);
    if (it->one_n + it->all_n == 0)
        as_cli_wrapped(cli, "", "%s",
                       "No ceilings of this machine are known; run 'assay machine --measure "
                       "memory,peaks', then add '--machine NAME' of 'assay machine --list'.");
    as_cli_print(cli, "\n");
}

/* ---- The table ----------------------------------------------------------------------------- */

static const struct as_column point_columns[] = {
    {.title = "", .align = AS_ALIGN_LEFT},
    {.title = "time", .align = AS_ALIGN_RIGHT},
    {.title = "flops", .align = AS_ALIGN_RIGHT},
    {.title = "bytes", .align = AS_ALIGN_RIGHT},
    {.title = "flop/B", .align = AS_ALIGN_RIGHT},
    {.title = "GFLOP/s", .align = AS_ALIGN_RIGHT},
    {.title = "+-%", .align = AS_ALIGN_RIGHT},
    {.title = "roof", .align = AS_ALIGN_LEFT},
    {.title = "%", .align = AS_ALIGN_RIGHT},
    {.title = "loop, function", .shrink = AS_SHRINK_MIDDLE, .least = 12}};

static void interval_cell(struct as_table *table, const struct as_roof_point *point)
{
    const double half = 100 * (1 - point->flop_s_low / point->flop_s);
    if (point->flops <= 0 || !isfinite(half))
        as_table_string(table, NULL);
    else if (point->marks & AS_ROOF_FEW)
        as_table_string(table, "?");
    else
        as_table_f(table, "%.0f", half);
}

static void point_row(struct as_table *table, const struct as_roof_point *it, int letter)
{
    char amount[16];
    as_table_f(table, "%c", letter);
    as_table_f(table, "%.1f%%", 100 * it->share);
    as_roofline_amount(amount, sizeof amount, it->flops);
    as_table_string(table, amount);
    as_roofline_amount(amount, sizeof amount, it->level_b[AS_ROOF_L1]);
    as_table_string(table, amount);
    if (isnan(it->intensity))
        as_table_string(table, NULL);
    else
        as_table_f(table, "%.3g", it->intensity);
    if (it->flops > 0 && isfinite(it->flop_s))
        as_table_f(table, "%.*f", it->flop_s < 9.995e9 ? 2 : 1, it->flop_s / 1e9);
    else
        as_table_string(table, NULL);
    interval_cell(table, it);
    as_table_string(table, it->roof.value > 0 ? it->roof.name : NULL);
    if (it->roof.value > 0)
        as_table_f(table, "%.0f%s", 100 * it->roof_share, it->marks & AS_ROOF_ABOVE ? "!" : "");
    else
        as_table_string(table, NULL);
    as_table_string(table, it->name);
}

/* The run, then loops and functions by time. */
static size_t choose_rows(const struct as_roofline *it, size_t limit, size_t *row)
{
    size_t n = 0;
    for (size_t i = 0; i < it->point_n; i++) {
        const struct as_roof_point *point = &it->point[i];
        if (as_roofline_repeats(it, point))
            continue;
        if (point->kind != AS_OBJECT_RUN && point->share < 0.005)
            continue;
        size_t at = n < limit ? n++ : n;
        while (at > 1 && it->point[row[at - 1]].time_s < point->time_s) {
            if (at < limit)
                row[at] = row[at - 1];
            at--;
        }
        if (at < limit)
            row[at] = i;
    }
    return n;
}

/* ---- Words --------------------------------------------------------------------------------- */

static bool has_inner(const struct as_roofline *it, const struct as_roof_point *loop)
{
    for (size_t i = 0; i < it->point_n; i++)
        if (loop->kind == AS_OBJECT_LOOP && it->point[i].parent_id == loop->id)
            return true;
    return false;
}

static const struct as_roof_point *hottest_of(const struct as_roofline *it, const size_t *row,
                                              size_t row_n)
{
    const struct as_roof_point *first = NULL;
    for (size_t i = 0; i < row_n; i++) {
        const struct as_roof_point *point = &it->point[row[i]];
        if (point->kind == AS_OBJECT_RUN || point->roof.value <= 0 || has_inner(it, point))
            continue;
        if (point->flops > 0)
            return point;
        first = first ? first : point;
    }
    return first;
}

static void print_hottest(struct as_cli *cli, const struct as_roof_point *point, bool has_levels)
{
    const double share = point->roof_share;
    const char *roof = point->roof.name;
    const char *own =
        has_levels || !point->roof.is_bandwidth ? "" : ", if its data come from there";
    if (share >= 0.75)
        as_cli_wrapped(cli, "", "%s reaches %.0f %% of the roof %s, which limits it%s.",
                       point->name, 100 * share, roof, own);
    else
        as_cli_wrapped(cli, "",
                       "%s reaches %.0f %% of the roof %s. No roof explains its time: look for "
                       "dependences, latency, branches and external load.",
                       point->name, 100 * share, roof);
    if (isfinite(point->headroom_x))
        as_cli_wrapped(cli, "", "Headroom at this intensity: at most %.*f-fold, if %s.",
                       point->headroom_x < 10, point->headroom_x,
                       has_levels ? "the traffic of all levels stays"
                                  : "all its data came from L1");
}

/* Pages decide on the bandwidth that a program can reach. */
static void print_pages(struct as_cli *cli, const struct as_roofline *it,
                        const struct as_roof_point *hottest)
{
    if (isnan(it->huge_share)) {
        if (it->one_n)
            as_cli_wrapped(cli, "", "%s",
                           "Pages of the program are not known: roofs are those of huge pages.");
        return;
    }
    if (hottest && hottest->huge_x >= 1.05)
        as_cli_wrapped(cli, "",
                       "%.0f %% of its memory is in huge pages. On huge pages the roof %s is "
                       "%.2f-fold: try GLIBC_TUNABLES=glibc.malloc.hugetlb=1, or madvise.",
                       100 * it->huge_share, hottest->roof.name, hottest->huge_x);
}

static void print_marks(struct as_cli *cli, const struct as_roofline *it, unsigned marks,
                        bool has_integers)
{
    if (marks & AS_ROOF_ABOVE)
        as_cli_wrapped(cli, "", "%s",
                       "! above a measured ceiling, by its samples: run longer. If the mark stays, "
                       "measure the machine again.");
    if (marks & AS_ROOF_FEW)
        as_cli_wrapped(cli, "", "%s", "? fewer than 30 samples: run longer, or with --rate high.");
    if (marks & AS_ROOF_MOST)
        as_cli_wrapped(cli, "", "%s",
                       "Lanes of some instructions are unknown: flops and bytes are upper bounds.");
    if (has_integers)
        as_cli_wrapped(cli, "", "%s",
                       "Without flops, roof and % are of the bandwidth of its loads and stores.");
    if (it->is_busy)
        as_cli_wrapped(cli, "", "%s",
                       "Other processes used the CPUs: GFLOP/s are lower bounds of a quiet "
                       "machine.");
    if (it->is_stripped)
        as_cli_wrapped(cli, "", "%s",
                       "Loops without source lines are named by address: compile with -g.");
}

static void print_words(struct as_cli *cli, const struct as_roofline *it, const size_t *row,
                        size_t row_n)
{
    const struct as_roof_point *hottest = hottest_of(it, row, row_n);
    unsigned marks = 0;
    bool has_integers = false;
    for (size_t i = 0; i < row_n; i++) {
        marks |= it->point[row[i]].marks;
        has_integers |= it->point[row[i]].flops <= 0 && it->point[row[i]].roof.value > 0;
    }
    as_cli_print(cli, "\n");
    if (hottest)
        print_hottest(cli, hottest, it->has_levels);
    print_pages(cli, it, hottest);
    if (it->point_n && it->point[0].flops <= 0)
        as_cli_wrapped(cli, "", "%s", "The counted code has no floating-point operations.");
    as_cli_wrapped(cli, "",
                   "Flops and bytes are exact, of all threads, without callees; bytes are between "
                   "registers and L1. %.1f %% of the time is in counted functions.",
                   100 * it->counted_share);
    if (it->waiting_share >= 0.005)
        as_cli_wrapped(cli, "", "%.1f %% of the time waits for other ranks or threads.",
                       100 * it->waiting_share);
    if (!it->has_levels)
        as_cli_wrapped(cli, "", "%s",
                       "Traffic beyond L1 is not known: a loop above the roof of a level has its "
                       "data in a cache before this level.");
    print_marks(cli, it, marks, has_integers);
}

int as_roofline_text(struct as_cli *cli, const struct as_roofline *it, struct as_error *err)
{
    const size_t asked = (size_t)cli->args.number[AS_OPTION_LIMIT];
    const size_t limit = !as_given(&cli->args, AS_OPTION_LIMIT) ? ROWS_USUAL + 1
                         : asked                                ? asked + 1
                                                                : it->point_n + 1;
    size_t *row = as_calloc(limit + 1, sizeof *row);
    struct as_table table;
    struct as_str plot = {0};
    if (!row)
        return as_error_nomem(err, "the table of a roofline");
    const size_t row_n = choose_rows(it, limit, row);
    print_head(cli, it);
    as_table_init(&table, point_columns, sizeof point_columns / sizeof *point_columns);
    for (size_t i = 0; i < row_n; i++)
        point_row(&table, &it->point[row[i]], i < 26 ? 'A' + (int)i : ' ');
    int rc = as_table_print(&table, &cli->out, as_cli_table_width(cli), cli->color, err);
    as_table_fini(&table);
    if (rc == 0 && as_cli_width(cli) >= PLOT_WIDTH)
        as_roofline_plot(it, row, row_n, &plot);
    if (rc == 0 && plot.failed)
        rc = as_error_nomem(err, "the plot of a roofline");
    if (rc == 0) {
        as_cli_print(cli, "%s", as_str_z(&plot));
        print_words(cli, it, row, row_n);
    }
    as_str_fini(&plot);
    as_free(row);
    return rc;
}
