/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay probe FILE -- CMD`: what a file's probes measure in a run; with --check where they stand
 * in a binary, and which of them cannot be carried out.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "mil/mil.h"
#include "program.h"
#include "recording.h"
#include "runs.h"
#include "sheet.h"
#include "text.h"

enum {
    PROBE_NAME,
    PROBE_EVENT,
    PROBE_ACTIONS,
    PROBE_FUNCTION,
    PROBE_ADDRESS,
    PROBE_FILE,
    PROBE_LINE,
    PROBE_LOOP,
    PROBE_COUNTED,
    PROBE_SECONDS,
    PROBE_CYCLES,
    PROBE_LEAST_S,
    PROBE_LARGEST_S,
    PROBE_CALLS,
    PROBE_VALUE,
    PROBE_RECORDED,
    PROBE_MISSED,
    PROBE_LEAST,
    PROBE_MEAN,
    PROBE_LARGEST,
    PROBE_FREQUENT,
    PROBE_CUT,
    PROBE_LOST,
    PROBE_REFUSED,
    PROBE_COLUMNS
};

static const struct as_field columns[PROBE_COLUMNS] = {
    [PROBE_NAME] = {"probe", "probe", 0},
    [PROBE_EVENT] = {"event", "event", 0},
    [PROBE_ACTIONS] = {"actions", "does", 0},
    [PROBE_FUNCTION] = {"function", "function", AS_FIELD_ELASTIC},
    [PROBE_ADDRESS] = {"address", "address", AS_FIELD_RIGHT},
    [PROBE_FILE] = {"file", NULL, 0},
    [PROBE_LINE] = {"line", "line", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [PROBE_LOOP] = {"loop", "loop", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [PROBE_COUNTED] = {"count", "count", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [PROBE_SECONDS] = {"time_s", "seconds", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [PROBE_CYCLES] = {"round_cycles", "cycles/round", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [PROBE_LEAST_S] = {"least_s", NULL, AS_FIELD_RIGHT},
    [PROBE_LARGEST_S] = {"largest_s", NULL, AS_FIELD_RIGHT},
    [PROBE_CALLS] = {"calls", "calls", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [PROBE_VALUE] = {"value", "value", AS_FIELD_IF_VARIED},
    [PROBE_RECORDED] = {"recorded", "recorded", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [PROBE_MISSED] = {"missed", "missed", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [PROBE_LEAST] = {"least", "least", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [PROBE_MEAN] = {"mean", "mean", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [PROBE_LARGEST] = {"largest", "largest", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [PROBE_FREQUENT] = {"frequent", "most often", AS_FIELD_IF_VARIED},
    [PROBE_CUT] = {"cut", NULL, AS_FIELD_RIGHT},
    [PROBE_LOST] = {"lost", "lost", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [PROBE_REFUSED] = {"refused", "refused", AS_FIELD_IF_VARIED},
};

/* A site, and which of the values that are recorded there. */
struct probe_row {
    size_t site, record;
};

struct probe_view {
    struct as_cli *cli;
    struct as_chosen chosen;
    struct as_probes *probes;
    struct as_probe_sites sites;
    const struct as_probe_value *value; /* by site; NULL: nothing ran */
    struct probe_row *row;
    size_t row_n;
    struct as_arena arena;
};

static const char *actions_text(struct probe_view *view, unsigned actions)
{
    static const char *const words[] = {"count", "time", "record", "call"};
    struct as_str s = {0};
    for (unsigned i = 0; i < 4; i++)
        if (actions & 1u << i)
            as_str_appendf(&s, "%s%s", s.n ? ", " : "", words[i]);
    const char *text = as_arena_strndup(&view->arena, as_str_z(&s), s.n);
    as_str_fini(&s);
    return text;
}

static void place_cells(struct probe_view *view, const struct as_probe_site *site,
                        struct as_cell *cell)
{
    const struct as_program *p = view->chosen.program;
    const struct as_line *line = as_debug_line_at(&p->debug, site->address);
    struct as_str name = {0};
    as_chosen_name(&view->chosen, site->body, &name);
    cell[PROBE_FUNCTION] = as_cell_text(as_arena_strndup(&view->arena, as_str_z(&name), name.n));
    as_str_fini(&name);
    cell[PROBE_ADDRESS] = as_cell_hex(site->address);
    if (line && line->file < p->debug.file_n) {
        cell[PROBE_FILE] = as_cell_text(p->debug.file[line->file]);
        cell[PROBE_LINE] = as_cell_count(line->line);
    }
    if (site->loop != AS_NONE)
        cell[PROBE_LOOP] = as_cell_count(site->loop);
}

/* Four digits are enough for people. */
static struct as_cell real_cell(struct probe_view *view, double value)
{
    char text[32];
    const int n = snprintf(text, sizeof text, "%.4g", value);
    return view->cli->format == AS_FORMAT_TEXT
               ? as_cell_text(as_arena_strndup(&view->arena, text, (size_t)n))
               : as_cell_real(value);
}

static void value_cells(struct probe_view *view, const struct as_probe_value *value,
                        struct as_cell *cell)
{
    if (!isnan(value->count))
        cell[PROBE_COUNTED] = as_cell_count((uint64_t)value->count);
    if (!isnan(value->time_s))
        cell[PROBE_SECONDS] = real_cell(view, value->time_s);
    if (!isnan(value->cycles) && value->rounds > 0)
        cell[PROBE_CYCLES] = real_cell(view, value->cycles / value->rounds);
    if (!isnan(value->least_s)) {
        cell[PROBE_LEAST_S] = real_cell(view, value->least_s);
        cell[PROBE_LARGEST_S] = real_cell(view, value->largest_s);
    }
    if (!isnan(value->calls))
        cell[PROBE_CALLS] = as_cell_count((uint64_t)value->calls);
    cell[PROBE_CUT] = as_cell_count(value->cut_n);
    cell[PROBE_LOST] = as_cell_count(value->lost_n);
}

static struct as_cell number_cell(struct probe_view *view, bool is_real,
                                  union as_probe_number number)
{
    return is_real ? real_cell(view, number.real) : as_cell_signed(number.whole);
}

/* "VALUE x TIMES", what came most often first; for people three of them. */
static struct as_cell frequent_cell(struct probe_view *view, const struct as_probe_recorded *from)
{
    const bool is_text = view->cli->format == AS_FORMAT_TEXT;
    const unsigned most = is_text ? 3 : AS_PROBE_FREQUENT;
    struct as_str s = {0};
    for (unsigned i = 0; i < most && from->frequent[i].n; i++) {
        const char *border = !i ? "" : is_text ? ", " : "\n";
        if (from->is_real)
            as_str_appendf(&s, "%s%.6g x %" PRIu64, border, from->frequent[i].value.real,
                           from->frequent[i].n);
        else
            as_str_appendf(&s, "%s%" PRId64 " x %" PRIu64, border, from->frequent[i].value.whole,
                           from->frequent[i].n);
    }
    const char *text = as_arena_strndup(&view->arena, as_str_z(&s), s.n);
    as_str_fini(&s);
    return is_text ? as_cell_text(text) : as_cell_list(text);
}

static void recorded_cells(struct probe_view *view, const struct as_probe_recorded *from,
                           struct as_cell *cell)
{
    cell[PROBE_RECORDED] = as_cell_count(from->n);
    cell[PROBE_MISSED] = as_cell_count(from->missed);
    cell[PROBE_LOST] = as_cell_count(from->lost);
    if (from->n == from->unordered)
        return;
    cell[PROBE_LEAST] = number_cell(view, from->is_real, from->least);
    cell[PROBE_LARGEST] = number_cell(view, from->is_real, from->largest);
    cell[PROBE_MEAN] = real_cell(view, from->mean);
    cell[PROBE_FREQUENT] = frequent_cell(view, from);
}

static void fill_site_row(void *context, size_t row, struct as_cell *cell)
{
    struct probe_view *view = context;
    const struct probe_row *at = &view->row[row];
    const struct as_probe_site *site = &view->sites.at[at->site];
    const struct as_probe_value *value = view->value ? &view->value[at->site] : NULL;
    struct as_probe_facts facts;
    as_probes_get(view->probes, site->probe, &facts);
    cell[PROBE_NAME] = as_cell_text(facts.name);
    cell[PROBE_EVENT] = as_cell_text(as_probe_event_words(facts.event));
    cell[PROBE_ACTIONS] = as_cell_text(actions_text(view, facts.actions));
    if (site->body != AS_NONE)
        place_cells(view, site, cell);
    if (value && at->record == 0)
        value_cells(view, value, cell);
    if (facts.records)
        cell[PROBE_VALUE] =
            as_cell_text(as_probes_record_text(view->probes, site->probe, at->record));
    if (value && value->recorded && !site->refusal)
        recorded_cells(view, &value->recorded[at->record], cell);
    if (site->refusal)
        cell[PROBE_REFUSED] = as_cell_text(site->refusal);
}

/* ---- For people ------------------------------------------------------------------------------ */

/* A probe that stands nowhere is a mistake more often than not. */
static void note_nowhere(struct probe_view *view)
{
    for (size_t i = 0; i < as_probes_count(view->probes); i++) {
        struct as_probe_facts facts;
        size_t n = 0;
        as_probes_get(view->probes, i, &facts);
        while (n < view->sites.n && view->sites.at[n].probe != i)
            n++;
        if (n == view->sites.n)
            as_cli_note(view->cli, "%s:%u: probe '%s' matches no event of this program",
                        view->cli->args.positional[0], facts.line, facts.name);
        if (facts.asks_share && !view->value)
            as_cli_note(view->cli,
                        "%s:%u: probe '%s' filters by share of the time, which needs a run; all "
                        "matches are listed",
                        view->cli->args.positional[0], facts.line, facts.name);
    }
}

/* A row a site, and one more for each further value. */
static int list_rows(struct probe_view *view, struct as_error *err)
{
    struct as_probe_facts facts;
    size_t n = 0;
    for (size_t i = 0; i < view->sites.n; i++) {
        as_probes_get(view->probes, view->sites.at[i].probe, &facts);
        n += facts.records ? facts.records : 1;
    }
    view->row = as_arena_array(&view->arena, struct probe_row, n + 1);
    if (!view->row)
        return as_error_nomem(err, "places of probes");
    for (size_t i = 0; i < view->sites.n; i++) {
        as_probes_get(view->probes, view->sites.at[i].probe, &facts);
        for (size_t k = 0; k == 0 || k < facts.records; k++)
            view->row[view->row_n++] = (struct probe_row){i, k};
    }
    return 0;
}

static int show_sites(struct probe_view *view, struct as_error *err)
{
    struct as_str s = {0}, same = {0};
    size_t can = 0;
    AS_TRY(list_rows(view, err));
    const struct as_sheet sheet = {columns, PROBE_COLUMNS, view->row_n, view, fill_site_row};
    if (view->cli->format != AS_FORMAT_TEXT) {
        as_sheet_answer(view->cli, view->chosen.object, "sites", &sheet);
        return 0;
    }
    int rc = view->sites.n ? as_sheet_text(view->cli, &sheet, &same, err) : 0;
    for (size_t i = 0; i < view->sites.n; i++)
        can += !view->sites.at[i].refusal;
    as_append_counted(&s, view->sites.n, "place");
    as_str_appendf(&s, view->value ? ", %zu measured" : ", %zu can be measured", can);
    as_str_appendz(&s, as_str_z(&same));
    as_str_fini(&same);
    as_cli_styled(view->cli, AS_STYLE_DIM, as_str_z(&s));
    as_cli_print(view->cli, "\n");
    as_str_fini(&s);
    return rc;
}

static int check_binary(struct probe_view *view, struct as_error *err)
{
    const struct as_program *program = view->chosen.program;
    AS_TRY(as_probes_resolve(view->probes, program, NULL, &view->sites, err));
    AS_TRY(as_probes_check(view->probes, program, &view->sites, err));
    AS_TRY(as_probes_find_libraries(view->probes, err));
    note_nowhere(view);
    return show_sites(view, err);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static int run_into(struct probe_view *view, struct as_experiment_name *name,
                    struct as_probe_request *request, struct as_probe_result *result,
                    struct as_error *err)
{
    /* Times of loops, counts, and all else. */
    static const struct as_run_part part[] = {{"profile", 1, 1}, {"probe", 1, 3}};
    struct as_run_count count = {0};
    struct as_experiment *experiment = NULL;
    AS_TRY(as_experiment_name_create(view->cli, name, &experiment, err));
    if (!name->is_rank)
        as_run_count_begin(&count, view->cli, part, sizeof part / sizeof *part, &request->profile);
    int rc = as_probe_run(experiment, request, result, err);
    view->chosen.object = result->object;
    view->chosen.program = result->program;
    view->sites = result->sites;
    view->value = result->value;
    if (rc == 0 && result->value) {
        note_nowhere(view);
        rc = show_sites(view, err);
    }
    return as_recording_close(&experiment, result->profile.run_id, rc, err);
}

/* Behind the file, and the "--" that may stand there. */
static const char *const *command_behind(const struct as_arguments *args)
{
    const char *const *word = (const char *const *)args->positional + 1;
    return *word && strcmp(*word, "--") == 0 ? word + 1 : word;
}

static int run_command(struct probe_view *view, struct as_error *err)
{
    struct as_cli *cli = view->cli;
    struct as_probe_request request = {.probes = view->probes};
    struct as_probe_result result = {.profile = {.exit_code = -1}};
    struct as_experiment_name name = {0};
    AS_TRY(as_recording_parse(cli, &request.profile, err));
    request.profile.command = command_behind(&cli->args);
    if (!*request.profile.command)
        return as_error_set(err, AS_ERR_USAGE,
                            "probe: no command given; use 'assay probe FILE -- ./program'");
    int rc = as_recording_name(cli, &request.profile, &name, err);
    if (rc == 0)
        rc = run_into(view, &name, &request, &result, err);
    as_recording_end(cli, &name, &result.profile, result.interrupted, rc);
    as_probe_result_fini(&result);
    return rc;
}

/* ---- The verb -------------------------------------------------------------------------------- */

static int check_place(struct probe_view *view, struct as_error *err)
{
    if (view->cli->args.positional_n > 2)
        return as_error_set(err, AS_ERR_USAGE,
                            "--check: runs nothing; use a probe file and one binary");
    int rc = as_chosen_load(view->cli, 1, &view->chosen, err);
    if (rc == 0 && view->chosen.object)
        rc = check_binary(view, err);
    as_probe_sites_fini(&view->sites);
    as_chosen_free(&view->chosen);
    return rc;
}

int as_verb_probe(struct as_cli *cli, struct as_error *err)
{
    struct probe_view view = {.cli = cli};
    AS_TRY(as_probes_read(cli->args.positional[0], &view.probes, err));
    as_arena_init(&view.arena);
    const int rc = as_given(&cli->args, AS_OPTION_PROBE_CHECK) ? check_place(&view, err)
                                                               : run_command(&view, err);
    as_arena_fini(&view.arena);
    as_probes_free(&view.probes);
    return rc;
}
