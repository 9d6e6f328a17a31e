/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that make each other wait, by amounts that are planted. Each writes what it did itself, in
 * nanoseconds of CLOCK_MONOTONIC_RAW, a line a call: from these tests/trace/waits.py works out the
 * wait states by their definitions.
 *
 *   waits CASE LOG ROUNDS MILLISECONDS
 *
 * writes LOG.RANK with lines "rank thread call enter leave peer tag bytes root".
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static FILE *log_file;
static int rank, rank_n, rounds;
static int64_t late_ns;

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Computes for so long. */
static void compute(int64_t ns)
{
    int64_t end = now() + ns;

    while (now() < end) {
    }
}

struct call {
    const char *name;
    int peer, tag, bytes, root;
    int64_t enter;
};

static void entered(struct call *call)
{
    call->enter = now();
}

static void left(const struct call *call)
{
    int64_t leave = now();

    fprintf(log_file, "%d 0 %s %lld %lld %d %d %d %d\n", rank, call->name, (long long)call->enter,
            (long long)leave, call->peer, call->tag, call->bytes, call->root);
}

/* The call between two looks at the clock. */
#define LOGGED(call_name, peer_rank, call_tag, byte_n, root_rank, what)                            \
    do {                                                                                           \
        struct call call = {call_name, peer_rank, call_tag, byte_n, root_rank, 0};                 \
        entered(&call);                                                                            \
        what;                                                                                      \
        left(&call);                                                                               \
    } while (0)

static char buffer[1 << 20], other[1 << 20];

/* All begin a round at one time, as well as a barrier can; it is in the log as any other. */
static void meet(void)
{
    LOGGED("MPI_Barrier", -1, 0, 0, -1, MPI_Barrier(MPI_COMM_WORLD));
}

static void late_sender(int byte_n)
{
    if (rank == 0) {
        compute(late_ns);
        LOGGED("MPI_Send", 1, 7, byte_n, -1,
               MPI_Send(buffer, byte_n, MPI_BYTE, 1, 7, MPI_COMM_WORLD));
    } else if (rank == 1) {
        LOGGED("MPI_Recv", 0, 7, byte_n, -1,
               MPI_Recv(buffer, byte_n, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

static void late_receiver(void)
{
    if (rank == 0) {
        LOGGED("MPI_Ssend", 1, 3, 4096, -1,
               MPI_Ssend(buffer, 4096, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
    } else if (rank == 1) {
        compute(late_ns);
        LOGGED("MPI_Recv", 0, 3, 4096, -1,
               MPI_Recv(buffer, 4096, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

/* The message that is asked for first was sent second. */
static void wrong_order(void)
{
    if (rank == 0) {
        LOGGED("MPI_Send", 1, 1, 64, -1, MPI_Send(buffer, 64, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
        compute(late_ns);
        LOGGED("MPI_Send", 1, 2, 64, -1, MPI_Send(buffer, 64, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
    } else if (rank == 1) {
        LOGGED("MPI_Recv", 0, 2, 64, -1,
               MPI_Recv(buffer, 64, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        LOGGED("MPI_Recv", 0, 1, 64, -1,
               MPI_Recv(buffer, 64, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

static void late_nonblocking(void)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (rank == 0) {
        compute(late_ns);
        LOGGED("MPI_Isend", 1, 5, 512, -1,
               MPI_Isend(buffer, 512, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &request));
        LOGGED("MPI_Wait", -1, 0, 0, -1, MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (rank == 1) {
        LOGGED("MPI_Irecv", 0, 5, 512, -1,
               MPI_Irecv(buffer, 512, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &request));
        LOGGED("MPI_Wait", 0, 5, 512, -1, MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

/* One computes longer than the others, before what all take part in. */
static void imbalance(void (*all)(void))
{
    if (rank == rank_n - 1)
        compute(late_ns);
    all();
}

static void barrier(void)
{
    meet();
}

static void allreduce(void)
{
    double in = 1, out;

    LOGGED("MPI_Allreduce", -1, 0, 8, -1,
           MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

static void alltoall(void)
{
    LOGGED("MPI_Alltoall", -1, 0, 64, -1,
           MPI_Alltoall(buffer, 64, MPI_BYTE, other, 64, MPI_BYTE, MPI_COMM_WORLD));
}

static void nonblocking_allreduce(void)
{
    double in = 1, out;
    MPI_Request request;

    LOGGED("MPI_Iallreduce", -1, 0, 8, -1,
           MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
    LOGGED("MPI_Wait", -1, 0, 0, -1, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* The root is the late one. */
static void late_broadcast(void)
{
    LOGGED("MPI_Bcast", -1, 0, 1024, rank_n - 1,
           MPI_Bcast(buffer, 1024, MPI_BYTE, rank_n - 1, MPI_COMM_WORLD));
}

/* The root is early, a sender late. */
static void early_reduce(void)
{
    double in = 1, out;

    LOGGED("MPI_Reduce", -1, 0, 8, 0,
           MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    const char *name = argc > 4 ? argv[1] : "";
    char path[4096];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_n);
    if (argc < 5 || rank_n < 2) {
        fprintf(stderr, "usage: waits CASE LOG ROUNDS MILLISECONDS, with two ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    rounds = atoi(argv[3]);
    late_ns = (int64_t)(atof(argv[4]) * 1e6);
    snprintf(path, sizeof path, "%s.%d", argv[2], rank);
    log_file = fopen(path, "w");
    if (log_file == NULL)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < rounds; i++) {
        meet();
        if (strcmp(name, "late_sender") == 0)
            late_sender(1024);
        else if (strcmp(name, "late_sender_large") == 0)
            late_sender(1 << 20);
        else if (strcmp(name, "late_receiver") == 0)
            late_receiver();
        else if (strcmp(name, "wrong_order") == 0)
            wrong_order();
        else if (strcmp(name, "late_nonblocking") == 0)
            late_nonblocking();
        else if (strcmp(name, "barrier") == 0)
            imbalance(barrier);
        else if (strcmp(name, "allreduce") == 0)
            imbalance(allreduce);
        else if (strcmp(name, "alltoall") == 0)
            imbalance(alltoall);
        else if (strcmp(name, "nonblocking_allreduce") == 0)
            imbalance(nonblocking_allreduce);
        else if (strcmp(name, "late_broadcast") == 0)
            imbalance(late_broadcast);
        else if (strcmp(name, "early_reduce") == 0)
            imbalance(early_reduce);
        else
            MPI_Abort(MPI_COMM_WORLD, 4);
    }
    meet();
    fclose(log_file);
    MPI_Finalize();
    return 0;
}
