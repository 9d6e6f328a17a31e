/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_counters.h"

#define ROWS_SHOWN 64u /* as text */

enum {
    COUNTED_RANK,
    COUNTED_PID,
    COUNTED_TID,
    COUNTED_NAME,
    COUNTED_READINGS,
    COUNTED_FIRST,
    COUNTED_LAST,
    COUNTED_LEAST,
    COUNTED_MOST,
    COUNTED_COLUMNS
};

static const struct as_field counted[COUNTED_COLUMNS] = {
    [COUNTED_RANK] = {"rank", "rank", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [COUNTED_PID] = {"pid", NULL, AS_FIELD_RIGHT},
    [COUNTED_TID] = {"tid", "thread", AS_FIELD_RIGHT},
    [COUNTED_NAME] = {"counter", "counter", AS_FIELD_ELASTIC},
    [COUNTED_READINGS] = {"readings", "readings", AS_FIELD_RIGHT},
    [COUNTED_FIRST] = {"first", "first", AS_FIELD_RIGHT},
    [COUNTED_LAST] = {"last", "last", AS_FIELD_RIGHT},
    [COUNTED_LEAST] = {"least", "least", AS_FIELD_RIGHT},
    [COUNTED_MOST] = {"most", "most", AS_FIELD_RIGHT},
};

static void fill_counter_row(void *context, size_t row, struct as_cell *cell)
{
    const struct as_traced *traced = context;
    const struct as_counter_range *range = &traced->counters.range.at[row];
    const struct as_location *l = &traced->analysis.location.at[range->location];
    if (l->rank >= 0)
        cell[COUNTED_RANK] = as_cell_signed(l->rank);
    cell[COUNTED_PID] = as_cell_count(traced->trace.process.at[l->process].pid);
    cell[COUNTED_TID] = as_cell_count(l->tid);
    cell[COUNTED_NAME] = as_cell_text(range->text);
    cell[COUNTED_READINGS] = as_cell_count(range->n);
    cell[COUNTED_FIRST] = as_cell_signed(range->first);
    cell[COUNTED_LAST] = as_cell_signed(range->last);
    cell[COUNTED_LEAST] = as_cell_signed(range->least);
    cell[COUNTED_MOST] = as_cell_signed(range->most);
}

static struct as_sheet sheet_of(const struct as_traced *traced)
{
    return (struct as_sheet){counted, COUNTED_COLUMNS, traced->counters.range.n, (void *)traced,
                             fill_counter_row};
}

int as_trace_counters_text(struct as_cli *cli, const struct as_traced *traced,
                           struct assay_error *err)
{
    struct as_sheet sheet = sheet_of(traced);
    struct as_str same = {0};
    if (sheet.row_n > ROWS_SHOWN) {
        as_cli_note(cli, "trace: %zu more counters of threads are in --format json",
                    sheet.row_n - ROWS_SHOWN);
        sheet.row_n = ROWS_SHOWN;
    }
    as_out_c(&cli->out, '\n');
    const int rc = as_sheet_text(cli, &sheet, &same, err);
    as_str_fini(&same);
    return rc;
}

void as_trace_counters_facts(struct as_facts *facts, const struct as_traced *traced)
{
    const struct as_sheet sheet = sheet_of(traced);
    as_facts_sheet(facts, "counters", &sheet);
}
