/* SPDX-License-Identifier: Apache-2.0 */
/* Writes recorded values as tables of the first run. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "mil/probe.h"
#include "mil/run.h"

#define PASS      "probe"
#define ROWS_MOST 4000u

enum { HEAD_N = 4, VALUES_N = HEAD_N + 9, BUCKETS_N = HEAD_N + 3, THREADS_N = HEAD_N + 5 };

/* A table that is being filled. */
struct value_table {
    const struct as_probe_session *run;
    struct as_arena *arena;
    AS_VEC(struct as_sql_cell) cell;
    size_t column_n;
    bool failed;
};

static void add_text_cell(struct value_table *to, const char *text)
{
    const struct as_sql_cell cell = {.kind = AS_SQL_CELL_TEXT, .text = text};
    to->failed |= as_vec_push(&to->cell, text ? cell : (struct as_sql_cell){0}) < 0;
}

static void add_real_cell(struct value_table *to, double real)
{
    const struct as_sql_cell cell = {.kind = AS_SQL_CELL_REAL, .real = real};
    to->failed |= as_vec_push(&to->cell, isfinite(real) ? cell : (struct as_sql_cell){0}) < 0;
}

static void add_probe_number_cell(struct value_table *to, bool is_real,
                                  union as_probe_number number)
{
    add_real_cell(to, is_real ? number.real : (double)number.whole);
}

/* Adds the cells of probe, function, address and recorded value. */
static void add_record_head(struct value_table *to, size_t site, size_t record)
{
    const struct as_probe_result *result = to->run->result;
    const struct as_probe_site *it = &result->sites.at[site];
    const struct as_mil_probe *probe = &to->run->request->probes->probe.at[it->probe];
    char address[32];
    const int n = snprintf(address, sizeof address, "0x%llx", (unsigned long long)it->address);
    add_text_cell(to, probe->name);
    add_text_cell(to, result->program->body[it->body].name);
    add_text_cell(to, as_arena_strndup(to->arena, address, (size_t)n));
    add_text_cell(to, probe->record.at[record].text);
}

