/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ranks that compute in relax, one more than the other, and exchange messages of all sorts.
 * Each prints the nanoseconds in relax by its own clock. usage: exchange STEPS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CELLS_N 4096
#define LARGE_N 16384

static double cell[CELLS_N], given[LARGE_N], got[LARGE_N];
static long long relax_ns;

static __attribute__((no_instrument_function)) long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

__attribute__((noinline)) void relax(int n)
{
    const long long begin_ns = now_ns();
    for (int k = 0; k < n; k++)
        for (int i = 1; i < CELLS_N - 1; i++)
            cell[i] = 0.5 * cell[i] + 0.25 * (cell[i - 1] + cell[i + 1]);
    relax_ns += now_ns() - begin_ns;
}

/* Sends 4 messages a rank: to a wildcard, by MPI_Sendrecv, a persistent and a synchronous one. */
static void exchange(int other, MPI_Request *persistent)
{
    MPI_Request request[3];
    double sum;
    MPI_Irecv(got, LARGE_N, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(given, LARGE_N, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(given, LARGE_N, MPI_DOUBLE, other, 2, got, LARGE_N, MPI_DOUBLE, other, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    MPI_Irecv(got, 10, MPI_DOUBLE, other, 4, MPI_COMM_WORLD, &request[0]);
    MPI_Ssend(given, 10, MPI_DOUBLE, other, 4, MPI_COMM_WORLD);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Iallreduce(cell, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const int steps_n = argc > 1 ? atoi(argv[1]) : 10;
    MPI_Request persistent[2];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv_init(got, 100, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD, &persistent[0]);
    MPI_Send_init(given, 100, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD, &persistent[1]);
    for (int i = 0; i < steps_n; i++) {
        relax(rank ? 150 : 100);
        exchange(1 - rank, persistent);
    }
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
    printf("rank %d relax %lld ns\n", rank, relax_ns);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
