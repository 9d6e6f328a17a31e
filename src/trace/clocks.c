/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks of several machines as one: that of rank 0's machine. A machine whose processes measured
 * how far theirs is from it (RELATED, at the beginning and at the end) is corrected by the straight
 * line through the first and the last of these (T. Dunigan, "Hypercube clock synchronization", ORNL
 * 1991); another by the time of day of both. Imported traces have one clock already.
 */
#include <string.h>

#include "trace/read.h"

#define RATE_BOUND 0.01 /* clocks of machines differ by some millionths; more is damage */

struct clock_line {
    struct as_trace_relation first, last;
    size_t n;
    int64_t uncertain_ns;
};

static bool is_one_machine(const struct as_trace_process *a, const struct as_trace_process *b)
{
    return !*a->machine || !*b->machine || strcmp(a->machine, b->machine) == 0;
}

/* All processes of a machine have its clock, so what one of them measured holds for all. */
static struct clock_line line_of(const struct as_trace *trace, const struct as_trace_process *of)
{
    struct clock_line line = {.n = 0};
    as_vec_foreach (&trace->process, process) {
        if (!is_one_machine(process, of))
            continue;
        as_vec_foreach (&process->relation, relation) {
            if (line.n == 0 || relation->own_ns < line.first.own_ns)
                line.first = *relation;
            if (line.n == 0 || relation->own_ns > line.last.own_ns)
                line.last = *relation;
            if (relation->uncertain_ns > line.uncertain_ns)
                line.uncertain_ns = relation->uncertain_ns;
            line.n++;
        }
    }
    return line;
}

static int64_t shift_at(const struct as_trace_relation *relation)
{
    return relation->reference_ns - relation->own_ns;
}

static double rate_of(const struct clock_line *line)
{
    const int64_t apart_ns = line->last.own_ns - line->first.own_ns;
    if (apart_ns <= 0)
        return 0;
    const double rate = (double)(shift_at(&line->last) - shift_at(&line->first)) / (double)apart_ns;
    return rate > -RATE_BOUND && rate < RATE_BOUND ? rate : 0;
}

/* How far the measurements lie from the line, at most. */
static int64_t residual_of(const struct as_trace *trace, const struct as_trace_process *of,
                           const struct clock_line *line, double rate)
{
    int64_t most_ns = 0;
    as_vec_foreach (&trace->process, process) {
        if (!is_one_machine(process, of))
            continue;
        as_vec_foreach (&process->relation, relation) {
            const double more = (double)(relation->own_ns - line->first.own_ns) * rate;
            int64_t off_ns = shift_at(relation) - shift_at(&line->first) - (int64_t)more;
            off_ns = off_ns < 0 ? -off_ns : off_ns;
            most_ns = off_ns > most_ns ? off_ns : most_ns;
        }
    }
    return most_ns;
}

static void shift_process(struct as_trace_process *process, int64_t at_ns, int64_t shift_ns,
                          double rate)
{
    as_vec_foreach (&process->thread, stream)
        as_trace_stream_shift(*stream, at_ns, shift_ns, rate);
}

static const struct as_trace_stream_facts *facts_of_process(const struct as_trace_process *p)
{
    if (p->definitions)
        return as_trace_stream_facts(p->definitions);
    return p->thread.n ? as_trace_stream_facts(p->thread.at[0]) : NULL;
}

/* What CLOCK_REALTIME is more than CLOCK_MONOTONIC_RAW, here less there. */
static void shift_by_day(struct as_trace_process *process, const struct as_trace_process *reference)
{
    const struct as_trace_stream_facts *own = facts_of_process(process);
    const struct as_trace_stream_facts *other = facts_of_process(reference);
    if (!own || !other)
        return;
    process->uncertain_ns = -1;
    shift_process(process, 0, own->real_less_raw_ns - other->real_less_raw_ns, 0);
}

void as_trace_relate(struct as_trace *trace)
{
    const struct as_trace_process *reference = trace->process.n ? &trace->process.at[0] : NULL;
    as_vec_foreach (&trace->process, process) {
        const struct as_trace_stream_facts *facts = facts_of_process(process);
        if (is_one_machine(process, reference) || !facts || facts->clock == AS_TRACE_GIVEN)
            continue;
        const struct clock_line line = line_of(trace, process);
        process->related = line.n ? AS_TRACE_MEASURED : AS_TRACE_BY_DAY;
        if (!line.n) {
            shift_by_day(process, reference);
            continue;
        }
        const double rate = rate_of(&line);
        process->uncertain_ns = line.uncertain_ns + residual_of(trace, process, &line, rate);
        shift_process(process, line.first.own_ns, shift_at(&line.first), rate);
    }
}
