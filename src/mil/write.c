/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the results of probes to the first run: the metric set `probes` of loops, and a table of
 * all sites. write_values.c writes the tables of values.
 */
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "mil/run.h"

#include "catalogue/catalogue.h"

#define PASS      "probe"
#define ROWS_MOST 1000u
#define PROBE_METRIC(name, unit, title, meaning, digits)                                           \
    {                                                                                              \
        {name, unit, meaning, "measured", AS_BETTER_NEITHER, title, PASS, 0, 0, 0, PASS},          \
            AS_ORIGIN_MEASURED, digits, false                                                      \
    }

static const struct as_set_metric metrics[] = {
    PROBE_METRIC("probe_entry_n", "1", "Entries", "Number of entries of the loop.", 0),
    PROBE_METRIC("probe_round_n", "1", "Rounds", "Number of executions of the loop header.", 0),
    PROBE_METRIC("probe_time_s", "s", "Time",
                 "Time from entry to exit, summed over all instances and threads.", 9),
    PROBE_METRIC("probe_round_cycles", "cycles", "Cycles per round",
                 "Busy core cycles from entry to exit, by iterations.", 3)};
enum { PROBE_METRICS = sizeof metrics / sizeof *metrics, PROBE_COLUMNS_N = 12 };

struct probe_writing {
    const struct as_probe_session *run;
    struct as_catalogue_module *module;
    struct as_metric_set *set;
    struct as_arena arena;
};

static struct as_bounded_value probe_quantity(double value, double n)
{
    return isnan(value) ? (struct as_bounded_value){0}
                        : as_value_measured(value, value, value, (int64_t)n);
}

/* ---- Loops ----------------------------------------------------------------------------------- */

/* Returns true if this probe represents its loop: the first probe with a time, else the first
 * one. */
static bool is_first_of_loop(const struct as_probe_result *result, size_t site)
{
    const struct as_probe_site *it = &result->sites.at[site];
    const bool timed = !isnan(result->value[site].time_s);
    for (size_t i = 0; i < result->sites.n; i++) {
        const bool other_timed = !isnan(result->value[i].time_s);
        if (i != site && result->sites.at[i].loop == it->loop && !isnan(result->value[i].entries) &&
            (other_timed > timed || (other_timed == timed && i < site)))
            return false;
    }
    return true;
}

static int write_loop(struct probe_writing *to, size_t site, struct as_error *err)
{
    const struct as_probe_result *result = to->run->result;
    const struct as_probe_value *value = &result->value[site];
    struct as_subject of = {AS_OBJECT_LOOP, 0, result->profile.run_id, 0};
    if (result->sites.at[site].loop == AS_NONE || isnan(value->entries) ||
        !is_first_of_loop(result, site))
        return 0;
    AS_TRY(as_catalogue_row_loop(to->module, result->sites.at[site].loop, &of.object_id, err));
    const struct as_bounded_value row[PROBE_METRICS] = {
        probe_quantity(value->entries, value->entries),
        probe_quantity(value->rounds, value->entries),
        probe_quantity(value->time_s, value->entries),
        probe_quantity(value->rounds > 0 ? value->cycles / value->rounds : (double)NAN,
                       value->entries)};
    return of.object_id ? as_metric_set_add(to->set, &of, (int64_t)value->entries, row, err) : 0;
}

/* ---- Table ----------------------------------------------------------------------------------- */

static struct as_sql_cell cell_of(double value)
{
    return isnan(value) ? (struct as_sql_cell){0}
                        : (struct as_sql_cell){.kind = AS_SQL_CELL_REAL, .real = value};
}

static struct as_sql_cell cell_of_text(const char *text)
{
    return text ? (struct as_sql_cell){.kind = AS_SQL_CELL_TEXT, .text = text}
                : (struct as_sql_cell){0};
}

static void fill_cells(struct probe_writing *to, size_t site, struct as_sql_cell *cell)
{
    const struct as_probe_result *result = to->run->result;
    const struct as_probe_site *it = &result->sites.at[site];
    struct as_probe_facts facts;
    char address[32] = "";
    as_probes_get(to->run->request->probes, it->probe, &facts);
    if (it->body != AS_NONE)
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)it->address);
    cell[0] = cell_of_text(facts.name);
    cell[1] = cell_of_text(as_probe_event_words(facts.event));
    cell[2] = cell_of_text(it->body != AS_NONE ? result->program->body[it->body].name : NULL);
    cell[3] = cell_of_text(as_arena_strndup(&to->arena, address, sizeof address - 1));
    cell[4] = cell_of(result->value[site].count);
    cell[5] = cell_of(result->value[site].time_s);
    cell[6] = cell_of(result->value[site].least_s);
    cell[7] = cell_of(result->value[site].largest_s);
    cell[8] = cell_of(result->value[site].calls);
    cell[9] = cell_of((double)result->value[site].cut_n);
    cell[10] = cell_of((double)result->value[site].lost_n);
    cell[11] = cell_of_text(it->refusal);
}

static int write_table(struct probe_writing *to, struct as_error *err)
{
    static const char *const column[PROBE_COLUMNS_N] = {
        "probe",   "event",     "function", "address", "count", "time s",
        "least s", "largest s", "calls",    "cut",     "lost",  "not measured"};
    const struct as_probe_result *result = to->run->result;
    const size_t n = result->sites.n < ROWS_MOST ? result->sites.n : ROWS_MOST;
    struct as_sql_cell *cell =
        as_arena_array(&to->arena, struct as_sql_cell, n * PROBE_COLUMNS_N + 1);
    if (!cell)
        return as_error_nomem(err, "what probes measured");
    for (size_t i = 0; i < n; i++)
        fill_cells(to, i, &cell[i * PROBE_COLUMNS_N]);
    const struct as_detail detail = {
        .of = {AS_OBJECT_RUN, result->profile.run_id, result->profile.run_id, 0},
        .name = "probes",
        .title = "Probes",
        .position = 60,
        .column = column,
        .column_n = PROBE_COLUMNS_N,
        .cell = cell,
        .row_n = n,
        .pass = PASS};
    return as_experiment_detail(to->run->experiment, &detail, err);
}

/* ---- All results ----------------------------------------------------------------------------- */

static int write_probes(void *context, struct as_error *err)
{
    struct probe_writing *to = context;
    AS_TRY(as_metric_set_open(to->run->experiment, "probes", AS_OBJECT_LOOP, PASS, metrics,
                              PROBE_METRICS, &to->set, err));
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < to->run->result->sites.n; i++)
        rc = write_loop(to, i, err);
    as_metric_set_close(&to->set);
    if (rc == 0)
        rc = write_table(to, err);
    return rc == 0 ? as_probe_write_values(to->run, &to->arena, err) : rc;
}

int as_probe_write(struct as_probe_session *run, struct as_error *err)
{
    struct probe_writing to = {.run = run};
    struct as_catalogue *catalogue = NULL;
    AS_TRY(as_catalogue_new(run->experiment, NULL, &catalogue, err));
    as_arena_init(&to.arena);
    int rc =
        as_catalogue_adopt(catalogue, run->result->object, run->result->program, &to.module, err);
    if (rc == 0)
        rc = as_experiment_write_pass(run->experiment, run->result->profile.run_id, PASS,
                                      write_probes, &to, err);
    as_arena_fini(&to.arena);
    as_catalogue_close(catalogue, &to.module);
    as_catalogue_free(&catalogue);
    return rc;
}
