/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time and size of a record of the tracer: a mix of calls as in an MPI and OpenMP program. Prints
 * nanoseconds (CPU time) and bytes per record. usage: bench-trace FILE [MILLIONS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace/write.h"

static struct as_trace_writer writer;

static void put(unsigned kind, bool timed, unsigned n, uint64_t a, uint64_t b, uint64_t c,
                uint64_t d, uint64_t e, uint64_t f)
{
    const uint64_t field[] = {a, b, c, d, e, f};
    as_trace_emit(&writer, kind, timed ? as_trace_now(&writer) : 0, field, n);
}

/* 13 records: Isend, Irecv, Waitall of both, a barrier in a parallel region, Allreduce. */
static void write_mix(uint64_t i)
{
    put(AS_TRACE_ENTER, true, 1, 5, 0, 0, 0, 0, 0);
    put(AS_TRACE_SEND, false, 6, 2, 20, 8192, 1, i, 0);
    put(AS_TRACE_LEAVE, true, 1, 5, 0, 0, 0, 0, 0);
    put(AS_TRACE_ENTER, true, 1, 6, 0, 0, 0, 0, 0);
    put(AS_TRACE_POST, false, 6, 4, 20, 8192, 1, i + 1, 0);
    put(AS_TRACE_LEAVE, true, 1, 6, 0, 0, 0, 0, 0);
    put(AS_TRACE_ENTER, true, 1, 7, 0, 0, 0, 0, 0);
    put(AS_TRACE_DONE, true, 1, i, 0, 0, 0, 0, 0);
    put(AS_TRACE_RECEIVE, false, 5, 4, 20, 8192, 1, i + 1, 0);
    put(AS_TRACE_LEAVE, false, 1, 7, 0, 0, 0, 0, 0);
    put(AS_TRACE_BARRIER, true, 2, 3, 1, 0, 0, 0, 0);
    put(AS_TRACE_BARRIER_END, true, 2, 3, 1, 0, 0, 0, 0);
    put(AS_TRACE_COLLECTIVE, true, 6, 1, 0, 1, 8, 8, 0);
}

int main(int argc, char **argv)
{
    const uint64_t rounds = (argc > 2 ? strtoull(argv[2], NULL, 10) : 20) * 1000000 / 13;
    struct timespec a, b;
    if (argc < 2)
        return 2;
    unlink(argv[1]);
    const struct as_trace_writing how = {.path = argv[1], .pid = 1, .tid = 1, .ring_n = 64};
    if (as_trace_writer_open(&writer, &how) < 0) {
        perror(argv[1]);
        return 1;
    }
    for (uint64_t i = 0; i < 64 * 40000 / 13; i++) /* once around: pages are there */
        write_mix(i);
    const uint64_t before_n = writer.records_n;
    const uint64_t blocks_n = writer.head->blocks_n;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    for (uint64_t i = 0; i < rounds; i++)
        write_mix(i);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    const double n = (double)(writer.records_n - before_n);
    const double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
    const double bytes = (double)(writer.head->blocks_n - blocks_n) * AS_TRACE_BLOCK_B;
    printf("trace: %.1f ns and %.1f bytes a record, %.0f records\n", ns / n, bytes / n, n);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    unlink(argv[1]);
    return 0;
}
