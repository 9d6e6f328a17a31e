/* SPDX-License-Identifier: Apache-2.0 */
/* Transfer and serialisation of a traced run: its trace replayed on the ideal network. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "analytics/store/facts.h"
#include "base/error.h"
#include "simulate/ideal.h"

static bool has_ranks(const struct as_trace *trace)
{
    size_t n = 0;
    as_vec_foreach (&trace->process, process)
        n += process->rank >= 0;
    return n > 1;
}

static void divide_communication(struct as_efficiency *e, const struct as_ideal_run *run)
{
    const struct as_ideal_shares shares =
        as_ideal_shares_of(run, e->elapsed_ns, e->mpi_communication * e->elapsed_ns);
    e->mpi_startup = shares.startup;
    e->mpi_transfer = shares.transfer;
    e->mpi_serialisation = shares.serialisation;
    e->process_transfer = 1 - shares.lost_transfer;
    e->process_serialisation = 1 - shares.lost_serialisation;
}

int as_traced_simulate(struct as_traced *traced, const char *directory, struct assay_error *err)
{
    struct as_trace trace = {0};
    struct as_ideal_run run;
    struct assay_error why = {0};
    if (!has_ranks(&traced->trace) || !(traced->analysis.efficiency.mpi_communication > 0))
        return 0;
    if (traced->is_ranged) {
        snprintf(traced->unsimulated, sizeof traced->unsimulated,
                 "a part of a trace cannot be replayed");
        return 0;
    }
    int rc = as_trace_open(directory, &trace, &why);
    if (rc == 0)
        rc = as_ideal_run_of(&trace, &run, &why);
    as_trace_close(&trace);
    if (rc == ASSAY_ERR_NOMEM)
        return as_error_nomem(err, "the simulation of a trace");
    if (rc == 0)
        divide_communication(&traced->analysis.efficiency, &run);
    else
        snprintf(traced->unsimulated, sizeof traced->unsimulated, "%.299s", why.text);
    return 0;
}

int as_trace_unsimulated(const struct as_trace_facts *f, struct assay_error *err)
{
    char text[sizeof f->traced->unsimulated + 80];
    const struct assay_flag flag = {.run_id = f->run_id,
                                    .kind = ASSAY_OBJECT_RUN,
                                    .object_id = f->run_id,
                                    .name = "trace_not_simulated",
                                    .text = text,
                                    .n = 1,
                                    .pass = AS_ANALYTICS_PASS};
    if (!f->traced->unsimulated[0])
        return 0;
    snprintf(text, sizeof text, "transfer and serialisation are missing: %s",
             f->traced->unsimulated);
    return assay_experiment_flag(f->experiment, &flag, err);
}
