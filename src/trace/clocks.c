/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the times of all machines to the clock of rank 0's machine. Processes measure the clock
 * offset at their beginning and at their end (RELATED). The correction is the straight line through
 * the most accurate first and last measurement (T. Dunigan, "Hypercube clock synchronization", ORNL
 * 1991). A machine without measurements is corrected by the time of day. Imported traces have one
 * clock already.
 */
#include <string.h>

#include "trace/read.h"

#define RATE_BOUND 0.01 /* max drift; real clocks differ by some millionths */
/* Measurements within this time count as one moment, and give no drift. */
#define MOMENT_NS INT64_C(50000000)

struct clock_line {
    struct as_trace_relation first, last; /* the most accurate of the first and last moment */
    uint32_t n;
};

bool as_trace_is_one_machine(const struct as_trace_process *a, const struct as_trace_process *b)
{
    return *a->machine_number && *b->machine_number
               ? strcmp(a->machine_number, b->machine_number) == 0
               : strcmp(a->machine, b->machine) == 0;
}

static bool is_one_clock(const struct as_trace_process *a, const struct as_trace_process *b)
{
    return !*a->machine || !*b->machine || as_trace_is_one_machine(a, b);
}

bool as_trace_is_of_other_clock(const struct as_trace *trace, const struct as_trace_process *p)
{
    if (p->clock.related == AS_TRACE_ONE_CLOCK)
        return false;
    for (const struct as_trace_process *q = trace->process.at; q < p; q++)
        if (as_trace_is_one_machine(p, q))
            return false;
    return true;
}

static bool is_surer(const struct as_trace_relation *a, const struct as_trace_relation *b)
{
    return a->uncertain_ns < b->uncertain_ns;
}

/* Finds the line of a process from the measurements of all processes of its machine, which share a
 * clock. */
