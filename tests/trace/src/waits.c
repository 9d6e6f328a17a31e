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

/* A large message that does not block, and is asked for late. */
static void late_receiver_large(void)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (rank == 0) {
        LOGGED("MPI_Isend", 1, 4, 1 << 20, -1,
               MPI_Isend(buffer, 1 << 20, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &request));
        LOGGED("MPI_Wait", -1, 0, 0, -1, MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (rank == 1) {
        compute(late_ns);
        LOGGED("MPI_Recv", 0, 4, 1 << 20, -1,
               MPI_Recv(buffer, 1 << 20, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

/* One call sends and receives: it waits once. */
static void exchange(void)
{
    if (rank == 1)
        compute(late_ns);
    LOGGED("MPI_Sendrecv", 1 - rank, 2, 64, -1,
           MPI_Sendrecv(buffer, 64, MPI_BYTE, 1 - rank, 2, other, 64, MPI_BYTE, 1 - rank, 2,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void begin_receive(int peer, int at, MPI_Request *request)
{
    LOGGED("MPI_Irecv", peer, 6, 64, -1,
           MPI_Irecv(other + 64 * at, 64, MPI_BYTE, peer, 6, MPI_COMM_WORLD, request));
}

static void begin_send(int peer, MPI_Request *request)
{
    LOGGED("MPI_Isend", peer, 6, 64, -1,
           MPI_Isend(buffer, 64, MPI_BYTE, peer, 6, MPI_COMM_WORLD, request));
}

static void wait_for_all(int n, MPI_Request *request)
{
    LOGGED("MPI_Waitall", -1, 0, 0, -1, MPI_Waitall(n, request, MPI_STATUSES_IGNORE));
}

/* The rank in the middle is late for both of its neighbours. */
static void halo(void)
{
    MPI_Request request[4];
    int n = 0;

    if (rank == 1)
        compute(late_ns);
    for (int peer = rank - 1; peer <= rank + 1; peer += 2)
        if (peer >= 0 && peer < rank_n)
            begin_receive(peer, n, &request[n]), n++;
    for (int peer = rank - 1; peer <= rank + 1; peer += 2)
        if (peer >= 0 && peer < rank_n)
            begin_send(peer, &request[n]), n++;
    wait_for_all(n, request);
}

/* One call waits for two ranks: the later one is the cause. */
static void two_senders(void)
{
    MPI_Request request[2];

    if (rank == 0) {
        begin_receive(1, 0, &request[0]);
        begin_receive(2, 1, &request[1]);
        wait_for_all(2, request);
        return;
    }
    compute(rank == 1 ? late_ns / 2 : late_ns);
    begin_send(0, &request[0]);
    wait_for_all(1, request);
}

/* The receive of a small message is late, and nothing waits for that. */
static void eager(void)
{
    MPI_Request request[2];

    if (rank == 0) {
        begin_receive(2, 0, &request[0]);
        begin_send(1, &request[1]);
        wait_for_all(2, request);
    } else if (rank == 1) {
        compute(late_ns / 2);
        begin_receive(0, 0, &request[0]);
        wait_for_all(1, request);
    } else {
        compute(late_ns);
        begin_send(0, &request[0]);
        wait_for_all(1, request);
    }
}

static void allgather(void)
{
    LOGGED("MPI_Allgather", -1, 0, 64, -1,
           MPI_Allgather(buffer, 64, MPI_BYTE, other, 64, MPI_BYTE, MPI_COMM_WORLD));
}

static void reduce_scatter(void)
{
    LOGGED("MPI_Reduce_scatter_block", -1, 0, 8, -1,
           MPI_Reduce_scatter_block(buffer, other, 8, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD));
}

/* Begins at once and is waited for. */
#define NONBLOCKING(name, byte_n, root, ...)                                                       \
    do {                                                                                           \
        MPI_Request request;                                                                       \
        LOGGED("MPI_" #name, -1, 0, byte_n, root,                                                  \
               MPI_##name(__VA_ARGS__, MPI_COMM_WORLD, &request));                                 \
        LOGGED("MPI_Wait", -1, 0, 0, -1, MPI_Wait(&request, MPI_STATUS_IGNORE));                   \
    } while (0)

static void nonblocking_barrier(void)
{
    MPI_Request request;

    LOGGED("MPI_Ibarrier", -1, 0, 0, -1, MPI_Ibarrier(MPI_COMM_WORLD, &request));
    LOGGED("MPI_Wait", -1, 0, 0, -1, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void nonblocking_broadcast(void)
{
    NONBLOCKING(Ibcast, 1024, rank_n - 1, buffer, 1024, MPI_BYTE, rank_n - 1);
}

static void late_scatter(void)
{
    LOGGED("MPI_Scatter", -1, 0, 64, rank_n - 1,
           MPI_Scatter(buffer, 64, MPI_BYTE, other, 64, MPI_BYTE, rank_n - 1, MPI_COMM_WORLD));
}

static void early_gather(void)
{
    LOGGED("MPI_Gather", -1, 0, 64, 0,
           MPI_Gather(buffer, 64, MPI_BYTE, other, 64, MPI_BYTE, 0, MPI_COMM_WORLD));
}

/* The last rank contributes nothing: the one before it is waited for. */
static void empty_gather(void)
{
    int byte_n[8] = {64, 64}, place[8] = {0, 64};
    const int own = rank == rank_n - 1 ? 0 : 64;

    if (rank == 1)
        compute(late_ns / 2);
    LOGGED("MPI_Gatherv", -1, 0, own, 0,
           MPI_Gatherv(buffer, own, MPI_BYTE, other, byte_n, place, MPI_BYTE, 0, MPI_COMM_WORLD));
}

static void nonblocking_reduce(void)
{
    NONBLOCKING(Ireduce, 8, 0, buffer, other, 8, MPI_BYTE, MPI_BOR, 0);
}

/* A rank in the middle is late for those behind it. */
static void scan(void)
{
    if (rank == 1)
        compute(late_ns);
    LOGGED("MPI_Scan", -1, 0, 8, -1, MPI_Scan(buffer, other, 8, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD));
}

static void exscan(void)
{
    if (rank == 1)
        compute(late_ns);
    LOGGED("MPI_Exscan", -1, 0, 8, -1,
           MPI_Exscan(buffer, other, 8, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD));
}

/* The first rank has the result; one rank is late, and the last rank more so. */
static void uneven_reduce(void)
{
    if (rank > 0 && rank < rank_n - 1)
        compute(late_ns / 4);
    imbalance(early_reduce);
}

static void late_sender_small(void)
{
    late_sender(1024);
}

static void late_sender_large(void)
{
    late_sender(1 << 20);
}

/* All ranks but the last are early. */
#define IMBALANCED(X)                                                                              \
    X(barrier)                                                                                     \
    X(allreduce)                                                                                   \
    X(alltoall)                                                                                    \
    X(allgather)                                                                                   \
    X(reduce_scatter)                                                                              \
    X(nonblocking_allreduce)                                                                       \
    X(nonblocking_barrier)                                                                         \
    X(late_broadcast)                                                                              \
    X(late_scatter)                                                                                \
    X(nonblocking_broadcast)                                                                       \
    X(early_gather)                                                                                \
    X(empty_gather)                                                                                \
    X(nonblocking_reduce)
#define IMBALANCED_CASE(name) {#name, name, 1},
static const struct {
    const char *name;
    void (*run)(void);
    int is_imbalanced;
} cases[] = {{"late_sender", late_sender_small, 0},
             {"late_sender_large", late_sender_large, 0},
             {"late_receiver", late_receiver, 0},
             {"late_receiver_large", late_receiver_large, 0},
             {"wrong_order", wrong_order, 0},
             {"late_nonblocking", late_nonblocking, 0},
             {"exchange", exchange, 0},
             {"halo", halo, 0},
             {"two_senders", two_senders, 0},
             {"eager", eager, 0},
             {"early_reduce", uneven_reduce, 0},
             {"scan", scan, 0},
             {"exscan", exscan, 0},
             IMBALANCED(IMBALANCED_CASE)};

static int run_case(const char *name)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, name) == 0) {
            if (cases[i].is_imbalanced)
                imbalance(cases[i].run);
            else
                cases[i].run();
            return 1;
        }
    return 0;
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
        if (!run_case(name))
            MPI_Abort(MPI_COMM_WORLD, 4);
    }
    meet();
    fclose(log_file);
    MPI_Finalize();
    return 0;
}
