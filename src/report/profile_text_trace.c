/* SPDX-License-Identifier: Apache-2.0 */
/* Phases of a traced run, its wait states and their causes: in the summary, and for `assay trace`.
 */
#include <math.h>

#include "base/error.h"
#include "report/profile_text.h"

static void begin_trace_table(struct as_page *page, struct as_table *table,
                              const struct as_column *columns, size_t n, const char *title)
{
    as_page_heading(page, title);
    as_page_table_begin(page, table, columns, n);
}

int as_text_trace_waits(struct as_page *page, const struct as_profile *profile,
                        struct as_error *err)
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
    if (!profile->wait.n)
        return 0;
    begin_trace_table(page, &table, columns, sizeof columns / sizeof *columns, "Waiting");
    as_vec_foreach (&profile->wait, it) {
        as_table_f(&table, "%.3f", it->time_s);
        as_table_f(&table, "%.3f", it->longest_s);
        as_table_u64(&table, (uint64_t)it->n);
        as_table_string(&table, it->title);
        as_table_string(&table, it->site);
        as_table_string(&table, it->location);
    }
    return as_page_table_end(page, &table, err);
}

int as_text_trace_causes(struct as_page *page, const struct as_profile *profile,
                         struct as_error *err)
{
    static const struct as_column columns[] = {
        {.title = "costs s", .align = AS_ALIGN_RIGHT},
        {.title = "directly", .align = AS_ALIGN_RIGHT},
        {.title = "waits", .align = AS_ALIGN_RIGHT},
        {.title = "cause"},
        {.title = "at", .shrink = AS_SHRINK_MIDDLE, .least = 12},
    };
    struct as_table table;
    if (!profile->late.n)
        return 0;
    begin_trace_table(page, &table, columns, sizeof columns / sizeof *columns, "Causes of waiting");
    as_vec_foreach (&profile->late, it) {
        as_table_f(&table, "%.3f", it->total_s);
        as_table_f(&table, "%.3f", it->direct_s);
        as_table_u64(&table, (uint64_t)it->n);
        as_table_string(&table, it->location);
        as_table_string(&table, it->site);
    }
    return as_page_table_end(page, &table, err);
}

static void write_phase_share(struct as_table *table, double pct)
{
    if (isnan(pct))
        as_table_string(table, NULL);
    else
        as_table_f(table, "%.1f", pct);
}

int as_text_trace_phases(struct as_page *page, const struct as_profile *profile,
                         struct as_error *err)
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
    if (!profile->phase.n)
        return 0;
    begin_trace_table(page, &table, columns, sizeof columns / sizeof *columns, "Phases");
    as_vec_foreach (&profile->phase, it) {
        as_table_f(&table, "%.3f", it->time_s);
        as_table_u64(&table, (uint64_t)it->calls_n);
        write_phase_share(&table, it->parallel_pct);
        write_phase_share(&table, it->balance_pct);
        write_phase_share(&table, it->communication_pct);
        as_table_string(&table, it->busiest);
        as_table_string(&table, it->name);
    }
    return as_page_table_end(page, &table, err);
}

int as_summary_trace(struct as_summary_text *s, struct as_error *err)
{
    AS_TRY(as_text_trace_phases(&s->page, s->profile, err));
    AS_TRY(as_text_trace_waits(&s->page, s->profile, err));
    return as_text_trace_causes(&s->page, s->profile, err);
}
