/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay compare A B...`: what differs between experiments, and an exit status that says whether
 * one is slower than is allowed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "advised.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "compared.h"

#define SIDES_MOST 16
#define INDENT     2 /* of what differs, under a row */

/* ---- Sides --------------------------------------------------------------------------------- */

struct sides {
    struct assay_compare_request side[SIDES_MOST];
    size_t n;
    struct as_arena arena;
};

/* "EXP" or "EXP:RUNS"; a directory may have a colon in its name. */
static int open_side(struct as_cli *cli, struct sides *sides, const char *word,
                     struct assay_error *err)
{
    struct assay_compare_request *side = &sides->side[sides->n];
    const char *colon = access(word, F_OK) == 0 ? NULL : strrchr(word, ':');
    const size_t n = colon ? (size_t)(colon - word) : strlen(word);
    const char *path = as_arena_strndup(&sides->arena, word, n);
    if (!path)
        return as_error_nomem(err, word);
    as_advise(cli, path); /* what the code of a run that was only profiled is like */
    *side = (struct assay_compare_request){.name = word, .runs = colon ? colon + 1 : NULL};
    AS_TRY(assay_experiment_read(path, &side->experiment, err));
    sides->n++;
    return 0;
}

static int open_sides(struct as_cli *cli, struct sides *sides, struct assay_error *err)
{
    as_arena_init(&sides->arena);
    if (cli->args.positional_n > SIDES_MOST)
        return as_error_set(err, ASSAY_ERR_USAGE, "compare: at most %d experiments are possible",
                            SIDES_MOST);
    for (size_t i = 0; i < cli->args.positional_n; i++)
        AS_TRY(open_side(cli, sides, cli->args.positional[i], err));
    return 0;
}

static void close_sides(struct sides *sides)
{
    for (size_t i = 0; i < sides->n; i++)
        (void)assay_experiment_close(&sides->side[i].experiment, NULL);
    as_arena_fini(&sides->arena);
}

/* ---- Text ---------------------------------------------------------------------------------- */

/* A digit behind the point, unless there are enough before it. */
static int digits_of(double pct)
{
    return fabs(pct) < 99.95 ? 1 : 0;
}

/* '!' slower and '+' faster, significantly; '?' too few samples to say. */
static void cell_difference(struct as_table *table, const struct assay_quantity *it,
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

static void cell_signed(struct as_table *table, const struct assay_quantity *it)
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

static int show_sides(struct as_cli *cli, const struct assay_comparison *it,
                      struct assay_error *err)
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
        const struct assay_compare_side *side = &it->side[i];
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

static const char *code_word(const struct assay_comparison *it, const struct assay_compare_row *row,
                             char *text, size_t size_b)
{
    const struct assay_compare_cell *first = &row->cell[0], *last = &row->cell[it->side_n - 1];
    if (!last->difference_pct.origin)
        return "";
    if (last->code == ASSAY_CODE_SAME)
        return "same";
    if (last->code == ASSAY_CODE_UNKNOWN)
        return "?";
    if (first->instruction_n < 0 || last->instruction_n < 0)
        return "differs";
    snprintf(text, size_b, "%lld > %lld", (long long)first->instruction_n,
             (long long)last->instruction_n);
    return text;
}

static void row_cells(struct as_table *table, const struct assay_comparison *it,
                      const struct assay_compare_row *row)
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
    as_table_string(table, row->aligned_by == ASSAY_ALIGNED_ALONE
                               ? "alone"
                               : assay_aligned_word(row->aligned_by));
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
static void differs_line(struct as_str *line, const struct assay_compare_cell *cell,
                         const char *side, size_t width)
{
    const bool is_same = cell->code == ASSAY_CODE_SAME;
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

/* Under rows of which the time differs for certain, or nobody reads on. */
static void row_differs(struct as_table *table, const struct assay_comparison *it,
                        const struct assay_compare_row *row, size_t width)
{
    for (size_t s = 1; s < it->side_n; s++) {
        const struct assay_compare_cell *cell = &row->cell[s];
        const char side[] = {letter(s), ':', ' ', '\0'};
        struct as_str line = {0};
        if (!cell->significant || (!cell->differs_n && cell->code != ASSAY_CODE_SAME))
            continue;
        differs_line(&line, cell, it->side_n > 2 ? side : "", width);
        table->failed |= line.failed;
        as_table_note(table, as_str_z(&line));
        as_str_fini(&line);
    }
}

static size_t row_columns(const struct assay_comparison *it, enum assay_object_kind kind,
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
    column[n++] =
        (struct as_column){.title = as_compared_word(kind), .shrink = AS_SHRINK_MIDDLE, .least = 8};
    return n;
}

static int show_rows(struct as_cli *cli, const struct assay_comparison *it,
                     enum assay_object_kind kind, struct assay_error *err)
{
    struct as_column column[2 * SIDES_MOST + 6];
    char title[2 * SIDES_MOST][16];
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
    int rc = 0;
    if (shown) {
        as_compared_heading(cli, as_compared_title(kind));
        rc = as_table_print(&table, &cli->out, as_cli_table_width(cli), cli->color, err);
    }
    as_table_fini(&table);
    return rc;
}

/* A text as a cell: what is not there is not a blank. */
static const char *fact_text(const struct assay_compare_fact *it, size_t side)
{
    return it->text[side]                          ? it->text[side]
           : strcmp(it->topic, "environment") == 0 ? "(not set)"
           : strcmp(it->topic, "library") == 0     ? "(none)"
                                                   : "?";
}

static int show_facts(struct as_cli *cli, const struct assay_comparison *it,
                      struct assay_error *err)
{
    struct as_column column[SIDES_MOST + 2] = {{.title = ""},
                                               {.title = "", .shrink = AS_SHRINK_END}};
    char title[SIDES_MOST][2] = {{0}};
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
    as_compared_heading(cli, "What differs around the code");
    const int rc = as_table_print(&table, &cli->out, as_cli_table_width(cli), cli->color, err);
    as_table_fini(&table);
    return rc;
}

static int show_text(struct as_cli *cli, const struct assay_comparison *it, struct assay_error *err)
{
    char found[200];
    static const char *const legend =
        "! slower, + faster than A, significantly; ? too few samples or runs to say. Code: the "
        "same "
        "operations, or instructions in A and in the last; ? not kept. Largest change first. "
        "Under a row that differs stands what else does; it need not be why.";
    const char *const line = found;
    as_cli_styled(cli, AS_STYLE_BOLD, "Comparison");
    as_cli_print(cli, "\n");
    AS_TRY(show_sides(cli, it, err));
    AS_TRY(show_facts(cli, it, err));
    AS_TRY(show_rows(cli, it, ASSAY_OBJECT_FUNCTION, err));
    AS_TRY(show_rows(cli, it, ASSAY_OBJECT_LOOP, err));
    snprintf(found, sizeof found,
             "%zu of %zu differences of functions and loops are significant; at most 5 %% of what "
             "is called significant is so by chance.",
             it->significant_n, it->tested_n);
    as_out_c(&cli->out, '\n');
    as_compared_notes(cli, &legend, 1);
    as_compared_notes(cli, &line, 1);
    as_compared_notes(cli, it->note, it->note_n);
    return 0;
}

/* ---- CSV ----------------------------------------------------------------------------------- */

static void csv_side(struct as_csv *csv, const char *object, const struct assay_compared *it,
                     const char *aligned_by, const struct assay_compare_side *side)
{
    as_csv_string(csv, object);
    as_csv_string(csv, it ? it->name : NULL);
    as_csv_string(csv, it ? it->where : NULL);
    as_csv_string(csv, aligned_by);
    as_csv_string(csv, side->name);
    as_csv_u64(csv, side->repeat_n);
}

static void csv_row(struct as_csv *csv, const struct assay_comparison *it,
                    const struct assay_compare_row *row, size_t side)
{
    const struct assay_compare_cell *cell = &row->cell[side];
    csv_side(csv, as_compared_word(row->object.kind), &row->object,
             assay_aligned_word(row->aligned_by), &it->side[side]);
    as_csv_quantity(csv, &cell->time_s);
    as_csv_quantity(csv, &cell->difference_pct);
    as_csv_double(csv, cell->p);
    as_csv_string(csv, cell->significant ? "true" : "false");
    if (cell->instruction_n >= 0)
        as_csv_i64(csv, cell->instruction_n);
    else
        as_csv_string(csv, NULL);
    as_csv_string(csv, cell->code == ASSAY_CODE_SAME      ? "same"
                       : cell->code == ASSAY_CODE_DIFFERS ? "differs"
                                                          : NULL);
    as_csv_row_end(csv);
}

static void show_csv(struct as_cli *cli, const struct assay_comparison *it)
{
    static const char *const names[] = {"object",
                                        "name",
                                        "where",
                                        "aligned_by",
                                        "side",
                                        "repeats",
                                        "time_s",
                                        "time_low_s",
                                        "time_high_s",
                                        "difference_pct",
                                        "difference_low_pct",
                                        "difference_high_pct",
                                        "p",
                                        "significant",
                                        "instructions",
                                        "code"};
    struct as_csv csv;
    as_cli_csv(cli, &csv);
    as_csv_header(&csv, names, sizeof names / sizeof *names);
    for (size_t s = 0; s < it->side_n; s++) {
        const struct assay_compare_side *side = &it->side[s];
        csv_side(&csv, "run", NULL, NULL, side);
        as_csv_quantity(&csv, &side->wall_s);
        as_csv_quantity(&csv, &side->difference_pct);
        as_csv_double(&csv, NAN);
        as_csv_string(&csv, side->is_slower || side->is_faster ? "true" : "false");
        as_csv_string(&csv, NULL);
        as_csv_string(&csv, NULL);
        as_csv_row_end(&csv);
    }
    for (size_t i = 0; i < it->row_n; i++)
        for (size_t s = 0; s < it->side_n; s++)
            if (it->row[i].cell[s].time_s.origin)
                csv_row(&csv, it, &it->row[i], s);
}

/* ---- The verdict --------------------------------------------------------------------------- */

static int take_limit(struct as_cli *cli, double *pct, struct assay_error *err)
{
    const char *text = cli->args.value[AS_OPTION_FAIL_IF_SLOWER];
    char *end;
    if (!text)
        return as_given(&cli->args, AS_OPTION_OF)
                   ? as_error_set(err, ASSAY_ERR_USAGE,
                                  "--of: says what --fail-if-slower looks "
                                  "at; add it, as in --fail-if-slower 3%%")
                   : 0;
    *pct = strtod(text, &end);
    if (end == text || !(*pct >= 0) || *pct > 1e6 || strcmp(end + (*end == '%'), "") != 0)
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--fail-if-slower: '%s' is no per cent; write it as in 3%% or 0.5",
                            text);
    return 0;
}

static void say_slower(struct as_cli *cli, const char *what, const char *side,
                       const struct assay_quantity *it, double pct)
{
    as_cli_note(cli, "%s of %s is %.1f %% slower (95 %%: %.1f to %.1f); %.3g %% are allowed", what,
                side, it->value, it->low, it->high, pct);
    cli->status = 1;
}

static void judge_walls(struct as_cli *cli, const struct assay_comparison *it, double pct)
{
    for (size_t s = 1; s < it->side_n; s++) {
        const struct assay_compare_side *side = &it->side[s];
        if (isinf(side->difference_pct.high))
            as_cli_note(cli,
                        "--fail-if-slower: the wall time of one run has no interval, so nothing "
                        "can be said of it; make more with 'assay repeat'");
        else if (side->difference_pct.low > pct)
            say_slower(cli, "the wall time", side->name, &side->difference_pct, pct);
    }
}

static void judge_rows(struct as_cli *cli, const struct assay_comparison *it,
                       enum assay_object_kind kind, double pct)
{
    char what[256];
    for (size_t i = 0; i < it->row_n; i++) {
        const struct assay_compare_row *row = &it->row[i];
        for (size_t s = 1; row->object.kind == kind && s < it->side_n; s++) {
            if (!row->cell[s].significant || !(row->cell[s].difference_pct.low > pct))
                continue;
            snprintf(what, sizeof what, "the %s %.120s (%.80s)", as_compared_word(kind),
                     row->object.name, row->object.where);
            say_slower(cli, what, it->side[s].name, &row->cell[s].difference_pct, pct);
        }
    }
}

static void judge(struct as_cli *cli, const struct assay_comparison *it, double pct)
{
    if (!as_given(&cli->args, AS_OPTION_FAIL_IF_SLOWER))
        return;
    const uint64_t of = cli->args.number[AS_OPTION_OF];
    if (of == 0)
        judge_walls(cli, it, pct);
    else
        judge_rows(cli, it, of == 1 ? ASSAY_OBJECT_FUNCTION : ASSAY_OBJECT_LOOP, pct);
}

/* ---- The verb ------------------------------------------------------------------------------ */

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_HTML }; /* order of --format */

/* The report of the last side, in which the comparison is a page. */
static int show_page(struct as_cli *cli, const struct assay_comparison *it,
                     const struct sides *sides, struct assay_error *err)
{
    const struct assay_report_data_options options = {.comparison = it};
    const size_t last = it->side_n - 1;
    struct assay_experiment *experiment = sides->side[last].experiment;
    const int64_t run_id = it->side[last].run_id;
    cli->out.clean = isatty(cli->fd);
    if (cli->fd == STDOUT_FILENO)
        return assay_report_stream(experiment, run_id, ASSAY_REPORT_HTML, &options, &cli->out, err);
    return assay_report_write(experiment, run_id, ASSAY_REPORT_HTML, &options,
                              cli->args.value[AS_OPTION_OUTPUT], err);
}

static int show(struct as_cli *cli, const struct assay_comparison *it, const struct sides *sides,
                struct assay_error *err)
{
    const uint64_t format = cli->args.number[AS_OPTION_COMPARE_FORMAT];
    if (format == FORMAT_HTML)
        return show_page(cli, it, sides, err);
    if (format == FORMAT_TEXT)
        return show_text(cli, it, err);
    if (format == FORMAT_CSV) {
        show_csv(cli, it);
        return 0;
    }
    struct as_json json;
    as_compared_json_begin(&json, cli, NULL, "comparison");
    assay_report_comparison_json(it, &json);
    as_compared_json_end(&json);
    return 0;
}

int as_verb_compare(struct as_cli *cli, struct assay_error *err)
{
    struct assay_comparison *result = NULL;
    struct sides sides = {0};
    double pct = 0;
    AS_TRY(take_limit(cli, &pct, err));
    if (cli->args.number[AS_OPTION_COMPARE_FORMAT] == FORMAT_HTML &&
        !as_given(&cli->args, AS_OPTION_OUTPUT))
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--format: a page needs a file; add --output comparison.html");
    if (cli->args.number[AS_OPTION_COMPARE_FORMAT] != FORMAT_TEXT)
        cli->color = false;
    int rc = open_sides(cli, &sides, err);
    if (rc == 0)
        rc = assay_compare_experiments(sides.side, sides.n, &result, err);
    if (rc == 0)
        rc = show(cli, result, &sides, err);
    if (rc == 0)
        judge(cli, result, pct);
    if (result)
        assay_comparison_free(&result);
    close_sides(&sides);
    return rc;
}
