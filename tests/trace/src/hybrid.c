/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ranks of two threads. One thread of one rank is delayed in each round, so that its rank
 * delays a barrier of all. `hybrid LOG ROUNDS MILLISECONDS` writes LOG.RANK with lines "KIND ROUND
 * THREAD ENTER LEAVE TID" in nanoseconds of CLOCK_MONOTONIC_RAW: parts of regions, barriers of MPI.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void rest(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
    int rank, level;
    char path[4096];
    static long long part[64][2][3];
    if (argc != 4 || MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return 2;
    const int rounds = atoi(argv[2]);
    const long late_ms = atol(argv[3]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", argv[1], rank);
    FILE *log = fopen(path, "w");
    if (!log || rounds > 64)
        return 2;
    for (int r = 0; r < rounds; r++) {
#pragma omp parallel num_threads(2)
        {
            const int i = omp_get_thread_num();
            part[r][i][0] = now();
            rest(rank == 1 && i == 1 ? late_ms : 1);
            part[r][i][1] = now();
            part[r][i][2] = syscall(SYS_gettid);
        }
        const long long enter = now();
        MPI_Barrier(MPI_COMM_WORLD);
        fprintf(log, "barrier %d 0 %lld %lld %lld\n", r, enter, now(), part[r][0][2]);
    }
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < 2; i++)
            fprintf(log, "part %d %d %lld %lld %lld\n", r, i, part[r][i][0], part[r][i][1],
                    part[r][i][2]);
    fclose(log);
    return MPI_Finalize() != MPI_SUCCESS;
}