static bool has_room(const struct value_table *to)
{
    return to->cell.n / to->column_n < ROWS_MOST && !to->failed;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static const char *frequent_text(struct value_table *to, const struct as_probe_recorded *from)
{
    char text[AS_PROBE_FREQUENT * 56] = "";
    int n = 0;
    for (unsigned i = 0; i < AS_PROBE_FREQUENT && from->frequent[i].n; i++) {
        const unsigned long long times = from->frequent[i].n;
        const char *border = i ? ", " : "";
        n += from->is_real ? snprintf(text + n, sizeof text - (size_t)n, "%s%.9g x %llu", border,
                                      from->frequent[i].value.real, times)
                           : snprintf(text + n, sizeof text - (size_t)n, "%s%lld x %llu", border,
                                      (long long)from->frequent[i].value.whole, times);
    }
    return as_arena_strndup(to->arena, text, strlen(text));
}

static void add_recorded_row(struct value_table *to, size_t site, size_t record)
{
    const struct as_probe_recorded *from = &to->run->result->value[site].recorded[record];
    const bool any = from->n > from->unordered;
    add_record_head(to, site, record);
    add_real_cell(to, (double)from->n);
    add_real_cell(to, (double)from->missed);
    add_real_cell(to, (double)from->lost);
    add_real_cell(to, (double)from->unordered);
    if (any)
        add_probe_number_cell(to, from->is_real, from->least);
    else
        add_text_cell(to, NULL);
    add_real_cell(to, from->mean);
    if (any)
        add_probe_number_cell(to, from->is_real, from->largest);
    else
        add_text_cell(to, NULL);
    add_text_cell(to, frequent_text(to, from));
    add_text_cell(to, from->is_real ? "double" : "whole");
}

static void add_bucket_rows(struct value_table *to, size_t site, size_t record)
{
    const struct as_probe_recorded *from = &to->run->result->value[site].recorded[record];
    for (unsigned i = 0; i < AS_PROBE_RESULT_BUCKETS && has_room(to); i++) {
        double low, high;
        if (!from->bucket[i])
            continue;
        as_probe_bucket(i, from->is_real, &low, &high);
        add_record_head(to, site, record);
        add_real_cell(to, low);
        add_real_cell(to, high);
        add_real_cell(to, (double)from->bucket[i]);
    }
}

static const char *ends_text(struct value_table *to, bool is_real, const int64_t *value, uint64_t n)
{
    char text[AS_PROBE_ENDS * 28] = "";
    int at = 0;
    for (uint64_t i = 0; i < n; i++) {
        double real;
        memcpy(&real, &value[i], sizeof real);
        at += is_real ? snprintf(text + at, sizeof text - (size_t)at, "%s%.9g", i ? " " : "", real)
                      : snprintf(text + at, sizeof text - (size_t)at, "%s%lld", i ? " " : "",
                                 (long long)value[i]);
    }
    return as_arena_strndup(to->arena, text, strlen(text));
}

static void add_thread_rows(struct value_table *to, size_t site, size_t record)
{
    const uint32_t place = to->run->plan.place[site].first_value + (uint32_t)record;
    const bool is_real = to->run->result->value[site].recorded[record].is_real;
    as_vec_foreach (&to->run->probed.ends, it) {
        const uint64_t n = it->n < AS_PROBE_ENDS ? it->n : AS_PROBE_ENDS;
        if (it->place != place || !has_room(to))
            continue;
        add_record_head(to, site, record);
        add_real_cell(to, it->pid);
        add_real_cell(to, it->tid);
        add_real_cell(to, (double)it->n);
        add_text_cell(to, ends_text(to, is_real, it->first, n));
        add_text_cell(to, ends_text(to, is_real, it->last + (AS_PROBE_ENDS - n), n));
    }
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static const struct {
    const char *name, *title;
    void (*put)(struct value_table *to, size_t site, size_t record);
    size_t column_n;
    const char *column[VALUES_N];
} tables[] = {
    {"probe_values",
     "Values that probes recorded",
     add_recorded_row,
     VALUES_N,
     {"probe", "function", "address", "value", "recorded", "missed", "lost", "no numbers", "least",
      "mean", "largest", "most often", "type"}},
    {"probe_buckets",
     "Distribution of the values",
     add_bucket_rows,
     BUCKETS_N,
     {"probe", "function", "address", "value", "from", "to", "times"}},
    {"probe_threads",
     "First and last values of each thread",
     add_thread_rows,
     THREADS_N,
     {"probe", "function", "address", "value", "process", "thread", "recorded", "first", "last"}}};

static int write_one(struct value_table *to, unsigned table, struct as_error *err)
{
    const struct as_probe_result *result = to->run->result;
    to->column_n = tables[table].column_n;
    for (size_t i = 0; i < result->sites.n; i++) {
        const struct as_mil_probe *probe =
            &to->run->request->probes->probe.at[result->sites.at[i].probe];
        for (size_t k = 0; result->value[i].recorded && k < probe->record.n && has_room(to); k++)
            tables[table].put(to, i, k);
    }
    if (to->failed)
        return as_error_nomem(err, "what probes measured");
    if (!to->cell.n)
        return 0;
    const struct as_detail detail = {
        .of = {AS_OBJECT_RUN, result->profile.run_id, result->profile.run_id, 0},
        .name = tables[table].name,
        .title = tables[table].title,
        .position = 61 + (int)table,
        .column = tables[table].column,
        .column_n = to->column_n,
        .cell = to->cell.at,
        .row_n = to->cell.n / to->column_n,
        .pass = PASS};
    return as_experiment_detail(to->run->experiment, &detail, err);
}

int as_probe_write_values(const struct as_probe_session *run, struct as_arena *arena,
                          struct as_error *err)
{
    int rc = 0;
    for (unsigned t = 0; rc == 0 && t < sizeof tables / sizeof *tables; t++) {
        struct value_table to = {.run = run, .arena = arena};
        rc = write_one(&to, t, err);
        as_vec_fini(&to.cell);
    }
    return rc;
}
