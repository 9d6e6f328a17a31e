/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comparison as text: the sides, what differs around the code, and functions and loops with what
 * differs of them under each.
 */
#include "compare_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/short_name.h"
#include "base/str.h"
#include "experiment/metric_names.h"

#define INDENT 2 /* of what differs, under a row */

/* A digit behind the point, unless there are enough before it. */
static int digits_of(double pct)
{
    return fabs(pct) < 99.95 ? 1 : 0;
}

/* '!' slower and '+' faster, significantly; '?' too few samples to say. */
static void cell_difference(struct as_table *table, const struct as_bounded_value *it,
                            bool is_significant, bool is_tested)
{
    if (!it->origin) {
        as_table_string(table, NULL);
        return;
    }
    const char *sign = !is_tested ? " ?" : !is_significant ? "" : it->value > 0 ? " !" : " +";
    as_table_f(table, "%+.*f %%%s", digits_of(it->value), it->value, sign);
    if (!is_tested)
        as_table_style(table, AS_STYLE_DIM);
    else if (is_significant)
        as_table_style(table, it->value > 0 ? AS_STYLE_RED : AS_STYLE_GREEN);
}

static void cell_signed(struct as_table *table, const struct as_bounded_value *it)
{
    if (!it->origin || isinf(it->low) || isinf(it->high))
        as_table_string(table, NULL);
    else
        as_table_f(table, "%+.*f to %+.*f", digits_of(it->low), it->low, digits_of(it->high),
                   it->high);
}

static char letter(size_t side)
{
    return (char)('A' + side);
}

static int show_sides(struct as_cli *cli, const struct as_comparison *it, struct as_error *err)
{
    const struct as_column column[] = {{.title = ""},
                                       {.title = "runs", .align = AS_ALIGN_RIGHT},
                                       {.title = "wall s", .align = AS_ALIGN_RIGHT},
                                       {.title = "95 %", .align = AS_ALIGN_RIGHT},
                                       {.title = "difference", .align = AS_ALIGN_RIGHT},
                                       {.title = "95 %", .align = AS_ALIGN_RIGHT},
                                       {.title = "experiment", .shrink = AS_SHRINK_START}};
    struct as_table table;
    as_table_init(&table, column, sizeof column / sizeof *column);
    for (size_t i = 0; i < it->side_n; i++) {
        const struct as_compare_side *side = &it->side[i];
        as_table_f(&table, "%c", letter(i));
        as_table_u64(&table, side->repeat_n);
        as_cell_seconds(&table, side->wall_s.value);
        as_cell_interval(&table, &side->wall_s, 1, 3);
        cell_difference(&table, &side->difference_pct, side->is_slower || side->is_faster,
                        !isinf(side->difference_pct.high));
        cell_signed(&table, &side->difference_pct);
        as_table_string(&table, side->name);
    }
    const int rc = as_table_print(&table, &cli->out, as_cli_table_width(cli), cli->color, err);
    as_table_fini(&table);
    return rc;
}

static const char *code_word(const struct as_comparison *it, const struct as_compare_row *row,
                             char *text, size_t size_b)
{
    const struct as_compare_cell *first = &row->cell[0], *last = &row->cell[it->side_n - 1];
    if (!last->difference_pct.origin)
        return "";
    if (last->code == AS_CODE_SAME)
        return "same";
    if (last->code == AS_CODE_UNKNOWN)
        return "?";
    if (first->instruction_n < 0 || last->instruction_n < 0)
        return "differs";
    snprintf(text, size_b, "%lld > %lld", (long long)first->instruction_n,
             (long long)last->instruction_n);
    return text;
}

static void row_cells(struct as_table *table, const struct as_comparison *it,
                      const struct as_compare_row *row)
{
    char code[64];
    for (size_t i = 0; i < it->side_n; i++)
        as_cell_seconds(table, row->cell[i].time_s.origin ? row->cell[i].time_s.value : NAN);
    for (size_t i = 1; i < it->side_n; i++)
        cell_difference(table, &row->cell[i].difference_pct, row->cell[i].significant,
                        !isnan(row->cell[i].p));
    if (it->side_n == 2)
        cell_signed(table, &row->cell[1].difference_pct);
    as_table_string(table, code_word(it, row, code, sizeof code));
    as_table_string(table, row->aligned_by == AS_ALIGNED_ALONE ? "alone"
                                                               : as_aligned_word(row->aligned_by));
    as_table_string(table, row->object.where);
    as_table_string(table, row->object.name);
}

/* Whole items only: what does not fit is counted. */
static bool fits(const struct as_str *line, const char *item, bool is_last, size_t width)
{
    const size_t rest = is_last ? 0 : sizeof "; 99 more" - 1;
    return !width || line->n + strlen(item) + 2 + rest + INDENT <= width;
}

