/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls MPI at random (seeded: all ranks agree where they must) and logs its own calls: a line each
 * on the file FILE.RANK, "ROUTINE partner tag bytes" with what was given or, of receives, got.
 * usage: calls FILE SEED ROUNDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *out;
static int rank;
static unsigned seed;

static unsigned any(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

#define LOG(...) fprintf(out, __VA_ARGS__)

static double a[4096], b[4096];

/* From a rank to the next, in one of several ways. */
static void shift(MPI_Comm comm)
{
    int n, me;
    MPI_Comm_size(comm, &n);
    LOG("MPI_Comm_size\n");
    MPI_Comm_rank(comm, &me);
    LOG("MPI_Comm_rank\n");
    const int count = (int)any(4000), tag = (int)any(100), way = (int)any(5);
    const int to = (me + 1) % n, from = (me + n - 1) % n;
    MPI_Request r[2];
    MPI_Status s[2];
    int got, flag = 0, index;
    switch (way) {
    case 0:
        MPI_Irecv(b, 4096, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[0]);
        LOG("MPI_Irecv -1 -1 %d\n", 4096 * 8);
        MPI_Send(a, count, MPI_DOUBLE, to, tag, comm);
        LOG("MPI_Send %d %d %d\n", to, tag, count * 8);
        MPI_Wait(&r[0], &s[0]);
        MPI_Get_count(&s[0], MPI_BYTE, &got);
        LOG("MPI_Wait %d %d %d\n", s[0].MPI_SOURCE, s[0].MPI_TAG, got);
        LOG("MPI_Get_count\n");
        break;
    case 1:
        MPI_Sendrecv(a, count, MPI_DOUBLE, to, tag, b, 4096, MPI_DOUBLE, from, tag, comm,
                     MPI_STATUS_IGNORE);
        LOG("MPI_Sendrecv %d %d %d %d %d %d\n", to, tag, count * 8, from, tag, count * 8);
        break;
    case 2:
        MPI_Irecv(b, 4096, MPI_INT, from, tag, comm, &r[0]);
        LOG("MPI_Irecv %d %d %d\n", from, tag, 4096 * 4);
        MPI_Isend(a, count, MPI_INT, to, tag, comm, &r[1]);
        LOG("MPI_Isend %d %d %d\n", to, tag, count * 4);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        LOG("MPI_Waitall %d %d %d\n", from, tag, count * 4);
        break;
    case 3:
        MPI_Isend(a, count, MPI_CHAR, to, tag, comm, &r[0]);
        LOG("MPI_Isend %d %d %d\n", to, tag, count);
        while (!flag) {
            MPI_Iprobe(from, tag, comm, &flag, &s[0]);
            LOG("MPI_Iprobe\n");
        }
        MPI_Recv(b, 4096, MPI_CHAR, from, MPI_ANY_TAG, comm, &s[1]);
        LOG("MPI_Recv %d %d %d\n", from, tag, count);
        MPI_Waitany(1, r, &index, MPI_STATUS_IGNORE);
        LOG("MPI_Waitany\n");
        break;
    default:
        MPI_Recv_init(b, 4096, MPI_DOUBLE, from, tag, comm, &r[0]);
        LOG("MPI_Recv_init %d %d %d\n", from, tag, 4096 * 8);
        for (int i = 0; i < 2; i++) {
            MPI_Start(&r[0]);
            LOG("MPI_Start\n");
            MPI_Send(a, count, MPI_DOUBLE, to, tag, comm);
            LOG("MPI_Send %d %d %d\n", to, tag, count * 8);
            for (flag = 0; !flag;) {
                MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
                if (flag)
                    LOG("MPI_Test %d %d %d\n", from, tag, count * 8);
                else
                    LOG("MPI_Test\n");
            }
        }
        MPI_Request_free(&r[0]);
        LOG("MPI_Request_free\n");
    }
}

static void together(MPI_Comm comm)
{
    int n, me;
    MPI_Request r;
    MPI_Comm_size(comm, &n);
    LOG("MPI_Comm_size\n");
    MPI_Comm_rank(comm, &me);
    LOG("MPI_Comm_rank\n");
    const int count = 1 + (int)any(500), root = (int)any((unsigned)n), way = (int)any(6);
    switch (way) {
    case 0:
        MPI_Barrier(comm);
        LOG("MPI_Barrier -1 0 0\n");
        break;
    case 1:
        MPI_Bcast(a, count, MPI_DOUBLE, root, comm);
        LOG("MPI_Bcast %d %d %d\n", root, me == root ? 8 * count : 0, me == root ? 0 : 8 * count);
        break;
    case 2:
        MPI_Allreduce(MPI_IN_PLACE, a, count, MPI_DOUBLE, MPI_SUM, comm);
        LOG("MPI_Allreduce -1 %d %d\n", 8 * count, 8 * count);
        break;
    case 3:
        MPI_Gather(a, count, MPI_INT, b, count, MPI_INT, root, comm);
        LOG("MPI_Gather %d %d %d\n", root, 4 * count, me == root ? 4 * count * n : 0);
        break;
    case 4:
        MPI_Ibarrier(comm, &r);
        LOG("MPI_Ibarrier -1 0 0\n");
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        LOG("MPI_Wait\n");
        break;
    default:
        MPI_Alltoall(a, count, MPI_CHAR, b, count, MPI_CHAR, comm);
        LOG("MPI_Alltoall -1 %d %d\n", count * n, count * n);
    }
}

int main(int argc, char **argv)
{
    char name[4096];
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    if (argc < 4)
        return 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    out = fopen(name, "w");
    if (!out)
        return 3;
    LOG("MPI_Init\nMPI_Comm_rank\n");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    LOG("MPI_Comm_split\n");
    seed = (unsigned)atoi(argv[2]);
    for (int i = 0; i < atoi(argv[3]); i++) {
        MPI_Comm comm = any(3) ? MPI_COMM_WORLD : half;
        if (any(2))
            shift(comm);
        else
            together(comm);
        MPI_Barrier(MPI_COMM_WORLD);
        LOG("MPI_Barrier -1 0 0\n");
    }
    MPI_Comm_free(&half);
    LOG("MPI_Comm_free\n");
    MPI_Finalize();
    LOG("MPI_Finalize\n");
    fclose(out);
    return 0;
}
