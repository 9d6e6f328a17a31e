/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/ideal.h"

#include <math.h>

#include "base/error.h"
#include "simulate/recorded.h"
#include "simulate/simulation.h"

/* A time that lacks a part of the run is not a time of the run. */
static int check_whole(const struct as_recorded *recorded, struct as_error *err)
{
    const char *what = recorded->one_sided_n    ? "one-sided access is not simulated"
                       : recorded->neighbours_n ? "collectives of neighbours are not simulated"
                       : recorded->unnamed_n    ? "collectives lack their communicator"
                       : recorded->off_n        ? "parts of the run were not recorded"
                       : recorded->damaged_n    ? "records of the trace are missing"
                                                : NULL;
    return what ? as_error_set(err, AS_ERR_UNSUPPORTED, "%s", what) : 0;
}

struct as_ideal_shares as_ideal_shares_of(const struct as_ideal_run *run, double elapsed_ns,
                                          double longest_ns)
{
    /* Computation before MPI_Init and after MPI_Finalize belongs to the run. */
    const double around_ns = fmax(0, longest_ns - (double)run->longest_ns);
    const double run_ns = fmin(elapsed_ns, (double)run->recorded_ns + around_ns);
    const double saved_ns = (double)(run->recorded_ns - run->ideal_ns);
    const double ideal_ns = fmax(longest_ns, run_ns - saved_ns);
    return (struct as_ideal_shares){.startup = run_ns / elapsed_ns,
                                    .transfer = ideal_ns / run_ns,
                                    .serialisation = longest_ns / ideal_ns,
                                    .lost_startup = 1 - run_ns / elapsed_ns,
                                    .lost_transfer = (run_ns - ideal_ns) / elapsed_ns,
                                    .lost_serialisation = (ideal_ns - longest_ns) / elapsed_ns};
}

static void ask_for_regions(struct as_simulated_program *program, const struct as_ideal_wish *wish)
{
    if (!wish || wish->region_n == 0)
        return;
    as_recorded_mark_regions(program, wish->region, wish->region_n);
    program->mark = wish->mark;
    program->mark_context = wish->mark_context;
}

int as_ideal_run_of(const struct as_trace *trace, const struct as_ideal_wish *wish,
                    struct as_ideal_run *out, struct as_error *err)
{
    struct as_recorded recorded = {0};
    struct as_simulated_program program = {0};
    struct as_machine_model model;
    struct as_simulated result = {0};
    *out = (struct as_ideal_run){0};
    as_machine_ideal(&model);
    int rc = as_recorded_open(trace, NULL, 0, &recorded, &program, err);
    if (rc == 0) {
        ask_for_regions(&program, wish);
        rc = as_simulate_program(&program, &model, &result, err);
        program.mark = NULL;
    }
    if (rc == 0)
        rc = check_whole(&recorded, err);
    if (rc == 0)
        *out = (struct as_ideal_run){.rank_n = program.rank_n,
                                     .recorded_ns = as_recorded_ns(&recorded),
                                     .ideal_ns = result.total_ns};
    as_vec_foreach (&result.rank, rank)
        if (rc == 0 && rank->computing_ns > out->longest_ns)
            out->longest_ns = rank->computing_ns;
    if (rc == 0 && wish && wish->even)
        rc = as_even_gain_of(&program, &result, out->recorded_ns, &out->even, err);
    as_simulated_fini(&result);
    as_program_fini(&program);
    as_recorded_fini(&recorded);
    as_machine_fini(&model);
    return rc;
}