/* "-O2 -> -O3; packed arithmetic 0 -> 96 %; 2 more" of one side against the first. */
static void differs_line(struct as_str *line, const struct as_compare_cell *cell, const char *side,
                         size_t width)
{
    const bool is_same = cell->code == AS_CODE_SAME;
    const size_t n = cell->differs_n + is_same;
    const size_t empty = strlen(side);
    as_str_appendz(line, side);
    for (size_t i = 0; i < n; i++) {
        const char *item = i < cell->differs_n ? cell->differs[i] : "the same code";
        if (line->n > empty && !fits(line, item, i + 1 == n, width)) {
            as_str_appendf(line, "; %zu more", n - i);
            return;
        }
        as_str_appendf(line, "%s%s", line->n > empty ? "; " : "", item);
    }
}

/* Only under rows with a significant difference of times, to keep the output short. */
static void row_differs(struct as_table *table, const struct as_comparison *it,
                        const struct as_compare_row *row, size_t width)
{
    for (size_t s = 1; s < it->side_n; s++) {
        const struct as_compare_cell *cell = &row->cell[s];
        const char side[] = {letter(s), ':', ' ', '\0'};
        struct as_str line = {0};
        if (!cell->significant || (!cell->differs_n && cell->code != AS_CODE_SAME))
            continue;
        differs_line(&line, cell, it->side_n > 2 ? side : "", width);
        table->failed |= line.failed;
        as_table_note(table, as_str_z(&line));
        as_str_fini(&line);
    }
}

static size_t row_columns(const struct as_comparison *it, enum as_object_kind kind,
                          char (*title)[16], struct as_column *column)
{
    size_t n = 0;
    for (size_t i = 0; i < it->side_n; i++, n++) {
        snprintf(title[n], sizeof title[n], "%c s", letter(i));
        column[n] = (struct as_column){.title = title[n], .align = AS_ALIGN_RIGHT};
    }
    for (size_t i = 1; i < it->side_n; i++, n++) {
        snprintf(title[n], sizeof title[n], "%c to A", letter(i));
        column[n] = (struct as_column){.title = title[n], .align = AS_ALIGN_RIGHT};
    }
    if (it->side_n == 2)
        column[n++] = (struct as_column){.title = "95 %", .align = AS_ALIGN_RIGHT};
    column[n++] = (struct as_column){.title = "code", .align = AS_ALIGN_RIGHT};
    column[n++] = (struct as_column){.title = "aligned by", .shrink = AS_SHRINK_END, .least = 6};
    column[n++] = (struct as_column){.title = "where", .shrink = AS_SHRINK_START, .least = 8};
    column[n++] = (struct as_column){.title = as_compared_word(kind),
                                     .shrink = AS_SHRINK_MIDDLE,
                                     .least = 8,
                                     .shorten = as_short_name};
    return n;
}

static int show_rows(struct as_cli *cli, const struct as_comparison *it, enum as_object_kind kind,
                     struct as_error *err)
{
    struct as_column column[2 * AS_SIDES_MOST + 6];
    char title[2 * AS_SIDES_MOST][16];
    const size_t limit = as_compared_limit(cli);
    struct as_table table;
    size_t shown = 0;
    as_table_init(&table, column, row_columns(it, kind, title, column));
    for (size_t i = 0; i < it->row_n && shown < limit; i++) {
        if (it->row[i].object.kind != kind)
            continue;
        row_cells(&table, it, &it->row[i]);
        row_differs(&table, it, &it->row[i], as_cli_table_width(cli));
        shown++;
    }
    return as_compared_table(cli, kind, &table, shown, err);
}

/* ---- The code of loops --------------------------------------------------------------------- */

/* Cells of a side, after its letter. */
static const struct {
    const char *name, *title;
    bool is_text;
} code_cell[] = {
    {AS_METRIC_cqa_cycles, "cycles", false},   {AS_METRIC_cqa_cycles_source, "source", false},
    {AS_METRIC_cqa_insn_n, "insns", false},    {"cqa_vec_ratio_all_pct", "vec %", false},
    {"cqa_vec_eff_all_pct", "width %", false}, {"cqa_limit", "limited by", true}};
enum { CODE_CELLS = sizeof code_cell / sizeof *code_cell };

static const char *code_text(const struct as_compare_row *row, const char *name, size_t side)
{
    for (size_t i = 0; i < row->cqa_n; i++)
        if (strcmp(row->cqa[i].name, name) == 0)
            return row->cqa[i].text[side];
    return NULL;
}

/* One side alone has nothing to compare. */
static bool has_codes(const struct as_comparison *it, const struct as_compare_row *row)
{
    size_t n = 0;
    for (size_t s = 0; s < it->side_n; s++)
        n += code_text(row, code_cell[0].name, s) != NULL;
    return n > 1;
}

static bool has_any_codes(const struct as_comparison *it)
{
    for (size_t i = 0; i < it->row_n; i++)
        if (has_codes(it, &it->row[i]))
            return true;
    return false;
}

