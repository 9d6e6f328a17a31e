/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a loop that is gone most, put through the model of the core, as tables of its page. */
#include "quality/core_detail.h"

#include <stdio.h>
#include <string.h>

#include <assay/code.h>
#include <assay/isa.h>
#include <assay/object.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/vec.h"

/* Of a page that is read: iterations, and executions of instructions in all of them. */
#define ITERATIONS 3
#define TIMES_MOST 120
#define INSNS_MOST 300

/* ---- Keeping ------------------------------------------------------------------------------- */

static size_t heaviest_chain(const struct as_core_asked *asked, size_t path_n)
{
    size_t most = 0;

    for (size_t i = 1; i < path_n && i < asked->weight_n; i++)
        if (asked->weight[i] > asked->weight[most])
            most = i;
    return most;
}

static const char *insn_words(struct as_arena *arena, const struct as_core_asked *asked,
                              const struct assay_insn *insn)
{
    char text[128] = "";
    uint64_t size_b;
    const uint8_t *bytes = assay_object_bytes(asked->object, insn->address, &size_b);

    if (bytes && size_b >= insn->length)
        assay_insn_format(bytes, insn->length, insn->address, ASSAY_SYNTAX_INTEL, text,
                          sizeof text);
    return as_arena_strndup(arena, text, strlen(text));
}

static int keep_insns(struct as_arena *arena, const struct as_core_asked *asked,
                      const struct assay_code *code, const struct assay_prediction *found,
                      struct as_core_kept *out)
{
    const size_t n = found->insn_n < INSNS_MOST ? found->insn_n : INSNS_MOST;

    out->insn = as_arena_array(arena, struct as_core_insn, n + 1);
    for (size_t i = 0; out->insn && i < n; i++) {
        out->insn[i] = (struct as_core_insn){
            code->insn[i].address, insn_words(arena, asked, &code->insn[i]), found->insn[i]};
        out->insn[i].said.timing = NULL;
        if (!out->insn[i].text)
            return ASSAY_ERR_NOMEM;
    }
    out->insn_n = n;
    return out->insn ? 0 : ASSAY_ERR_NOMEM;
}

static int keep_core(struct as_arena *arena, const struct as_core_asked *asked,
                     const struct assay_prediction *found, struct as_core_kept *out)
{
    const size_t times = found->timeline_n < TIMES_MOST ? found->timeline_n : TIMES_MOST;

    out->port = as_arena_array(arena, const char *, found->port_n + 1u);
    out->port_use = as_arena_array(arena, double, found->port_n + 1u);
    out->timeline = as_arena_array(arena, struct assay_timeline_entry, times + 1);
    if (!out->port || !out->port_use || !out->timeline)
        return ASSAY_ERR_NOMEM;
    for (unsigned i = 0; i < found->port_n; i++) {
        out->port[i] =
            as_arena_strndup(arena, asked->uarch->port[i], strlen(asked->uarch->port[i]));
        out->port_use[i] = found->port_use[i];
        if (!out->port[i])
            return ASSAY_ERR_NOMEM;
    }
    for (size_t i = 0; i < times; i++)
        out->timeline[i] = found->timeline[i];
    out->port_n = found->port_n;
    out->timeline_n = times;
    return 0;
}

static int keep_path(struct as_arena *arena, const struct as_core_asked *asked,
                     const struct assay_paths *paths, struct as_core_kept *out,
                     struct assay_error *err)
{
    static const struct assay_predict_options options = {.simulate = true,
                                                         .timeline_n = ITERATIONS};
    struct assay_code code;
    struct assay_prediction found;

    AS_TRY(
        assay_path_code(asked->program, paths, heaviest_chain(asked, paths->path_n), &code, err));
    int rc = code.n ? assay_predict(asked->predictor, &code, 0, code.n, &options, &found, err)
                    : ASSAY_ERR_NO_CODE;
    if (rc == 0 && (keep_insns(arena, asked, &code, &found, out) < 0 ||
                    keep_core(arena, asked, &found, out) < 0))
        rc = as_error_nomem(err, "the page of a loop");
    assay_code_free(&code);
    return rc == ASSAY_ERR_NO_CODE ? 0 : rc;
}

int as_core_keep(struct as_arena *arena, const struct as_core_asked *asked,
                 struct as_core_kept *out, struct assay_error *err)
{
    struct assay_paths paths;

    *out = (struct as_core_kept){0};
    AS_TRY(assay_loop_paths(asked->program, asked->loop, ASSAY_PATH_LIMIT, &paths, err));
    const int rc = paths.path_n && !paths.merged ? keep_path(arena, asked, &paths, out, err) : 0;
    assay_paths_free(&paths);
    return rc;
}

/* ---- Writing ------------------------------------------------------------------------------- */

typedef AS_VEC(struct assay_cell) core_cells;

struct core_table {
    const char *name, *title, *text;
    int position;
    const char *const *column;
    size_t column_n;
};

