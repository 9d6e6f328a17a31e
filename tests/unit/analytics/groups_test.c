/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbours and windows: random graphs against their matrices, and made-up traces. Their wait
 * states are computed by hand beside them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analytics/match/channels.h"
#include "analytics/match/groups.h"
#include "analytics/match/neighbours.h"
#include "analytics/state/analysis.h"
#include "made_stream.h"

#define US 1000

/* ---- Neighbours ------------------------------------------------------------------------------ */

#define RANKS_MOST 9

static unsigned any(unsigned n)
{
    static uint64_t state = 20260727;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

struct graph {
    uint32_t n;
    bool needs[RANKS_MOST][RANKS_MOST]; /* a row needs a column */
    uint64_t list[RANKS_MOST][RANKS_MOST];
    struct as_trace trace;
};

static void make_graph(struct graph *g, bool one_is_silent)
{
    *g = (struct graph){.n = 1 + any(RANKS_MOST)};
    for (uint32_t r = 0; r < g->n; r++) {
        struct as_trace_process process = {.rank = r};
        struct as_trace_comm comm = {.comm = 5, .global = 77, .size = g->n, .rank = r};
        for (uint32_t other = 0; other < g->n; other++)
            if ((g->needs[r][other] = any(3) == 0))
                g->list[r][comm.in_n++] = other;
        comm.neighbour = one_is_silent && r == g->n - 1 ? NULL : g->list[r];
        assert_int_equal(as_vec_push(&process.comm, comm), 0);
        assert_int_equal(as_vec_push(&g->trace.process, process), 0);
    }
}

static void drop_graph(struct graph *g)
{
    as_vec_foreach (&g->trace.process, process)
        as_vec_fini(&process->comm);
    as_vec_fini(&g->trace.process);
}

static void test_random_graphs(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 500; round++) {
        struct graph g;
        struct as_neighbour_table *table;
        struct as_collective_member member[RANKS_MOST];
        struct as_collective met = {
            .comm = 77, .kind = AS_COLLECTIVE_KIND_NEIGHBOURHOOD, .member = member};
        struct as_wait_list list = {0};
        make_graph(&g, false);
        met.member_n = g.n;
        for (uint32_t r = 0; r < g.n; r++) {
            const int64_t begin = any(1000), enter = begin + any(50);
            member[r] = (struct as_collective_member){
                .location = r, .begin_ns = begin, .enter_ns = enter, .leave_ns = 1000 + any(9)};
        }
        assert_int_equal(as_neighbours_new(&table, &g.trace), 0);
        assert_int_equal(as_neighbours_of(table, 77, g.n, &met.near), 0);
        assert_non_null(met.near);
        assert_int_equal(as_waits_of_collective(&met, &list), 0);
        size_t at = 0;
        for (uint32_t r = 0; r < g.n; r++) {
            int64_t came = INT64_MIN;
            for (uint32_t other = 0; other < g.n; other++)
                if (g.needs[r][other] && other != r && member[other].begin_ns > came)
                    came = member[other].begin_ns;
            if (came <= member[r].enter_ns)
                continue;
            assert_true(at < list.wait.n);
            assert_int_equal(list.wait.at[at].kind, AS_WAIT_NEIGHBOURS);
            assert_int_equal(list.wait.at[at].location, r);
            assert_int_equal(list.wait.at[at].begin_ns, member[r].enter_ns);
            assert_int_equal(list.wait.at[at].end_ns, came);
            assert_int_equal(member[list.wait.at[at].cause].begin_ns, came);
            assert_true(g.needs[r][list.wait.at[at].cause]);
            at++;
        }
        assert_int_equal(at, list.wait.n);
        as_vec_fini(&list.wait);
        as_neighbours_free(&table);
        drop_graph(&g);
    }
}