/* A line a side; those of a loop stand together, its name at the first. */
static void code_lines(struct as_table *table, const struct as_comparison *it,
                       const struct as_compare_row *row)
{
    for (size_t s = 0; s < it->side_n; s++) {
        as_table_f(table, "%c", letter(s));
        for (size_t i = 0; i < CODE_CELLS; i++)
            as_table_string(table, code_text(row, code_cell[i].name, s));
        as_table_string(table, s ? "" : row->object.where);
        as_table_string(table, s ? "" : row->object.name);
    }
}

static int show_codes(struct as_cli *cli, const struct as_comparison *it, struct as_error *err)
{
    struct as_column column[CODE_CELLS + 3] = {{.title = ""}};
    const size_t limit = as_compared_limit(cli);
    struct as_table table;
    size_t shown = 0;
    int rc = 0;
    for (size_t i = 0; i < CODE_CELLS; i++)
        column[i + 1] = code_cell[i].is_text ? (struct as_column){.title = code_cell[i].title,
                                                                  .shrink = AS_SHRINK_END,
                                                                  .least = 10}
                                             : (struct as_column){.title = code_cell[i].title,
                                                                  .align = AS_ALIGN_RIGHT};
    column[CODE_CELLS + 1] =
        (struct as_column){.title = "where", .shrink = AS_SHRINK_START, .least = 8};
    column[CODE_CELLS + 2] = (struct as_column){
        .title = "loop", .shrink = AS_SHRINK_MIDDLE, .least = 8, .shorten = as_short_name};
    as_table_init(&table, column, CODE_CELLS + 3);
    for (size_t i = 0; i < it->row_n && shown < limit; i++) {
        if (!has_codes(it, &it->row[i]))
            continue;
        code_lines(&table, it, &it->row[i]);
        shown++;
    }
    if (shown) {
        as_compared_heading(cli, "Code of loops, per iteration");
        rc = as_table_print(&table, &cli->out, as_cli_table_width(cli), cli->color, err);
    }
    as_table_fini(&table);
    return rc;
}

/* ---- Around the code ----------------------------------------------------------------------- */

/* A text as a cell: what is not there is not a blank. */
static const char *fact_text(const struct as_compare_fact *it, size_t side)
{
    return it->text[side]                          ? it->text[side]
           : strcmp(it->topic, "environment") == 0 ? "(not set)"
           : strcmp(it->topic, "library") == 0     ? "(none)"
                                                   : "?";
}

static int show_facts(struct as_cli *cli, const struct as_comparison *it, struct as_error *err)
{
    struct as_column column[AS_SIDES_MOST + 2] = {{.title = ""},
                                                  {.title = "", .shrink = AS_SHRINK_END}};
    char title[AS_SIDES_MOST][2] = {{0}};
    struct as_table table;
    if (!it->fact_n)
        return 0;
    for (size_t s = 0; s < it->side_n; s++) {
        title[s][0] = letter(s);
        column[s + 2] = (struct as_column){.title = title[s], .shrink = AS_SHRINK_MIDDLE};
    }
    as_table_init(&table, column, it->side_n + 2);
    for (size_t i = 0; i < it->fact_n; i++) {
        as_table_string(&table, it->fact[i].topic);
        as_table_string(&table, it->fact[i].title);
        for (size_t s = 0; s < it->side_n; s++)
            as_table_string(&table, fact_text(&it->fact[i], s));
    }
    as_compared_heading(cli, "Differences of the environment");
    const int rc = as_table_print(&table, &cli->out, as_cli_table_width(cli), cli->color, err);
    as_table_fini(&table);
    return rc;
}

int as_compare_show(struct as_cli *cli, const struct as_comparison *it, struct as_error *err)
{
    char found[200];
    static const char *const legend =
        "! significantly slower, + significantly faster than A; ? too few samples or runs to "
        "decide. Code: the same operations, or instructions in A and in the last experiment; ? "
        "not stored. Largest change first. Other differences stand below the row; they need not "
        "be the cause.";
    static const char *const code_legend =
        "Code of loops, by the model of the core with data in L1: cycles per iteration of the "
        "binary and of the source; instructions; vectorised share of the vectorisable "
        "instructions; share of the core's vector width in use; the limit.";
    const char *const line = found;
    as_cli_styled(cli, AS_STYLE_BOLD, "Comparison");
    as_cli_print(cli, "\n");
    AS_TRY(show_sides(cli, it, err));
    AS_TRY(show_facts(cli, it, err));
    AS_TRY(show_rows(cli, it, AS_OBJECT_FUNCTION, err));
    AS_TRY(show_rows(cli, it, AS_OBJECT_LOOP, err));
    AS_TRY(show_codes(cli, it, err));
    snprintf(found, sizeof found,
             "%zu of %zu differences of functions and loops are significant; at most 5 %% of them "
             "are expected to be so by chance.",
             it->significant_n, it->tested_n);
    as_out_c(&cli->out, '\n');
    as_compared_notes(cli, &legend, 1);
    as_compared_notes(cli, &code_legend, has_any_codes(it));
    as_compared_notes(cli, &line, 1);
    as_compared_notes(cli, it->note, it->note_n);
    return 0;
}