static int write_core_table(struct assay_experiment *experiment, int64_t loop_id,
                            const struct core_table *table, core_cells *cell, bool failed,
                            struct assay_error *err)
{
    const struct assay_detail detail = {.of = {ASSAY_OBJECT_LOOP, loop_id, 0, 0},
                                        .name = table->name,
                                        .title = table->title,
                                        .position = table->position,
                                        .text = table->text,
                                        .column = table->column,
                                        .column_n = table->column_n,
                                        .cell = cell->at,
                                        .row_n = cell->n / table->column_n};
    const int rc = failed         ? as_error_nomem(err, "the page of a loop")
                   : detail.row_n ? assay_experiment_detail(experiment, &detail, err)
                                  : 0;

    cell->n = 0;
    return rc;
}

static bool push_cells(core_cells *cell, const struct assay_cell *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (as_vec_push(cell, from[i]) < 0)
            return false;
    return true;
}

static int write_insns(struct assay_experiment *experiment, int64_t loop_id,
                       const struct as_core_kept *kept, core_cells *cell, struct assay_error *err)
{
    static const char *const column[] = {"Instruction",      "Assembly", "Slots",
                                         "Latency (cycles)", "Chain",    "Note"};
    enum { TIMELINE_COLUMNS = sizeof column / sizeof *column };
    static const struct core_table table = {
        "core_insns",
        "Instructions on the core",
        "The way that is gone most, by the model of the core. Those of the chain wait for each "
        "other from iteration to iteration.",
        36,
        column,
        TIMELINE_COLUMNS};
    bool failed = false;
    char(*address)[24] = as_calloc(kept->insn_n + 1, sizeof *address);

    for (size_t i = 0; address && i < kept->insn_n; i++) {
        const struct as_core_insn *it = &kept->insn[i];

        snprintf(address[i], sizeof *address, "0x%llx", (unsigned long long)it->address);
        const struct assay_cell row[TIMELINE_COLUMNS] = {
            assay_cell_text(address[i]),
            assay_cell_text(it->text),
            assay_cell_real((double)it->said.slots),
            assay_cell_real((double)it->said.latency),
            assay_cell_text(it->said.chain ? "yes" : ""),
            assay_cell_text(it->said.fused        ? "with the one before"
                            : it->said.eliminated ? "eliminated"
                            : it->said.estimated  ? "estimated"
                                                  : "")};
        failed |= !push_cells(cell, row, TIMELINE_COLUMNS);
    }
    const int rc = write_core_table(experiment, loop_id, &table, cell, failed || !address, err);
    as_free(address);
    return rc;
}

static int write_ports(struct assay_experiment *experiment, int64_t loop_id,
                       const struct as_core_kept *kept, core_cells *cell, struct assay_error *err)
{
    static const char *const column[] = {"Port", "Busy (cycles)"};
    static const struct core_table table = {
        "core_ports",
        "Ports",
        "Cycles of an iteration that each port is busy, the load spread best.",
        37,
        column,
        2};
    bool failed = false;

    for (size_t i = 0; i < kept->port_n; i++) {
        const struct assay_cell row[] = {assay_cell_text(kept->port[i]),
                                         assay_cell_real(kept->port_use[i])};

        if (kept->port_use[i] > 0.005)
            failed |= !push_cells(cell, row, 2);
    }
    return write_core_table(experiment, loop_id, &table, cell, failed, err);
}

static int write_times(struct assay_experiment *experiment, int64_t loop_id,
                       const struct as_core_kept *kept, core_cells *cell, struct assay_error *err)
{
    static const char *const column[] = {"Iteration", "Assembly", "Dispatched", "Sources ready",
                                         "Begins",    "Done",     "Retired"};
    enum { TIMELINE_COLUMNS = sizeof column / sizeof *column };
    static const struct core_table table = {
        "timeline",
        "Time line",
        "Some iterations in the steady state, in cycles: waiting for sources (light blue), for a "
        "port (orange), executing (blue), done and waiting to retire (line).",
        37,
        column,
        TIMELINE_COLUMNS};
    const int32_t from = kept->timeline_n ? kept->timeline[0].dispatch : 0;
    bool failed = false;

    for (size_t i = 0; i < kept->timeline_n; i++) {
        const struct assay_timeline_entry *it = &kept->timeline[i];

        if (it->insn >= kept->insn_n)
            continue;
        const struct assay_cell row[TIMELINE_COLUMNS] = {
            assay_cell_integer((int64_t)it->iteration + 1),
            assay_cell_text(kept->insn[it->insn].text),
            assay_cell_integer(it->dispatch - from),
            assay_cell_integer(it->ready - from),
            assay_cell_integer(it->issue - from),
            assay_cell_integer(it->done - from),
            assay_cell_integer(it->retire - from)};
        failed |= !push_cells(cell, row, TIMELINE_COLUMNS);
    }
    return write_core_table(experiment, loop_id, &table, cell, failed, err);
}

int as_core_write(struct assay_experiment *experiment, int64_t loop_id,
                  const struct as_core_kept *kept, struct assay_error *err)
{
    core_cells cell = {0};
    int rc = write_insns(experiment, loop_id, kept, &cell, err);

    if (rc == 0)
        rc = write_ports(experiment, loop_id, kept, &cell, err);
    if (rc == 0)
        rc = write_times(experiment, loop_id, kept, &cell, err);
    as_vec_fini(&cell);
    return rc;
}
