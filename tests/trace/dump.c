/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the calls of a trace in the form of the logs of tests/trace/programs. Each process and
 * thread has a line "process RANK SIZE TID", then one line per MPI call with its messages. A record
 * of several calls is as many lines. Other records are printed with one of these words:
 *
 * - teams: records of OpenMP: a line "thread TID", then one line each
 * - callers: call sites: "ROUTINE ADDRESS FILE+ADDRESS, ..."
 * - times: corrections of clocks, and begin and end of MPI calls
 * - nested: each call as "DEPTH ROUTINE"; calls that do not end in their order are a fault
 * - samples: samples with the routine that they fell in or "-": "ROUTINE NS ADDRESS FILE+ADDRESS,
 *   ...", and at the end of a thread "lost N"
 * - marks: for each thread a line "of RANK TID", then "KIND NS FIELD FIELD", or "enter|leave NS
 *   ROUTINE"
 * - counters: values at events: "of TID", then "enter|leave|counter NAME NS VALUE", with tabulators
 *   in between
 * - devices: records of queues, with tabulators
 *
 * usage: dump DIRECTORY [teams|callers|times|nested|samples|marks|counters|devices]
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/read.h"

static void show_call(const struct as_trace_event *e)
{
    const int64_t *f = e->field;
    if (e->kind == AS_TRACE_SEND || e->kind == AS_TRACE_POST || e->kind == AS_TRACE_RECEIVE)
        printf(" %s %" PRId64 " %" PRId64 " %" PRId64 " comm %" PRId64 " request %" PRId64,
               as_trace_kind_name(e->kind), f[0], f[1], f[2], f[3], f[4]);
    else if (e->kind == AS_TRACE_COLLECTIVE)
        printf(" collective %" PRId64 " %" PRId64 " %" PRId64 " comm %" PRId64 " request %" PRId64,
               f[2], f[3], f[4], f[0], f[1]);
    else if (e->kind == AS_TRACE_IO)
        printf(" io %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, f[0], f[1], f[2], f[3]);
    else if (e->kind == AS_TRACE_FILE_OPEN)
        printf(" opened %" PRId64 " %.*s", f[0], (int)e->text.n, e->text.p);
    else if (e->kind == AS_TRACE_ALLOCATE)
        printf(" allocate %" PRIx64 " %" PRId64, (uint64_t)f[0], f[1]);
    else if (e->kind == AS_TRACE_RELEASE)
        printf(" release %" PRIx64, (uint64_t)f[0]);
    else
        printf(" %s %" PRId64, as_trace_kind_name(e->kind), f[0]);
}

static bool only_callers;

static void show_callers(const struct as_trace_process *p, const struct as_trace_event *e)
{
    for (size_t i = 0; i < e->list_n; i++) {
        uint64_t in_file = 0;
        const struct as_trace_module *module = as_trace_module_of(p, e->list[i], &in_file);
        printf("%s %" PRIx64 " %s+%" PRIx64, i ? "," : "", e->list[i], module ? module->path : "?",
               in_file);
    }
}

static void show_inside(const struct as_trace_process *p, const struct as_trace_event *e)
{
    if (e->kind == AS_TRACE_CALLERS && only_callers)
        show_callers(p, e);
    else if (e->kind != AS_TRACE_CALLERS && !only_callers)
        show_call(e);
}

static int show_stream(const struct as_trace_process *p, struct as_trace_stream *stream)
{
    struct as_trace_event e;
    struct as_error err;
    int rc;
    int64_t latest_ns = INT64_MIN, calls = 1;
    printf("process %" PRId64 " %" PRId64 " %u\n", p->rank, p->size,
           as_trace_stream_facts(stream)->tid);
    while ((rc = as_trace_stream_next(stream, &e, &err)) > 0) {
        if (e.raw_ns < latest_ns)
            return 1;
        latest_ns = e.raw_ns;
        if (e.kind == AS_TRACE_ENTER)
            printf("%s", as_trace_name_of(p, e.name).text);
        else if (e.kind == AS_TRACE_LEAVE)
            for (printf("\n"); calls > 1; calls--) /* of one that stands for many */
                printf("%s\n", as_trace_name_of(p, e.name).text);
        else if (e.kind == AS_TRACE_REPEATED)
            calls = e.repeated.calls;
        else if (e.kind == AS_TRACE_ON ||
                 (e.kind == AS_TRACE_OFF && e.field[0] != AS_TRACE_BY_LIMIT))
            printf("%s\n", as_trace_kind_name(e.kind));
        else if (e.kind == AS_TRACE_MISSED)
            printf("missed %" PRId64 " %" PRId64 " %" PRId64 " comm %" PRId64 " n %" PRId64 "\n",
                   e.missed.what, e.missed.partner, e.missed.tag, e.missed.comm, e.missed.n);
        else
            show_inside(p, &e);
    }
    return rc < 0 || as_trace_stream_facts(stream)->damaged_n ||
           as_trace_stream_facts(stream)->lost_n;
}

/* Prints the facts that the program can know: the member, the count, the kind. */
static void show_team_record(const struct as_trace_event *e)
{
    const int64_t *f = e->field;
    switch (e->kind) {
    case AS_TRACE_IMPLICIT:
    case AS_TRACE_WORK:
        printf("%s %" PRId64 " %" PRId64 "\n", as_trace_kind_name(e->kind), f[1], f[2]);
        break;
    case AS_TRACE_PARALLEL:
    case AS_TRACE_IMPLICIT_END:
    case AS_TRACE_BARRIER:
    case AS_TRACE_BARRIER_END:
    case AS_TRACE_WORK_END:
        printf("%s %" PRId64 "\n", as_trace_kind_name(e->kind), f[1]);
        break;
    case AS_TRACE_TASK_CREATE:
    case AS_TRACE_TASK_BEGIN:
    case AS_TRACE_TASK_END:
        printf("%s %" PRId64 "\n", as_trace_kind_name(e->kind), f[0]);
        break;
    case AS_TRACE_PARALLEL_END:
        printf("%s\n", as_trace_kind_name(e->kind));
        break;
    default:
        break;
    }
}

static int show_teams(struct as_trace_stream *stream)
{
    struct as_trace_event e;
    struct as_error err;
    int rc;
    printf("thread %u\n", as_trace_stream_facts(stream)->tid);
    while ((rc = as_trace_stream_next(stream, &e, &err)) > 0)
        show_team_record(&e);
    return rc < 0 || as_trace_stream_facts(stream)->damaged_n ||
           as_trace_stream_facts(stream)->lost_n;
}

/* "clock RANK MACHINE RELATED SHIFT DRIFT UNCERTAIN RESIDUAL MEASUREMENTS", then "ROUTINE BEGIN
 * END".
 */
static int show_times(const struct as_trace_process *p)
{
    struct as_trace_event e;
    struct as_error err;
    int rc = 0;
    int64_t enter_ns = 0;
    const struct as_trace_correction *c = &p->clock;
    printf("clock %" PRId64 " %s %d %" PRId64 " %.12g %" PRId64 " %" PRId64 " %u\n", p->rank,
           p->machine, (int)c->related, c->shift_ns, c->drift, c->uncertain_ns, c->residual_ns,
           c->relation_n);
    as_vec_foreach (&p->thread, stream)
        while ((rc = as_trace_stream_next(*stream, &e, &err)) > 0) {
            if (e.kind == AS_TRACE_ENTER)
                enter_ns = e.raw_ns;
            else if (e.kind == AS_TRACE_LEAVE)
                printf("%s %" PRId64 " %" PRId64 "\n", as_trace_name_of(p, e.name).text, enter_ns,
                       e.raw_ns);
        }
    return rc;
}

static int show_nested(const struct as_trace_process *p, struct as_trace_stream *stream)
{
    static int64_t open[1 << 16];
    struct as_trace_event e;
    struct as_error err;
    int rc, depth = 0, bad = 0;
    printf("thread %u of %u\n", as_trace_stream_facts(stream)->tid, p->pid);
    while ((rc = as_trace_stream_next(stream, &e, &err)) > 0)
        if (e.kind == AS_TRACE_ENTER && depth < 1 << 16) {
            printf("%d %s\n", depth, as_trace_name_of(p, e.name).text);
            open[depth++] = e.name;
        } else if (e.kind == AS_TRACE_LEAVE) {
            bad |= depth == 0 || open[depth - 1] != e.name;
            depth -= depth > 0;
        }
    return rc < 0 || bad || depth || as_trace_stream_facts(stream)->damaged_n;
}

/* In order of time; what is not in order, or damaged, is an error. */
static int show_samples(const struct as_trace_process *p, struct as_trace_stream *stream)
{
    struct as_trace_event e;
    struct as_error err;
    int64_t latest_ns = INT64_MIN, name[64];
    size_t depth = 0;
    int rc;
    printf("process %" PRId64 " %" PRId64 " %u\n", p->rank, p->size,
           as_trace_stream_facts(stream)->tid);
    while ((rc = as_trace_stream_next(stream, &e, &err)) > 0) {
        if (e.raw_ns < latest_ns)
            return 1;
        latest_ns = e.raw_ns;
        if (e.kind == AS_TRACE_ENTER && depth < sizeof name / sizeof *name)
            name[depth++] = e.name;
        depth -= e.kind == AS_TRACE_LEAVE && depth;
        if (e.kind != AS_TRACE_SAMPLE)
            continue;
        printf("%s %" PRId64, depth ? as_trace_name_of(p, name[depth - 1]).text : "-",
               e.sample.period_ns);
        show_callers(p, &e);
        printf("\n");
    }
    printf("lost %" PRIu64 "\n", as_trace_stream_facts(stream)->samples_lost_n);
    return rc < 0 || as_trace_stream_facts(stream)->damaged_n ||
           as_trace_stream_facts(stream)->lost_n;
}

static void print_word(const char *words)
{
    for (; *words; words++)
        putchar(*words == ' ' ? '_' : *words);
}

static int show_counters(const struct as_trace_process *p, struct as_trace_stream *stream)
{
    struct as_trace_event e;
    struct as_error err;
    int rc;
    printf("of\t%u\n", as_trace_stream_facts(stream)->tid);
    while ((rc = as_trace_stream_next(stream, &e, &err)) > 0)
        if (e.kind == AS_TRACE_ENTER || e.kind == AS_TRACE_LEAVE || e.kind == AS_TRACE_COUNTER)
            printf("%s\t%s\t%" PRId64 "\t%" PRId64 "\n", as_trace_kind_name(e.kind),
                   as_trace_name_of(p, e.name).text, e.raw_ns,
                   e.kind == AS_TRACE_COUNTER ? e.field[1] : 0);
    return rc < 0 || as_trace_stream_facts(stream)->damaged_n;
}

static int show_marks(const struct as_trace_process *p, struct as_trace_stream *stream)
{
    struct as_trace_event e;
    struct as_error err;
    int rc;
    printf("of %" PRId64 " %u\n", p->rank, as_trace_stream_facts(stream)->tid);
    while ((rc = as_trace_stream_next(stream, &e, &err)) > 0) {
        const bool is_call = e.kind == AS_TRACE_ENTER || e.kind == AS_TRACE_LEAVE;
        if (!is_call && (e.kind < AS_TRACE_THREAD_CREATE || e.kind > AS_TRACE_TASK_END))
            continue;
        print_word(as_trace_kind_name(e.kind));
        printf(" %" PRId64 " ", e.raw_ns);
        if (is_call)
            print_word(as_trace_name_of(p, e.name).text);
        else
            printf("%" PRId64 " %" PRId64, e.field[0], e.field[1]);
        printf("\n");
    }
    return rc < 0 || as_trace_stream_facts(stream)->damaged_n ||
           as_trace_stream_facts(stream)->lost_n;
}

static void show_device(const struct as_trace_process *p, const struct as_trace_event *e)
{
    const unsigned kind = (unsigned)e->field[0] & AS_TRACE_DEVICE_KIND;
    const int64_t bits = e->field[0] & ~(int64_t)AS_TRACE_DEVICE_KIND;
    if (kind == AS_TRACE_DEVICE_ENQUEUED)
        printf("enqueued\t%" PRId64 "\t%s\t%" PRId64 "\t%" PRId64, e->raw_ns,
               e->field[1] ? as_trace_name_of(p, e->field[1]).text : "-", e->field[2], bits);
    else if (kind == AS_TRACE_DEVICE_RAN)
        printf("ran\t%s\t%" PRId64 "\t%s", as_trace_name_of(p, e->field[1]).text, e->field[2],
               as_trace_name_of(p, e->list_n == 5 ? (int64_t)e->list[4] : 0).text);
    else if (kind == AS_TRACE_DEVICE_CLOCK)
        printf("clock\t%s", as_trace_name_of(p, e->field[1]).text);
    else
        printf("work\t%" PRId64 "\t%" PRId64 "\t%" PRId64, e->field[1], e->field[2], bits);
    for (size_t i = 0; i < e->list_n && i < 4; i++)
        printf("\t%" PRIu64, e->list[i]);
    printf("\n");
}

static int show_devices(const struct as_trace_process *p, struct as_trace_stream *stream)
{
    struct as_trace_event e;
    struct as_error err;
    int rc;
    printf("of\t%u\t%s\n", as_trace_stream_facts(stream)->tid, as_trace_stream_facts(stream)->name);
    while ((rc = as_trace_stream_next(stream, &e, &err)) > 0) {
        if (e.kind == AS_TRACE_ENTER || e.kind == AS_TRACE_LEAVE)
            printf("%s\t%" PRId64 "\t%s\n", as_trace_kind_name(e.kind), e.raw_ns,
                   as_trace_name_of(p, e.name).text);
        else if (e.kind == AS_TRACE_DEVICE)
            show_device(p, &e);
    }
    return rc < 0;
}

int main(int argc, char **argv)
{
    struct as_trace trace;
    struct as_error err;
    int bad = 0;
    const bool teams = argc == 3 && strcmp(argv[2], "teams") == 0;
    const bool times = argc == 3 && strcmp(argv[2], "times") == 0;
    const bool nested = argc == 3 && strcmp(argv[2], "nested") == 0;
    const bool samples = argc == 3 && strcmp(argv[2], "samples") == 0;
    const bool counters = argc == 3 && strcmp(argv[2], "counters") == 0;
    const bool marks = argc == 3 && strcmp(argv[2], "marks") == 0;
    const bool devices = argc == 3 && strcmp(argv[2], "devices") == 0;
    only_callers = argc == 3 && strcmp(argv[2], "callers") == 0;
    if ((argc != 2 && !teams && !times && !only_callers && !nested && !samples && !marks &&
         !counters && !devices) ||
        as_trace_open(argv[1], &trace, &err) < 0)
        return 2;
    as_vec_foreach (&trace.process, p) {
        as_vec_foreach (&p->thread, stream)
            bad |= teams      ? show_teams(*stream)
                   : nested   ? show_nested(p, *stream)
                   : samples  ? show_samples(p, *stream)
                   : marks    ? show_marks(p, *stream)
                   : counters ? show_counters(p, *stream)
                   : devices  ? show_devices(p, *stream)
                              : 0;
        if (times)
            bad |= show_times(p) < 0;
        if (teams || times || nested || samples || marks || counters || devices)
            continue;
        as_vec_foreach (&p->comm, comm) {
            printf("comm %" PRIu64 " global %" PRIu64 " size %" PRIu64 " rank %" PRId64 " members",
                   comm->comm, comm->global, comm->size, comm->rank);
            for (size_t i = 0; i < comm->member_n; i++)
                printf(" %" PRIu64, comm->member[i]);
            printf("\n");
        }
        as_vec_foreach (&p->thread, stream)
            bad |= show_stream(p, *stream);
    }
    as_trace_close(&trace);
    return bad;
}
