/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated runs that stay: as a trace of another tool (--output), and as runs of the experiment
 * (--store), with the analysis of their traces.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "analytics/analytics.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/shell.h"
#include "base/tree.h"
#include "experiment/experiment.h"
#include "export_code.h"
#include "export_trace.h"
#include "simulate.h"
#include "trace_input.h"

#define STORED_RUNS_MAX 64u

static bool is_stored(const struct as_simulate_view *view)
{
    return as_given(&view->cli->args, AS_OPTION_SIMULATE_STORE);
}

int as_simulate_keep_check(const struct as_simulate_view *view, struct as_error *err)
{
    const struct as_arguments *args = &view->cli->args;
    const bool writes_trace = as_exports_trace(args);
    if ((writes_trace || is_stored(view)) && !view->streams)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "%s: a .dim file has no events to copy; use a recorded trace",
                            writes_trace ? "--output" : "--store");
    if (is_stored(view) && view->run_id == 0)
        return as_error_set(err, AS_ERR_USAGE,
                            "--store: %s is not an experiment; use 'assay import' first",
                            view->path);
    if (as_given(args, AS_OPTION_LABEL) && !is_stored(view))
        return as_error_set(err, AS_ERR_USAGE,
                            "--label: it names a stored run; use it with --store");
    return writes_trace ? as_export_streams_check(view->cli, err) : 0;
}

/* ---- As a trace of another tool -------------------------------------------------------------- */

static int write_with_code(const struct as_simulate_view *view, struct as_trace *trace,
                           struct as_error *err)
{
    struct as_experiment *experiment = NULL;
    struct as_export_code code;
    if (view->run_id == 0)
        return as_export_streams(view->cli, trace, err);
    AS_TRY(as_experiment_read(view->path, &experiment, err));
    int rc = as_export_code_read(experiment, trace, &code, err);
    trace->code = &code.code;
    if (rc == 0)
        rc = as_export_streams(view->cli, trace, err);
    as_export_code_fini(&code);
    trace->code = NULL;
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}

static int write_simulated_trace(struct as_simulate_view *view, struct as_error *err)
{
    struct as_trace trace = {0};
    struct as_str place = {0};
    if (!as_exports_trace(&view->cli->args))
        return 0;
    AS_TRY(as_trace_input_place(&place, err));
    int rc = as_simulate_write_streams(view, as_simulate_shown(view), as_str_z(&place), err);
    if (rc == 0)
        rc = as_trace_open(as_str_z(&place), &trace, err);
    if (rc == 0)
        rc = write_with_code(view, &trace, err);
    as_trace_close(&trace);
    as_tree_remove(AT_FDCWD, as_str_z(&place));
    as_str_fini(&place);
    return rc;
}

/* ---- As runs of the experiment --------------------------------------------------------------- */

struct stored_case {
    struct as_simulate_view *view;
    const struct as_simulate_case *it;
    struct as_experiment *experiment;
    int64_t run_id;
};

static int fill_simulated(void *context, const char *directory, struct as_import_counts *counts,
                          struct as_error *err)
{
    const struct stored_case *stored = context;
    counts->length_ns = stored->it->result.total_ns;
    counts->start_ns = as_clock_ns(CLOCK_REALTIME);
    return as_simulate_write_streams(stored->view, stored->it, directory, err);
}

static int add_setting(const struct stored_case *stored, const char *name, uint64_t value,
                       struct as_error *err)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    const struct as_row_run_setting row = {.run_id = stored->run_id, .name = name, .value = text};
    return as_experiment_add_run_setting(stored->experiment, &row, err);
}

static int add_times(const struct stored_case *stored, struct as_error *err)
{
    const struct as_simulate_efficiency e = as_simulate_efficiency_of(stored->view);
    const struct as_row_simulation row = {.run_id = stored->run_id,
                                          .total_ns = stored->it->result.total_ns,
                                          .ideal_ns = stored->view->cases.at[0].result.total_ns,
                                          .recorded_ns = {e.real_ns, e.is_recorded}};
    return as_experiment_add_simulation(stored->experiment, &row, err);
}

static int add_speed_setting(const struct stored_case *stored, double speed, struct as_error *err)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", speed);
    const struct as_row_run_setting row = {.run_id = stored->run_id, .name = "cpu", .value = text};
    return speed == 1 ? 0 : as_experiment_add_run_setting(stored->experiment, &row, err);
}

