/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed of reading, analysing and converting a trace:
 *
 * - bench-traced make DIRECTORY RANKS ROUNDS: makes a trace of ranks of two threads
 * - bench-traced analyse|prv|otf2 DIRECTORY [FILE]: prints events, then seconds of CPU time
 * - bench-traced facts DIRECTORY: prints all results of the analysis, to compare two builds
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analytics/state/analysis.h"
#include "base/clock.h"
#include "exchange/otf2.h"
#include "exchange/prv.h"
#include "trace/write.h"

enum made_names { ISEND = 1, IRECV, WAITALL, ALLREDUCE };
enum { WORLD_COMM = 1, MESSAGE_B = 8192 };

static struct as_trace_writer writer;

/* ---- A trace that is made up ----------------------------------------------------------------- */

static bool open_made(const char *directory, uint32_t rank, uint32_t thread)
{
    char path[4096];
    const uint32_t pid = 1000 + 10 * rank, tid = thread ? pid + thread - 1 : 0;
    snprintf(path, sizeof path, "%s/stream.%u.1.%u", directory, pid, tid);
    const struct as_trace_writing how = {.path = path,
                                         .pid = pid,
                                         .tid = tid,
                                         .parent_tid = thread > 1 ? pid : 1,
                                         .clock = AS_TRACE_GIVEN,
                                         .begin_tick = 1,
                                         .name = "made up"};
    return as_trace_writer_open(&writer, &how) == 0;
}

static void close_made(uint64_t tick)
{
    writer.tick = tick;
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
}

static void put_made(unsigned kind, uint64_t tick, unsigned n, uint64_t a, uint64_t b, uint64_t c,
                     uint64_t d, uint64_t e, uint64_t f)
{
    const uint64_t field[] = {a, b, c, d, e, f};
    as_trace_emit(&writer, kind, tick, field, n);
}

static bool make_definitions(const char *directory, uint32_t rank, uint32_t ranks)
{
    static const struct {
        uint32_t number, group;
        const char *text;
    } names[] = {{ISEND, AS_TRACE_OF_MPI_POINT, "MPI_Isend"},
                 {IRECV, AS_TRACE_OF_MPI_POINT, "MPI_Irecv"},
                 {WAITALL, AS_TRACE_OF_MPI_COMPLETION, "MPI_Waitall"},
                 {ALLREDUCE, AS_TRACE_OF_MPI_COLLECTIVE, "MPI_Allreduce"}};
    uint64_t *member = calloc(ranks, sizeof *member);
    if (!member || !open_made(directory, rank, 0))
        return false;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        as_trace_emit_text(&writer, AS_TRACE_NAME, 1,
                           (const uint64_t[]){names[i].number, names[i].group}, 2, names[i].text);
    put_made(AS_TRACE_WORLD, 1, 3, rank, ranks, 0, 0, 0, 0);
    for (uint32_t i = 0; i < ranks; i++)
        member[i] = i;
    as_trace_emit_list(&writer, AS_TRACE_COMM, 1, (const uint64_t[]){WORLD_COMM, 1, ranks, rank, 0},
                       5, member, ranks);
    free(member);
    close_made(2);
    return true;
}

/* One step of a rank, as of a stencil: planes of the neighbours, a parallel region, a sum over all.
 * The work of ranks differs, so that some wait. No rank leaves before the last arrives. */
#define STEP_NS 100000u

