/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs two commands in turns; see against.h. When a series may end, and what it says, is known to
 * compare/.
 */
#include "against.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/shell.h"
#include "compared.h"
#include "external_load.h"
#include "series.h"

#define PAIRS_DEFAULT 11
#define PAIRS_MOST    10000

/* ---- The other command --------------------------------------------------------------------- */

struct other_command {
    struct as_str text;          /* its words, each with its end; variables cut in two */
    const char **word;           /* ends with NULL */
    struct as_setting *variable; /* "env:NAME", that stand before it */
    struct as_str names;
    size_t variable_n;
};

static void other_command_fini(struct other_command *it)
{
    as_str_fini(&it->text);
    as_str_fini(&it->names);
    as_free(it->word);
    as_free(it->variable);
}

/* Bytes of NAME in "NAME=value", or 0. */
static size_t name_n_of(const char *word)
{
    const size_t n =
        strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    return n && word[n] == '=' && (word[0] < '0' || word[0] > '9') ? n : 0;
}

/* Names first: their text moves while it grows. */
static int make_variable_settings(struct other_command *it)
{
    size_t at = 0;
    for (size_t i = 0; i < it->variable_n; i++) {
        as_str_appendf(&it->names, "env:%.*s", (int)name_n_of(it->word[i]), it->word[i]);
        as_str_append(&it->names, "", 1);
    }
    if (it->names.failed)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < it->variable_n; i++) {
        it->variable[i] = (struct as_setting){.name = it->names.p + at,
                                              .value = it->word[i] + name_n_of(it->word[i]) + 1};
        at += strlen(it->names.p + at) + 1;
    }
    return 0;
}

static int read_other(struct other_command *it, const char *text, struct as_error *err)
{
    const int n = as_shell_split(text, &it->text, err);
    if (n < 0)
        return n;
    it->word = as_calloc((size_t)n + 1, sizeof *it->word);
    it->variable = as_calloc((size_t)n + 1, sizeof *it->variable);
    if (!it->word || !it->variable)
        return as_error_nomem(err, "the words of a command");
    const char *at = it->text.p;
    for (int i = 0; i < n; i++, at += strlen(at) + 1)
        it->word[i] = at;
    while (it->variable_n < (size_t)n && name_n_of(it->word[it->variable_n]))
        it->variable_n++;
    if (it->variable_n == (size_t)n)
        return as_error_set(err, AS_ERR_USAGE,
                            "--against: '%s' has no command; use --against './program' -- ./other",
                            text);
    return make_variable_settings(it) < 0 ? as_error_nomem(err, "the words of a command") : 0;
}

/* ---- Running ------------------------------------------------------------------------------- */

/* First runs of A and B. */
struct both {
    const struct other_command *other;
    int64_t first[2];
    struct as_setting planned; /* how many pairs */
};

static int run_one(struct as_series *series, struct both *both, int side, const char *what,
                   struct as_error *err)
{
    static const char *const label[] = {"A", "B"};
    int64_t run_id;
    const bool is_b = side == 1, is_first = !both->first[side];
    const struct as_series_run run = {.command =
                                          is_b ? both->other->word + both->other->variable_n
                                               : (const char *const *)series->cli->args.positional,
                                      .kind = what   ? "warm-up"
                                              : is_b ? AS_AGAINST
                                                     : "repeat",
                                      .label = label[side],
                                      .what = what ? what : label[side],
                                      .role = what        ? "repetition"
                                              : !is_first ? "repetition"
                                              : is_b      ? "variant"
                                                          : "reference",
                                      .reference_id = is_first ? both->first[0] : both->first[side],
                                      .setting = &both->planned,
                                      .setting_n = what ? 0 : 1,
                                      .variable = is_b ? both->other->variable : NULL,
                                      .variable_n = is_b ? both->other->variable_n : 0};
    AS_TRY(as_series_run(series, &run, &run_id, err));
    if (!what && is_first)
        both->first[side] = run_id;
    return 0;
}

