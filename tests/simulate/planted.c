/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with a planted loss of efficiency: planted LOSS STEPS. It "computes" asleep by a system
 * call of its own, so that other load on the machine changes little:
 *
 *   imbalance      rank 0 computes 30 ms, the others 10 ms.
 *   serialisation  Each computes 10 ms after the rank before it.
 *   transfer       Each computes 5 ms, then 32 MB go around.
 *   replication    Each computes 20 ms, and its part of 40 ms.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE_B (32 << 20)

static int rank, size;

#define UNTRACED __attribute__((no_instrument_function))

UNTRACED static void compute_for(long us)
{
    const struct timespec t = {us / 1000000, us % 1000000 * 1000};
    syscall(SYS_nanosleep, &t, NULL);
}

/* The one that the others wait for, and theirs. */
__attribute__((noinline)) static void heavy(void)
{
    compute_for(30000);
}

__attribute__((noinline)) static void light(void)
{
    compute_for(10000);
}

UNTRACED __attribute__((noinline)) static void pass_along(void)
{
    int token = 0;
    if (rank > 0)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    compute_for(10000);
    if (rank + 1 < size)
        MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
}

UNTRACED __attribute__((noinline)) static void move_around(char *sent, char *received)
{
    compute_for(5000);
    MPI_Sendrecv(sent, MESSAGE_B, MPI_CHAR, (rank + 1) % size, 0, received, MESSAGE_B, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

UNTRACED int main(int argc, char **argv)
{
    char *sent = calloc(1, MESSAGE_B), *received = calloc(1, MESSAGE_B);
    const char *loss = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; sent && received && step < atoi(argv[2]); step++) {
        if (strcmp(loss, "imbalance") == 0)
            (rank == 0 ? heavy : light)();
        else if (strcmp(loss, "serialisation") == 0)
            pass_along();
        else if (strcmp(loss, "transfer") == 0)
            move_around(sent, received);
        else
            compute_for(20000 + 40000 / size);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    free(sent);
    free(received);
    return 0;
}
