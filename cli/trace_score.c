/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_score.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analytics/store/score.h"
#include "analytics/store/trace_result.h"
#include "base/error.h"
#include "base/outfile.h"
#include "profile/profile.h"
#include "report/profile.h"
#include "report/queries.h"
#include "sheet.h"
#include "trace/cost.h"
#include "trace_filter.h"

struct score_view {
    struct as_cli *cli;
    const struct as_score *score;
    const struct as_filter_choice *choice;
    bool is_dry; /* of the beginning of a run */
};

/* ---- Tables -------------------------------------------------------------------------------- */

enum {
    SCORE_TYPE,
    SCORE_CALLS,
    SCORE_TIME,
    SCORE_EACH,
    SCORE_RECORDS,
    SCORE_BYTES,
    SCORE_SHARE,
    SCORE_OF_TYPES, /* so many are of types, too */
    SCORE_FILTER = SCORE_OF_TYPES,
    SCORE_MOST,
    SCORE_WORTH,
    SCORE_ROUTINE,
    SCORE_COLUMNS
};

static const struct as_field score_columns[SCORE_COLUMNS] = {
    [SCORE_TYPE] = {"type", "type", 0},
    [SCORE_FILTER] = {"filter", "filter", AS_FIELD_IF_VARIED},
    [SCORE_CALLS] = {"calls", "calls", AS_FIELD_RIGHT},
    [SCORE_TIME] = {"time_s", "seconds", AS_FIELD_RIGHT},
    [SCORE_EACH] = {"call_us", "us/call", AS_FIELD_RIGHT},
    [SCORE_RECORDS] = {"records", NULL, AS_FIELD_RIGHT},
    [SCORE_BYTES] = {"size_b", "bytes", AS_FIELD_RIGHT},
    [SCORE_SHARE] = {"size_percent", "%", AS_FIELD_RIGHT},
    [SCORE_MOST] = {"thread_most_b", NULL, AS_FIELD_RIGHT},
    [SCORE_WORTH] = {"worth_excluding", NULL, 0},
    [SCORE_ROUTINE] = {"routine", "routine", AS_FIELD_ELASTIC},
};

/* For people three digits are enough. */
static struct as_cell shown_number(const struct as_cli *cli, double value)
{
    const double grain = cli->format == AS_FORMAT_TEXT ? 1e3 : 1e9;
    return as_cell_real(round(value * grain) / grain);
}

static void fill_amount(const struct score_view *view, const struct as_score_amount *amount,
                        int64_t time_ns, bool has_time, struct as_cell *cell)
{
    const uint64_t all_b = view->score->all.size_b;
    cell[SCORE_CALLS] = as_cell_count(amount->calls_n);
    if (has_time)
        cell[SCORE_TIME] = shown_number(view->cli, (double)time_ns / 1e9);
    if (has_time && amount->calls_n)
        cell[SCORE_EACH] = shown_number(view->cli, (double)time_ns / 1e3 / (double)amount->calls_n);
    cell[SCORE_RECORDS] = as_cell_count(amount->records_n);
    cell[SCORE_BYTES] = as_cell_count(amount->size_b);
    if (all_b)
        cell[SCORE_SHARE] = as_cell_real(round(1000 * (double)amount->size_b / (double)all_b) / 10);
}

static const char *filter_word(const struct as_score_row *row)
{
    switch (row->verdict) {
    case AS_FILTER_LEFT_OUT:
        return "out";
    case AS_FILTER_FOUND:
        return "found";
    default:
        return "in";
    }
}

static void fill_score_row(void *context, size_t at, struct as_cell *cell)
{
    const struct score_view *view = context;
    const struct as_score_row *row = &view->score->row.at[at];
    cell[SCORE_TYPE] = as_cell_text(as_score_type_word(row->type));
    cell[SCORE_FILTER] = as_cell_text(filter_word(row));
    fill_amount(view, &row->all, row->whole_ns, row->is_call, cell);
    cell[SCORE_MOST] = as_cell_count(row->most_b);
    cell[SCORE_WORTH] = as_cell_bool(as_score_is_worth(view->score, row));
    cell[SCORE_ROUTINE] = as_cell_text(row->routine);
}