/* Times and settings. Limits that are not set have no row, nor have networks as between nodes. */
static int add_facts(void *context, struct as_error *err)
{
    const struct stored_case *stored = context;
    const struct as_simulate_machine *machine = &stored->it->machine;
    const struct as_machine_model *model = &machine->model;
    const struct as_network *between = &model->network[AS_NETWORK_BETWEEN];
    const struct as_network *inside = &model->network[AS_NETWORK_INSIDE];
    const struct as_network *wide = &model->network[AS_NETWORK_WIDE];
    const bool is_wide = model->nodes_per_machine > 0 || model->machine_n > 1;
    const bool is_limited = model->eager_b != UINT64_MAX;
    const struct {
        const char *name;
        uint64_t value;
        bool is_known;
    } setting[] = {{"latency_ns", (uint64_t)between->latency_ns, true},
                   {"bandwidth_bps", between->bandwidth_bps, between->bandwidth_bps > 0},
                   {"buses", between->buses, between->buses > 0},
                   {"in_links", between->in_links, between->in_links > 0},
                   {"out_links", between->out_links, between->out_links > 0},
                   {"inside_latency_ns", (uint64_t)inside->latency_ns, machine->has_inside_latency},
                   {"inside_bandwidth_bps", inside->bandwidth_bps,
                    machine->has_inside_bandwidth && inside->bandwidth_bps > 0},
                   {"inside_buses", inside->buses, inside->buses > 0},
                   {"ranks_per_node", model->ranks_per_node, model->ranks_per_node > 0},
                   {"nodes_per_machine", model->nodes_per_machine, model->nodes_per_machine > 0},
                   {"wide_latency_ns", (uint64_t)wide->latency_ns, is_wide},
                   {"wide_bandwidth_bps", wide->bandwidth_bps, is_wide && wide->bandwidth_bps > 0},
                   {"wide_flight_ns", (uint64_t)wide->flight_ns, is_wide},
                   {"wide_links", wide->in_links, is_wide && wide->in_links > 0},
                   {"eager_b", model->eager_b, is_limited}};
    AS_TRY(add_times(stored, err));
    for (size_t i = 0; i < sizeof setting / sizeof *setting; i++)
        if (setting[i].is_known)
            AS_TRY(add_setting(stored, setting[i].name, setting[i].value, err));
    return add_speed_setting(stored, model->speed, err);
}

/* "simulate: latency=2us", or the user's label with the case of a sweep. */
static int name_run(const struct as_simulate_view *view, const struct as_simulate_case *it,
                    struct as_str *label, struct as_error *err)
{
    const char *given = view->cli->args.value[AS_OPTION_LABEL];
    const bool is_sweep = it->kind == AS_SIMULATE_SWEEP;
    as_str_appendf(label, "%s%s%s", given ? given : "simulate: ", given && is_sweep ? " " : "",
                   given && !is_sweep ? "" : as_str_z(&it->name));
    return label->failed ? as_error_nomem(err, "the label of a run") : 0;
}

static int store_case(struct stored_case *stored, struct as_error *err)
{
    struct as_simulate_view *view = stored->view;
    struct as_import_counts counts;
    struct as_str command = {0}, label = {0};
    as_str_appendz(&command, "assay simulate ");
    as_shell_word(&command, view->path);
    int rc = command.failed ? as_error_nomem(err, "the command of a run") : 0;
    if (rc == 0)
        rc = name_run(view, stored->it, &label, err);
    const struct as_import_source source = {.label = as_str_z(&label),
                                            .command = as_str_z(&command),
                                            .role = "simulation",
                                            .reference_id = view->run_id,
                                            .fill = fill_simulated,
                                            .context = stored};
    if (rc == 0)
        rc = as_import_streams(stored->experiment, &source, &stored->run_id, &counts, err);
    if (rc == 0)
        rc = as_experiment_batch(stored->experiment, add_facts, stored, err);
    if (rc == 0)
        rc = as_analytics_run(stored->experiment, stored->run_id, stored->run_id, err);
    if (rc == 0)
        as_cli_note(view->cli, "simulate: run %" PRId64 " of %s is '%s'", stored->run_id,
                    view->path, as_str_z(&label));
    else if (stored->run_id)
        as_experiment_remove_run(stored->experiment, stored->run_id, NULL);
    as_str_fini(&command);
    as_str_fini(&label);
    return rc;
}

static int check_number_of_runs(const struct as_simulate_view *view, struct as_error *err)
{
    size_t n = 0;
    as_vec_foreach (&view->cases, it)
        n += it->kind == AS_SIMULATE_SWEEP;
    return n <= STORED_RUNS_MAX
               ? 0
               : as_error_set(err, AS_ERR_USAGE, "--store: more than %u runs; sweep fewer values",
                              STORED_RUNS_MAX);
}

static int store_runs(struct as_simulate_view *view, struct as_error *err)
{
    struct stored_case stored = {.view = view};
    const struct as_simulate_case *shown = as_simulate_shown(view);
    int rc = 0;
    if (!is_stored(view))
        return 0;
    AS_TRY(check_number_of_runs(view, err));
    AS_TRY(as_experiment_open(view->path, &stored.experiment, err));
    as_vec_foreach (&view->cases, it)
        if (rc == 0 && (it == shown || it->kind == AS_SIMULATE_SWEEP)) {
            stored.it = it;
            stored.run_id = 0;
            rc = store_case(&stored, err);
        }
    const int closed = as_experiment_close(&stored.experiment, rc < 0 ? NULL : err);
    return rc < 0 ? rc : closed;
}

int as_simulate_keep(struct as_simulate_view *view, struct as_error *err)
{
    AS_TRY(write_simulated_trace(view, err));
    return store_runs(view, err);
}
