/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of MPI that calls some routines often and delays one rank by a planted amount. It is
 * built with regions of <assay/assay.h> and without. Rank 0 is delayed for rank 1. Rank 1 announces
 * its receive outside of MPI, in a file that both have mapped. Otherwise, on a busy machine, the
 * waiting rank could have no CPU until the other has sent.
 *
 *   filter ROUNDS MILLISECONDS LOG
 *
 * Each rank writes its calls to LOG.RANK, "RANK ROUTINE CALLS" a line.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef REGIONS
#include <assay/assay.h>
#else
#define assay_region_begin(name)
#define assay_region_end(name)
#endif

#define ASKS 300 /* of its rank, a round */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The round in which rank 1 is about to receive; both begin at 0. */
static int *map_waiting(const char *log)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.waiting", log);
    const int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096) < 0)
        exit(1);
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        exit(1);
    close(fd);
    __atomic_store_n((int *)at, 0, __ATOMIC_SEQ_CST);
    return at;
}

/* As long as that from when the other waits in this round. */
static void compute(const int *waiting, int round, int64_t ns)
{
    while (__atomic_load_n(waiting, __ATOMIC_SEQ_CST) < round)
        ;
    for (const int64_t end = now_ns() + ns; now_ns() < end;)
        ;
}

int main(int argc, char **argv)
{
    const int rounds = atoi(argv[1]);
    const int64_t late_ns = atoll(argv[2]) * 1000000;
    int rank = 0, n, tests = 0, value = 0;
    int *waiting = map_waiting(argv[3]);
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < rounds; i++) {
        double in = 1, out;
        MPI_Request request;
        int flag = 0;
        assay_region_begin("round");
        MPI_Barrier(MPI_COMM_WORLD);
        assay_region_begin("asking");
        for (int k = 0; k < ASKS; k++)
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        assay_region_end("asking");
        if (rank == 0) {
            compute(waiting, i + 1, late_ns);
            MPI_Send(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
            MPI_Send(&value, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
        } else if (rank == 1) {
            __atomic_store_n(waiting, i + 1, __ATOMIC_SEQ_CST);
            MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Irecv(&value, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &request);
            for (; !flag; tests++)
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        assay_region_end("round");
    }
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", argv[3], rank);
    FILE *log = fopen(path, "w");
    fprintf(log, "%d MPI_Comm_size 1\n%d MPI_Comm_rank %d\n", rank, rank, rounds * ASKS);
    fprintf(log, "%d MPI_Iallreduce %d\n%d MPI_Wait %d\n", rank, rounds, rank, rounds);
    fprintf(log, "%d MPI_Allreduce %d\n%d MPI_Barrier %d\n", rank, rounds, rank, rounds);
    if (rank == 0)
        fprintf(log, "0 MPI_Send %d\n", 2 * rounds);
    if (rank == 1)
        fprintf(log, "1 MPI_Recv %d\n1 MPI_Irecv %d\n1 MPI_Test %d\n", rounds, rounds, tests);
    fclose(log);
    MPI_Finalize();
    return 0;
}
