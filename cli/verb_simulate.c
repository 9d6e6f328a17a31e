/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay simulate EXP|TRACE`: opens a trace, simulates it on each machine that is asked for, and
 * shows what the network costs. Simulations run side by side.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/pool.h"
#include "destination.h"
#include "experiment/experiment.h"
#include "report/queries.h"
#include "simulate.h"
#include "simulate/dim.h"
#include "stops.h"
#include "trace_input.h"

static int run_cases(void *context, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    struct as_simulate_view *view = context;
    (void)worker;
    for (size_t i = from; i < to; i++) {
        struct as_simulate_case *it = &view->cases.at[i];
        AS_TRY(as_simulate_case_run(view, it, NULL, &it->recorded, &it->result, err));
    }
    return 0;
}

/* ---- What is wrong with it ------------------------------------------------------------------- */

static const char *near_function(const struct as_trace *trace, const char *name)
{
    struct as_nearest nearest;
    as_nearest_init(&nearest, name, strlen(name));
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->name, known)
            if (known->group == AS_TRACE_OF_USER && known->text)
                as_nearest_offer(&nearest, known->text);
    return nearest.best;
}

/* A function of --cpu without a burst would make a what-if that changes nothing. */
static int check_functions(const struct as_simulate_view *view, struct as_error *err)
{
    const struct as_simulate_case *ideal = &view->cases.at[0];
    for (size_t i = 0; view->streams && i < view->speeds.n; i++) {
        const char *name = view->speeds.at[i].name;
        struct as_trace trace = {0};
        struct as_str near = {0};
        if (!name || ideal->recorded.name_found_n[i])
            continue;
        const char *found =
            as_trace_open(view->streams, &trace, err) == 0 ? near_function(&trace, name) : NULL;
        if (found)
            as_str_appendf(&near, "use '%s=2x', or ", found);
        as_error_set(err, AS_ERR_NOT_FOUND,
                     "--cpu: the trace has no calls of '%s'; %srecord with 'assay trace "
                     "--functions %s'",
                     name, as_str_z(&near), name);
        as_str_fini(&near);
        as_trace_close(&trace);
        return AS_ERR_NOT_FOUND;
    }
    return 0;
}

static void note_caveats(const struct as_simulate_view *view)
{
    const struct as_simulate_case *ideal = &view->cases.at[0];
    const struct as_recorded *recorded = &ideal->recorded;
    if (ideal->result.unreceived_n)
        as_cli_note(view->cli, "simulate: %llu messages have no receive",
                    (unsigned long long)ideal->result.unreceived_n);
    if (recorded->damaged_n)
        as_cli_note(
            view->cli,
            "simulate: %llu blocks or records of the trace are missing; times are too short",
            (unsigned long long)recorded->damaged_n);
    if (recorded->one_sided_n)
        as_cli_note(view->cli,
                    "simulate: one-sided accesses and their synchronisation take no time (%llu)",
                    (unsigned long long)recorded->one_sided_n);
    if (recorded->neighbours_n)
        as_cli_note(view->cli,
                    "simulate: collectives of neighbours or of two groups take no time (%llu)",
                    (unsigned long long)recorded->neighbours_n);
    if (recorded->unnamed_n)
        as_cli_note(view->cli,
                    "simulate: collectives without a communicator take no time (%llu); record "
                    "their details (50100004 in a .prv)",
                    (unsigned long long)recorded->unnamed_n);
    if (recorded->off_n)
        as_cli_note(view->cli, "simulate: periods without recording take no time (%llu)",
                    (unsigned long long)recorded->off_n);
}

/* ---- The verb -------------------------------------------------------------------------------- */

static int write_dim(const struct as_simulate_view *view, struct as_error *err)
{
    const char *path = view->cli->args.value[AS_OPTION_SIMULATE_WRITE_DIM];
    struct as_trace trace = {0};
    struct as_simulated_program program = {0};
    struct as_recorded recorded = {0};
    struct as_outfile file = {0};
    struct as_out out;
    if (!path)
        return 0;
    int rc =
        as_destination_begin(&view->cli->args, AS_OPTION_SIMULATE_WRITE_DIM, path, 0, &file, err);
    if (rc < 0)
        return rc;
    as_out_init_fd(&out, file.fd, path);
    rc = as_simulate_open(view, &trace, &recorded, &program, err);
    if (rc == 0)
        rc = as_dim_write(&program, as_path_last(view->path), &out, err);
    if (rc == 0)
        rc = as_out_flush(&out, err);
    as_out_fini(&out);
    as_program_fini(&program);
    as_recorded_fini(&recorded);
    as_trace_close(&trace);
    return as_outfile_end(&file, rc, err);
}

static int write_machine_to(const struct as_simulate_view *view, struct as_out *out,
                            struct as_error *err)
{
    struct as_trace trace = {0};
    struct as_simulated_program program = {0};
    struct as_recorded recorded = {0};
    const struct as_simulate_case *shown = as_simulate_shown(view);
    struct as_machine_model model = shown->machine.model;
    model.speeds.at = as_simulate_speeds(view, shown);
    model.speeds.n = view->speeds.n;
    int rc = as_simulate_open(view, &trace, &recorded, &program, err);
    if (rc == 0 && shown->kind != AS_SIMULATE_IDEAL)
        rc = as_machine_file_place(&view->file, &program, err);
    if (rc == 0)
        as_machine_file_write(&model, &program, out);
    as_program_fini(&program);
    as_recorded_fini(&recorded);
    as_trace_close(&trace);
    return rc < 0 ? rc : as_out_flush(out, err);
}

static int write_machine(const struct as_simulate_view *view, struct as_error *err)
{
    const enum as_option_id option = AS_OPTION_SIMULATE_WRITE_MACHINE;
    const char *path = view->cli->args.value[option];
    struct as_outfile file = {0};
    struct as_out out;
    if (!path)
        return 0;
    AS_TRY(as_destination_begin(&view->cli->args, option, path, 0, &file, err));
    as_out_init_fd(&out, file.fd, path);
    const int rc = write_machine_to(view, &out, err);
    as_out_fini(&out);
    return as_outfile_end(&file, rc, err);
}

static int simulate_all(struct as_simulate_view *view, struct as_error *err)
{
    struct as_pool *pool = NULL;
    AS_TRY(as_simulate_keep_check(view, err));
    AS_TRY(as_simulate_choose(view, err));
    int rc = as_pool_new(&pool, view->cli->jobs, err);
    if (rc == 0)
        rc = as_pool_for(pool, view->cases.n, 1, run_cases, view, err);
    as_pool_free(&pool);
    AS_TRY(rc);
    AS_TRY(check_functions(view, err));
    AS_TRY(as_simulate_each(view, err));
    AS_TRY(write_dim(view, err));
    AS_TRY(write_machine(view, err));
    AS_TRY(as_simulate_keep(view, err));
    note_caveats(view);
    return as_simulate_show(view, err);
}

/* Sets how long the rank that was ready without a CPU longest waited for one. */
static int read_cpu_wait(struct as_simulate_view *view, struct as_experiment *experiment,
                         int64_t run_id, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_query_open_of(experiment, AS_QUERY_RANK_CPU_WAIT, run_id, &rows, err));
    const int rc = as_rows_next(rows, err);
    if (rc > 0)
        view->cpu_wait_ns = llround(as_rows_real(rows, 0) * 1e9);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* CPUs that ranks waited for are known of an experiment. */
static int read_waiting(struct as_simulate_view *view, int64_t run_id, struct as_error *err)
{
    struct as_experiment *experiment = NULL;
    if (run_id == 0)
        return 0;
    AS_TRY(as_experiment_read(view->path, &experiment, err));
    const int rc = read_cpu_wait(view, experiment, run_id, err);
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}

static int simulate_trace(struct as_simulate_view *view, struct as_error *err)
{
    struct as_trace_input input;
    int rc = as_trace_input_open(view->path, (int64_t)view->cli->args.number[AS_OPTION_RUN], &input,
                                 err);
    view->streams = as_str_z(&input.streams);
    view->run_id = input.run_id;
    if (rc == 0)
        as_trace_input_note(view->cli, view->path, &input);
    if (rc == 0)
        rc = read_waiting(view, input.run_id, err);
    if (rc == 0)
        rc = simulate_all(view, err);
    as_trace_input_close(&input);
    if (as_stops_came())
        view->cli->status = as_stops_status();
    return rc;
}

int as_verb_simulate(struct as_cli *cli, struct as_error *err)
{
    struct as_simulate_view view = {.cli = cli, .path = cli->args.positional[0]};
    const int rc = as_dim_is_one(view.path) ? simulate_all(&view, err) : simulate_trace(&view, err);
    as_simulate_choice_fini(&view);
    return rc;
}