/* All, then those types that there are. */
static const struct as_score_amount *type_at(const struct as_score *score, size_t at,
                                             const char **word)
{
    size_t seen = 0;
    *word = "ALL";
    for (unsigned t = 0; t < AS_SCORE_TYPES_N && at > 0; t++) {
        if (score->type[t].records_n && ++seen == at) {
            *word = as_score_type_word((enum as_score_type)t);
            return &score->type[t];
        }
    }
    return &score->all;
}

static void fill_type_row(void *context, size_t at, struct as_cell *cell)
{
    const struct score_view *view = context;
    const char *word;
    const struct as_score_amount *amount = type_at(view->score, at, &word);
    cell[SCORE_TYPE] = as_cell_text(word);
    fill_amount(view, amount, amount->time_ns, true, cell);
}

static size_t count_types(const struct as_score *score)
{
    size_t n = 1;
    for (unsigned t = 0; t < AS_SCORE_TYPES_N; t++)
        n += score->type[t].records_n > 0;
    return n;
}

/* Columns of types; some columns are for routines only. */
static const struct as_field type_columns[SCORE_OF_TYPES] = {
    [SCORE_TYPE] = {"type", "type", 0},
    [SCORE_CALLS] = {"calls", "calls", AS_FIELD_RIGHT},
    [SCORE_TIME] = {"time_s", "seconds", AS_FIELD_RIGHT},
    [SCORE_EACH] = {"call_us", "us/call", AS_FIELD_RIGHT},
    [SCORE_RECORDS] = {"records", "records", AS_FIELD_RIGHT},
    [SCORE_BYTES] = {"size_b", "bytes", AS_FIELD_RIGHT},
    [SCORE_SHARE] = {"size_percent", "%", AS_FIELD_RIGHT},
};

/* ---- Sentences ----------------------------------------------------------------------------- */

