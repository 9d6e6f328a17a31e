/* SPDX-License-Identifier: Apache-2.0 */
/* Efficiency of the run as values: the metrics of data/analytics/metrics.txt, in their order. */
#include <assert.h>
#include <math.h>

#include "analytics/store/facts.h"
#include "analytics/store/metrics.h"
#include "base/error.h"

static int add_share(const struct as_trace_facts *f, const struct as_metric_row *row, double value,
                     struct as_error *err)
{
    const struct as_subject run = {AS_OBJECT_RUN, f->run_id, f->run_id, 0};
    struct as_metric metric = row->metric;
    int64_t id;
    if (isnan(value))
        return 0;
    metric.pass = AS_ANALYTICS_PASS;
    AS_TRY(as_experiment_metric(f->experiment, &metric, &id, err));
    return as_experiment_value(
        f->experiment, id, &run,
        as_value_derived(value, value, value, (int64_t)f->traced->analysis.events_n), err);
}

int as_trace_metrics(const struct as_trace_facts *facts, struct as_error *err)
{
    const struct as_analysis *a = &facts->traced->analysis;
    const struct as_efficiency *e = &a->efficiency;
    const double elapsed = (double)(a->end_ns - a->begin_ns);
    const double cost = 100 * as_traced_cost_most_ns(facts->traced) / elapsed;
    const double value[] = {100 * e->parallel,
                            100 * e->balance,
                            100 * e->communication,
                            100 * e->mpi_parallel,
                            100 * e->mpi_balance,
                            100 * e->mpi_communication,
                            100 * e->mpi_startup,
                            100 * e->mpi_serialisation,
                            100 * e->mpi_transfer,
                            100 * e->openmp_parallel,
                            100 * e->openmp_balance,
                            100 * e->openmp_communication,
                            100 * e->process_balance,
                            100 * e->process_serialisation,
                            100 * e->process_transfer,
                            100 * e->thread,
                            100 * e->openmp_region,
                            100 * e->serial_region,
                            elapsed > 0 ? cost : (double)NAN};
    bool has_threads = false;
    as_vec_foreach (&a->location, location)
        has_threads |= location->activity_ns[AS_ACTIVITY_SLEEPING] > 0 ||
                       (location->thread > 0 && !location->queue &&
                        (location->rank >= 0 || isnan(e->mpi_parallel)));
    assert(sizeof value / sizeof *value == as_analytics_metric_n);
    for (size_t i = 0; i < as_analytics_metric_n; i++) {
        /* For ranks with one thread each, and without sleep, these add nothing. */
        const bool is_of_threads = i >= 9 && i <= 17 && (i < 12 || i > 14);
        if (!is_of_threads || has_threads)
            AS_TRY(add_share(facts, &as_analytics_metric[i], value[i], err));
    }
    return 0;
}