/* Nothing is made up for one that is not traced. */
static void test_silent_member(void **state)
{
    (void)state;
    struct graph g;
    struct as_neighbour_table *table;
    const struct as_neighbours *near = NULL;
    make_graph(&g, true);
    assert_int_equal(as_neighbours_new(&table, &g.trace), 0);
    assert_int_equal(as_neighbours_of(table, 77, g.n, &near), 0);
    assert_null(near);
    assert_int_equal(as_neighbours_of(table, 78, g.n, &near), 0);
    assert_null(near);
    as_neighbours_free(&table);
    drop_graph(&g);
}

/* ---- Two groups ------------------------------------------------------------------------------ */

/* Groups {0, 1} and {2, 3, 4} enter at these times, and all leave at 100. */
static const int64_t entered_ns[] = {10, 40, 20, 70, 30};

struct expected_wait {
    enum as_wait_kind kind;
    uint32_t who, cause;
};

static void check_between(enum as_collective_kind kind, int64_t root,
                          const struct expected_wait *wanted, size_t wanted_n)
{
    struct as_collective_member member[5];
    struct as_wait_list list = {.wait = {.n = 0}};
    for (uint32_t r = 0; r < 5; r++)
        member[r] = (struct as_collective_member){
            .location = r, .begin_ns = entered_ns[r], .enter_ns = entered_ns[r], .leave_ns = 100};
    const struct as_collective met = {
        .kind = kind, .root = root, .member_n = 5, .member = member, .first_n = 2};
    assert_int_equal(as_waits_of_collective(&met, &list), 0);
    size_t n = 0;
    as_vec_foreach (&list.wait, wait) {
        if (wait->cause == AS_WAIT_UNKNOWN) /* until all leave */
            continue;
        assert_true(n < wanted_n);
        assert_int_equal(wait->kind, wanted[n].kind);
        assert_int_equal(wait->location, wanted[n].who);
        assert_int_equal(wait->cause, wanted[n].cause);
        assert_int_equal(wait->begin_ns, entered_ns[wait->location]);
        assert_int_equal(wait->end_ns, entered_ns[wait->cause]);
        n++;
    }
    assert_int_equal(n, wanted_n);
    as_vec_fini(&list.wait);
}

/* Ranks wait for the other group alone: 1 is late for 2 and 4, 3 is late for 0 and 1. */
static void test_between_groups(void **state)
{
    (void)state;
    const struct expected_wait barrier[] = {{AS_WAIT_BARRIER, 0, 3},
                                            {AS_WAIT_BARRIER, 1, 3},
                                            {AS_WAIT_BARRIER, 2, 1},
                                            {AS_WAIT_BARRIER, 4, 1}};
    check_between(AS_COLLECTIVE_KIND_BARRIER, -1, barrier, 4);
    const struct expected_wait all[] = {
        {AS_WAIT_ALL, 0, 3}, {AS_WAIT_ALL, 1, 3}, {AS_WAIT_ALL, 2, 1}, {AS_WAIT_ALL, 4, 1}};
    check_between(AS_COLLECTIVE_KIND_ALL_TO_ALL, -1, all, 4);
    const struct expected_wait broadcast[] = {{AS_WAIT_LATE_BROADCAST, 2, 1},
                                              {AS_WAIT_LATE_BROADCAST, 4, 1}};
    check_between(AS_COLLECTIVE_KIND_ONE_TO_ALL, 1, broadcast, 2);
    const struct expected_wait reduce[] = {{AS_WAIT_EARLY_REDUCE, 0, 3}};
    check_between(AS_COLLECTIVE_KIND_ALL_TO_ONE, 0, reduce, 1);
    const struct expected_wait to_first[] = {{AS_WAIT_EARLY_REDUCE, 2, 1}};
    check_between(AS_COLLECTIVE_KIND_ALL_TO_ONE, 2, to_first, 1);
    check_between(AS_COLLECTIVE_KIND_ALL_TO_ONE, 3, NULL, 0);
    check_between(AS_COLLECTIVE_KIND_ALL_TO_ONE, -1, NULL, 0);
}

