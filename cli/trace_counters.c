/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_counters.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

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
    COUNTED_COMPUTING,
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
    [COUNTED_COMPUTING] = {"computing", "computing", AS_FIELD_RIGHT},
};

/* Instructions and cycles of a thread. */
enum {
    IPC_RANK,
    IPC_PID,
    IPC_TID,
    IPC_INSTRUCTIONS,
    IPC_CYCLES,
    IPC_ALL,
    IPC_USEFUL_INSTRUCTIONS,
    IPC_USEFUL_CYCLES,
    IPC_USEFUL,
    IPC_COLUMNS
};

static const struct as_field ipc_fields[IPC_COLUMNS] = {
    [IPC_RANK] = {"rank", "rank", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    [IPC_PID] = {"pid", NULL, AS_FIELD_RIGHT},
    [IPC_TID] = {"tid", "thread", AS_FIELD_RIGHT},
    [IPC_INSTRUCTIONS] = {"instructions", "instructions", AS_FIELD_RIGHT},
    [IPC_CYCLES] = {"cycles", "cycles", AS_FIELD_RIGHT},
    [IPC_ALL] = {"ipc", "IPC", AS_FIELD_RIGHT},
    [IPC_USEFUL_INSTRUCTIONS] = {"useful_instructions", "computing: instructions", AS_FIELD_RIGHT},
    [IPC_USEFUL_CYCLES] = {"useful_cycles", "cycles", AS_FIELD_RIGHT},
    [IPC_USEFUL] = {"useful_ipc", "IPC", AS_FIELD_RIGHT},
};

static void fill_counter_row(void *context, size_t row, struct as_cell *cell)
{
    const struct as_parallel *parallel = context;
    const struct as_parallel_counter *range = &parallel->counter.at[row];
    if (range->of.rank >= 0)
        cell[COUNTED_RANK] = as_cell_signed(range->of.rank);
    cell[COUNTED_PID] = as_cell_signed(range->of.pid);
    cell[COUNTED_TID] = as_cell_signed(range->of.tid);
    cell[COUNTED_NAME] = as_cell_text(range->name);
    cell[COUNTED_READINGS] = as_cell_signed(range->n);
    cell[COUNTED_FIRST] = as_cell_signed(range->first);
    cell[COUNTED_LAST] = as_cell_signed(range->last);
    cell[COUNTED_LEAST] = as_cell_signed(range->least);
    cell[COUNTED_MOST] = as_cell_signed(range->most);
    cell[COUNTED_COMPUTING] = as_cell_signed(range->computing);
}

static struct as_sheet sheet_of(const struct as_parallel *parallel)
{
    return (struct as_sheet){counted, COUNTED_COLUMNS, parallel->counter.n, (void *)parallel,
                             fill_counter_row};
}

/* ---- Instructions per cycle ------------------------------------------------------------------ */

static bool counts_instructions(const char *name)
{
    return strstr(name, "PAPI_TOT_INS") || strcmp(name, "instructions") == 0;
}

static bool counts_cycles(const char *name)
{
    return strstr(name, "PAPI_TOT_CYC") || strcmp(name, "cycles") == 0;
}

/* Returns the first counter of a thread that `wants` accepts, or NULL. */
static const struct as_parallel_counter *counter_of(const struct as_parallel *parallel,
                                                    int64_t number, bool (*wants)(const char *))
{
    as_vec_foreach (&parallel->counter, range)
        if (range->of.number == number && wants(range->name))
            return range;
    return NULL;
}

/* Instructions and cycles of a thread. */
struct ipc_row {
    const struct as_parallel_counter *instructions, *cycles;
};

struct ipc_rows {
    AS_VEC(struct ipc_row) row;
};

static int find_ipc_rows(const struct as_parallel *parallel, struct ipc_rows *out)
{
    *out = (struct ipc_rows){0};
    as_vec_foreach (&parallel->counter, range) {
        const struct as_parallel_counter *cycles =
            counter_of(parallel, range->of.number, counts_cycles);
        const struct as_parallel_counter *first =
            counter_of(parallel, range->of.number, counts_instructions);
        if (counts_instructions(range->name) && cycles) {
            const struct ipc_row row = {first, cycles};
            AS_TRY(as_vec_push(&out->row, row));
        }
    }
    return 0;
}

static struct as_cell ipc_of(int64_t instructions, int64_t cycles)
{
    return cycles > 0 ? as_cell_real(round(1e4 * (double)instructions / (double)cycles) / 1e4)
                      : as_cell_text(NULL);
}

static void fill_ipc_row(void *context, size_t row, struct as_cell *cell)
{
    const struct ipc_rows *rows = context;
    const struct as_parallel_counter *instructions = rows->row.at[row].instructions;
    const struct as_parallel_counter *cycles = rows->row.at[row].cycles;
    if (cycles->of.rank >= 0)
        cell[IPC_RANK] = as_cell_signed(cycles->of.rank);
    cell[IPC_PID] = as_cell_signed(cycles->of.pid);
    cell[IPC_TID] = as_cell_signed(cycles->of.tid);
    cell[IPC_INSTRUCTIONS] = as_cell_signed(instructions->last);
    cell[IPC_CYCLES] = as_cell_signed(cycles->last);
    cell[IPC_ALL] = ipc_of(instructions->last, cycles->last);
    cell[IPC_USEFUL_INSTRUCTIONS] = as_cell_signed(instructions->computing);
    cell[IPC_USEFUL_CYCLES] = as_cell_signed(cycles->computing);
    cell[IPC_USEFUL] = ipc_of(instructions->computing, cycles->computing);
}

static struct as_sheet sheet_of_ipc(struct ipc_rows *rows)
{
    return (struct as_sheet){ipc_fields, IPC_COLUMNS, rows->row.n, rows, fill_ipc_row};
}

static int write_ipc_text(struct as_cli *cli, const struct as_parallel *parallel,
                          struct as_error *err)
{
    struct ipc_rows rows;
    struct as_str same = {0};
    int rc = find_ipc_rows(parallel, &rows) < 0 ? as_error_nomem(err, "instructions per cycle") : 0;
    if (rc == 0 && rows.row.n) {
        struct as_sheet sheet = sheet_of_ipc(&rows);
        sheet.row_n = sheet.row_n < ROWS_SHOWN ? sheet.row_n : ROWS_SHOWN;
        as_out_c(&cli->out, '\n');
        rc = as_sheet_text(cli, &sheet, &same, err);
    }
    as_str_fini(&same);
    as_vec_fini(&rows.row);
    return rc;
}

int as_trace_counters_text(struct as_cli *cli, const struct as_parallel *parallel,
                           struct as_error *err)
{
    struct as_sheet sheet = sheet_of(parallel);
    struct as_str same = {0};
    if (sheet.row_n > ROWS_SHOWN) {
        as_cli_note(cli, "trace: --format json has %zu more counters of threads",
                    sheet.row_n - ROWS_SHOWN);
        sheet.row_n = ROWS_SHOWN;
    }
    as_out_c(&cli->out, '\n');
    const int rc = as_sheet_text(cli, &sheet, &same, err);
    as_str_fini(&same);
    return rc < 0 ? rc : write_ipc_text(cli, parallel, err);
}

void as_trace_counters_facts(struct as_facts *facts, const struct as_parallel *parallel)
{
    const struct as_sheet sheet = sheet_of(parallel);
    as_facts_sheet(facts, "counters", &sheet);
    struct ipc_rows rows;
    if (find_ipc_rows(parallel, &rows) == 0) {
        const struct as_sheet ipc = sheet_of_ipc(&rows);
        as_facts_sheet(facts, "ipc", &ipc);
    }
    as_vec_fini(&rows.row);
}