/* Decides whether the series may end: the answer is certain. */
static int is_certain(struct as_series *series, bool *certain, struct as_error *err)
{
    struct as_alternation *it;
    AS_TRY(as_compare_alternation(series->experiment, &it, err));
    *certain = it && it->is_look && it->verdict != AS_ALTERNATION_OPEN;
    as_alternation_free(&it);
    return 0;
}

static int run_both(struct as_series *series, struct both *both, size_t pair_n, size_t warm_up_n,
                    struct as_error *err)
{
    bool certain = false;
    for (size_t i = 0; i < 2 * warm_up_n && !series->is_over; i++)
        AS_TRY(run_one(series, both, (int)(i % 2), i % 2 ? "warm-up B" : "warm-up A", err));
    for (size_t i = 0; i < pair_n && !series->is_over && !certain; i++) {
        AS_TRY(run_one(series, both, 0, NULL, err));
        if (!series->is_over)
            AS_TRY(run_one(series, both, 1, NULL, err));
        if (!series->is_over)
            AS_TRY(is_certain(series, &certain, err));
    }
    if (certain)
        series->run_n = series->begun_n;
    return 0;
}

static int parse_pair_counts(struct as_cli *cli, size_t *pair_n, size_t *warm_up_n,
                             struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    *pair_n = as_given(args, AS_OPTION_RUNS) ? args->number[AS_OPTION_RUNS] : PAIRS_DEFAULT;
    *warm_up_n = args->number[AS_OPTION_WARM_UP];
    if (!args->positional_n)
        return as_error_set(err, AS_ERR_USAGE,
                            "repeat: --against needs a second command; use 'assay repeat "
                            "--against './other' -- ./program'");
    if (*pair_n < 2 || *pair_n > PAIRS_MOST)
        return as_error_set(err, AS_ERR_USAGE, "--runs: %zu is out of range; use 2 to %d pairs",
                            *pair_n, PAIRS_MOST);
    if (*warm_up_n > PAIRS_MOST)
        return as_error_set(err, AS_ERR_USAGE, "--warm-up: %zu is out of range; use 0 to %d",
                            *warm_up_n, PAIRS_MOST);
    return 0;
}

/* ---- Text ---------------------------------------------------------------------------------- */

/* "B is 12.3 % slower than A (95 %: 11.0 to 13.6 %)". */
static void show_verdict(struct as_cli *cli, const struct as_alternation *it)
{
    const struct as_bounded_value *by = &it->difference_pct;
    const double sign = by->value < 0 ? -1 : 1;
    const double low = sign * (sign > 0 ? by->low : by->high),
                 high = sign * (sign > 0 ? by->high : by->low);
    if (!by->origin) {
        as_cli_print(cli, "  too few runs for a comparison; at least three pairs are needed\n");
        return;
    }
    if (it->verdict == AS_ALTERNATION_EQUAL)
        as_cli_print(cli,
                     "  B takes as long as A within %d %%: %+.2f %% (95 %%: %+.2f to %+.2f "
                     "%%)\n",
                     AS_ALTERNATION_EQUAL_PCT, by->value, by->low, by->high);
    else if (it->verdict == AS_ALTERNATION_OPEN)
        as_cli_print(cli, "  no difference is certain: %+.2f %% (95 %%: %+.2f to %+.2f %%)\n",
                     by->value, by->low, by->high);
    else
        as_cli_print(cli, "  B is %s than A: it takes %.2f %% %s (95 %%: %.2f to %.2f %%)\n",
                     as_alternation_word(it->verdict), sign * by->value,
                     sign > 0 ? "longer" : "less", low, high);
}