/* Both sides say the same of an inter-communicator; those that do not are not believed. */
static void test_group_sizes(void **state)
{
    (void)state;
    struct as_trace trace = {.process = {.n = 0}};
    struct as_groups *groups;
    const struct as_trace_comm said[] = {
        {.comm = 3, .global = 9, .size = 2, .bits = AS_TRACE_INTER, .member_n = 3},
        {.comm = 4,
         .global = 8,
         .size = 2,
         .bits = AS_TRACE_INTER | AS_TRACE_SECOND,
         .member_n = 3},
        {.comm = 5, .global = 7, .size = 5, .member_n = 5},
        {.comm = 6, .global = 6, .size = 2, .bits = AS_TRACE_INTER | AS_TRACE_CUT, .member_n = 3}};
    struct as_trace_process process = {.rank = 0};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        assert_int_equal(as_vec_push(&process.comm, said[i]), 0);
    assert_int_equal(as_vec_push(&trace.process, process), 0);
    assert_int_equal(as_groups_new(&groups, &trace), 0);
    assert_int_equal(as_groups_first_n(groups, 9, 5), 2);
    assert_int_equal(as_groups_first_n(groups, 8, 5), 3);
    assert_int_equal(as_groups_first_n(groups, 8, 6), 0);
    assert_int_equal(as_groups_first_n(groups, 7, 5), 0);
    assert_int_equal(as_groups_first_n(groups, 6, 5), 0);
    as_groups_free(&groups);
    drop_graph(&(struct graph){.trace = trace});
}

/* ---- Partitioned messages -------------------------------------------------------------------- */

static uint64_t made_channel(struct as_channels *c, uint64_t comm, int64_t from, int64_t to,
                             int64_t tag, bool is_send)
{
    uint64_t number;
    const struct as_channel_side side = {comm, from, to, tag, is_send};
    assert_int_equal(as_channels_make(c, &side, &number), 0);
    return number;
}

/* The n-th of one side is the n-th of the other, whoever made it first. */
static void test_channels(void **state)
{
    (void)state;
    struct as_channels *c;
    assert_int_equal(as_channels_new(&c), 0);
    const uint64_t first = made_channel(c, 9, 0, 1, 5, true);
    const uint64_t second = made_channel(c, 9, 0, 1, 5, true);
    assert_true(first != second);
    assert_true(made_channel(c, 9, 1, 0, 5, false) != first); /* the other way */
    assert_true(made_channel(c, 9, 0, 1, 6, false) != first);
    assert_true(made_channel(c, 8, 0, 1, 5, false) != first);
    assert_true(made_channel(c, 9, 0, 1, 5, false) == first);
    assert_true(made_channel(c, 9, 0, 1, 5, false) == second);
    const uint64_t third = made_channel(c, 9, 0, 1, 5, false);
    assert_true(made_channel(c, 9, 0, 1, 5, true) == third);
    as_channels_free(&c);
}

/* ---- Traces that are made up ----------------------------------------------------------------- */

enum { WORLD = 1, WINDOW = 1 };
enum made_routine {
    POST_ROUTINE = 1,
    WAIT_ROUTINE,
    START_ROUTINE,
    PUT_ROUTINE,
    COMPLETE_ROUTINE,
    LOCK_ROUTINE,
    UNLOCK_ROUTINE,
    NEAR_ROUTINE,
    FENCE_ROUTINE
};
static const char *const routine_name[] = {"",
                                           "MPI_Win_post",
                                           "MPI_Win_wait",
                                           "MPI_Win_start",
                                           "MPI_Put",
                                           "MPI_Win_complete",
                                           "MPI_Win_lock",
                                           "MPI_Win_unlock",
                                           "MPI_Neighbor_alltoall",
                                           "MPI_Win_fence"};

/* A call of a rank, in microseconds; what it says of itself. */
struct made_call {
    uint32_t rank;
    enum made_routine routine;
    int64_t enter, leave;
    int kind; /* as_trace_rma_sync; -1: an access, or an operation of neighbours */
    int partner[2];
};

