/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that compute in steps and name them: `phases LOG STEPS UNIT_MS` writes LOG.RANK with lines
 * "NAME ENTER LEAVE" of regions and of calls of MPI, in nanoseconds of CLOCK_MONOTONIC_RAW. In step
 * k rank k modulo size computes four times as long as the others. Rank 0 alone has a region "write"
 * in every second step.
 */
#include <assay/assay.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static FILE *log_file;
static volatile double kept;

static long long stamp(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void compute(long ms)
{
    const long long end = stamp(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000LL;
    while (stamp(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 1000; i++)
            kept = kept * 0.5 + 1;
}

static void meet(void)
{
    int mine = 1, sum;
    const long long enter = stamp(CLOCK_MONOTONIC_RAW);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    fprintf(log_file, "MPI_Allreduce %lld %lld\n", enter, stamp(CLOCK_MONOTONIC_RAW));
}

static void write_results(long ms)
{
    const long long enter = stamp(CLOCK_MONOTONIC_RAW);
    assay_region_begin("write");
    compute(ms);
    assay_region_end("write");
    fprintf(log_file, "write %lld %lld\n", enter, stamp(CLOCK_MONOTONIC_RAW));
}

int main(int argc, char **argv)
{
    int rank, size;
    char path[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(path, sizeof path, "%s.%d", argv[1], rank);
    if (argc != 4 || !(log_file = fopen(path, "w")))
        MPI_Abort(MPI_COMM_WORLD, 2);
    const long unit_ms = atol(argv[3]);
    compute(unit_ms);
    for (int step = 0; step < atoi(argv[2]); step++) {
        const long long enter = stamp(CLOCK_MONOTONIC_RAW);
        assay_region_begin("step");
        compute(step % size == rank ? 4 * unit_ms : unit_ms);
        if (rank == 0 && step % 2)
            write_results(unit_ms);
        meet();
        assay_region_end("step");
        fprintf(log_file, "step %lld %lld\n", enter, stamp(CLOCK_MONOTONIC_RAW));
        meet();
    }
    fclose(log_file);
    MPI_Finalize();
    return 0;
}
