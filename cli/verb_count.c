/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay count -- CMD...`: profiles a command, runs it again with its hot functions counted block
 * by block, and says what they executed.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "compared.h"
#include "count/count.h"
#include "counting.h"
#include "recording.h"
#include "sheet.h"
#include "text.h"

struct counted_view {
    struct as_cli *cli;
    struct as_experiment *experiment;
    const struct as_count_result *result;
    struct as_arena arena;
    const char **name; /* of each object */
    bool levels;
};

static int name_object(struct counted_view *view, const struct as_count_object *it,
                       const char **out, struct as_error *err)
{
    struct as_str name = {0};
    const int rc = as_recording_place(view->experiment, it->kind, it->id, it->address, &name, err);
    *out = as_arena_strndup(&view->arena, as_str_z(&name), name.n);
    as_str_fini(&name);
    return rc < 0 ? rc : *out ? 0 : as_error_nomem(err, "names");
}

static int name_objects(struct counted_view *view, struct as_error *err)
{
    const size_t n = view->result->object_n;
    view->name = as_arena_array(&view->arena, const char *, n + 1);
    if (!view->name)
        return as_error_nomem(err, "names");
    for (size_t i = 0; i < n; i++)
        AS_TRY(name_object(view, &view->result->object[i], &view->name[i], err));
    return 0;
}

/* ---- Text ---------------------------------------------------------------------------------- */

static const struct as_column columns[] = {
    {.title = "time", .align = AS_ALIGN_RIGHT},
    {.title = "starts", .align = AS_ALIGN_RIGHT},
    {.title = "insns", .align = AS_ALIGN_RIGHT},
    {.title = "flops", .align = AS_ALIGN_RIGHT},
    {.title = "loaded", .align = AS_ALIGN_RIGHT},
    {.title = "stored", .align = AS_ALIGN_RIGHT},
    {.title = "flop/B", .align = AS_ALIGN_RIGHT},
    {.title = "function, loop", .shrink = AS_SHRINK_MIDDLE, .least = 16}};

/* All digits of what is small, else four and a prefix. */
static void write_amount(struct as_table *table, double value)
{
    static const char prefix[] = " kMGTPE";
    unsigned power = 0;
    if (value < 1e5) {
        as_table_f(table, "%.0f", value);
        return;
    }
    while (value >= 999.95 && power + 2 < sizeof prefix) {
        value /= 1000;
        power++;
    }
    as_table_f(table, "%.*f%c", value < 9.9995 ? 3 : value < 99.995 ? 2 : 1, value, prefix[power]);
}

static void object_row(struct as_table *table, const struct as_count_object *it, const char *name)
{
    static const int shown[] = {AS_COUNT_START, AS_COUNT_INSTRUCTION, AS_COUNT_FLOP,
                                AS_COUNT_LOAD_B, AS_COUNT_STORE_B};
    const double intensity = as_count_intensity(it);
    as_table_f(table, "%.1f %%", 100 * it->share);
    for (unsigned i = 0; i < sizeof shown / sizeof *shown; i++) {
        if (it->reason)
            as_table_string(table, NULL);
        else
            write_amount(table, it->count[shown[i]]);
    }
    if (it->reason || isnan(intensity))
        as_table_string(table, NULL);
    else
        as_table_f(table, "%.3f", intensity);
    as_table_f(table, "%*s%s", it->kind == AS_OBJECT_LOOP ? 2 * (int)it->depth : 0, "", name);
}

static const struct as_column traffic_columns[] = {
    {.title = "time", .align = AS_ALIGN_RIGHT},
    {.title = "L1", .align = AS_ALIGN_RIGHT},
    {.title = "L2-L1", .align = AS_ALIGN_RIGHT},
    {.title = "L3-L2", .align = AS_ALIGN_RIGHT},
    {.title = "memory", .align = AS_ALIGN_RIGHT},
    {.title = "+- %", .align = AS_ALIGN_RIGHT},
    {.title = "flop/B", .align = AS_ALIGN_RIGHT},
    {.title = "function, loop", .shrink = AS_SHRINK_MIDDLE, .least = 16}};

/* Bytes, or nothing where the model has none. */
static void bytes_cell(struct as_table *table, double value)
{
    if (isnan(value))
        as_table_string(table, NULL);
    else
        write_amount(table, value);
}

static void traffic_row(struct as_table *table, const struct as_count_object *it, const char *name)
{
    const struct as_count_traffic *t = &it->traffic;
    as_table_f(table, "%.1f %%", 100 * it->share);
    write_amount(table, it->count[AS_COUNT_LOAD_B] + it->count[AS_COUNT_STORE_B]);
    bytes_cell(table, t->bytes_l2_l1);
    bytes_cell(table, t->bytes_l3_l2);
    bytes_cell(table, t->bytes_memory);
    as_table_f(table, "%.1f", 100 * t->error);
    if (it->count[AS_COUNT_FLOP] > 0 && t->bytes_memory > 0)
        as_table_f(table, "%.3f", it->count[AS_COUNT_FLOP] / t->bytes_memory);
    else
        as_table_string(table, NULL);
    as_table_f(table, "%*s%s", it->kind == AS_OBJECT_LOOP ? 2 * (int)it->depth : 0, "", name);
}

/* Accesses that were not replayed are named in the interval. */
static int show_traffic(struct counted_view *view, struct as_error *err)
{
    const struct as_count_result *result = view->result;
    struct as_table table;
    size_t rows = 0;
    as_table_init(&table, traffic_columns, sizeof traffic_columns / sizeof *traffic_columns);
    for (size_t i = 0; i < result->object_n; i++) {
        if (!result->object[i].traffic.is_known || result->object[i].reason)
            continue;
        traffic_row(&table, &result->object[i], view->name[i]);
        rows++;
    }
    as_cli_print(view->cli, "\nBytes between levels of the memory hierarchy\n\n");
    const int rc = rows ? as_table_print(&table, &view->cli->out, as_cli_table_width(view->cli),
                                         view->cli->color, err)
                        : 0;
    as_table_fini(&table);
    as_cli_print(view->cli,
                 rows ? "\nL1: exact bytes of instructions. The others are simulated: addresses of "
                        "the run\nwere replayed through a model of the caches. Hardware prefetch "
                        "in vain is not\nincluded.\n"
                      : "No addresses were recorded.\n");
    if (rows && result->replayed_share < 1)
        as_cli_print(view->cli, "At the end %.3g %% of the cache sets stood for all.\n",
                     100 * result->replayed_share);
    return rc;
}

/* Returns the share of the chosen time that was not counted for the same reason as object
 * `first`; 0 if it was printed before. */
static double uncounted_like(const struct as_count_result *result, size_t first, double all)
{
    double share = 0;
    for (size_t i = 0; i < result->object_n; i++) {
        const struct as_count_object *it = &result->object[i];
        if (!it->reason || strcmp(it->reason, result->object[first].reason) != 0)
            continue;
        if (i < first)
            return 0;
        share += it->uncounted;
    }
    return share / all;
}

static void print_refusals(const struct counted_view *view)
{
    const struct as_count_result *result = view->result;
    double uncounted = 0;
    for (size_t i = 0; i < result->object_n; i++)
        uncounted += result->object[i].uncounted;
    for (size_t i = 0; i < result->object_n && uncounted > 0; i++) {
        const double share = result->object[i].reason
                                 ? uncounted_like(result, i, uncounted / result->refused_share)
                                 : 0;
        if (share > 0)
            as_cli_share(view->cli, share, result->object[i].reason);
    }
}

/* Kinds of notes in the rows, explained below the table. */
struct note_kinds {
    bool most, least;
    size_t idle; /* loops that are left out */
};

static void print_how(const struct counted_view *view, const struct note_kinds *said)
{
    const struct as_count_result *result = view->result;
    as_cli_print(view->cli,
                 "\nExact counts over all threads. Loops include inner loops; callees are not\n"
                 "included. Starts are calls of functions and iterations of loops.\n");
    if (said->idle)
        as_cli_print(view->cli, "%zu loops did not run and are left out.\n", said->idle);
    if (result->slowdown > 0)
        as_cli_print(view->cli, "Counting took %.2f times the CPU time of the run before.\n",
                     result->slowdown);
    as_cli_print(view->cli, "%.1f %% of the time of the chosen code could not be counted.\n",
                 100 * result->refused_share);
    print_refusals(view);
    if (said->most)
        as_cli_print(view->cli,
                     "(max): upper bound; the active lanes or bytes of some instructions "
                     "are\nunknown.\n");
    if (said->least)
        as_cli_print(view->cli,
                     "(min): lower bound; threads ended inside a loop, and its last entry "
                     "is not\ncounted.\n");
    if (result->threads_missed)
        as_cli_print(view->cli, "%llu threads could not be counted: counts are lower bounds.\n",
                     (unsigned long long)result->threads_missed);
}

/* Adds the notes of a row. */
static void add_note(struct as_table *table, const struct as_count_object *it,
                     struct note_kinds *said)
{
    char note[160];
    const bool most = !it->reason && it->count[AS_COUNT_UNSURE] > 0;
    const bool least = !it->reason && it->open;
    if (!it->reason && !most && !least)
        return;
    snprintf(note, sizeof note, "%s%s%s",
             it->reason ? "not counted: "
             : most     ? "(max)"
                        : "",
             most && least ? " " : "",
             it->reason ? it->reason
             : least    ? "(min)"
                        : "");
    as_table_note(table, note);
    said->most |= most;
    said->least |= least;
}

static bool is_idle_loop(const struct as_count_object *it)
{
    return it->kind == AS_OBJECT_LOOP && !it->reason && !it->open &&
           it->count[AS_COUNT_INSTRUCTION] == 0;
}

static int show_text(struct counted_view *view, struct as_error *err)
{
    const struct as_count_result *result = view->result;
    struct as_table table;
    struct note_kinds said = {0};
    if (result->interrupted && !result->counted_run) {
        as_cli_print(view->cli, "interrupted before all was counted\n");
        return 0;
    }
    if (result->object_n == 0) {
        as_cli_print(view->cli, "no function of the program has samples\n");
        return 0;
    }
    as_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < result->object_n; i++) {
        const struct as_count_object *it = &result->object[i];
        if (is_idle_loop(it)) {
            said.idle++;
            continue;
        }
        object_row(&table, it, view->name[i]);
        add_note(&table, it, &said);
    }
    const int rc = as_table_print(&table, &view->cli->out, as_cli_table_width(view->cli),
                                  view->cli->color, err);
    as_table_fini(&table);
    if (rc == 0 && result->counted_run)
        print_how(view, &said);
    if (rc == 0 && result->counted_run && view->levels)
        return show_traffic(view, err);
    if (rc == 0 && !result->counted_run) {
        as_cli_print(view->cli, "\n"
                                "Code that could not be counted, with its share of the time:\n");
        print_refusals(view);
    }
    return rc;
}

/* ---- Data ---------------------------------------------------------------------------------- */

enum {
    FIRST_COUNT = 7,
    FIRST_TRAFFIC = FIRST_COUNT + AS_COUNTS + 1,
    FIELDS_N = FIRST_TRAFFIC + AS_TRAFFICS + 2
};

static const struct as_field fields[FIELDS_N] = {{"kind", NULL, 0},
                                                 {"id", NULL, 0},
                                                 {"name", NULL, 0},
                                                 {"address", NULL, 0},
                                                 {"depth", NULL, 0},
                                                 {"share", NULL, 0},
                                                 {"not_counted", NULL, 0},
#define COUNT_FIELD(name, word) {word, NULL, 0},
                                                 AS_COUNT_LIST(COUNT_FIELD)
#undef COUNT_FIELD
                                                     {"executed_intensity", NULL, 0},
#define TRAFFIC_FIELD(name, word) {word, NULL, 0},
                                                 AS_TRAFFIC_LIST(TRAFFIC_FIELD)
#undef TRAFFIC_FIELD
                                                     {"traffic_error_pct", NULL, 0},
                                                 {"traffic_covered_pct", NULL, 0}};

/* The last fields. */
static void fill_traffic(const struct as_count_traffic *it, struct as_cell *cell)
{
    double value[AS_TRAFFICS];
    as_traffic_values(it, value);
    for (unsigned i = 0; i < AS_TRAFFICS; i++)
        if (!isnan(value[i]))
            cell[i] = as_cell_real(value[i]);
    if (it->is_known) {
        cell[AS_TRAFFICS] = as_cell_real(100 * it->error);
        cell[AS_TRAFFICS + 1] = as_cell_real(100 * it->covered);
    }
}

static void fill_object(void *context, size_t row, struct as_cell *cell)
{
    const struct counted_view *view = context;
    const struct as_count_object *it = &view->result->object[row];
    cell[0] = as_cell_text(as_object_word(it->kind));
    cell[1] = as_cell_signed(it->id);
    cell[2] = as_cell_text(view->name[row]);
    cell[3] = as_cell_hex(it->address);
    cell[4] = as_cell_count(it->depth);
    cell[5] = as_cell_real(it->share);
    cell[6] = as_cell_text(it->reason);
    for (unsigned i = 0; !it->reason && i < AS_COUNTS; i++)
        cell[FIRST_COUNT + i] = as_cell_real(it->count[i]);
    if (!it->reason && !isnan(as_count_intensity(it)))
        cell[FIRST_COUNT + AS_COUNTS] = as_cell_real(as_count_intensity(it));
    if (!it->reason)
        fill_traffic(&it->traffic, cell + FIRST_TRAFFIC);
}

static void emit_object(struct as_json *json, struct counted_view *view, size_t row)
{
    struct as_cell cell[FIELDS_N] = {0};
    fill_object(view, row, cell);
    as_json_object_begin(json);
    for (unsigned i = 0; i < FIELDS_N; i++) {
        as_json_key(json, fields[i].key);
        as_cell_json(json, &cell[i]);
    }
    as_json_object_end(json);
}

static void show_json(struct counted_view *view)
{
    const struct as_count_result *result = view->result;
    struct as_json json;
    as_compared_json_begin(&json, view->cli, view->experiment, "counted");
    as_json_array_begin(&json);
    for (size_t i = 0; i < result->object_n; i++)
        emit_object(&json, view, i);
    as_json_array_end(&json);
    as_json_key_i64(&json, "counted_run", result->counted_run);
    as_json_key_bool(&json, "interrupted", result->interrupted);
    as_json_key_double(&json, "slowdown", result->slowdown);
    as_json_key_double(&json, "refused_share", result->refused_share);
    as_json_key_u64(&json, "threads_missed", result->threads_missed);
    if (view->levels)
        as_json_key_double(&json, "replayed_share", result->replayed_share);
    as_compared_json_end(&json);
}

static int show_counts(struct counted_view *view, struct as_error *err)
{
    const struct as_sheet sheet = {fields, FIELDS_N, view->result->object_n, view, fill_object};
    AS_TRY(name_objects(view, err));
    if (view->cli->format == AS_FORMAT_TEXT)
        return show_text(view, err);
    if (view->cli->format == AS_FORMAT_CSV) {
        as_sheet_csv_header(view->cli, &sheet);
        as_sheet_csv_rows(view->cli, &sheet);
    } else
        show_json(view);
    return 0;
}

/* ---- The verb ------------------------------------------------------------------------------ */

static int show_counted(struct as_cli *cli, struct as_experiment *experiment,
                        const struct as_count_result *result, struct as_error *err)
{
    struct counted_view view = {.cli = cli,
                                .experiment = experiment,
                                .result = result,
                                .levels = cli->args.value[AS_OPTION_COUNT_LEVELS] ||
                                          cli->args.value[AS_OPTION_COUNT_CACHES]};
    as_arena_init(&view.arena);
    const int rc = show_counts(&view, err);
    as_arena_fini(&view.arena);
    return rc;
}

int as_verb_count(struct as_cli *cli, struct as_error *err)
{
    return as_counting_verb(cli, NULL, show_counted, err);
}