static struct clock_line line_of(const struct as_trace *trace, const struct as_trace_process *of)
{
    struct clock_line line = {.n = 0};
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    as_vec_foreach (&trace->process, process)
        if (is_one_clock(process, of))
            as_vec_foreach (&process->relation, relation) {
                first_ns = relation->own_ns < first_ns ? relation->own_ns : first_ns;
                last_ns = relation->own_ns > last_ns ? relation->own_ns : last_ns;
            }
    bool has_first = false, has_last = false;
    as_vec_foreach (&trace->process, process) {
        if (!is_one_clock(process, of))
            continue;
        as_vec_foreach (&process->relation, relation) {
            const bool is_first = relation->own_ns - first_ns <= MOMENT_NS;
            const bool is_last = last_ns - relation->own_ns <= MOMENT_NS;
            if (is_first && (!has_first || is_surer(relation, &line.first)))
                line.first = *relation;
            if (is_last && (!has_last || is_surer(relation, &line.last)))
                line.last = *relation;
            has_first |= is_first;
            has_last |= is_last;
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
    if (apart_ns <= MOMENT_NS)
        return 0;
    const double rate = (double)(shift_at(&line->last) - shift_at(&line->first)) / (double)apart_ns;
    return rate > -RATE_BOUND && rate < RATE_BOUND ? rate : 0;
}

/* Sets residual_ns to the max distance of the measurements from the line. Returns the max part of a
 * distance, in ns, that the uncertainty of the measurement does not explain. */
static int64_t find_residual(const struct as_trace *trace, const struct as_trace_process *of,
                             const struct clock_line *line, struct as_trace_correction *clock)
{
    int64_t unexplained_ns = 0;
    as_vec_foreach (&trace->process, process) {
        if (!is_one_clock(process, of))
            continue;
        as_vec_foreach (&process->relation, relation) {
            const double more = (double)(relation->own_ns - line->first.own_ns) * clock->drift;
            int64_t off_ns = shift_at(relation) - shift_at(&line->first) - (int64_t)more;
            off_ns = off_ns < 0 ? -off_ns : off_ns;
            clock->residual_ns = off_ns > clock->residual_ns ? off_ns : clock->residual_ns;
            off_ns -= relation->uncertain_ns;
            unexplained_ns = off_ns > unexplained_ns ? off_ns : unexplained_ns;
        }
    }
    return unexplained_ns;
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

/* Shifts a process by the time of day. The shift is the difference between both machines of
 * CLOCK_REALTIME minus CLOCK_MONOTONIC_RAW. `line` is that of the reference. */
static void shift_by_day(struct as_trace_process *process, const struct as_trace_process *reference,
                         const struct clock_line *line)
{
    const struct as_trace_stream_facts *own = facts_of_process(process);
    const struct as_trace_stream_facts *other = facts_of_process(reference);
    if (!own || !other)
        return;
    process->clock.uncertain_ns = -1;
    process->clock.shift_ns = own->real_less_raw_ns - other->real_less_raw_ns;
    process->clock.shift_ns += line->n ? shift_at(&line->first) : 0;
    shift_process(process, 0, process->clock.shift_ns, 0);
}

/* Returns the longest time that the process ran before the first or after the last measurement. */
static int64_t outside_ns(const struct as_trace_process *process, const struct clock_line *line)
{
    int64_t out = 0;
    as_vec_foreach (&process->thread, stream) {
        const struct as_trace_stream_facts *facts = as_trace_stream_facts(*stream);
        const int64_t before = line->first.own_ns - facts->begin_raw_ns;
        const int64_t after = facts->end_raw_ns - line->last.own_ns;
        out = before > out ? before : out;
        out = after > out ? after : out;
    }
    return out;
}

/* Returns the error in ns of times outside of the measurements. It follows from the error of the
 * drift, by the uncertainty of both ends. */
static int64_t extrapolation_ns(const struct as_trace_process *process,
                                const struct clock_line *line)
{
    const double apart_ns = (double)(line->last.own_ns - line->first.own_ns);
    const double errors_ns = (double)(line->first.uncertain_ns + line->last.uncertain_ns);
    if (apart_ns <= (double)MOMENT_NS)
        return 0;
    const double rate = errors_ns < RATE_BOUND * apart_ns ? errors_ns / apart_ns : RATE_BOUND;
    return (int64_t)(rate * (double)outside_ns(process, line));
}

static void shift_by_line(struct as_trace *trace, struct as_trace_process *process,
                          const struct clock_line *line)
{
    struct as_trace_correction *clock = &process->clock;
    const int64_t first_ns = line->first.uncertain_ns, last_ns = line->last.uncertain_ns;
    clock->relation_n = line->n;
    clock->drift = rate_of(line);
    clock->has_drift = line->last.own_ns - line->first.own_ns > MOMENT_NS;
    clock->shift_ns = shift_at(&line->first);
    clock->uncertain_ns = first_ns > last_ns ? first_ns : last_ns;
    clock->uncertain_ns += find_residual(trace, process, line, clock);
    clock->uncertain_ns += extrapolation_ns(process, line);
    shift_process(process, line->first.own_ns, clock->shift_ns, clock->drift);
}

static bool has_other_clocks(const struct as_trace *trace, const struct as_trace_process *reference)
{
    as_vec_foreach (&trace->process, process)
        if (!is_one_clock(process, reference))
            return true;
    return false;
}

/* If rank 0 is not in the trace, the machine of its lowest rank has measurements too. Its times are
 * then converted to the clock of rank 0 like all others. */
void as_trace_relate(struct as_trace *trace)
{
    const struct as_trace_process *reference = trace->process.n ? &trace->process.at[0] : NULL;
    if (!reference || !has_other_clocks(trace, reference))
        return;
    const struct clock_line of_reference = line_of(trace, reference);
    as_vec_foreach (&trace->process, process) {
        const struct as_trace_stream_facts *facts = facts_of_process(process);
        const bool is_reference = is_one_clock(process, reference);
        if (!facts || facts->clock == AS_TRACE_GIVEN || (is_reference && !of_reference.n))
            continue;
        const struct clock_line line = is_reference ? of_reference : line_of(trace, process);
        process->clock.related = line.n ? AS_TRACE_MEASURED : AS_TRACE_BY_DAY;
        if (line.n)
            shift_by_line(trace, process, &line);
        else
            shift_by_day(process, reference, &of_reference);
    }
}
