/* SPDX-License-Identifier: Apache-2.0 */
/* Wait states of a traced run and their causes in the summary. */
#include <math.h>

#include "base/error.h"
#include "report/profile_text.h"

static void begin_trace_table(struct as_summary_text *s, struct as_table *table,
                              const struct as_column *columns, size_t n, const char *title)
{
    as_page_heading(&s->page, title);
    as_page_table_begin(&s->page, table, columns, n);
}

static int write_trace_waits(struct as_summary_text *s, struct assay_error *err)
{
    static const struct as_column columns[] = {
        {.title = "wait s", .align = AS_ALIGN_RIGHT},
        {.title = "longest", .align = AS_ALIGN_RIGHT},
        {.title = "n", .align = AS_ALIGN_RIGHT},
        {.title = "what", .shrink = AS_SHRINK_END, .least = 16},
        {.title = "in", .shrink = AS_SHRINK_MIDDLE, .least = 12},
        {.title = "most of it", .shrink = AS_SHRINK_END, .least = 7},
    };
    struct as_table table;
    if (!s->profile->wait.n)
        return 0;
    begin_trace_table(s, &table, columns, sizeof columns / sizeof *columns, "Waiting");
    as_vec_foreach (&s->profile->wait, it) {
        as_table_f(&table, "%.3f", it->time_s);
        as_table_f(&table, "%.3f", it->longest_s);
        as_table_u64(&table, (uint64_t)it->n);
        as_table_string(&table, it->title);
        as_table_string(&table, it->site);
        as_table_string(&table, it->location);
    }
    return as_page_table_end(&s->page, &table, err);
}

static int write_trace_causes(struct as_summary_text *s, struct assay_error *err)
{
    static const struct as_column columns[] = {
        {.title = "costs s", .align = AS_ALIGN_RIGHT},
        {.title = "directly", .align = AS_ALIGN_RIGHT},
        {.title = "waits", .align = AS_ALIGN_RIGHT},
        {.title = "cause"},
        {.title = "at", .shrink = AS_SHRINK_MIDDLE, .least = 12},
    };
    struct as_table table;
    if (!s->profile->late.n)
        return 0;
    begin_trace_table(s, &table, columns, sizeof columns / sizeof *columns, "Causes of waiting");
    as_vec_foreach (&s->profile->late, it) {
        as_table_f(&table, "%.3f", it->total_s);
        as_table_f(&table, "%.3f", it->direct_s);
        as_table_u64(&table, (uint64_t)it->n);
        as_table_string(&table, it->location);
        as_table_string(&table, it->site);
    }
    return as_page_table_end(&s->page, &table, err);
}

static void write_phase_share(struct as_table *table, double pct)
{
    if (isnan(pct))
        as_table_string(table, NULL);
    else
        as_table_f(table, "%.1f", pct);
}

static int write_trace_phases(struct as_summary_text *s, struct assay_error *err)
{
    static const struct as_column columns[] = {
        {.title = "seconds", .align = AS_ALIGN_RIGHT},
        {.title = "calls", .align = AS_ALIGN_RIGHT},
        {.title = "parallel %", .align = AS_ALIGN_RIGHT},
        {.title = "balance %", .align = AS_ALIGN_RIGHT},
        {.title = "comm. %", .align = AS_ALIGN_RIGHT},
        {.title = "busiest"},
        {.title = "region", .shrink = AS_SHRINK_MIDDLE, .least = 12},
    };
    struct as_table table;
    if (!s->profile->phase.n)
        return 0;
    begin_trace_table(s, &table, columns, sizeof columns / sizeof *columns, "Phases");
    as_vec_foreach (&s->profile->phase, it) {
        as_table_f(&table, "%.3f", it->time_s);
        as_table_u64(&table, (uint64_t)it->calls_n);
        write_phase_share(&table, it->parallel_pct);
        write_phase_share(&table, it->balance_pct);
        write_phase_share(&table, it->communication_pct);
        as_table_string(&table, it->busiest);
        as_table_string(&table, it->name);
    }
    return as_page_table_end(&s->page, &table, err);
}

int as_summary_trace(struct as_summary_text *s, struct assay_error *err)
{
    AS_TRY(write_trace_phases(s, err));
    AS_TRY(write_trace_waits(s, err));
    return write_trace_causes(s, err);
}
