/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls an MPI routine that does nearly nothing, four functions deep, in THREADS threads CALLS
 * times each. Prints "NS KIB" for the first rank. NS is nanoseconds of CPU time of a call, the
 * minimum of pieces of 1000. KIB is the resident memory at the end. usage: called THREADS CALLS
 */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "status.h"

#define PIECE 1000

static long calls;
static double least_ns = 1e30; /* of the first thread */

static __attribute__((noinline)) int call_once(int *rank)
{
    const int rc = MPI_Comm_rank(MPI_COMM_WORLD, rank);
    return rc + *rank; /* nothing of this is a jump at the end */
}

static __attribute__((noinline)) int call_inner(int *rank)
{
    return call_once(rank) + 1;
}

static __attribute__((noinline)) int call_outer(int *rank)
{
    return call_inner(rank) + 1;
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *call_often(void *is_first)
{
    int rank, sum = 0;
    for (long n = 0; n < calls; n += PIECE) {
        const double begin_ns = cpu_ns();
        for (unsigned i = 0; i < PIECE; i++)
            sum += call_outer(&rank);
        const double ns = (cpu_ns() - begin_ns) / PIECE;
        if (is_first && ns < least_ns)
            least_ns = ns;
    }
    return sum ? NULL : is_first;
}

int main(int argc, char **argv)
{
    int rank, level;
    const int threads = argc > 2 ? atoi(argv[1]) : 0;
    pthread_t thread[64];
    if (threads < 1 || threads > 64)
        return 2;
    calls = atol(argv[2]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < threads; i++)
        if (pthread_create(&thread[i], NULL, call_often, NULL) != 0)
            return 1;
    call_often(&level);
    for (int i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    if (rank == 0)
        printf("%.1f %ld\n", calls ? least_ns : 0.0, bench_status_kib("VmRSS"));
    MPI_Finalize();
    return 0;
}
