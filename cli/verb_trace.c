/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay trace -- CMD...`: runs a command and records what it does and when; shows what each thread
 * spent in which routine.
 */
#include <string.h>

#include <assay/report.h>

#include "base/error.h"
#include "base/term.h"
#include "export_trace.h"
#include "recording.h"
#include "report/parallel.h"
#include "sheet.h"
#include "trace/tally.h"

enum {
    TRACE_RANK,
    TRACE_PID,
    TRACE_TID,
    TRACE_GROUP,
    TRACE_ROUTINE,
    TRACE_CALLS,
    TRACE_SECONDS,
    TRACE_LONGEST,
    TRACE_SENT,
    TRACE_RECEIVED,
    TRACE_UNRETURNED,
    TRACE_COLUMNS
};

static const struct as_field columns[TRACE_COLUMNS] = {
    [TRACE_RANK] = {"rank", "rank", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [TRACE_PID] = {"pid", NULL, AS_FIELD_RIGHT},
    [TRACE_TID] = {"tid", "thread", AS_FIELD_RIGHT},
    [TRACE_GROUP] = {"group", "group", AS_FIELD_IF_VARIED},
    [TRACE_ROUTINE] = {"routine", "routine", AS_FIELD_ELASTIC},
    [TRACE_CALLS] = {"calls", "calls", AS_FIELD_RIGHT},
    [TRACE_SECONDS] = {"time_s", "seconds", AS_FIELD_RIGHT},
    [TRACE_LONGEST] = {"longest_s", "longest", AS_FIELD_RIGHT},
    [TRACE_SENT] = {"sent_b", "bytes sent", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [TRACE_RECEIVED] = {"received_b", "received", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [TRACE_UNRETURNED] = {"open", "not ended", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
};

struct trace_view {
    struct as_cli *cli;
    struct as_trace_tally tally;
    struct as_parallel parallel;
};

static void fill_sum_row(void *context, size_t row, struct as_cell *cell)
{
    const struct trace_view *view = context;
    const struct as_trace_sum *sum = &view->tally.sum.at[row];
    if (sum->process->rank >= 0)
        cell[TRACE_RANK] = as_cell_signed(sum->process->rank);
    cell[TRACE_PID] = as_cell_count(sum->process->pid);
    cell[TRACE_TID] = as_cell_count(sum->tid);
    cell[TRACE_GROUP] = as_cell_text(as_trace_group_name(sum->name.group));
    cell[TRACE_ROUTINE] = as_cell_text(sum->name.text);
    cell[TRACE_CALLS] = as_cell_count(sum->calls_n);
    /* For people microseconds are enough. */
    const int64_t grain = view->cli->format == AS_FORMAT_TEXT ? 1000 : 1;
    const int64_t time_ns = sum->time_ns - sum->time_ns % grain;
    const int64_t most_ns = sum->most_ns - sum->most_ns % grain;
    cell[TRACE_SECONDS] = as_cell_real((double)time_ns / 1e9);
    cell[TRACE_LONGEST] = as_cell_real((double)most_ns / 1e9);
    cell[TRACE_SENT] = as_cell_signed(sum->sent_b);
    cell[TRACE_RECEIVED] = as_cell_signed(sum->received_b);
    cell[TRACE_UNRETURNED] = as_cell_count(sum->open_n);
}

/* Efficiency, waiting and who makes others wait say more than routines: they come first. */
static int show_parallel(struct trace_view *view, struct assay_error *err)
{
    struct as_cli *cli = view->cli;
    const size_t width = as_term_layout_width(cli->fd);
    struct as_page page = {.out = &cli->out,
                           .width = width ? width : 80,
                           .colour = cli->color,
                           .utf8 = assay_report_locale_is_utf8()};
    AS_TRY(as_parallel_text(&view->parallel, &page, NULL, NULL, err));
    as_page_heading(&page, "Routines");
    return 0;
}

static int show_text(struct trace_view *view, const struct as_sheet *sheet, struct assay_error *err)
{
    struct as_cli *cli = view->cli;
    struct as_str same = {0}, s = {0};
    AS_TRY(show_parallel(view, err));
    const int rc = sheet->row_n ? as_sheet_text(cli, sheet, &same, err) : 0;
    as_str_appendf(&s, "%llu events%s", (unsigned long long)view->tally.events_n, as_str_z(&same));
    if (view->tally.lost_n)
        as_str_appendf(&s, ", %llu lost", (unsigned long long)view->tally.lost_n);
    as_str_appendz(&s, "\n");
    as_cli_styled(cli, AS_STYLE_DIM, as_str_z(&s));
    as_str_fini(&same);
    as_str_fini(&s);
    return rc;
}

static void show_facts(struct trace_view *view, const struct as_sheet *sheet)
{
    struct as_facts facts;
    if (view->cli->format == AS_FORMAT_CSV) {
        as_sheet_csv_header(view->cli, sheet);
        as_sheet_csv_rows(view->cli, sheet);
        return;
    }
    as_facts_begin(&facts, view->cli);
    as_facts_cell(&facts, "events", as_cell_count(view->tally.events_n));
    as_facts_cell(&facts, "lost", as_cell_count(view->tally.lost_n));
    as_facts_cell(&facts, "unmatched", as_cell_count(view->tally.unmatched_n));
    as_facts_cell(&facts, "damaged", as_cell_count(view->tally.damaged_n));
    as_facts_sheet(&facts, "routines", sheet);
    as_json_key(&facts.json, "parallel");
    as_parallel_json(&view->parallel, &facts.json, NULL, NULL);
    as_facts_end(&facts);
}

/* Streams that ended before their thread did. */
static void note_ends(struct as_cli *cli, const struct as_trace *trace)
{
    size_t limited = 0, refused = 0;
    int number = 0;
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->thread, stream) {
            const struct as_trace_stream_facts *facts = as_trace_stream_facts(*stream);
            limited += facts->end == AS_TRACE_LIMIT;
            refused += facts->end == AS_TRACE_REFUSED;
            number = facts->end == AS_TRACE_REFUSED ? facts->end_errno : number;
        }
    if (limited)
        as_cli_note(cli, "trace: the limit of size was reached; %zu threads are recorded in part",
                    limited);
    if (refused)
        as_cli_note(cli, "trace: %zu threads are recorded in part: %s", refused, strerror(number));
}

static int show_tally(struct trace_view *view, const struct as_trace *trace,
                      struct assay_error *err)
{
    AS_TRY(as_trace_tally_of(trace, &view->tally, err));
    const struct as_sheet sheet = {columns, TRACE_COLUMNS, view->tally.sum.n, view, fill_sum_row};
    int rc = 0;
    note_ends(view->cli, trace);
    if (view->tally.events_n == 0)
        as_cli_note(view->cli, "trace: there are no events: the program called nothing of what "
                               "is recorded, or is statically linked");
    if (view->cli->format == AS_FORMAT_TEXT)
        rc = show_text(view, &sheet, err);
    else
        show_facts(view, &sheet);
    as_trace_tally_fini(&view->tally);
    return rc;
}

int as_trace_show(struct as_cli *cli, struct assay_experiment *experiment, int64_t run_id,
                  struct assay_error *err)
{
    struct trace_view view = {.cli = cli};
    struct as_analysis analysis;
    struct as_trace trace;
    AS_TRY(as_run_trace_open(experiment, run_id, &trace, err));
    int rc = as_analyse_trace(&trace, NULL, &analysis, err);
    if (rc == 0) {
        rc = as_parallel_gather(&analysis, &view.parallel, err);
        if (rc == 0) {
            rc = show_tally(&view, &trace, err);
            as_parallel_fini(&view.parallel);
        }
        as_analysis_fini(&analysis);
    }
    as_trace_close(&trace);
    return rc;
}

static int trace_into(struct as_cli *cli, struct as_experiment_name *name,
                      const struct assay_profile_request *request,
                      struct assay_profile_result *result, struct assay_error *err)
{
    struct assay_experiment *experiment;
    AS_TRY(as_experiment_create(cli, name, &experiment, err));
    int rc = assay_profile_run(experiment, request, result, err);
    if (rc == 0)
        rc = as_trace_show(cli, experiment, result->run_id, err);
    return as_recording_close(&experiment, name, result->run_id, rc, err);
}

static uint32_t group_bit(struct as_view name)
{
#define GROUP(group, word, bit) {word, bit},
    static const struct {
        const char *word;
        uint32_t bit;
    } group[] = {ASSAY_TRACE_GROUPS(GROUP)};
#undef GROUP
    for (size_t i = 0; i < sizeof group / sizeof *group; i++)
        if (as_view_equal(name, as_view_of(group[i].word)))
            return group[i].bit;
    return 0;
}

static int take_groups(const char *text, uint32_t *out, struct assay_error *err)
{
    struct as_view rest = as_view_of(text), part;
    *out = text ? 0 : ASSAY_TRACE_USUAL;
    while (as_view_split(&rest, ',', &part)) {
        const uint32_t bit = group_bit(as_view_trim(part));
        if (!bit)
            return as_error_set(err, ASSAY_ERR_USAGE,
                                "--groups: '%.*s' is no group; give some of mpi, openmp, pthread, "
                                "io and memory, separated by commas",
                                (int)part.n, part.p);
        *out |= bit;
    }
    return 0;
}

static int take_callers(const struct as_arguments *args, uint32_t *out, struct assay_error *err)
{
    const uint64_t wanted = args->number[AS_OPTION_TRACE_CALLERS];
    *out = as_given(args, AS_OPTION_TRACE_CALLERS) ? (uint32_t)wanted : ASSAY_TRACE_CALLERS;
    if (wanted > ASSAY_TRACE_CALLERS_N)
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--callers: %llu are more than are kept; give 0 to %u",
                            (unsigned long long)wanted, ASSAY_TRACE_CALLERS_N);
    return 0;
}

static int take_options(struct as_cli *cli, struct assay_trace_options *options,
                        struct assay_error *err)
{
    const struct as_arguments *args = &cli->args;
    AS_TRY(take_groups(args->value[AS_OPTION_TRACE_GROUPS], &options->groups, err));
    AS_TRY(take_callers(args, &options->callers, err));
    const char *least = args->value[AS_OPTION_TRACE_MEMORY_LEAST];
    options->memory_least_b = ASSAY_TRACE_MEMORY_B;
    if (least)
        AS_TRY(as_recording_size("--memory-least", least, &options->memory_least_b, err));
    AS_TRY(as_recording_size("--ring", args->value[AS_OPTION_RING], &options->ring_b, err));
    return as_recording_size("--limit", args->value[AS_OPTION_TRACE_LIMIT], &options->limit_b, err);
}

int as_verb_trace(struct as_cli *cli, struct assay_error *err)
{
    struct assay_trace_options options = {0};
    struct assay_profile_request request;
    struct assay_profile_result result = {.exit_code = -1};
    struct as_experiment_name name = {0};
    AS_TRY(as_recording_take(cli, &request, err));
    AS_TRY(take_options(cli, &options, err));
    request.trace = &options;
    request.kind = "trace";
    /* Samples beside the events: few, for they are not what was asked for. */
    if (!as_given(&cli->args, AS_OPTION_RATE))
        request.sampling.rate_hz = ASSAY_RATE_LOW;
    int rc = as_recording_name(cli, &request, &name, err);
    if (rc == 0)
        rc = trace_into(cli, &name, &request, &result, err);
    as_recording_end(cli, &name, &result, result.interrupted, rc);
    return rc;
}
