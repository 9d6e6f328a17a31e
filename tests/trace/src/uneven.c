/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks of two threads that compute up to a barrier of all. The last rank computes MORE times as
 * much as another. `uneven LOG ROUNDS MORE STEPS` writes LOG.RANK with lines "KIND ROUND THREAD
 * ENTER LEAVE TID CPU" in nanoseconds. Times are of CLOCK_MONOTONIC_RAW, CPU is the thread's CPU
 * time in between. Lines are parts of regions, whole regions, barriers of MPI. `uneven
 * MILLISECONDS` prints the number of steps for that CPU time.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MOST 64
#define STEPS_TRIED 1000000L

static volatile double kept;

static long long stamp(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Each step needs the one before. */
__attribute__((noinline)) static void sweep(long n)
{
    double value = 0;
    for (long i = 0; i < n; i++)
        value = value * 0.5 + 1;
    kept = value;
}

struct span {
    long long enter, leave, cpu;
    long tid;
};

/* By the quickest of some: a step takes no less. */
static long steps_of(long ms)
{
    long long least = 0;
    for (int i = 0; i < 20; i++) {
        const long long begin = stamp(CLOCK_THREAD_CPUTIME_ID);
        sweep(STEPS_TRIED);
        const long long took = stamp(CLOCK_THREAD_CPUTIME_ID) - begin;
        least = i == 0 || took < least ? took : least;
    }
    return (long)((double)ms * 1e6 / (double)(least + 1) * STEPS_TRIED);
}

static void compute(struct span *span, long steps)
{
    span->cpu = stamp(CLOCK_THREAD_CPUTIME_ID);
    span->enter = stamp(CLOCK_MONOTONIC_RAW);
    sweep(steps);
    span->leave = stamp(CLOCK_MONOTONIC_RAW);
    span->tid = syscall(SYS_gettid);
    span->cpu = stamp(CLOCK_THREAD_CPUTIME_ID) - span->cpu;
}

static void tell(FILE *log, const char *kind, int round, int thread, const struct span *span)
{
    fprintf(log, "%s %d %d %lld %lld %ld %lld\n", kind, round, thread, span->enter, span->leave,
            span->tid, span->cpu);
}

int main(int argc, char **argv)
{
    static struct span part[ROUNDS_MOST][2], region[ROUNDS_MOST], barrier[ROUNDS_MOST];
    int rank, rank_n, level;
    char path[4096];
    if (argc == 2)
        return printf("%ld\n", steps_of(atol(argv[1]))) < 0;
    if (argc != 5 || MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return 2;
    const int rounds = atoi(argv[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_n);
    const long steps = atol(argv[4]) * (rank == rank_n - 1 ? atol(argv[3]) : 1);
    snprintf(path, sizeof path, "%s.%d", argv[1], rank);
    FILE *log = fopen(path, "w");
    if (!log || rounds > ROUNDS_MOST)
        return 2;
    for (int r = 0; r < rounds; r++) {
        region[r].enter = stamp(CLOCK_MONOTONIC_RAW);
#pragma omp parallel num_threads(2)
        compute(&part[r][omp_get_thread_num()], steps);
        region[r].leave = barrier[r].enter = stamp(CLOCK_MONOTONIC_RAW);
        MPI_Barrier(MPI_COMM_WORLD);
        barrier[r].leave = stamp(CLOCK_MONOTONIC_RAW);
        region[r].tid = barrier[r].tid = part[r][0].tid;
    }
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < 2; i++)
            tell(log, "part", r, i, &part[r][i]);
        tell(log, "region", r, 0, &region[r]);
        tell(log, "barrier", r, 0, &barrier[r]);
    }
    fclose(log);
    return MPI_Finalize() != MPI_SUCCESS;
}
