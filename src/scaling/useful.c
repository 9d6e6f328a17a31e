/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of computation. A reading belongs to the time before it, and counts if the thread was
 * outside MPI then. Most readings are at the start of MPI calls.
 */
#include <math.h>
#include <string.h>

#include "scaling/point.h"

enum useful_counter { USEFUL_INSTRUCTIONS, USEFUL_CYCLES, USEFUL_COUNTERS_N };

/* Returns true if a label is the name or starts with it, as in "PAPI_TOT_INS [Instr completed]". */
static bool is_named(const char *text, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(text, name, n) == 0 && strchr(" [(:", text[n]) != NULL;
}

static int useful_counter_of(const char *text)
{
    if (!text)
        return -1;
    if (is_named(text, "PAPI_TOT_INS") || is_named(text, "instructions"))
        return USEFUL_INSTRUCTIONS;
    return is_named(text, "PAPI_TOT_CYC") || is_named(text, "cycles") ? USEFUL_CYCLES : -1;
}

struct useful_thread {
    const struct as_trace_process *process;
    int64_t last_ns;
    uint32_t mpi_depth;
    bool was_inside; /* inside MPI before the events at `last_ns` */
    bool has[USEFUL_COUNTERS_N];
    double sum[USEFUL_COUNTERS_N];
    double latest[USEFUL_COUNTERS_N]; /* last reading; readings are running totals */
};

static void on_useful_event(struct useful_thread *t, const struct as_trace_event *event)
{
    if (event->raw_ns != t->last_ns) {
        t->was_inside = t->mpi_depth > 0;
        t->last_ns = event->raw_ns;
    }
    if (event->kind != AS_TRACE_ENTER && event->kind != AS_TRACE_LEAVE &&
        event->kind != AS_TRACE_COUNTER)
        return;
    const struct as_trace_name name = as_trace_name_of(t->process, event->name);
    if (event->kind == AS_TRACE_COUNTER) {
        const int counter = useful_counter_of(name.text);
        if (counter >= 0) {
            t->has[counter] = true;
            const double value = (double)event->field[1];
            t->sum[counter] += t->was_inside ? 0 : value - t->latest[counter];
            t->latest[counter] = value;
        }
    } else if (as_trace_is_mpi(name.group)) {
        if (event->kind == AS_TRACE_ENTER)
            t->mpi_depth++;
        else if (t->mpi_depth)
            t->mpi_depth--;
    }
}

static int count_thread(struct as_trace_stream *stream, struct useful_thread *t,
                        struct as_error *err)
{
    struct as_trace_event event;
    int rc = as_trace_stream_seek(stream, INT64_MIN, err);
    if (rc < 0)
        return rc;
    while ((rc = as_trace_stream_next(stream, &event, err)) > 0)
        on_useful_event(t, &event);
    return rc;
}

int as_scaling_count_useful(const struct as_trace *trace, double *instructions, double *cycles,
                            struct as_error *err)
{
    double sum[USEFUL_COUNTERS_N] = {0};
    bool has[USEFUL_COUNTERS_N] = {true, true};
    size_t thread_n = 0;
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->thread, stream) {
            struct useful_thread t = {.process = process, .last_ns = INT64_MIN};
            const int rc = count_thread(*stream, &t, err);
            if (rc < 0)
                return rc;
            thread_n++;
            for (unsigned i = 0; i < USEFUL_COUNTERS_N; i++) {
                has[i] &= t.has[i];
                sum[i] += t.sum[i];
            }
        }
    *instructions = thread_n && has[USEFUL_INSTRUCTIONS] ? sum[USEFUL_INSTRUCTIONS] : (double)NAN;
    *cycles = thread_n && has[USEFUL_CYCLES] ? sum[USEFUL_CYCLES] : (double)NAN;
    return 0;
}