static uint64_t work_ns(uint32_t rank, uint64_t step)
{
    const uint64_t mixed = (rank + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ step * UINT64_C(0xbf58476d1);
    return 20000 + (mixed >> 20) % 20000;
}

static void make_step(uint32_t rank, uint32_t ranks, uint64_t step)
{
    const uint64_t to = 2 * (uint64_t)((rank + 1) % ranks); /* zigzag */
    const uint64_t from = 2 * (uint64_t)((rank + ranks - 1) % ranks);
    const uint64_t request = 2 * step + 1, region = step + 1;
    const uint64_t begin = 10 + step * STEP_NS, at = begin + work_ns(rank, step);
    const uint64_t end = begin + STEP_NS - 5000;
    put_made(AS_TRACE_PARALLEL, begin, 3, region, 2, 0x401000, 0, 0, 0);
    put_made(AS_TRACE_IMPLICIT, begin + 100, 3, region, 0, 2, 0, 0, 0);
    put_made(AS_TRACE_IMPLICIT_END, at - 300, 2, region, 0, 0, 0, 0, 0);
    put_made(AS_TRACE_PARALLEL_END, at, 1, region, 0, 0, 0, 0, 0);
    put_made(AS_TRACE_ENTER, at + 200, 1, IRECV, 0, 0, 0, 0, 0);
    put_made(AS_TRACE_POST, 0, 6, from, 20, MESSAGE_B, WORLD_COMM, request, 0);
    put_made(AS_TRACE_LEAVE, at + 400, 1, IRECV, 0, 0, 0, 0, 0);
    put_made(AS_TRACE_ENTER, at + 500, 1, ISEND, 0, 0, 0, 0, 0);
    put_made(AS_TRACE_SEND, 0, 6, to, 20, MESSAGE_B, WORLD_COMM, request + 1, 0);
    put_made(AS_TRACE_LEAVE, at + 700, 1, ISEND, 0, 0, 0, 0, 0);
    put_made(AS_TRACE_ENTER, at + 900, 1, WAITALL, 0, 0, 0, 0, 0);
    put_made(AS_TRACE_RECEIVE, begin + 50000, 5, from, 20, MESSAGE_B, WORLD_COMM, request, 0);
    put_made(AS_TRACE_DONE, 0, 1, request + 1, 0, 0, 0, 0, 0);
    put_made(AS_TRACE_LEAVE, 0, 1, WAITALL, 0, 0, 0, 0, 0);
    put_made(AS_TRACE_ENTER, begin + 51000 + work_ns(rank, ~step), 1, ALLREDUCE, 0, 0, 0, 0, 0);
    put_made(AS_TRACE_COLLECTIVE, 0, 6, WORLD_COMM, 0, 1, 8, 8, 0);
    put_made(AS_TRACE_LEAVE, end, 1, ALLREDUCE, 0, 0, 0, 0, 0);
}

static void make_part(uint32_t rank, uint64_t step)
{
    const uint64_t begin = 10 + step * STEP_NS, at = begin + work_ns(rank, step);
    put_made(AS_TRACE_IMPLICIT, begin + 200, 3, step + 1, 1, 2, 0, 0, 0);
    put_made(AS_TRACE_IMPLICIT_END, at - 2000, 2, step + 1, 1, 0, 0, 0, 0);
}

static int make_trace(const char *directory, uint32_t ranks, uint64_t steps)
{
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (!make_definitions(directory, rank, ranks) || !open_made(directory, rank, 1))
            return 1;
        for (uint64_t step = 0; step < steps; step++)
            make_step(rank, ranks, step);
        close_made(10 + steps * STEP_NS);
        if (!open_made(directory, rank, 2))
            return 1;
        for (uint64_t step = 0; step < steps; step++)
            make_part(rank, step);
        close_made(10 + steps * STEP_NS);
    }
    return 0;
}

/* ---- What is timed --------------------------------------------------------------------------- */

static int analyse_only(const struct as_trace *trace, struct as_error *err)
{
    struct as_analysis analysis;
    const int rc = as_analyse_trace(trace, NULL, &analysis, err);
    if (rc == 0)
        as_analysis_fini(&analysis);
    return rc;
}

/* ---- What is found --------------------------------------------------------------------------- */

static void print_locations(const struct as_analysis *a)
{
    as_vec_foreach (&a->location, l) {
        printf("location %u %u %" PRId64 " %u %" PRId64 " %" PRId64 " %u %" PRIu64, l->process,
               l->thread, l->rank, l->tid, l->span.begin_ns, l->span.end_ns, l->span.parent,
               l->events_n);
        for (unsigned i = 0; i < AS_ACTIVITIES_N; i++)
            printf(" %" PRId64, l->activity_ns[i]);
        putchar('\n');
    }
}