static char directory[] = "/tmp/assay-groups-XXXXXX", path[128];
static struct as_trace_writer writer;
/* A given clock in ns: all streams begin a second before, however long it takes to write them. */
static const uint64_t zero_tick = UINT64_C(1001000000000);

static void open_stream(uint32_t pid, uint32_t tid)
{
    made_stream_open(
        &writer, directory,
        (struct as_trace_writing){
            .pid = pid, .tid = tid, .tick_hz = 1000000000, .begin_tick = zero_tick - 1000000000});
}

static void define_rank(uint32_t rank)
{
    const uint64_t world[] = {rank, 3, 0}, comm[] = {WORLD, 99, 3, rank, 0}, member[] = {0, 1, 2};
    const uint64_t window[] = {WINDOW, WORLD};
    /* From 0 to 1 and 2, from 1 to 2. */
    const uint64_t near[] = {WORLD, rank}, needed[] = {0, 1};
    open_stream(100 + rank, 0);
    for (uint64_t i = 1; i < sizeof routine_name / sizeof *routine_name; i++) {
        const uint64_t name[] = {i, i == NEAR_ROUTINE ? AS_TRACE_OF_MPI_COLLECTIVE
                                                      : AS_TRACE_OF_MPI_RMA};
        as_trace_emit_text(&writer, AS_TRACE_NAME, 0, name, 2, routine_name[i]);
    }
    as_trace_emit(&writer, AS_TRACE_WORLD, 0, world, 3);
    as_trace_emit_list(&writer, AS_TRACE_COMM, 0, comm, 5, member, 3);
    as_trace_emit_list(&writer, AS_TRACE_NEIGHBOURS, 0, near, 2, needed, rank);
    as_trace_emit(&writer, AS_TRACE_WINDOW, 0, window, 2);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
}

static void put_call(const struct made_call *c)
{
    const uint64_t name = c->routine, enter = zero_tick + (uint64_t)c->enter * US;
    as_trace_emit(&writer, AS_TRACE_ENTER, enter, &name, 1);
    if (c->routine == NEAR_ROUTINE) {
        const uint64_t field[] = {WORLD, 0, as_trace_zigzag(-1), 8, 8, 0};
        as_trace_emit(&writer, AS_TRACE_COLLECTIVE, enter, field, 6);
    } else if (c->routine == PUT_ROUTINE) {
        const uint64_t field[] = {as_trace_zigzag(c->partner[0]), 64, WINDOW};
        as_trace_emit(&writer, AS_TRACE_RMA, enter, field, 3);
    }
    for (int i = 0; c->kind >= 0 && i < 2 && (i == 0 || c->partner[i] > 0); i++) {
        const uint64_t field[] = {WINDOW, (uint64_t)c->kind, as_trace_zigzag(c->partner[i])};
        as_trace_emit(&writer, AS_TRACE_SYNC, enter, field, 3);
    }
    as_trace_emit(&writer, AS_TRACE_LEAVE, zero_tick + (uint64_t)c->leave * US, &name, 1);
}

static void remove_streams(void)
{
    for (uint32_t rank = 0; rank < 3; rank++)
        for (uint32_t tid = 0; tid < 2; tid++) {
            snprintf(path, sizeof path, "%s/stream.%u.1.%u", directory, 100 + rank,
                     tid ? 100 + rank : 0);
            unlink(path);
        }
    rmdir(directory);
}

/* Calls of all ranks, each rank's in order. */
static void analyse(const struct made_call *call, size_t n, struct as_trace *trace,
                    struct as_analysis *out)
{
    struct as_error err;
    strcpy(directory + sizeof directory - 7, "XXXXXX");
    assert_non_null(mkdtemp(directory));
    for (uint32_t rank = 0; rank < 3; rank++) {
        define_rank(rank);
        open_stream(100 + rank, 100 + rank);
        for (size_t i = 0; i < n; i++)
            if (call[i].rank == rank)
                put_call(&call[i]);
        as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    }
    assert_int_equal(as_trace_open(directory, trace, &err), 0);
    assert_int_equal(as_analyse_trace(trace, NULL, out, &err), 0);
    assert_int_equal(out->broken_n, 0);
}