static void write_size(struct as_str *out, uint64_t size_b)
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    double value = (double)size_b;
    unsigned unit = 0;
    for (; value >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1000;
    as_str_appendf(out, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

/* How much longer than what was recorded the run lasted. */
static double times_longer(const struct score_view *view)
{
    const struct as_score *score = view->score;
    return view->is_dry && score->recorded_ns > 0
               ? (double)score->lasted_ns / (double)score->recorded_ns
               : 1;
}

static void emit_total(struct as_str *s, const struct as_score *score,
                       const struct as_score_total *total, const char *head)
{
    as_str_appendf(s, "%s: ", head);
    write_size(s, total->size_b);
    as_str_appendz(s, " of records, at most ");
    write_size(s, total->thread_most_b);
    as_str_appendz(s, " in a thread and ");
    write_size(s, total->process_most_b);
    as_str_appendf(s, " in a process; ");
    write_size(s, total->disk_b);
    as_str_appendz(s, " as files");
    if (!isnan(score->record_ns))
        as_str_appendf(s, "; writing them takes up to %.2f %% of a thread's time",
                       100 * total->slower);
    as_str_appendz(s, ".");
}

static void write_paragraph(struct as_cli *cli, struct as_str *s)
{
    const unsigned width = as_cli_width(cli) < 80 ? as_cli_width(cli) : 80;
    const char *at = as_str_z(s);
    while (*at) {
        size_t n = strlen(at);
        if (n > width)
            for (n = width; n > 1 && at[n] != ' '; n--)
                ;
        as_cli_print(cli, "%.*s\n", (int)n, at);
        at += n;
        at += *at == ' ';
    }
    as_str_clear(s);
}

static void show_sentences(const struct score_view *view)
{
    const struct as_score *score = view->score;
    struct as_str s = {0};
    as_str_appendf(&s, "%llu process%s, %llu thread%s", (unsigned long long)score->processes_n,
                   score->processes_n == 1 ? "" : "es", (unsigned long long)score->threads_n,
                   score->threads_n == 1 ? "" : "s");
    if (!isnan(score->record_ns))
        as_str_appendf(&s, "; a record takes %.1f ns on this machine", score->record_ns);
    as_str_appendz(&s, ".");
    write_paragraph(view->cli, &s);
    emit_total(&s, score, &score->whole, view->is_dry ? "Recorded" : "The trace");
    write_paragraph(view->cli, &s);
    if (view->choice->path) {
        emit_total(&s, score, &score->filtered, view->choice->path);
        write_paragraph(view->cli, &s);
    }
    if (view->is_dry) {
        const struct as_score_total *total = view->choice->path ? &score->filtered : &score->whole;
        as_str_appendf(&s, "%.2f of %.2f s were recorded; the whole run would be ",
                       (double)score->recorded_ns / 1e9, (double)score->lasted_ns / 1e9);
        write_size(&s, (uint64_t)((double)total->size_b * times_longer(view)));
        as_str_appendz(&s, " of records.");
        write_paragraph(view->cli, &s);
    }
    as_str_fini(&s);
}

static int show_score_text(const struct score_view *view, const struct as_sheet *types,
                           const struct as_sheet *rows, struct as_error *err)
{
    struct as_str same = {0};
    show_sentences(view);
    as_cli_print(view->cli, "\n");
    AS_TRY(as_sheet_text(view->cli, types, NULL, err));
    as_cli_print(view->cli, "\n");
    const int rc = rows->row_n ? as_sheet_text(view->cli, rows, &same, err) : 0;
    as_str_fini(&same);
    return rc;
}

/* ---- Data ---------------------------------------------------------------------------------- */

static void total_facts(struct as_facts *facts, const char *key, const struct as_score_total *it)
{
    as_facts_object(facts, key);
    as_facts_cell(facts, "records", as_cell_count(it->records_n));
    as_facts_cell(facts, "size_b", as_cell_count(it->size_b));
    as_facts_cell(facts, "thread_most_b", as_cell_count(it->thread_most_b));
    as_facts_cell(facts, "process_most_b", as_cell_count(it->process_most_b));
    as_facts_cell(facts, "files_b", as_cell_count(it->disk_b));
    as_facts_cell(facts, "slower_percent", as_cell_real(100 * it->slower));
    as_facts_close(facts);
}

static void show_score_facts(const struct score_view *view, const struct as_sheet *types,
                             const struct as_sheet *rows)
{
    const struct as_score *score = view->score;
    struct as_facts facts;
    if (view->cli->format == AS_FORMAT_CSV) {
        as_sheet_csv_header(view->cli, rows);
        as_sheet_csv_rows(view->cli, rows);
        return;
    }
    as_facts_begin(&facts, view->cli);
    as_facts_object(&facts, "score");
    as_facts_cell(&facts, "processes", as_cell_count(score->processes_n));
    as_facts_cell(&facts, "threads", as_cell_count(score->threads_n));
    as_facts_cell(&facts, "record_ns", as_cell_real(score->record_ns));
    as_facts_cell(&facts, "recorded_s", as_cell_real((double)score->recorded_ns / 1e9));
    as_facts_cell(&facts, "lasted_s", as_cell_real((double)score->lasted_ns / 1e9));
    as_facts_cell(&facts, "expected_b",
                  as_cell_count((uint64_t)((double)score->filtered.size_b * times_longer(view))));
    total_facts(&facts, "trace", &score->whole);
    total_facts(&facts, "filtered", &score->filtered);
    as_facts_sheet(&facts, "types", types);
    as_facts_sheet(&facts, "routines", rows);
    as_facts_close(&facts);
    as_facts_end(&facts);
}

/* ---- The file of --write-filter ------------------------------------------------------------- */

/* As a pattern that matches this very name. */
static void append_name(struct as_str *to, const char *name)
{
    for (; *name; name++) {
        if (strchr(" \t#*?[\\", *name))
            as_str_append(to, "\\", 1);
        as_str_append(to, name, 1);
    }
}

static size_t append_rules(struct as_str *to, const struct as_score *score)
{
    size_t n = 0;
    as_str_appendf(
        to,
        "# Routines and regions of at least %g %% of a trace's bytes, and less than %d ns a "
        "call.\nSCOREP_REGION_NAMES_BEGIN\n",
        100 * AS_SCORE_LEAST_SHARE, AS_SCORE_SHORT_NS);
    as_vec_foreach (&score->row, row) {
        if (!as_score_is_worth(score, row))
            continue;
        as_str_appendz(to, "  EXCLUDE ");
        append_name(to, row->routine);
        as_str_appendf(to, " # %s, %llu calls, %.1f %% of the bytes\n",
                       as_score_type_word(row->type), (unsigned long long)row->all.calls_n,
                       100 * (double)row->all.size_b / (double)score->all.size_b);
        n++;
    }
    as_str_appendz(to, "SCOREP_REGION_NAMES_END\n");
    return n;
}

static int write_filter_file(struct as_cli *cli, const struct as_score *score, struct as_error *err)
{
    const char *path = cli->args.value[AS_OPTION_TRACE_WRITE_FILTER];
    if (!path)
        return 0;
    struct as_str text = {0};
    const size_t n = append_rules(&text, score);
    const int rc = text.failed ? as_error_nomem(err, "a filter")
                               : as_outfile_write(path, AS_OUTFILE_REPLACE, text.p, text.n, err);
    as_str_fini(&text);
    AS_TRY(rc);
    as_cli_note(cli, "the filter is %s: it excludes %zu routines and regions", path, n);
    return 0;
}

/* ---- The verb ------------------------------------------------------------------------------ */

int as_score_asked(const struct as_cli *cli, bool *out, struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    const bool dry = as_given(args, AS_OPTION_TRACE_DRY_RUN);
    *out = as_given(args, AS_OPTION_TRACE_SCORE);
    if (*out && (dry || args->positional_n))
        return as_error_set(err, AS_ERR_USAGE,
                            "--score: reads an experiment and runs nothing; remove the command "
                            "and --dry-run, or --score");
    if (as_given(args, AS_OPTION_TRACE_WRITE_FILTER) && !*out && !dry)
        return as_error_set(err, AS_ERR_USAGE,
                            "--write-filter: needs --score EXP or --dry-run; add one of them");
    return 0;
}

static int show_score(struct score_view *view, struct as_error *err)
{
    const struct as_score *score = view->score;
    const struct as_sheet types = {type_columns, SCORE_OF_TYPES, count_types(score), view,
                                   fill_type_row};
    const struct as_sheet rows = {score_columns, SCORE_COLUMNS, score->row.n, view, fill_score_row};
    if (score->is_ring)
        as_cli_note(view->cli, "trace: the trace is a ring: overwritten events are not counted");
    if (view->cli->format == AS_FORMAT_TEXT)
        AS_TRY(show_score_text(view, &types, &rows, err));
    else
        show_score_facts(view, &types, &rows);
    return write_filter_file(view->cli, score, err);
}

static double record_ns_of(struct as_experiment *experiment, int64_t run_id,
                           const struct as_trace *trace)
{
    char directory[4096];
    bool uses_counter = true;
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->thread, stream)
            uses_counter &= as_trace_stream_facts(*stream)->clock == AS_TRACE_TSC;
    if (as_experiment_run_directory(experiment, run_id, directory, sizeof directory, NULL) < 0)
        return (double)NAN;
    return as_trace_record_ns(directory, uses_counter);
}

static int score_run(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                     const char *name, bool is_dry, struct as_error *err)
{
    struct as_filter_choice choice = {0};
    struct as_trace trace;
    struct as_score score = {0};
    struct score_view view = {cli, &score, &choice, is_dry};
    int rc = as_run_trace_open(experiment, run_id, &trace, err);
    if (rc == AS_ERR_NOT_FOUND)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: run %lld has no trace; run 'assay trace', or 'assay trace "
                            "--dry-run' for the beginning only",
                            name, (long long)run_id);
    AS_TRY(rc);
    rc = as_filter_choose(cli, &choice, err);
    if (rc == 0)
        rc = as_score_trace(&trace, choice.path ? &choice.filter : NULL,
                            record_ns_of(experiment, run_id, &trace), &score, err);
    if (rc == 0)
        rc = show_score(&view, err);
    as_score_fini(&score);
    as_trace_close(&trace);
    as_filter_choice_fini(&choice);
    return rc;
}

int as_score_run(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                 struct as_error *err)
{
    return score_run(cli, experiment, run_id, "the run", true, err);
}

/* Finds out if the trace has only the beginning of the run, as with --dry-run. */
static int find_partial(struct as_experiment *experiment, int64_t run_id, bool *out,
                        struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_query_open_of(experiment, AS_QUERY_TRACE_PARTIAL, run_id, &rows, err));
    const int rc = as_rows_next(rows, err);
    *out = rc > 0;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

int as_score_experiment(struct as_cli *cli, struct as_error *err)
{
    const char *name = cli->args.value[AS_OPTION_TRACE_SCORE];
    struct as_experiment *experiment = NULL;
    int64_t run_id, run_n;
    AS_TRY(as_experiment_read(name, &experiment, err));
    bool is_partial = false;
    int rc = as_report_run(experiment, 0, &run_id, &run_n, err);
    if (rc == 0)
        rc = find_partial(experiment, run_id, &is_partial, err);
    if (rc == 0)
        rc = score_run(cli, experiment, run_id, name, is_partial, err);
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}
