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

/* A part of its own size and type for each member. */
static void apart(void)
{
    int n, count[16], at[16], sent = 0, got = 0;
    MPI_Datatype type[16];
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    LOG("MPI_Comm_size\n");
    for (int i = 0; i < n && i < 16; i++) { /* both sides: how many, and of which type */
        count[i] = 1 + rank + i;
        at[i] = 256 * i;
        type[i] = (rank + i) % 2 ? MPI_INT : MPI_DOUBLE;
        sent += count[i] * ((rank + i) % 2 ? 4 : 8);
    }
    got = sent;
    MPI_Alltoallw(a, count, at, type, b, count, at, type, MPI_COMM_WORLD);
    LOG("MPI_Alltoallw -1 %d %d\n", sent, got);
    MPI_Alltoallw(MPI_IN_PLACE, count, at, type, b, count, at, type, MPI_COMM_WORLD);
    LOG("MPI_Alltoallw -1 0 %d\n", got);
}

/* On a line of ranks, the ends have one neighbour; buffers have places for two. */
static void along(void)
{
    int n, periodic = 0, count[2] = {3, 5}, at[2] = {0, 512};
    MPI_Aint far[2] = {0, 1024};
    MPI_Datatype type[2] = {MPI_DOUBLE, MPI_CHAR}, taken[2] = {MPI_CHAR, MPI_DOUBLE};
    MPI_Comm line, copy;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &periodic, 0, &line);
    MPI_Comm_dup(line, &copy);
    LOG("MPI_Comm_size\nMPI_Cart_create\nMPI_Comm_dup\n");
    const int left = rank > 0, right = rank < n - 1, both = left + right;
    MPI_Neighbor_allgather(a, 7, MPI_INT, b, 7, MPI_INT, line);
    LOG("MPI_Neighbor_allgather -1 %d %d\n", 28 * both, 28 * both);
    MPI_Neighbor_alltoall(a, 3, MPI_CHAR, b, 3, MPI_CHAR, copy);
    LOG("MPI_Neighbor_alltoall -1 %d %d\n", 3 * both, 3 * both);
    /* Three go to the left neighbour, which receives them from its right. */
    const int take[2] = {5, 3};
    MPI_Neighbor_alltoallv(a, count, at, MPI_INT, b, take, at, MPI_INT, copy);
    LOG("MPI_Neighbor_alltoallv -1 %d %d\n", 12 * left + 20 * right, 20 * left + 12 * right);
    MPI_Neighbor_alltoallw(a, count, far, type, b, take, far, taken, line);
    LOG("MPI_Neighbor_alltoallw -1 %d %d\n", 24 * left + 5 * right, 5 * left + 24 * right);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&line);
    LOG("MPI_Comm_free\nMPI_Comm_free\n");
}

/* From each rank to all behind it: what one sends is not what it gets. */
static void behind(void)
{
    int n, before[16], after[16], counts[16], places[16], before_n = 0, after_n = 0, got = 0;
    MPI_Comm graph;
    MPI_Request r;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < n && i < 16; i++) {
        if (i < rank)
            before[before_n++] = i;
        if (i > rank)
            after[after_n++] = i;
        counts[i] = 1 + i;
        places[i] = 20 * i;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, before_n, before, MPI_UNWEIGHTED, after_n, after,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    LOG("MPI_Comm_size\nMPI_Dist_graph_create_adjacent\n");
    for (int i = 0; i < before_n; i++)
        got += 4 * counts[i];
    MPI_Ineighbor_allgatherv(a, 1 + rank, MPI_INT, b, counts, places, MPI_INT, graph, &r);
    LOG("MPI_Ineighbor_allgatherv -1 %d %d\n", 4 * (1 + rank) * after_n, got);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Comm_free(&graph);
    LOG("MPI_Wait\nMPI_Comm_free\n");
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
    apart();
    along();
    behind();
    MPI_Finalize();
    LOG("MPI_Finalize\n");
    fclose(out);
    return 0;
}
