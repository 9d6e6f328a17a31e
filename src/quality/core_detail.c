/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts the most frequent path of a loop by the model of the core. Writes tables of the results
 * to the page of the loop. */
#include "quality/core_detail.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "code/code.h"
#include "isa/isa.h"
#include "object/object.h"
#include "quality/panel.h"

/* Limits of the tables: iterations and entries of the timeline, and instructions. */
#define ITERATIONS 3
#define TIMES_MOST 120
#define INSNS_MOST 300

/* ---- Keeping ------------------------------------------------------------------------------- */

static const char *insn_words(struct as_arena *arena, const struct as_core_asked *asked,
                              const struct as_insn *insn)
{
    char text[128] = "";
    uint64_t size_b;
    const uint8_t *bytes = as_object_bytes(asked->object, insn->address, &size_b);

    if (bytes && size_b >= insn->length)
        as_insn_format(bytes, insn->length, insn->address, AS_SYNTAX_INTEL, text, sizeof text);
    return as_arena_strndup(arena, text, strlen(text));
}

static int copy_core_insns(struct as_arena *arena, const struct as_core_asked *asked,
                           const struct as_code *code, const struct as_prediction *found,
                           struct as_core_kept *out)
{
    const size_t n = found->insn_n < INSNS_MOST ? found->insn_n : INSNS_MOST;

    out->insn = as_arena_array(arena, struct as_core_insn, n + 1);
    for (size_t i = 0; out->insn && i < n; i++) {
        out->insn[i] = (struct as_core_insn){
            code->insn[i].address, insn_words(arena, asked, &code->insn[i]), found->insn[i]};
        out->insn[i].prediction.timing = NULL;
        if (!out->insn[i].text)
            return AS_ERR_NOMEM;
    }
    out->insn_n = n;
    return out->insn ? 0 : AS_ERR_NOMEM;
}

static int copy_core_prediction(struct as_arena *arena, const struct as_core_asked *asked,
                                const struct as_prediction *found, struct as_core_kept *out)
{
    const size_t times = found->timeline_n < TIMES_MOST ? found->timeline_n : TIMES_MOST;

    out->port = as_arena_array(arena, const char *, found->port_n + 1u);
    out->port_use = as_arena_array(arena, double, found->port_n + 1u);
    out->timeline = as_arena_array(arena, struct as_timeline_entry, times + 1);
    out->core = as_arena_strndup(arena, asked->uarch->words, strlen(asked->uarch->words));
    if (!out->port || !out->port_use || !out->timeline || !out->core)
        return AS_ERR_NOMEM;
    for (unsigned i = 0; i < found->port_n; i++) {
        out->port[i] =
            as_arena_strndup(arena, asked->uarch->port[i], strlen(asked->uarch->port[i]));
        out->port_use[i] = asked->port_use ? asked->port_use[i] : found->port_use[i];
        if (!out->port[i])
            return AS_ERR_NOMEM;
    }
    for (size_t i = 0; i < times; i++)
        out->timeline[i] = found->timeline[i];
    out->port_n = found->port_n;
    out->timeline_n = times;
    return 0;
}

static int store_core_path(struct as_arena *arena, const struct as_core_asked *asked,
                           const struct as_paths *paths, struct as_core_kept *out,
                           struct as_error *err)
{
    static const struct as_predict_options options = {.simulate = true, .timeline_n = ITERATIONS};
    struct as_code code;
    struct as_prediction found;

    AS_TRY(as_path_code(asked->program, paths, asked->path < paths->path_n ? asked->path : 0, &code,
                        err));
    int rc = code.n ? as_predict(asked->predictor, &code, 0, code.n, &options, &found, err)
                    : AS_ERR_NO_CODE;
    if (rc == 0 && (copy_core_insns(arena, asked, &code, &found, out) < 0 ||
                    copy_core_prediction(arena, asked, &found, out) < 0))
        rc = as_error_nomem(err, "the page of a loop");
    as_code_free(&code);
    return rc == AS_ERR_NO_CODE ? 0 : rc;
}

int as_core_keep(struct as_arena *arena, const struct as_core_asked *asked,
                 struct as_core_kept *out, struct as_error *err)
{
    struct as_paths paths;