struct made_wait {
    enum as_wait_kind kind;
    uint32_t who, cause;
    int64_t begin, end;
};

/* In any order. */
static void assert_waits(const struct made_call *call, size_t call_n, const struct made_wait *want,
                         size_t want_n)
{
    struct as_trace trace;
    struct as_analysis a;
    analyse(call, call_n, &trace, &a);
    for (size_t i = 0; i < want_n; i++) {
        size_t found_n = 0;
        as_vec_foreach (&a.waits.wait, w)
            found_n += w->kind == want[i].kind && w->location == want[i].who &&
                       w->cause == want[i].cause &&
                       w->begin_ns == (int64_t)zero_tick + want[i].begin * US &&
                       w->end_ns == (int64_t)zero_tick + want[i].end * US;
        if (found_n != 1)
            fail_msg("%s of %u until %lld: %zu times", as_wait_word(want[i].kind), want[i].who,
                     (long long)want[i].end, found_n);
    }
    assert_int_equal(a.waits.wait.n, want_n);
    as_analysis_fini(&a);
    as_trace_close(&trace);
    remove_streams();
}

#define ASSERT_WAITS(calls, want)                                                                  \
    assert_waits(calls, sizeof(calls) / sizeof *(calls), want, sizeof(want) / sizeof *(want))

/* Two epochs of the window of rank 0: first both others, then one of them. */
static void test_exposure(void **state)
{
    (void)state;
    static const struct made_call calls[] = {
        {0, POST_ROUTINE, 50, 51, AS_TRACE_POSTED, {1, 2}},
        {0, WAIT_ROUTINE, 60, 150, AS_TRACE_AWAITED, {-1}},
        {0, POST_ROUTINE, 200, 201, AS_TRACE_POSTED, {1}},
        {0, WAIT_ROUTINE, 210, 300, AS_TRACE_AWAITED, {-1}},
        {1, START_ROUTINE, 10, 12, AS_TRACE_STARTED, {0}},
        {1, PUT_ROUTINE, 20, 80, -1, {0}}, /* waits for the post at 50 */
        {1, COMPLETE_ROUTINE, 90, 95, AS_TRACE_COMPLETED, {-1}},
        {1, START_ROUTINE, 205, 206, AS_TRACE_STARTED, {0}},
        {1, PUT_ROUTINE, 220, 250, -1, {0}},
        {1, COMPLETE_ROUTINE, 280, 281, AS_TRACE_COMPLETED, {-1}},
        {2, START_ROUTINE, 10, 55, AS_TRACE_STARTED, {0}}, /* waits for the post at 50 */
        {2, PUT_ROUTINE, 56, 58, -1, {0}},
        {2, COMPLETE_ROUTINE, 130, 135, AS_TRACE_COMPLETED, {-1}},
    };
    static const struct made_wait want[] = {
        {AS_WAIT_LATE_POST, 1, 0, 20, 50},       {AS_WAIT_LATE_POST, 2, 0, 10, 50},
        {AS_WAIT_LATE_COMPLETE, 0, 2, 60, 130},  {AS_WAIT_EARLY_WAIT, 0, 1, 210, 250},
        {AS_WAIT_LATE_COMPLETE, 0, 1, 250, 280},
    };
    ASSERT_WAITS(calls, want);
}

