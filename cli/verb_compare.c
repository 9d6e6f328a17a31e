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
#include "compare_text.h"

/* ---- Sides --------------------------------------------------------------------------------- */

struct sides {
    struct as_compare_request side[AS_SIDES_MOST];
    size_t n;
    struct as_arena arena;
};

/* "EXP" or "EXP:RUNS"; a directory may have a colon in its name. */
static int open_side(struct as_cli *cli, struct sides *sides, const char *word,
                     struct as_error *err)
{
    struct as_compare_request *side = &sides->side[sides->n];
    const char *colon = access(word, F_OK) == 0 ? NULL : strrchr(word, ':');
    const size_t n = colon ? (size_t)(colon - word) : strlen(word);
    const char *path = as_arena_strndup(&sides->arena, word, n);
    if (!path)
        return as_error_nomem(err, word);
    as_advise(cli, path); /* what the code of a run that was only profiled is like */
    *side = (struct as_compare_request){.name = word, .runs = colon ? colon + 1 : NULL};
    AS_TRY(as_experiment_read(path, &side->experiment, err));
    sides->n++;
    return 0;
}

static int open_sides(struct as_cli *cli, struct sides *sides, struct as_error *err)
{
    as_arena_init(&sides->arena);
    if (cli->args.positional_n > AS_SIDES_MOST)
        return as_error_set(err, AS_ERR_USAGE, "compare: at most %d experiments are possible",
                            AS_SIDES_MOST);
    for (size_t i = 0; i < cli->args.positional_n; i++)
        AS_TRY(open_side(cli, sides, cli->args.positional[i], err));
    return 0;
}

static void close_sides(struct sides *sides)
{
    for (size_t i = 0; i < sides->n; i++)
        (void)as_experiment_close(&sides->side[i].experiment, NULL);
    as_arena_fini(&sides->arena);
}

/* ---- CSV ----------------------------------------------------------------------------------- */

static void csv_side(struct as_csv *csv, const char *object, const struct as_compared *it,
                     const char *aligned_by, const struct as_compare_side *side)
{
    as_csv_string(csv, object);
    as_csv_string(csv, it ? it->name : NULL);
    as_csv_string(csv, it ? it->where : NULL);
    as_csv_string(csv, aligned_by);
    as_csv_string(csv, side->name);
    as_csv_u64(csv, side->repeat_n);
}

static void csv_row(struct as_csv *csv, const struct as_comparison *it,
                    const struct as_compare_row *row, size_t side)
{
    const struct as_compare_cell *cell = &row->cell[side];
    csv_side(csv, as_compared_word(row->object.kind), &row->object,
             as_aligned_word(row->aligned_by), &it->side[side]);
    as_csv_quantity(csv, &cell->time_s);
    as_csv_quantity(csv, &cell->difference_pct);
    as_csv_double(csv, cell->p);
    as_csv_string(csv, cell->significant ? "true" : "false");
    if (cell->instruction_n >= 0)
        as_csv_i64(csv, cell->instruction_n);
    else
        as_csv_string(csv, NULL);
    as_csv_string(csv, cell->code == AS_CODE_SAME      ? "same"
                       : cell->code == AS_CODE_DIFFERS ? "differs"
                                                       : NULL);
    as_csv_row_end(csv);
}

static void show_csv(struct as_cli *cli, const struct as_comparison *it)
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
        const struct as_compare_side *side = &it->side[s];
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

static int parse_slower_limit(struct as_cli *cli, double *pct, struct as_error *err)
{
    const char *text = cli->args.value[AS_OPTION_FAIL_IF_SLOWER];
    char *end;
    if (!text)
        return as_given(&cli->args, AS_OPTION_OF)
                   ? as_error_set(err, AS_ERR_USAGE,
                                  "--of: needs --fail-if-slower; add it, such as --fail-if-slower "
                                  "3%%")
                   : 0;
    *pct = strtod(text, &end);
    if (end == text || !(*pct >= 0) || *pct > 1e6 || strcmp(end + (*end == '%'), "") != 0)
        return as_error_set(err, AS_ERR_USAGE,
                            "--fail-if-slower: invalid value '%s'; use per cent, such as 3%% or "
                            "0.5",
                            text);
    return 0;
}

