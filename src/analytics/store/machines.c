/* SPDX-License-Identifier: Apache-2.0 */
/* How clocks of machines were corrected, as rows and as doubts. */
#include <math.h>
#include <string.h>

#include "analytics/store/facts.h"
#include "base/error.h"

static int64_t processes_of(const struct as_trace *trace, const struct as_trace_process *of)
{
    int64_t n = 0;
    as_vec_foreach (&trace->process, process)
        n += as_trace_is_one_machine(process, of);
    return n;
}

static int add_clock(const struct as_trace_facts *f, const struct as_trace_process *of,
                     int64_t number, struct as_error *err)
{
    const struct as_trace_correction *clock = &of->clock;
    const struct as_row_trace_clock row = {
        .trace_id = f->trace_id,
        .number = number,
        .machine = of->machine,
        .process_n = processes_of(&f->traced->trace, of),
        .related = clock->related == AS_TRACE_MEASURED ? "measured" : "by day",
        .measured_n = clock->relation_n,
        .shift_ns = clock->shift_ns,
        .drift = clock->has_drift ? clock->drift : (double)NAN,
        .uncertain_ns =
            clock->uncertain_ns >= 0 ? as_known(clock->uncertain_ns) : (struct as_number){0},
        .residual_ns = clock->residual_ns};
    return as_experiment_add_trace_clock(f->experiment, &row, err);
}

static int doubt(const struct as_trace_facts *f, const char *name, const char *text, uint64_t n,
                 struct as_error *err)
{
    const struct as_flag flag = {.run_id = f->run_id,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = f->run_id,
                                 .name = name,
                                 .text = text,
                                 .n = (int64_t)n,
                                 .pass = AS_ANALYTICS_PASS};
    return n ? as_experiment_flag(f->experiment, &flag, err) : 0;
}

int as_trace_clocks(const struct as_trace_facts *f, struct as_error *err)
{
    const struct as_trace *trace = &f->traced->trace;
    int64_t number = 0;
    uint64_t by_day_n = 0;
    as_vec_foreach (&trace->process, process) {
        if (!as_trace_is_of_other_clock(trace, process))
            continue;
        AS_TRY(add_clock(f, process, number++, err));
        by_day_n += process->clock.related == AS_TRACE_BY_DAY;
    }
    AS_TRY(doubt(f, "trace_clocks",
                 "machines' clocks were not measured: the time of day relates them to that of rank "
                 "0's, to milliseconds at best, and so are waits between machines",
                 by_day_n, err));
    return doubt(f, "trace_violated",
                 "messages were received before they were sent, by the clocks of their machines: "
                 "waiting for these is not known",
                 f->traced->analysis.violated_n, err);
}
