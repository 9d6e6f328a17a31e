/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two groups and what is between them: ranks with an even number, and the others. One is late in
 * each operation. Each writes what it did itself, in nanoseconds of CLOCK_MONOTONIC_RAW, a line a
 * call, "call enter leave": from these tests/trace/inter.py works out the wait states.
 *
 *   inter LOG ROUNDS MILLISECONDS
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static FILE *log_file;
static int rank;
static int64_t late_ns;

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#define LOGGED(name, what)                                                                         \
    do {                                                                                           \
        const int64_t enter_ns = now();                                                            \
        what;                                                                                      \
        fprintf(log_file, "%s %lld %lld\n", name, (long long)enter_ns, (long long)now());          \
    } while (0)

/* All ranks synchronise, and then the delayed rank sleeps. */
static void meet(int is_late)
{
    const struct timespec t = {late_ns / 1000000000, late_ns % 1000000000};
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_late)
        nanosleep(&t, NULL);
}

static void rooted(MPI_Comm between, int is_first)
{
    int word = rank, all[16] = {0};
    /* Rank 2, the second of the first group, sends. */
    const int from = rank == 2 ? MPI_ROOT : is_first ? MPI_PROC_NULL : 1;
    meet(rank == 2);
    LOGGED("bcast", MPI_Bcast(&word, 1, MPI_INT, from, between));
    /* Rank 1, the first of the second group, gets. */
    const int to = rank == 1 ? MPI_ROOT : is_first ? 0 : MPI_PROC_NULL;
    meet(is_first);
    LOGGED("reduce", MPI_Reduce(&word, all, 1, MPI_INT, MPI_SUM, to, between));
    /* An argument that a rank does not need has no type. */
    meet(is_first);
    LOGGED("gather", MPI_Gather(is_first ? &word : NULL, 1, is_first ? MPI_INT : MPI_DATATYPE_NULL,
                                all, 1, is_first ? MPI_DATATYPE_NULL : MPI_INT, to, between));
}

static void of_all(MPI_Comm between, int is_first)
{
    int word = rank, all[16] = {0};
    MPI_Request request;
    meet(rank == 3);
    LOGGED("barrier", MPI_Barrier(between));
    meet(rank == 4);
    LOGGED("allreduce", MPI_Allreduce(&word, all, 1, MPI_INT, MPI_SUM, between));
    meet(rank == 1);
    LOGGED("allgather", MPI_Allgather(&word, 1, MPI_INT, all, 1, MPI_INT, between));
    meet(rank == 0);
    LOGGED("ibarrier", MPI_Ibarrier(between, &request));
    LOGGED("wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
    meet(rank == 0);
    if (rank == 0)
        LOGGED("send", MPI_Send(&word, 1, MPI_INT, 0, 5, between));
    if (rank == 1)
        LOGGED("recv", MPI_Recv(&word, 1, MPI_INT, 0, 5, between, MPI_STATUS_IGNORE));
    (void)is_first;
}

int main(int argc, char **argv)
{
    char path[4096];
    MPI_Comm own, between;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", argv[1], rank);
    log_file = fopen(path, "w");
    late_ns = atoll(argv[3]) * 1000000;
    const int is_first = rank % 2 == 0;
    MPI_Comm_split(MPI_COMM_WORLD, is_first, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, is_first ? 1 : 0, 7, &between);
    for (int round = 0; round < atoi(argv[2]); round++) {
        of_all(between, is_first);
        rooted(between, is_first);
    }
    MPI_Comm_free(&between);
    MPI_Comm_free(&own);
    fclose(log_file);
    MPI_Finalize();
    return 0;
}