static int show_alternation_text(struct as_cli *cli, const struct as_alternation *it,
                                 struct as_error *err)
{
    const struct as_column column[] = {{.title = ""},
                                       {.title = "runs", .align = AS_ALIGN_RIGHT},
                                       {.title = "mean s", .align = AS_ALIGN_RIGHT},
                                       {.title = "95 %", .align = AS_ALIGN_RIGHT},
                                       {.title = "command", .shrink = AS_SHRINK_MIDDLE}};
    struct as_table table;
    as_cli_styled(cli, AS_STYLE_BOLD, "A against B");
    as_cli_print(cli, ", %zu pair%s in turns\n", it->pair_n, it->pair_n == 1 ? "" : "s");
    show_verdict(cli, it);
    as_out_c(&cli->out, '\n');
    as_table_init(&table, column, sizeof column / sizeof *column);
    for (int i = 0; i < 2; i++) {
        const struct as_alternation_side *side = &it->side[i];
        as_table_string(&table, side->name);
        as_table_u64(&table, side->repeat_n);
        as_cell_seconds(&table, side->wall_s.origin ? side->wall_s.value : NAN);
        as_cell_interval(&table, &side->wall_s, 1, 3);
        as_table_string(&table, side->command);
    }
    const int rc = as_table_print(&table, &cli->out, as_cli_table_width(cli), cli->color, err);
    as_table_fini(&table);
    if (it->note_n)
        as_out_c(&cli->out, '\n');
    as_compared_notes(cli, it->note, it->note_n);
    return rc;
}

static void show_alternation_csv(struct as_cli *cli, const struct as_alternation *it)
{
    static const char *const names[] = {"of", "run_id", "wall_s"};
    struct as_csv csv;
    as_cli_csv(cli, &csv);
    as_csv_header(&csv, names, sizeof names / sizeof *names);
    for (size_t i = 0; i < it->run_n; i++) {
        as_csv_string(&csv, it->run[i].is_b ? "B" : "A");
        as_csv_i64(&csv, it->run[i].run_id);
        as_csv_double(&csv, it->run[i].wall_s);
        as_csv_row_end(&csv);
    }
}

int as_against_show(struct as_cli *cli, struct as_experiment *experiment, struct as_error *err)
{
    struct as_alternation *it;
    int rc = 0;
    AS_TRY(as_compare_alternation(experiment, &it, err));
    if (!it)
        return 0;
    if (cli->format == AS_FORMAT_JSON) {
        struct as_json json;
        as_compared_json_begin(&json, cli, experiment, "alternation");
        as_report_alternation_json(it, &json);
        as_compared_json_end(&json);
    } else if (cli->format == AS_FORMAT_CSV) {
        show_alternation_csv(cli, it);
    } else {
        rc = show_alternation_text(cli, it, err);
    }
    as_alternation_free(&it);
    return rc < 0 ? rc : 1;
}

/* ---- The whole ----------------------------------------------------------------------------- */

static int run_series(struct as_cli *cli, const struct other_command *other, size_t pair_n,
                      size_t warm_up_n, struct as_error *err)
{
    struct as_series series;
    struct as_external_watch load;
    struct as_str name = {0};
    char planned[32];
    const char *const *command = (const char *const *)cli->args.positional;
    struct both both = {.other = other, .planned = {.name = AS_ALTERNATION_RUNS, .value = planned}};
    snprintf(planned, sizeof planned, "%zu", pair_n);
    as_external_begin(&load);
    int rc = as_series_begin(&series, cli, 2 * (pair_n + warm_up_n), command, &name, err);
    if (rc == 0)
        rc = run_both(&series, &both, pair_n, warm_up_n, err);
    if (both.first[1]) {
        struct as_error late = {0};
        as_external_load_print(cli, &load);
        const int shown = as_against_show(cli, series.experiment, rc < 0 ? &late : err);
        rc = rc < 0 ? rc : shown < 0 ? shown : 0;
    }
    rc = as_series_end(&series, as_str_z(&name), rc, err);
    as_str_fini(&name);
    return rc;
}

int as_against_run(struct as_cli *cli, struct as_error *err)
{
    struct other_command other = {0};
    size_t pair_n, warm_up_n;
    AS_TRY(parse_pair_counts(cli, &pair_n, &warm_up_n, err));
    int rc = read_other(&other, cli->args.value[AS_OPTION_AGAINST], err);
    if (rc == 0)
        rc = run_series(cli, &other, pair_n, warm_up_n, err);
    other_command_fini(&other);
    return rc;
}