/* The window of rank 0: exclusive by 1 until 50, shared by 2 until 80, exclusive by 0. */
static void test_locks(void **state)
{
    (void)state;
    static const struct made_call calls[] = {
        {0, LOCK_ROUTINE, 75, 76, AS_TRACE_LOCK_EXCLUSIVE, {0}},
        {0, PUT_ROUTINE, 77, 90, -1, {0}},
        {0, UNLOCK_ROUTINE, 91, 92, AS_TRACE_UNLOCKED, {0}},
        {1, LOCK_ROUTINE, 10, 11, AS_TRACE_LOCK_EXCLUSIVE, {0}},
        {1, UNLOCK_ROUTINE, 50, 60, AS_TRACE_UNLOCKED, {0}},
        {1, LOCK_ROUTINE, 62, 78, AS_TRACE_LOCK_SHARED, {1}}, /* another's window */
        {1, UNLOCK_ROUTINE, 79, 85, AS_TRACE_UNLOCKED, {1}},
        {2, LOCK_ROUTINE, 20, 70, AS_TRACE_LOCK_SHARED, {0}},
        {2, UNLOCK_ROUTINE, 80, 81, AS_TRACE_UNLOCKED, {0}},
    };
    static const struct made_wait want[] = {
        {AS_WAIT_WINDOW_LOCK, 2, 1, 20, 50},
        {AS_WAIT_WINDOW_LOCK, 0, 2, 77, 80},
    };
    ASSERT_WAITS(calls, want);
}

static void test_fence(void **state)
{
    (void)state;
    static const struct made_call calls[] = {
        {0, FENCE_ROUTINE, 10, 52, AS_TRACE_FENCE, {-1}},
        {1, FENCE_ROUTINE, 50, 53, AS_TRACE_FENCE, {-1}},
        {2, FENCE_ROUTINE, 30, 51, AS_TRACE_FENCE, {-1}},
    };
    static const struct made_wait want[] = {
        {AS_WAIT_FENCE, 0, 1, 10, 50},
        {AS_WAIT_FENCE, 2, 1, 30, 50},
    };
    ASSERT_WAITS(calls, want);
}

/* 1 needs 0, 2 needs both. */
static void test_chain(void **state)
{
    (void)state;
    static const struct made_call calls[] = {
        {0, NEAR_ROUTINE, 40, 41, -1, {-1}}, {0, NEAR_ROUTINE, 100, 101, -1, {-1}},
        {1, NEAR_ROUTINE, 20, 42, -1, {-1}}, {1, NEAR_ROUTINE, 180, 182, -1, {-1}},
        {2, NEAR_ROUTINE, 60, 61, -1, {-1}}, {2, NEAR_ROUTINE, 90, 183, -1, {-1}},
    };
    static const struct made_wait want[] = {
        {AS_WAIT_NEIGHBOURS, 1, 0, 20, 40},
        {AS_WAIT_NEIGHBOURS, 2, 1, 90, 180},
    };
    ASSERT_WAITS(calls, want);
}

/* A write counts as a message to the owner of the memory. */
static void test_traffic(void **state)
{
    (void)state;
    static const struct made_call calls[] = {
        {1, PUT_ROUTINE, 20, 21, -1, {0}},
        {1, PUT_ROUTINE, 22, 23, -1, {0}},
        {1, PUT_ROUTINE, 24, 25, -1, {2}},
    };
    struct as_trace trace;
    struct as_analysis a;
    analyse(calls, sizeof calls / sizeof *calls, &trace, &a);
    assert_int_equal(a.traffic.n, 2);
    assert_int_equal(a.traffic.at[0].from, 1);
    assert_int_equal(a.traffic.at[0].to, 0);
    assert_int_equal(a.traffic.at[0].messages_n, 2);
    assert_int_equal(a.traffic.at[0].size_b, 128);
    assert_int_equal(a.traffic.at[1].to, 2);
    as_analysis_fini(&a);
    as_trace_close(&trace);
    remove_streams();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),  cmocka_unit_test(test_silent_member),
        cmocka_unit_test(test_between_groups), cmocka_unit_test(test_group_sizes),
        cmocka_unit_test(test_channels),       cmocka_unit_test(test_exposure),
        cmocka_unit_test(test_locks),          cmocka_unit_test(test_fence),
        cmocka_unit_test(test_chain),          cmocka_unit_test(test_traffic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
