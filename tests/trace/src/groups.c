/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that need some of the others: neighbours, windows, messages in parts. One is late in each
 * round. Each writes what it did itself, in nanoseconds of CLOCK_MONOTONIC_RAW, a line a call: from
 * these lines tests/trace/groups.py works out the wait states by their definitions.
 *
 *   groups CASE LOG ROUNDS MILLISECONDS
 *
 * writes LOG.RANK with lines "call enter leave ranks", ranks being those that the call names or
 * needs: "1,2" or "-".
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RANKS_MOST 16

struct ranks {
    int n, at[RANKS_MOST];
};

static FILE *log_file;
static int rank, rank_n;
static int64_t late_ns;
static double in[4096], out[4096];

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void rest(int64_t ns)
{
    struct timespec t = {ns / 1000000000, ns % 1000000000};

    nanosleep(&t, NULL);
}

static void told(const char *name, int64_t enter, const struct ranks *ranks)
{
    int64_t leave = now();

    fprintf(log_file, "%s %lld %lld ", name, (long long)enter, (long long)leave);
    for (int i = 0; ranks && i < ranks->n; i++)
        fprintf(log_file, "%s%d", i ? "," : "", ranks->at[i]);
    fprintf(log_file, "%s\n", ranks && ranks->n ? "" : "-");
}

/* The call between two looks at the clock. */
#define LOGGED(name, ranks, what)                                                                  \
    do {                                                                                           \
        int64_t enter = now();                                                                     \
        what;                                                                                      \
        told(name, enter, ranks);                                                                  \
    } while (0)

static void meet(void)
{
    LOGGED("MPI_Barrier", NULL, MPI_Barrier(MPI_COMM_WORLD));
}

static void be_late(int round)
{
    if (rank == round % rank_n)
        rest(late_ns);
}

/* ---- Neighbours ------------------------------------------------------------------------------ */

static struct ranks needed; /* those that this one gets something from */
static MPI_Comm near;

static void make_grid(int is_ring)
{
    MPI_Comm first;

    MPI_Cart_create(MPI_COMM_WORLD, 1, &rank_n, &is_ring, 0, &first);
    MPI_Comm_dup(first, &near);
    MPI_Comm_free(&first);
    if (is_ring || rank > 0)
        needed.at[needed.n++] = (rank + rank_n - 1) % rank_n;
    if (is_ring || rank < rank_n - 1)
        needed.at[needed.n++] = (rank + 1) % rank_n;
}

/* From each rank to all higher ranks: the first needs no other rank, and no rank needs the last. */
static void make_chain(void)
{
    int behind[RANKS_MOST], behind_n = 0;

    for (int i = 0; i < rank; i++)
        needed.at[needed.n++] = i;
    for (int i = rank + 1; i < rank_n; i++)
        behind[behind_n++] = i;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, needed.n, needed.at, MPI_UNWEIGHTED, behind_n,
                                   behind, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &near);
}

/* All with rank 0, and without other edges. */
static void make_star(void)
{
    int last[RANKS_MOST], edge[2 * RANKS_MOST];

    for (int i = 0; i < rank_n; i++) {
        last[i] = rank_n - 1 + i;
        if (i > 0) {
            edge[i - 1] = i;
            edge[rank_n - 2 + i] = 0;
        }
        if (rank == 0 ? i > 0 : i == 0)
            needed.at[needed.n++] = i;
    }
    MPI_Graph_create(MPI_COMM_WORLD, rank_n, last, edge, 0, &near);
}

/* As the chain, but each says what it knows of the next, with weights. */
static void make_told(void)
{
    int self = rank, n = rank < rank_n - 1, next = rank + 1, weight = 3;

    if (rank > 0)
        needed.at[needed.n++] = rank - 1;
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, &self, &n, &next, &weight, MPI_INFO_NULL, 0, &near);
}

static void exchange(int round)
{
    be_late(round);
    LOGGED("MPI_Neighbor_allgather", &needed,
           MPI_Neighbor_allgather(in, 4, MPI_DOUBLE, out, 4, MPI_DOUBLE, near));
}

