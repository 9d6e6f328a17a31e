/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay trace -- CMD...`: runs a command and records what it does and when; shows what each thread
 * spent in which routine.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analytics/store/trace_result.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/term.h"
#include "export_trace.h"
#include "mil/mil.h"
#include "profiling.h"
#include "recording.h"
#include "report/parallel.h"
#include "report/queries.h"
#include "report/report.h"
#include "runs.h"
#include "sheet.h"
#include "trace_clocks.h"
#include "trace_control.h"
#include "trace_counters.h"
#include "trace_filter.h"
#include "trace_range.h"
#include "trace_samples.h"
#include "trace_score.h"

enum {
    TRACE_RANK,
    TRACE_PID,
    TRACE_TID,
    TRACE_GROUP,
    TRACE_ROUTINE,
    TRACE_CALLS,
    TRACE_SECONDS,
    TRACE_LONGEST,
    TRACE_WAITING,
    TRACE_TRANSFER,
    TRACE_OVERHEAD,
    TRACE_SENT,
    TRACE_RECEIVED,
    TRACE_UNRETURNED,
    TRACE_COLUMNS
};

static const struct as_field columns[TRACE_COLUMNS] = {
    [TRACE_RANK] = {"rank", "rank", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [TRACE_PID] = {"pid", NULL, AS_FIELD_RIGHT},
    [TRACE_TID] = {"tid", "thread", AS_FIELD_RIGHT},
    [TRACE_GROUP] = {"group", NULL, 0},
    [TRACE_ROUTINE] = {"routine", "routine", AS_FIELD_ELASTIC},
    [TRACE_CALLS] = {"calls", "calls", AS_FIELD_RIGHT},
    [TRACE_SECONDS] = {"time_s", "seconds", AS_FIELD_RIGHT},
    [TRACE_LONGEST] = {"longest_s", "longest", AS_FIELD_RIGHT},
    [TRACE_WAITING] = {"waiting_s", "waiting", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [TRACE_TRANSFER] = {"transfer_s", "transfer", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [TRACE_OVERHEAD] = {"overhead_s", NULL, AS_FIELD_RIGHT},
    [TRACE_SENT] = {"sent_b", "sent", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [TRACE_RECEIVED] = {"received_b", "received", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [TRACE_UNRETURNED] = {"open", "not ended", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
};

/* So many rows are read through; of more, text has those that took most time. */
#define ROUTINES_MOST 40u

struct trace_view {
    struct as_cli *cli;
    struct as_parallel parallel;
    const uint32_t *order; /* row of each line; NULL: as they are */
    struct as_trace_sample_list samples;
};

/* Returns seconds of whole nanoseconds. For people microseconds are enough. */
static struct as_cell seconds_cell(const struct trace_view *view, double s)
{
    const int64_t grain = view->cli->format == AS_FORMAT_TEXT ? 1000 : 1;
    const int64_t ns = llround(s * 1e9);
    return as_cell_real((double)(ns - ns % grain) / 1e9);
}

static void fill_sum_row(void *context, size_t row, struct as_cell *cell)
{
    const struct trace_view *view = context;
    const struct as_parallel_routine *it =
        &view->parallel.routine.at[view->order ? view->order[row] : row];
    if (it->of.rank >= 0)
        cell[TRACE_RANK] = as_cell_signed(it->of.rank);
    cell[TRACE_PID] = as_cell_signed(it->of.pid);
    cell[TRACE_TID] = it->of.queue && view->cli->format == AS_FORMAT_TEXT
                          ? as_cell_text(it->of.queue)
                          : as_cell_signed(it->of.tid);
    cell[TRACE_GROUP] = as_cell_text(it->group);
    cell[TRACE_ROUTINE] = as_cell_text(it->routine);
    cell[TRACE_CALLS] = as_cell_signed(it->calls_n);
    cell[TRACE_SECONDS] = seconds_cell(view, it->time_s);
    cell[TRACE_LONGEST] = seconds_cell(view, it->longest_s);
    if (!isnan(it->transfer_s)) {
        cell[TRACE_WAITING] = seconds_cell(view, it->waiting_s);
        cell[TRACE_TRANSFER] = seconds_cell(view, it->transfer_s);
        cell[TRACE_OVERHEAD] = seconds_cell(view, it->overhead_s);
    }
    cell[TRACE_SENT] = as_cell_signed(it->sent_b);
    cell[TRACE_RECEIVED] = as_cell_signed(it->received_b);
    cell[TRACE_UNRETURNED] = as_cell_signed(it->open_n);
}

/* Prints the findings of the trace: delay costs and wait states. */
static int show_findings(struct as_experiment *experiment, int64_t run_id, struct as_page *page,
                         struct as_error *err)
{
    struct as_rows *rows;
    char number[16];
    unsigned n = 0;
    int rc;
    AS_TRY(as_query_open_of(experiment, AS_QUERY_TRACE_FINDINGS, run_id, &rows, err));
    while ((rc = as_rows_next(rows, err)) > 0) {
        if (n++ == 0)
            as_page_heading(page, "Recommendations");
        snprintf(number, sizeof number, "  %u. ", n);
        as_page_wrap(page, number, as_rows_text(rows, 0), false);
        as_page_wrap(page, "     ", as_rows_text(rows, 1), false);
    }
    as_rows_close(&rows);
    return rc;
}

/* Prints how the run ended, missing data without a note of its own, and external load, which may
 * explain waiting. Caveats about samples are left out, because little here depends on samples. */
static int show_doubts(struct as_experiment *experiment, int64_t run_id, struct as_page *page,
                       struct as_error *err)
{
    struct as_rows *rows;
    unsigned n = 0;
    int rc;
    AS_TRY(as_query_open_of(experiment, AS_QUERY_TRACE_CAVEATS, run_id, &rows, err));
    while ((rc = as_rows_next(rows, err)) > 0) {
        if (n++ == 0)
            as_page_heading(page, "Caveats");
        as_page_wrap(page, "  - ", as_rows_text(rows, 0), false);
    }
    as_rows_close(&rows);
    return rc;
}

/* Efficiency, waiting and delay costs come first: they are more important than routines. */
static int show_parallel(struct as_experiment *experiment, int64_t run_id, struct as_page *page,
                         struct as_error *err)
{
    AS_TRY(show_doubts(experiment, run_id, page, err));
    AS_TRY(show_findings(experiment, run_id, page, err));
    AS_TRY(as_parallel_text(experiment, run_id, page, err));
    as_page_heading(page, "Routines");
    return 0;
}

/* How many events, and what writing them took: that is computed. The measured cost of function
 * probes is not part of it. */
static void write_cost(const struct as_parallel *p, struct as_str *out)
{
    as_str_appendf(out, "%lld events", (long long)p->events_n);
    if (p->lost_n)
        as_str_appendf(out, ", %lld lost", (long long)p->lost_n);
    if (p->samples_lost_n)
        as_str_appendf(out, ", %lld samples lost", (long long)p->samples_lost_n);
    if (p->filtered_n)
        as_str_appendf(out, ", %lld calls left out by the filter", (long long)p->filtered_n);
    if (!isnan(p->record_ns) && p->elapsed_s > 0 && p->events_n)
        as_str_appendf(out,
                       "; writing them took an estimated %.1f ms over all threads, at most %.2f %% "
                       "of the time of a thread (%.1f ns each on this machine)",
                       p->cost_s * 1e3, 100 * p->cost_most_s / p->elapsed_s, p->record_ns);
    if (!isnan(p->points_s))
        as_str_appendf(out, "; probes of functions took a measured %.3g s over all threads",
                       p->points_s);
}

static int by_time(const void *a, const void *b, void *parallel)
{
    const struct as_parallel *of = parallel;
    const double x = of->routine.at[*(const uint32_t *)a].time_s;
    const double y = of->routine.at[*(const uint32_t *)b].time_s;
    return (x < y) - (x > y);
}

static int show_routines(struct trace_view *view, const struct as_sheet *sheet,
                         struct as_page *page, struct as_error *err)
{
    struct as_sheet most = *sheet;
    char more[64];
    if (sheet->row_n <= ROUTINES_MOST)
        return sheet->row_n ? as_sheet_text(view->cli, sheet, NULL, err) : 0;
    uint32_t *order = as_calloc(sheet->row_n, sizeof *order);
    if (!order)
        return as_error_nomem(err, "routines of a trace");
    for (uint32_t i = 0; i < sheet->row_n; i++)
        order[i] = i;
    qsort_r(order, sheet->row_n, sizeof *order, by_time, &view->parallel);
    view->order = order;
    most.row_n = ROUTINES_MOST / 2;
    const int rc = as_sheet_text(view->cli, &most, NULL, err);
    view->order = NULL;
    as_free(order);
    snprintf(more, sizeof more, "%zu more: see --format csv", sheet->row_n - most.row_n);
    if (rc == 0)
        as_page_wrap(page, "", more, false);
    return rc;
}

static int show_text(struct trace_view *view, const struct as_sheet *sheet,
                     struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    struct as_cli *cli = view->cli;
    const size_t width = as_term_layout_width(cli->fd);
    struct as_page page = {.out = &cli->out,
                           .width = width ? width : 80,
                           .colour = cli->color,
                           .utf8 = as_report_locale_is_utf8()};
    struct as_str s = {0};
    AS_TRY(show_parallel(experiment, run_id, &page, err));
    int rc = show_routines(view, sheet, &page, err);
    if (rc == 0)
        rc = as_trace_samples_text(cli, &view->samples, err);
    if (rc == 0 && view->parallel.counter.n)
        rc = as_trace_counters_text(cli, &view->parallel, err);
    write_cost(&view->parallel, &s);
    as_page_wrap(&page, "", as_str_z(&s), false);
    as_str_fini(&s);
    return rc;
}

static int show_facts(struct trace_view *view, const struct as_sheet *sheet,
                      struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    const struct as_parallel *p = &view->parallel;
    struct as_facts facts;
    if (view->cli->format == AS_FORMAT_CSV) {
        as_sheet_csv_header(view->cli, sheet);
        as_sheet_csv_rows(view->cli, sheet);
        return 0;
    }
    as_facts_begin(&facts, view->cli);
    as_facts_cell(&facts, "events", as_cell_signed(p->events_n));
    as_facts_cell(&facts, "lost", as_cell_signed(p->lost_n));
    as_facts_cell(&facts, "filtered", as_cell_signed(p->filtered_n));
    as_facts_cell(&facts, "unmatched", as_cell_signed(p->broken_n));
    as_facts_cell(&facts, "violated", as_cell_signed(p->violated_n));
    as_facts_cell(&facts, "not_recorded", as_cell_signed(p->missed_n));
    as_facts_cell(&facts, "sums", as_cell_signed(p->summed_n));
    as_facts_cell(&facts, "damaged", as_cell_signed(p->damaged_n));
    as_facts_cell(&facts, "record_ns", as_cell_real(p->record_ns));
    as_facts_cell(&facts, "computed_cost_s", as_cell_real(p->cost_s));
    as_facts_sheet(&facts, "routines", sheet);
    as_facts_cell(&facts, "samples_lost", as_cell_signed(p->samples_lost_n));
    as_trace_samples_facts(&facts, &view->samples);
    as_trace_counters_facts(&facts, p);
    as_json_key(&facts.json, "parallel");
    AS_TRY(as_parallel_json(experiment, run_id, &facts.json, err));
    as_facts_end(&facts);
    return 0;
}

/* Streams that ended before their thread did; whether there are any. */
static bool note_ends(struct as_cli *cli, const struct as_trace *trace)
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
    if (trace->left_out_n)
        as_cli_note(
            cli, "trace: %llu %s no %s of MPI %s left out", (unsigned long long)trace->left_out_n,
            trace->left_out_n == 1 ? "process that is" : "processes that are",
            trace->left_out_n == 1 ? "rank" : "ranks", trace->left_out_n == 1 ? "is" : "are");
    if (limited)
        as_cli_note(cli, "trace: the size limit was reached; %zu threads are recorded in part",
                    limited);
    if (refused)
        as_cli_note(cli, "trace: %zu threads are recorded in part: %s", refused, strerror(number));
    return limited || refused;
}

/* Prints the known events while tracing was off. */
static void note_missed(struct as_cli *cli, const struct as_parallel *p)
{
    if (p->missed_n)
        as_cli_note(cli,
                    "trace: %lld sends, receives and collectives were not recorded while tracing "
                    "was off; their partners get no wait states",
                    (long long)p->missed_n);
    if (p->doubtful_n)
        as_cli_note(cli,
                    "trace: %lld messages were ignored: send and receive do not match (tracing "
                    "was off while persistent requests were created)",
                    (long long)p->doubtful_n);
}

/* True if each row is of a rank, and no rank has rows of two threads. Rows are by thread, and
 * threads by rank. */
static bool ranks_have_one_thread(const struct as_parallel *p)
{
    const struct as_parallel_routine *before = NULL;
    as_vec_foreach (&p->routine, it) {
        if (it->of.rank < 0 ||
            (before && before->of.rank == it->of.rank && before->of.number != it->of.number))
            return false;
        before = it;
    }
    return before;
}

/* Text has 80 columns. CSV and JSON alone have the thread of a rank with one, and its longest call.
 */
static void choose_columns(const struct as_parallel *p, struct as_field *shown)
{
    memcpy(shown, columns, sizeof columns);
    if (!ranks_have_one_thread(p))
        return;
    shown[TRACE_TID].title = NULL;
    if (p->summed_n == 0)
        shown[TRACE_LONGEST].title = NULL;
}

static void note_counts(struct as_cli *cli, const struct as_parallel *p, bool are_cut)
{
    as_filter_note(cli, p->filtered_n);
    if (p->violated_n)
        as_cli_note(cli,
                    "trace: %lld messages were received before they were sent, by the clocks of "
                    "their machines: their wait states are unknown",
                    (long long)p->violated_n);
    if (p->events_n == 0 && !are_cut)
        as_cli_note(cli, "trace: no events: the program made no traced call, or it is statically "
                         "linked");
    note_missed(cli, p);
    if (p->summed_n)
        as_cli_note(cli, "trace: MPI calls are summed (--burst): there are no wait states; thread "
                         "states and efficiency count all calls");
}

/* Prints what the experiment has of the trace; only the ends of its files are those in memory. */
static int show_traced(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                       const struct as_trace *trace, struct as_error *err)
{
    struct trace_view view = {.cli = cli};
    struct as_field shown[TRACE_COLUMNS];
    const bool are_cut = note_ends(cli, trace);
    int rc = as_parallel_read(experiment, run_id, &view.parallel, err);
    if (rc == 0)
        rc = as_trace_samples_read(experiment, run_id, &view.samples, err);
    const struct as_sheet sheet = {shown, TRACE_COLUMNS, view.parallel.routine.n, &view,
                                   fill_sum_row};
    choose_columns(&view.parallel, shown);
    if (rc == 0)
        rc = as_trace_clocks_note(cli, experiment, run_id, err);
    if (rc == 0) {
        note_counts(cli, &view.parallel, are_cut);
        rc = cli->format == AS_FORMAT_TEXT ? show_text(&view, &sheet, experiment, run_id, err)
                                           : show_facts(&view, &sheet, experiment, run_id, err);
    }
    as_parallel_release(&view.parallel);
    as_trace_samples_fini(&view.samples);
    return rc;
}

/* Facts first: the findings rest on them. They are of run `run_id`, the trace of `traced_id`. */
static int show_range(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                      int64_t traced_id, struct as_error *err)
{
    struct as_traced traced = {0};
    struct as_trace_range_texts texts;
    struct as_range_wanted wanted;
    int rc = as_trace_range_parse(&cli->args, &texts, &wanted, err);
    if (rc == 0)
        rc = as_traced_read_range(experiment, traced_id, &wanted, &traced, err);
    if (rc == 0)
        rc = as_traced_write(experiment, run_id, traced_id, &traced, err);
    if (rc == 0) {
        as_advise_quickly(cli, experiment, run_id);
        rc = show_traced(cli, experiment, run_id, &traced.trace, err);
    }
    as_traced_fini(&traced);
    as_trace_range_fini(&texts);
    return rc;
}

int as_trace_show(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                  struct as_error *err)
{
    return show_range(cli, experiment, run_id, run_id, err);
}

/* Prints the trace of an existing experiment, or a part of it. */
static int analyse_again(struct as_cli *cli, struct as_error *err)
{
    struct as_experiment *experiment = NULL;
    struct as_trace_range_texts texts;
    struct as_range_wanted wanted;
    int64_t run_id, traced_id;
    int rc = as_trace_range_parse(&cli->args, &texts, &wanted, err);
    as_trace_range_fini(&texts);
    AS_TRY(rc);
    AS_TRY(as_experiment_open(cli->args.value[AS_OPTION_TRACE_ANALYSE], &experiment, err));
    rc = as_analyse_find(experiment, &run_id, &traced_id, err);
    if (rc == 0)
        rc = show_range(cli, experiment, run_id, traced_id, err);
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}

static int trace_into(struct as_cli *cli, struct as_experiment_name *name,
                      struct as_profile_request *request, struct as_profile_result *result,
                      struct as_error *err)
{
    static const struct as_run_part part[] = {{"trace", 1, 1}};
    struct as_run_count count = {0};
    struct as_experiment *experiment;
    AS_TRY(as_experiment_name_create(cli, name, &experiment, err));
    if (!name->is_rank)
        as_run_count_begin(&count, cli, part, 1, request);
    const struct as_traced_functions functions = {cli->args.value[AS_OPTION_TRACE_FUNCTIONS],
                                                  cli->args.value[AS_OPTION_TRACE_FUNCTIONS_OF]};
    int rc = functions.names ? as_trace_functions_run(experiment, request, &functions, result, err)
                             : as_profile_run(experiment, request, result, err);
    if (rc == 0 && request->trace->first_s > 0)
        rc = as_score_run(cli, experiment, result->run_id, err);
    else if (rc == 0)
        rc = as_trace_show(cli, experiment, result->run_id, err);
    return as_recording_close(&experiment, result->run_id, rc, err);
}

static uint32_t group_bit(struct as_view name)
{
#define GROUP(group, word, bit) {word, bit},
    static const struct {
        const char *word;
        uint32_t bit;
    } group[] = {AS_TRACED_GROUPS(GROUP)};
#undef GROUP
    for (size_t i = 0; i < sizeof group / sizeof *group; i++)
        if (as_view_equal(name, as_view_of(group[i].word)))
            return group[i].bit;
    return 0;
}

static const char *near_group(struct as_view name)
{
#define GROUP(group, word, bit) word,
    static const char *const words[] = {AS_TRACED_GROUPS(GROUP)};
#undef GROUP
    struct as_nearest nearest;
    as_nearest_init(&nearest, name.p, name.n);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        as_nearest_offer(&nearest, words[i]);
    return nearest.best;
}

static int parse_trace_groups(const char *text, uint32_t *out, struct as_error *err)
{
    struct as_view rest = as_view_of(text), part;
    *out = text ? 0 : AS_TRACED_USUAL;
    while (as_view_split(&rest, ',', &part)) {
        const uint32_t bit = group_bit(as_view_trim(part));
        const char *near = bit ? NULL : near_group(as_view_trim(part));
        if (near)
            return as_error_set(err, AS_ERR_USAGE,
                                "--groups: invalid value '%.*s'; did you mean %s?", (int)part.n,
                                part.p, near);
        if (!bit)
            return as_error_set(err, AS_ERR_USAGE,
                                "--groups: invalid value '%.*s'; use mpi, openmp, pthread, "
                                "functions, opencl, io or memory, separated by commas",
                                (int)part.n, part.p);
        *out |= bit;
    }
    return 0;
}

static int parse_callers(const struct as_arguments *args, uint32_t *out, struct as_error *err)
{
    const uint64_t wanted = args->number[AS_OPTION_TRACE_CALLERS];
    *out = as_given(args, AS_OPTION_TRACE_CALLERS) ? (uint32_t)wanted : AS_TRACED_CALLERS;
    if (wanted > AS_TRACED_CALLERS_N)
        return as_error_set(err, AS_ERR_USAGE, "--callers: %llu is out of range; use 0 to %u",
                            (unsigned long long)wanted, AS_TRACED_CALLERS_N);
    return 0;
}

/* Samples among the events are taken inside the program. */
static int parse_sample_options(struct as_cli *cli, struct as_trace_options *options,
                                struct as_profile_request *request, struct as_error *err)
{
    const uint8_t event = request->sampling.event;
    options->samples = as_given(&cli->args, AS_OPTION_TRACE_SAMPLES);
    /* Beside events samples are few, unless they are asked for. */
    if (!as_given(&cli->args, AS_OPTION_RATE))
        request->sampling.rate_hz = options->samples ? AS_RATE_MEDIUM : AS_RATE_LOW;
    if (!options->samples)
        return 0;
    if (event != AS_EVENT_AUTO && event != AS_EVENT_TIMER)
        return as_error_set(err, AS_ERR_USAGE,
                            "--samples: only timers in the program sample among events; remove "
                            "--event, or use --event timer");
    if (request->sampling.stacks == AS_STACKS_LBR)
        return as_error_set(err, AS_ERR_USAGE,
                            "--samples: timers have no branch records; remove --call-stacks lbr");
    request->sampling.event = AS_EVENT_TIMER;
    return 0;
}

#define DRY_RUN_S 1.0

static int parse_trace_options(struct as_cli *cli, struct as_trace_options *options,
                               struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    AS_TRY(parse_trace_groups(args->value[AS_OPTION_TRACE_GROUPS], &options->groups, err));
    AS_TRY(parse_callers(args, &options->callers, err));
    if (as_given(args, AS_OPTION_TRACE_FUNCTIONS_OF) && !as_given(args, AS_OPTION_TRACE_FUNCTIONS))
        return as_error_set(
            err, AS_ERR_USAGE,
            "--functions-of: needs a list of functions; add --functions, such as --functions "
            "'solve*'");
    const char *least = args->value[AS_OPTION_TRACE_MEMORY_LEAST];
    options->memory_min_b = AS_TRACED_MEMORY_B;
    if (least)
        AS_TRY(as_recording_size("--memory-least", least, &options->memory_min_b, err));
    options->first_s = as_given(args, AS_OPTION_TRACE_DRY_RUN) ? DRY_RUN_S : 0;
    AS_TRY(as_trace_control_parse(args, options, err));
    AS_TRY(as_recording_size("--ring", args->value[AS_OPTION_RING], &options->ring_b, err));
    return as_recording_size("--limit", args->value[AS_OPTION_TRACE_LIMIT], &options->limit_b, err);
}

int as_verb_trace(struct as_cli *cli, struct as_error *err)
{
    struct as_trace_options options = {0};
    struct as_profile_request request;
    struct as_profile_result result = {.exit_code = -1};
    struct as_experiment_name name = {0};
    struct as_filter_choice choice = {0};
    struct as_trace_range_texts texts;
    struct as_range_wanted wanted;
    bool is_there;
    AS_TRY(as_analyse_asked(cli, &is_there, err));
    if (is_there)
        return analyse_again(cli, err);
    AS_TRY(as_score_asked(cli, &is_there, err));
    if (is_there)
        return as_score_experiment(cli, err);
    const int range_rc = as_trace_range_parse(&cli->args, &texts, &wanted, err);
    as_trace_range_fini(&texts);
    AS_TRY(range_rc);
    AS_TRY(as_recording_parse(cli, &request, err));
    AS_TRY(parse_trace_options(cli, &options, err));
    AS_TRY(parse_sample_options(cli, &options, &request, err));
    int rc = as_filter_choose(cli, &choice, err);
    /* The filter is not yet applied: the score shows its effect. */
    if (choice.path && options.first_s <= 0) {
        options.filter = as_str_z(&choice.filter.rules);
        options.filter_b = choice.filter.rules.n;
    }
    request.trace = &options;
    request.kind = "trace";
    if (rc == 0)
        rc = as_recording_name(cli, &request, &name, err);
    if (rc == 0)
        rc = trace_into(cli, &name, &request, &result, err);
    as_filter_choice_fini(&choice);
    as_recording_end(cli, &name, &result, result.interrupted, rc);
    return rc;
}
