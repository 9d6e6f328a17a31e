/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the program of a trace, and simulating it on the machine of a case. */
#include "base/error.h"
#include "simulate.h"
#include "simulate/dim.h"
#include "simulate/simulated_trace.h"
#include "stops.h"

int as_simulate_open(const struct as_simulate_view *view, struct as_trace *trace,
                     struct as_recorded *recorded, struct as_simulated_program *program,
                     struct as_error *err)
{
    const char **name = as_calloc(view->speeds.n + 1, sizeof *name);
    if (!name)
        return as_error_nomem(err, "the options");
    for (size_t i = 0; i < view->speeds.n; i++)
        name[i] = view->speeds.at[i].name;
    int rc;
    if (!view->streams) {
        rc = as_dim_open(view->path, program, err);
    } else {
        rc = as_trace_open(view->streams, trace, err);
        if (rc == 0)
            rc = as_recorded_open(trace, name, view->speeds.n, recorded, program, err);
    }
    as_free(name);
    return rc;
}

static int check_speeds(const struct as_simulate_view *view,
                        const struct as_simulated_program *program, struct as_error *err)
{
    as_vec_foreach (&view->speeds, speed) {
        if (!speed->name && !speed->is_node && speed->number >= program->rank_n)
            return as_error_set(err, AS_ERR_USAGE,
                                "--cpu: rank %u is not one of the %u ranks; use rank:0 to rank:%u",
                                speed->number, program->rank_n, program->rank_n - 1);
        if (speed->name && !view->streams)
            return as_error_set(err, AS_ERR_UNSUPPORTED,
                                "--cpu: a .dim file has no names of functions; use rank:N=2x");
    }
    return 0;
}

struct as_speed *as_simulate_speeds(const struct as_simulate_view *view,
                                    const struct as_simulate_case *it)
{
    const bool is_changed = it->kind == AS_SIMULATE_WHAT_IF || it->kind == AS_SIMULATE_SWEEP;
    return is_changed                      ? view->speeds.at
           : it->kind == AS_SIMULATE_IDEAL ? view->as_recorded.at
                                           : view->of_machine.at;
}

int as_simulate_case_run(const struct as_simulate_view *view, const struct as_simulate_case *it,
                         const char *directory, struct as_recorded *recorded,
                         struct as_simulated *result, struct as_error *err)
{
    struct as_trace trace = {0};
    struct as_simulated_program program = {0};
    struct as_simulated_trace *copy = NULL;
    struct as_machine_model model = it->machine.model;
    model.speeds.at = as_simulate_speeds(view, it);
    model.speeds.n = view->speeds.n;
    int rc = as_simulate_open(view, &trace, recorded, &program, err);
    if (rc == 0)
        rc = check_speeds(view, &program, err);
    if (rc == 0 && it->kind != AS_SIMULATE_IDEAL)
        rc = as_machine_file_place(&view->file, &program, err);
    program.is_stopped = as_stops_came;
    if (rc == 0 && directory)
        rc =
            as_simulated_trace_begin(view->streams, directory, &it->recorded, &program, &copy, err);
    if (rc == 0)
        rc = as_simulate_program(&program, &model, result, err);
    rc = as_simulated_trace_end(&copy, rc, err);
    as_program_fini(&program);
    as_trace_close(&trace);
    return rc;
}

int as_simulate_write_streams(struct as_simulate_view *view, const struct as_simulate_case *it,
                              const char *directory, struct as_error *err)
{
    struct as_recorded recorded = {0};
    struct as_simulated result = {0};
    const int rc = as_simulate_case_run(view, it, directory, &recorded, &result, err);
    as_simulated_fini(&result);
    as_recorded_fini(&recorded);
    return rc;
}

const struct as_simulate_case *as_simulate_shown(const struct as_simulate_view *view)
{
    const struct as_simulate_case *shown = NULL;
    as_vec_foreach (&view->cases, it)
        if (it->kind < AS_SIMULATE_SWEEP)
            shown = it;
    return shown;
}