static void exchange_later(int round)
{
    MPI_Request request;

    be_late(round);
    LOGGED("MPI_Ineighbor_alltoall", &needed,
           MPI_Ineighbor_alltoall(in, 4, MPI_DOUBLE, out, 4, MPI_DOUBLE, near, &request));
    LOGGED("MPI_Wait", NULL, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

#if MPI_VERSION >= 4
static void exchange_prepared(int round)
{
    static MPI_Request request = MPI_REQUEST_NULL;

    if (request == MPI_REQUEST_NULL)
        MPI_Neighbor_alltoall_init(in, 4, MPI_DOUBLE, out, 4, MPI_DOUBLE, near, MPI_INFO_NULL,
                                   &request);
    be_late(round);
    LOGGED("MPI_Start", &needed, MPI_Start(&request));
    LOGGED("MPI_Wait", NULL, MPI_Wait(&request, MPI_STATUS_IGNORE));
}
#endif

/* ---- Windows --------------------------------------------------------------------------------- */

static MPI_Win window; /* 0: none was made */

static void make_window(void)
{
    LOGGED("MPI_Win_create", NULL,
           MPI_Win_create(out, sizeof out, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
}

static void free_window(void)
{
    LOGGED("MPI_Win_free", NULL, MPI_Win_free(&window));
}

static struct ranks one(int other)
{
    struct ranks ranks = {1, {other}};

    return ranks;
}

static void put_to(int target)
{
    struct ranks ranks = one(target);

    LOGGED("MPI_Put", &ranks, MPI_Put(in, 8, MPI_DOUBLE, target, 0, 8, MPI_DOUBLE, window));
}

static void fence(int round)
{
    be_late(round);
    LOGGED("MPI_Win_fence", NULL, MPI_Win_fence(0, window));
    put_to((rank + 1) % rank_n);
    LOGGED("MPI_Win_fence", NULL, MPI_Win_fence(0, window));
}

static void window_made(int round)
{
    be_late(round);
    make_window();
    be_late(round + 1);
    free_window();
}

/* One rank exposes its memory to all others, which write there. Delayed is that rank, or the first
 * of the others, before or after the access. */
static void expose(int round, int64_t post_ns, int64_t before_ns, int64_t behind_ns)
{
    const int target = round % rank_n, late = (round + 1) % rank_n;
    struct ranks others = {0};
    MPI_Group all, group;

    for (int i = 0; i < rank_n; i++)
        if (rank == target ? i != target : i == target)
            others.at[others.n++] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, others.n, others.at, &group);
    if (rank == target) {
        rest(post_ns);
        LOGGED("MPI_Win_post", &others, MPI_Win_post(group, 0, window));
        LOGGED("MPI_Win_wait", NULL, MPI_Win_wait(window));
    } else {
        LOGGED("MPI_Win_start", &others, MPI_Win_start(group, 0, window));
        rest(rank == late ? before_ns : 0);
        put_to(target);
        rest(rank == late ? behind_ns : 0);
        LOGGED("MPI_Win_complete", NULL, MPI_Win_complete(window));
    }
    MPI_Group_free(&group);
    MPI_Group_free(&all);
}

static void late_post(int round)
{
    expose(round, late_ns, 0, 0);
}

static void early_wait(int round)
{
    expose(round, 0, late_ns, 0);
}

static void late_complete(int round)
{
    expose(round, 0, 0, late_ns);
}

static void lock_and_put(const char *name, int type, int target, int64_t hold_ns)
{
    struct ranks ranks = one(target);

    LOGGED(name, &ranks, MPI_Win_lock(type, target, 0, window));
    put_to(target);
    LOGGED("MPI_Win_flush", &ranks, MPI_Win_flush(target, window));
    rest(hold_ns);
    LOGGED("MPI_Win_unlock", &ranks, MPI_Win_unlock(target, window));
}

/* The second comes while the first has it. */
static void window_lock(int round)
{
    const int target = rank_n - 1;

    (void)round;
    if (rank == 0) {
        lock_and_put("exclusive", MPI_LOCK_EXCLUSIVE, target, late_ns);
    } else if (rank == 1) {
        rest(late_ns / 4);
        lock_and_put("shared", MPI_LOCK_SHARED, target, 0);
    }
}

/* They have it at the same time. */
static void window_shared(int round)
{
    (void)round;
    if (rank < 2)
        lock_and_put("shared", MPI_LOCK_SHARED, rank_n - 1, late_ns / 4);
}

/* ---- Messages in parts ----------------------------------------------------------------------- */

#if MPI_VERSION >= 4
#define PARTS_N 4

/* Two of one tag, from 0 to 1: which is which was settled when they were made. The first is late
 * by its last part, the second earlier, and waited for first. */
static void parts(int round)
{
    static MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    static const char *const last[] = {"last_0", "last_1"}, *const done[] = {"wait_0", "wait_1"};

    (void)round;
    for (int i = 0; i < 2 && rank < 2 && request[i] == MPI_REQUEST_NULL; i++) {
        if (rank == 0)
            MPI_Psend_init(in + 64 * i, PARTS_N, 4, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &request[i]);
        else
            MPI_Precv_init(out + 64 * i, PARTS_N, 4, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &request[i]);
    }
    if (rank > 1)
        return;
    MPI_Startall(2, request);
    if (rank == 1) {
        LOGGED(done[1], NULL, MPI_Wait(&request[1], MPI_STATUS_IGNORE));
        LOGGED(done[0], NULL, MPI_Wait(&request[0], MPI_STATUS_IGNORE));
        return;
    }
    MPI_Pready_range(0, PARTS_N - 2, request[0]);
    MPI_Pready_range(0, PARTS_N - 2, request[1]);
    rest(late_ns);
    LOGGED(last[1], NULL, MPI_Pready(PARTS_N - 1, request[1]));
    rest(late_ns / 2);
    LOGGED(last[0], NULL, MPI_Pready(PARTS_N - 1, request[0]));
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}
#endif

/* ---- All ------------------------------------------------------------------------------------- */

struct planted {
    const char *name;
    void (*round)(int round);
};

static const struct planted cases[] = {
    {"ring", exchange},
    {"line", exchange},
    {"chain", exchange},
    {"star", exchange},
    {"told", exchange},
    {"chain_later", exchange_later},
#if MPI_VERSION >= 4
    {"chain_prepared", exchange_prepared},
    {"parts", parts},
#endif
    {"fence", fence},
    {"late_post", late_post},
    {"early_wait", early_wait},
    {"late_complete", late_complete},
    {"window_lock", window_lock},
    {"window_shared", window_shared},
    {"window_made", window_made},
};

static void prepare(const char *name)
{
    if (strncmp(name, "ring", 4) == 0 || strcmp(name, "line") == 0)
        make_grid(name[0] == 'r');
    else if (strncmp(name, "chain", 5) == 0)
        make_chain();
    else if (strcmp(name, "star") == 0)
        make_star();
    else if (strcmp(name, "told") == 0)
        make_told();
    else if (strcmp(name, "window_made") != 0 && strcmp(name, "parts") != 0)
        make_window();
}

int main(int argc, char **argv)
{
    const struct planted *planted = NULL;
    char path[4096];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_n);
    for (size_t i = 0; argc > 4 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0)
            planted = &cases[i];
    if (!planted || rank_n < 3 || rank_n > RANKS_MOST) {
        fprintf(stderr, "usage: groups CASE LOG ROUNDS MILLISECONDS, with 3 to 16 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    late_ns = (int64_t)(atof(argv[4]) * 1e6);
    snprintf(path, sizeof path, "%s.%d", argv[2], rank);
    log_file = fopen(path, "w");
    if (log_file == NULL)
        MPI_Abort(MPI_COMM_WORLD, 3);
    prepare(planted->name);
    for (int i = 0; i < atoi(argv[3]); i++) {
        meet();
        planted->round(i);
    }
    meet();
    if (window && strcmp(planted->name, "window_made") != 0)
        free_window();
    fclose(log_file);
    MPI_Finalize();
    return 0;
}
