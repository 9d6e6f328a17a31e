/* SPDX-License-Identifier: Apache-2.0 */
/* Transfer and serialisation of a traced run: its trace replayed on the ideal network. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analytics/store/facts.h"
#include "analytics/waits/ideal_phases.h"
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

/* The gains that a simulation of the trace gives. The last two are upper bounds. */
static void keep_gains(struct as_traced *traced, const struct as_ideal_run *run)
{
    const struct as_efficiency *e = &traced->analysis.efficiency;
    const int64_t transfer_ns = (int64_t)llround((1 - e->process_transfer) * e->elapsed_ns);
    const int64_t chain_ns = (int64_t)llround((1 - e->process_serialisation) * e->elapsed_ns);
    const struct as_even_gain *even = &run->even;
    traced->gain[AS_TRACE_GAIN_EVEN] =
        (struct as_trace_gain){even->network_n > 0, even->saved_ns, even->low_ns, even->high_ns};
    traced->gain[AS_TRACE_GAIN_NETWORK] = (struct as_trace_gain){true, transfer_ns, 0, transfer_ns};
    traced->gain[AS_TRACE_GAIN_CHAIN] = (struct as_trace_gain){true, chain_ns, 0, chain_ns};
}

static int simulate_ideal(struct as_traced *traced, const struct as_trace *trace,
                          struct as_ideal_run *run, struct as_error *why)
{
    struct as_ideal_phases phases;
    int rc = as_ideal_phases_init(&phases, &traced->analysis);
    const struct as_ideal_wish wish = {.even = true,
                                       .region = phases.name.at,
                                       .region_n = phases.name.n,
                                       .mark = as_ideal_phases_mark,
                                       .mark_context = &phases};
    if (rc == 0)
        rc = as_ideal_run_of(trace, &wish, run, why);
    if (rc == 0)
        as_ideal_phases_conclude(&phases);
    as_ideal_phases_fini(&phases);
    return rc;
}

int as_traced_simulate(struct as_traced *traced, const char *directory, struct as_error *err)
{
    struct as_trace trace = {0};
    struct as_ideal_run run;
    struct as_error why = {0};
    if (!has_ranks(&traced->trace) || !(traced->analysis.efficiency.mpi_communication > 0))
        return 0;
    if (traced->is_ranged) {
        snprintf(traced->unsimulated, sizeof traced->unsimulated,
                 "a part of a trace cannot be replayed");
        return 0;
    }
    int rc = as_trace_open(directory, &trace, &why);
    if (rc == 0)
        rc = simulate_ideal(traced, &trace, &run, &why);
    as_trace_close(&trace);
    if (rc == AS_ERR_NOMEM)
        return as_error_nomem(err, "the simulation of a trace");
    if (rc == 0) {
        divide_communication(&traced->analysis.efficiency, &run);
        keep_gains(traced, &run);
    } else
        snprintf(traced->unsimulated, sizeof traced->unsimulated, "%.299s", why.text);
    return 0;
}

int as_trace_gains(const struct as_trace_facts *f, struct as_error *err)
{
#define TEXTS(name, word, title) {word, title},
    static const struct {
        const char *word, *title;
    } text[AS_TRACE_GAINS_N] = {AS_TRACE_GAINS(TEXTS)};
#undef TEXTS
    for (unsigned i = 0; i < AS_TRACE_GAINS_N; i++) {
        const struct as_trace_gain *gain = &f->traced->gain[i];
        const struct as_row_trace_gain row = {.trace_id = f->trace_id,
                                              .position = i,
                                              .name = text[i].word,
                                              .title = text[i].title,
                                              .saved_ns = gain->saved_ns,
                                              .low_ns = gain->low_ns,
                                              .high_ns = gain->high_ns};
        if (gain->is_known)
            AS_TRY(as_experiment_add_trace_gain(f->experiment, &row, err));
    }
    return 0;
}

int as_trace_unsimulated(const struct as_trace_facts *f, struct as_error *err)
{
    char text[sizeof f->traced->unsimulated + 80];
    const struct as_flag flag = {.run_id = f->run_id,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = f->run_id,
                                 .name = "trace_not_simulated",
                                 .text = text,
                                 .n = 1,
                                 .pass = AS_ANALYTICS_PASS};
    if (!f->traced->unsimulated[0])
        return 0;
    snprintf(text, sizeof text, "transfer and serialisation are missing: %s",
             f->traced->unsimulated);
    return as_experiment_flag(f->experiment, &flag, err);
}