static void print_calls(const struct as_analysis *a)
{
    as_vec_foreach (&a->site, s)
        printf("site %s %u %u %" PRIx64 " %s %" PRIx64 "\n", s->routine, s->group, s->process,
               s->address, s->module ? s->module : "-", s->in_file);
    as_vec_foreach (&a->sum, s)
        printf("sum %u %u %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64
               "\n",
               s->location, s->site, s->calls_n, s->open_n, s->time_ns, s->most_ns, s->sent_b,
               s->received_b);
    as_vec_foreach (&a->traffic, t)
        printf("traffic %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 "\n", t->from, t->to,
               t->messages_n, t->size_b);
}

static void print_waits(const struct as_analysis *a)
{
    as_vec_foreach (&a->waits.wait, w)
        printf("wait %s %u %u %u %u %" PRId64 " %" PRId64 " %" PRId64 "\n",
               as_wait_word((enum as_wait_kind)w->kind), w->location, w->site, w->cause,
               w->cause_site, w->begin_ns, w->end_ns, w->cause_ns);
    as_vec_foreach (&a->blame.blame, b)
        printf("blame %u %u %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", b->location,
               b->site, b->n, b->direct_ns, b->total_ns, b->most_ns);
    as_vec_foreach (&a->path.piece, p)
        printf("path %u %" PRId64 " %" PRId64 "\n", p->location, p->begin_ns, p->end_ns);
}

static int print_facts(const struct as_trace *trace, struct as_error *err)
{
    struct as_analysis a;
    const int rc = as_analyse_trace(trace, NULL, &a, err);
    if (rc < 0)
        return rc;
    print_locations(&a);
    print_calls(&a);
    print_waits(&a);
    printf("efficiency %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", a.efficiency.parallel,
           a.efficiency.balance, a.efficiency.communication, a.efficiency.mpi_parallel,
           a.efficiency.openmp_parallel, a.efficiency.thread, a.efficiency.serial_region);
    printf("counts %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
           " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 "\n",
           a.messages.matched_n, a.messages.sends_n, a.messages.receives_n, a.violated_n, a.unmet_n,
           a.missed_n, a.summed_n, a.doubtful_n, a.events_n, a.broken_n, a.begin_ns, a.end_ns);
    as_analysis_fini(&a);
    return 0;
}

static uint64_t records_of(const struct as_trace *trace)
{
    uint64_t n = 0;
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->thread, stream)
            n += as_trace_stream_facts(*stream)->records_n;
    return n;
}

static int time_trace(const char *what, const char *directory, const char *file)
{
    struct as_error err = {0};
    struct as_trace trace = {0};
    struct as_prv_counts prv;
    struct as_otf2_counts otf2;
    const int64_t begin_ns = as_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    int rc = as_trace_open(directory, &trace, &err);
    if (rc == 0 && strcmp(what, "analyse") == 0)
        rc = analyse_only(&trace, &err);
    else if (rc == 0 && strcmp(what, "facts") == 0)
        rc = print_facts(&trace, &err);
    else if (rc == 0 && strcmp(what, "prv") == 0)
        rc = as_prv_write(&trace, file, &prv, &err);
    else if (rc == 0)
        rc = as_otf2_write(&trace, file, &otf2, &err);
    const int64_t ns = as_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
    if (rc == 0 && strcmp(what, "facts") != 0)
        printf("%llu %.6f\n", (unsigned long long)records_of(&trace), (double)ns / 1e9);
    else if (rc < 0)
        fprintf(stderr, "bench-traced: %s\n", err.text);
    as_trace_close(&trace);
    return rc < 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "make") == 0)
        return make_trace(argv[2], (uint32_t)strtoul(argv[3], NULL, 10),
                          strtoull(argv[4], NULL, 10));
    if ((argc == 3 && (strcmp(argv[1], "analyse") == 0 || strcmp(argv[1], "facts") == 0)) ||
        argc == 4)
        return time_trace(argv[1], argv[2], argc == 4 ? argv[3] : NULL);
    fprintf(stderr, "usage: bench-traced make DIRECTORY RANKS STEPS\n"
                    "       bench-traced analyse|prv|otf2|facts DIRECTORY [FILE]\n");
    return 2;
}