static void write_slower(struct as_cli *cli, const char *what, const char *side,
                         const struct as_bounded_value *it, double pct)
{
    as_cli_note(cli, "%s of %s is %.1f %% slower (95 %%: %.1f to %.1f); %.3g %% are allowed", what,
                side, it->value, it->low, it->high, pct);
    cli->status = 1;
}

static void judge_walls(struct as_cli *cli, const struct as_comparison *it, double pct)
{
    for (size_t s = 1; s < it->side_n; s++) {
        const struct as_compare_side *side = &it->side[s];
        if (isinf(side->difference_pct.high))
            as_cli_note(cli, "--fail-if-slower: the wall time of a single run has no interval; run "
                             "'assay repeat' for several runs");
        else if (side->difference_pct.low > pct)
            write_slower(cli, "the wall time", side->name, &side->difference_pct, pct);
    }
}

static void judge_rows(struct as_cli *cli, const struct as_comparison *it, enum as_object_kind kind,
                       double pct)
{
    char what[256];
    for (size_t i = 0; i < it->row_n; i++) {
        const struct as_compare_row *row = &it->row[i];
        for (size_t s = 1; row->object.kind == kind && s < it->side_n; s++) {
            if (!row->cell[s].significant || !(row->cell[s].difference_pct.low > pct))
                continue;
            snprintf(what, sizeof what, "the %s %.120s (%.80s)", as_compared_word(kind),
                     row->object.name, row->object.where);
            write_slower(cli, what, it->side[s].name, &row->cell[s].difference_pct, pct);
        }
    }
}

static void judge(struct as_cli *cli, const struct as_comparison *it, double pct)
{
    if (!as_given(&cli->args, AS_OPTION_FAIL_IF_SLOWER))
        return;
    const uint64_t of = cli->args.number[AS_OPTION_OF];
    if (of == 0)
        judge_walls(cli, it, pct);
    else
        judge_rows(cli, it, of == 1 ? AS_OBJECT_FUNCTION : AS_OBJECT_LOOP, pct);
}

/* ---- The verb ------------------------------------------------------------------------------ */

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_HTML }; /* order of --format */

/* The report of the last side, in which the comparison is a page. */
static int show_page(struct as_cli *cli, const struct as_comparison *it, const struct sides *sides,
                     struct as_error *err)
{
    const struct as_report_data_options options = {.comparison = it};
    const size_t last = it->side_n - 1;
    struct as_experiment *experiment = sides->side[last].experiment;
    const int64_t run_id = it->side[last].run_id;
    cli->out.clean = isatty(cli->fd);
    return as_report_stream(experiment, run_id, AS_REPORT_HTML, &options, &cli->out, err);
}

static int show_comparison(struct as_cli *cli, const struct as_comparison *it,
                           const struct sides *sides, struct as_error *err)
{
    const uint64_t format = cli->args.number[AS_OPTION_COMPARE_FORMAT];
    if (format == FORMAT_HTML)
        return show_page(cli, it, sides, err);
    if (format == FORMAT_TEXT)
        return as_compare_show(cli, it, err);
    if (format == FORMAT_CSV) {
        show_csv(cli, it);
        return 0;
    }
    struct as_json json;
    as_compared_json_begin(&json, cli, NULL, "comparison");
    as_report_comparison_json(it, &json);
    as_compared_json_end(&json);
    return 0;
}

int as_verb_compare(struct as_cli *cli, struct as_error *err)
{
    struct as_comparison *result = NULL;
    struct sides sides = {0};
    double pct = 0;
    AS_TRY(parse_slower_limit(cli, &pct, err));
    if (cli->args.number[AS_OPTION_COMPARE_FORMAT] == FORMAT_HTML &&
        !as_given(&cli->args, AS_OPTION_OUTPUT))
        return as_error_set(err, AS_ERR_USAGE,
                            "--format: html needs a file; add --output comparison.html");
    if (cli->args.number[AS_OPTION_COMPARE_FORMAT] != FORMAT_TEXT)
        cli->color = false;
    int rc = open_sides(cli, &sides, err);
    if (rc == 0)
        rc = as_compare_experiments(sides.side, sides.n, &result, err);
    if (rc == 0)
        rc = show_comparison(cli, result, &sides, err);
    if (rc == 0)
        judge(cli, result, pct);
    if (result)
        as_comparison_free(&result);
    close_sides(&sides);
    return rc;
}