    *out = (struct as_core_kept){0};
    AS_TRY(as_loop_paths(asked->program, asked->loop, AS_PATH_LIMIT, &paths, err));
    out->means = asked->port_use && paths.path_n > 1;
    const int rc =
        paths.path_n && !paths.merged ? store_core_path(arena, asked, &paths, out, err) : 0;
    as_paths_free(&paths);
    return rc;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static void insn_row(struct as_panel *panel, const struct as_core_insn *it)
{
    as_panel_address(panel, it->address);
    as_panel_text(panel, it->text);
    as_panel_real(panel, (double)it->prediction.slots);
    as_panel_real(panel, (double)it->prediction.latency);
    as_panel_text(panel, it->prediction.chain ? "yes" : "");
    as_panel_text(panel, it->prediction.fused        ? "with the previous one"
                         : it->prediction.eliminated ? "eliminated"
                         : it->prediction.estimated  ? "estimated"
                                                     : "");
}

static int write_insns(struct as_panel *panel, const struct as_core_kept *kept,
                       struct as_error *err)
{
    static const char *const column[] = {"Instruction",      "Assembly", "Slots",
                                         "Latency (cycles)", "Chain",    "Note"};
    static const struct as_heading heading = {
        "core_insns",
        "Instructions on the core",
        36,
        "The most frequent path, by the model of the core. Instructions of the chain form the "
        "loop-carried dependence.",
        column,
        sizeof column / sizeof *column};

    for (size_t i = 0; i < kept->insn_n; i++)
        insn_row(panel, &kept->insn[i]);
    return as_panel_write(panel, &heading, err);
}

static int write_ports(struct as_panel *panel, const struct as_core_kept *kept,
                       struct as_error *err)
{
    static const char *const column[] = {"Port", "Busy (cycles)"};
    char text[256];
    const struct as_heading heading = {"core_ports", "Ports", 37,
                                       text,         column,  sizeof column / sizeof *column};

    snprintf(text, sizeof text,
             "Busy cycles of each port per iteration on %s, with the best distribution%s.",
             kept->core, kept->means ? ": the mean of its paths, weighted by frequency" : "");
    for (size_t i = 0; i < kept->port_n; i++) {
        if (kept->port_use[i] <= 0.005)
            continue;
        as_panel_text(panel, kept->port[i]);
        as_panel_real(panel, kept->port_use[i]);
    }
    return as_panel_write(panel, &heading, err);
}

static int write_times(struct as_panel *panel, const struct as_core_kept *kept,
                       struct as_error *err)
{
    static const char *const column[] = {"Iteration", "Assembly", "Dispatched", "Sources ready",
                                         "Begins",    "Done",     "Retired"};
    static const struct as_heading heading = {
        "timeline",
        "Time line",
        37,
        "Some iterations in the steady state, in cycles. Light blue: waiting for sources; orange: "
        "waiting for a port; blue: executing; line: waiting to retire.",
        column,
        sizeof column / sizeof *column};
    const int32_t from = kept->timeline_n ? kept->timeline[0].dispatch : 0;

    for (size_t i = 0; i < kept->timeline_n; i++) {
        const struct as_timeline_entry *it = &kept->timeline[i];

        if (it->insn >= kept->insn_n)
            continue;
        as_panel_integer(panel, (int64_t)it->iteration + 1);
        as_panel_text(panel, kept->insn[it->insn].text);
        as_panel_integer(panel, it->dispatch - from);
        as_panel_integer(panel, it->ready - from);
        as_panel_integer(panel, it->issue - from);
        as_panel_integer(panel, it->done - from);
        as_panel_integer(panel, it->retire - from);
    }
    return as_panel_write(panel, &heading, err);
}

int as_core_write(struct as_experiment *experiment, int64_t loop_id,
                  const struct as_core_kept *kept, struct as_error *err)
{
    const struct as_subject of = {AS_OBJECT_LOOP, loop_id, 0, 0};
    struct as_panel panel;

    as_panel_init(&panel, experiment, &of);
    int rc = write_insns(&panel, kept, err);
    if (rc == 0)
        rc = write_ports(&panel, kept, err);
    if (rc == 0)
        rc = write_times(&panel, kept, err);
    as_panel_fini(&panel);
    return rc;
}
