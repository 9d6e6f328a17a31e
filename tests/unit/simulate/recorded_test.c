/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up traces of two ranks as actions, each worked out by hand; and what happens if memory runs
 * out anywhere.
 */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "directory.h"

#include "base/tree.h"
#include "exchange/maker.h"
#include "simulate/dim.h"
#include "simulate/recorded.h"
#include "simulate/simulated_trace.h"
#include "simulate/simulation.h"

enum {
    INIT = 1,
    FINALIZE,
    SEND,
    RECV,
    SENDRECV,
    ISEND,
    IRECV,
    WAIT,
    START,
    ALLTOALL,
    IALLREDUCE,
    NEIGHBOUR,
    SOLVE,
    SWEEP,
    OPEN,
    BSEND,
    NAMES_N
};
static const struct {
    const char *text;
    uint32_t group;
} routines[NAMES_N] = {
    [INIT] = {"MPI_Init_thread", AS_TRACE_OF_MPI_OTHER},
    [FINALIZE] = {"MPI_Finalize", AS_TRACE_OF_MPI_OTHER},
    [SEND] = {"MPI_Send", AS_TRACE_OF_MPI_POINT},
    [RECV] = {"MPI_Recv", AS_TRACE_OF_MPI_POINT},
    [SENDRECV] = {"MPI_Sendrecv", AS_TRACE_OF_MPI_POINT},
    [ISEND] = {"MPI_Isend", AS_TRACE_OF_MPI_POINT},
    [IRECV] = {"MPI_Irecv", AS_TRACE_OF_MPI_POINT},
    [WAIT] = {"MPI_Waitall", AS_TRACE_OF_MPI_COMPLETION},
    [START] = {"MPI_Startall", AS_TRACE_OF_MPI_POINT},
    [ALLTOALL] = {"MPI_Alltoall", AS_TRACE_OF_MPI_COLLECTIVE},
    [IALLREDUCE] = {"MPI_Iallreduce", AS_TRACE_OF_MPI_COLLECTIVE},
    [NEIGHBOUR] = {"MPI_Neighbor_alltoall", AS_TRACE_OF_MPI_COLLECTIVE},
    [SOLVE] = {"solve", AS_TRACE_OF_USER},
    [SWEEP] = {"sweep", AS_TRACE_OF_USER},
    [OPEN] = {"open", AS_TRACE_OF_FILES},
    [BSEND] = {"MPI_Bsend", AS_TRACE_OF_MPI_POINT},
};

static struct as_error failure;
static struct as_trace_maker *maker;
static uint32_t thread_of[2];

/* ---- Making it up ---------------------------------------------------------------------------- */

static void define_rank(uint32_t rank, uint64_t size)
{
    const uint64_t world[] = {0, 1}, self[] = {rank};
    uint32_t process;
    assert_int_equal(as_maker_add_process(maker, rank ? "b" : "a", &process, &failure), 0);
    assert_int_equal(as_maker_add_thread(maker, process, "", 0, &thread_of[rank], &failure), 0);
    for (uint32_t i = 1; i < NAMES_N; i++)
        as_maker_name(maker, process, i, routines[i].group, routines[i].text);
    as_maker_world(maker, process, rank, size);
    as_maker_comm(maker, process, 1, 77, rank, world, 2, "");
    as_maker_comm(maker, process, 2, 78 + rank, 0, self, 1, "");
}

static void begin_trace(void)
{
    assert_int_equal(as_maker_new(directory, &maker, &failure), 0);
    define_rank(0, 2);
    define_rank(1, 2);
}

static void end_trace(void)
{
    assert_int_equal(as_maker_finish(maker, &failure), 0);
    as_maker_free(&maker);
}

static void put(uint32_t rank, enum as_trace_kind kind, int64_t ns, int64_t a, int64_t b, int64_t c,
                int64_t d, int64_t e, int64_t f)
{
    const int64_t field[] = {a, b, c, d, e, f, 0, 0};
    as_maker_emit(maker, thread_of[rank], kind, ns, field);
}

static void enter(uint32_t rank, int64_t ns, int64_t name)
{
    put(rank, AS_TRACE_ENTER, ns, name, 0, 0, 0, 0, 0);
}

static void leave(uint32_t rank, int64_t ns, int64_t name)
{
    put(rank, AS_TRACE_LEAVE, ns, name, 0, 0, 0, 0, 0);
}

/* A call that says one thing of itself. */
static void call(uint32_t rank, int64_t from_ns, int64_t to_ns, int64_t name,
                 enum as_trace_kind kind, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e,
                 int64_t f)
{
    enter(rank, from_ns, name);
    put(rank, kind, to_ns, a, b, c, d, e, f);
    leave(rank, to_ns, name);
}

/* ---- Looking at it --------------------------------------------------------------------------- */

static void describe_action(const struct as_action *a, struct as_str *out)
{
    switch (a->kind) {
    case AS_ACTION_COMPUTE:
        as_str_appendf(out, "compute %lld", (long long)a->ns);
        if (a->name)
            as_str_appendf(out, " in %u", a->name);
        break;
    case AS_ACTION_SEND:
        as_str_appendf(out, "send to %u %lld B tag %d%s", a->partner, (long long)a->sent_b, a->tag,
                       a->is_synchronous ? " synchronous" : "");
        break;
    case AS_ACTION_RECEIVE:
        as_str_appendf(out, "receive from %u tag %d", a->partner, a->tag);
        break;
    case AS_ACTION_COLLECTIVE:
        as_str_appendf(out, "%s %lld %lld", as_collective_word(a->collective), (long long)a->sent_b,
                       (long long)a->received_b);
        break;
    default:
        as_str_appendz(out, a->kind == AS_ACTION_WAIT ? "wait" : "forget");
        break;
    }
    if (a->request)
        as_str_appendf(out, " (%lld)", (long long)a->request);
    as_str_appendz(out, "\n");
}

/* The actions of rank 0, one a line, read `at_once` at a time. */
static void expect_actions(const char *const *name, size_t name_n, size_t at_once, const char *want)
{
    struct as_trace trace;
    struct as_recorded recorded;
    struct as_simulated_program program;
    struct as_str text = {0};
    struct as_action action[64];
    size_t n = 1;
    assert_int_equal(as_trace_open(directory, &trace, &failure), 0);
    if (as_recorded_open(&trace, name, name_n, &recorded, &program, &failure) < 0)
        fail_msg("%s", failure.text);
    assert_int_equal(program.rank_n, 2);
    while (n) {
        assert_int_equal(program.read(program.context, 0, action, at_once, &n, &failure), 0);
        assert_true(n <= at_once);
        for (size_t i = 0; i < n; i++)
            describe_action(&action[i], &text);
    }
    assert_string_equal(as_str_z(&text), want);
    as_str_fini(&text);
    as_program_fini(&program);
    as_recorded_fini(&recorded);
    as_trace_close(&trace);
}

static void expect_same(const char *want)
{
    expect_actions(NULL, 0, 64, want);
    expect_actions(NULL, 0, 1, want);
}

static void expect_refused(const char *text)
{
    struct as_trace trace;
    struct as_recorded recorded;
    struct as_simulated_program program;
    struct as_action action[64];
    size_t n = 1;
    assert_int_equal(as_trace_open(directory, &trace, &failure), 0);
    int rc = as_recorded_open(&trace, NULL, 0, &recorded, &program, &failure);
    while (rc == 0 && n)
        rc = program.read(program.context, 0, action, 64, &n, &failure);
    assert_int_equal(rc, AS_ERR_UNSUPPORTED);
    if (!has(failure.text, text))
        fail_msg("'%s' is not in '%s'", text, failure.text);
    as_program_fini(&program);
    as_recorded_fini(&recorded);
    as_trace_close(&trace);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* Time before the end of MPI_Init, in calls of MPI and from MPI_Finalize on does not count; input
 * and output does. */
static void test_bursts(void **state)
{
    struct as_trace trace;
    struct as_recorded recorded;
    struct as_simulated_program program;
    struct as_action action[8];
    size_t n;
    (void)state;
    begin_trace();
    for (uint32_t rank = 0; rank < 2; rank++) {
        enter(rank, 10, OPEN);
        leave(rank, 500, OPEN);
        enter(rank, 1000, INIT);
        leave(rank, 2000 + rank, INIT);
        enter(rank, 2100, OPEN);
        leave(rank, 2200, OPEN);
        enter(rank, 2300, NEIGHBOUR);
        leave(rank, 2400, NEIGHBOUR);
        enter(rank, 3000 + rank, FINALIZE);
        leave(rank, 9000, FINALIZE);
    }
    end_trace();
    expect_same("compute 900\n");
    assert_int_equal(as_trace_open(directory, &trace, &failure), 0);
    assert_int_equal(as_recorded_open(&trace, NULL, 0, &recorded, &program, &failure), 0);
    for (uint32_t rank = 0; rank < 2; rank++)
        assert_int_equal(program.read(program.context, rank, action, 8, &n, &failure), 0);
    assert_int_equal(as_recorded_ns(&recorded), 3001 - 2000);
    assert_int_equal(recorded.rank.at[0].computing_ns, 900);
    assert_int_equal(program.node.at[0], 0); /* machines "a" and "b" */
    assert_int_equal(program.node.at[1], 1);
    as_program_fini(&program);
    as_recorded_fini(&recorded);
    as_trace_close(&trace);
}

/* The wildcard is known only at the wait: all that follows it is held back until then. */
static void test_wildcards(void **state)
{
    (void)state;
    begin_trace();
    call(0, 100, 110, IRECV, AS_TRACE_POST, AS_TRACE_ANY, AS_TRACE_ANY, 80, 1, 7, 0);
    call(0, 120, 130, IRECV, AS_TRACE_POST, 1, 4, 80, 1, 8, 0);
    call(0, 200, 210, RECV, AS_TRACE_RECEIVE, 1, 6, 80, 1, 0, 0);
    enter(0, 300, WAIT);
    put(0, AS_TRACE_RECEIVE, 400, 1, 5, 80, 1, 7, 0);
    put(0, AS_TRACE_RECEIVE, 400, 1, 4, 80, 1, 8, 0);
    leave(0, 400, WAIT);
    put(1, AS_TRACE_THREAD_END, 400, 0, 0, 0, 0, 0, 0);
    end_trace();
    expect_same("receive from 1 tag 5 (7)\ncompute 10\nreceive from 1 tag 4 (8)\ncompute 70\n"
                "receive from 1 tag 6\ncompute 90\nwait (7)\nwait (8)\n");
}

/* One that is cancelled, and one that never ends, have no effect. */
static void test_receives_without_end(void **state)
{
    (void)state;
    begin_trace();
    call(0, 100, 100, IRECV, AS_TRACE_POST, AS_TRACE_ANY, 1, 80, 1, 7, 0);
    call(0, 100, 100, IRECV, AS_TRACE_POST, AS_TRACE_ANY, 1, 80, 1, 8, 0);
    call(0, 150, 150, WAIT, AS_TRACE_CANCELLED, 7, 0, 0, 0, 0, 0);
    put(1, AS_TRACE_THREAD_END, 400, 0, 0, 0, 0, 0, 0);
    end_trace();
    expect_same("forget\nforget\ncompute 50\nforget (7)\n");
}

static void test_sends(void **state)
{
    (void)state;
    begin_trace();
    call(0, 100, 100, SEND, AS_TRACE_SEND, 1, 3, 80, 1, 0, AS_TRACE_SYNCHRONOUS);
    call(0, 100, 100, SEND, AS_TRACE_SEND, AS_TRACE_NO_RANK, 3, 80, 1, 0, 0);
    call(0, 100, 100, BSEND, AS_TRACE_SEND, 1, 3, 90, 1, 0, AS_TRACE_BUFFERED);
    call(0, 100, 100, SEND, AS_TRACE_SEND, 0, 3, 70, 2, 0, 0); /* in MPI_COMM_SELF, to itself */
    call(0, 100, 100, ISEND, AS_TRACE_SEND, 1, 3, 60, 1, 5, 0);
    call(0, 100, 100, WAIT, AS_TRACE_DONE, 5, 0, 0, 0, 0, 0);
    put(1, AS_TRACE_THREAD_END, 400, 0, 0, 0, 0, 0, 0);
    end_trace();
    expect_same("send to 1 80 B tag 3 synchronous\nsend to 1 90 B tag 3 (-1)\n"
                "send to 0 70 B tag 3\nsend to 1 60 B tag 3 (5)\nwait (5)\n");
}

/* Both sides begin before either is waited for. */
static void test_sendrecv(void **state)
{
    (void)state;
    begin_trace();
    for (int64_t i = 1; i < 3; i++) {
        enter(0, 100 * i, SENDRECV);
        put(0, AS_TRACE_SEND, 100 * i, 1, 3, 80, 1, 0, 0);
        put(0, AS_TRACE_RECEIVE, 100 * i, 1, 4, 80, 1, 0, 0);
        leave(0, 100 * i, SENDRECV);
    }
    put(1, AS_TRACE_THREAD_END, 400, 0, 0, 0, 0, 0, 0);
    end_trace();
    expect_same("send to 1 80 B tag 3 (-2)\nreceive from 1 tag 4 (-3)\nwait (-2)\nwait (-3)\n"
                "compute 100\n"
                "send to 1 80 B tag 3 (-4)\nreceive from 1 tag 4 (-5)\nwait (-4)\nwait (-5)\n");
}

static void test_persistent(void **state)
{
    (void)state;
    begin_trace();
    call(0, 100, 100, ISEND, AS_TRACE_SEND, 1, 3, 80, 1, 5, AS_TRACE_PERSISTENT);
    call(0, 100, 100, IRECV, AS_TRACE_POST, AS_TRACE_ANY, 4, 80, 1, 6, AS_TRACE_PERSISTENT);
    for (int64_t i = 0; i < 2; i++) {
        enter(0, 100, START);
        put(0, AS_TRACE_START, 100, 6, 0, 0, 0, 0, 0);
        put(0, AS_TRACE_START, 100, 5, 0, 0, 0, 0, 0);
        leave(0, 100, START);
        enter(0, 100, WAIT);
        put(0, AS_TRACE_RECEIVE, 100, 1, 4, 80, 1, 6, 0);
        put(0, AS_TRACE_DONE, 100, 5, 0, 0, 0, 0, 0);
        leave(0, 100, WAIT);
    }
    call(0, 100, 100, WAIT, AS_TRACE_FREED, 5, 0, 0, 0, 0, 0);
    put(1, AS_TRACE_THREAD_END, 400, 0, 0, 0, 0, 0, 0);
    end_trace();
    expect_same("receive from 1 tag 4 (6)\nsend to 1 80 B tag 3 (5)\nwait (6)\nwait (5)\n"
                "receive from 1 tag 4 (6)\nsend to 1 80 B tag 3 (5)\nwait (6)\nwait (5)\n"
                "forget (5)\n");
}

/* Sizes of alltoall are those for one partner; one of a communicator of one rank takes nothing. */
static void test_collectives(void **state)
{
    (void)state;
    begin_trace();
    call(0, 100, 100, ALLTOALL, AS_TRACE_COLLECTIVE, 1, 0, -1, 200, 400, 0);
    call(0, 100, 100, ALLTOALL, AS_TRACE_COLLECTIVE, 2, 0, -1, 200, 400, 0);
    call(0, 100, 100, NEIGHBOUR, AS_TRACE_COLLECTIVE, 1, 0, -1, 200, 400, 0);
    call(0, 100, 100, IALLREDUCE, AS_TRACE_COLLECTIVE, 1, 9, -1, 8, 8, 0);
    call(0, 100, 100, WAIT, AS_TRACE_DONE, 9, 0, 0, 0, 0, 0);
    put(1, AS_TRACE_THREAD_END, 400, 0, 0, 0, 0, 0, 0);
    end_trace();
    expect_same("alltoall 100 200\nallreduce 8 8 (9)\nwait (9)\n");
}

/* The innermost function that has a speed counts, also behind an inner one. */
static void test_functions(void **state)
{
    static const char *const name[] = {"sweep", NULL, "solve"};
    (void)state;
    begin_trace();
    enter(0, 100, OPEN);
    enter(0, 110, SOLVE);
    enter(0, 130, SWEEP);
    call(0, 160, 170, SEND, AS_TRACE_SEND, 1, 3, 80, 1, 0, 0);
    leave(0, 210, SWEEP);
    leave(0, 260, SOLVE);
    leave(0, 320, OPEN);
    put(1, AS_TRACE_THREAD_END, 400, 0, 0, 0, 0, 0, 0);
    end_trace();
    expect_actions(name, 3, 64,
                   "compute 10\ncompute 20 in 3\ncompute 30 in 1\nsend to 1 80 B tag 3\n"
                   "compute 40 in 1\ncompute 50 in 3\ncompute 60\n");
    expect_same("compute 60\nsend to 1 80 B tag 3\ncompute 150\n");
}

static void test_off(void **state)
{
    (void)state;
    begin_trace();
    enter(0, 100, OPEN);
    put(0, AS_TRACE_OFF, 200, 0, 0, 0, 0, 0, 0);
    put(0, AS_TRACE_ON, 500, 0, 0, 0, 0, 0, 0);
    leave(0, 600, OPEN);
    put(1, AS_TRACE_THREAD_END, 400, 0, 0, 0, 0, 0, 0);
    end_trace();
    expect_same("compute 200\n");
}

static void test_refused(void **state)
{
    (void)state;
    begin_trace();
    put(0, AS_TRACE_MISSED, 100, AS_TRACE_MISSED_SENDS, 1, 3, 1, 2, 0);
    put(1, AS_TRACE_THREAD_END, 400, 0, 0, 0, 0, 0, 0);
    end_trace();
    expect_refused("record the whole run");
}

static void test_sums(void **state)
{
    (void)state;
    begin_trace();
    call(0, 100, 200, SEND, AS_TRACE_TRAFFIC, 80, 80, 0, 0, 0, 0);
    put(1, AS_TRACE_THREAD_END, 400, 0, 0, 0, 0, 0, 0);
    end_trace();
    expect_refused("without --burst");
}

static void test_missing_rank(void **state)
{
    (void)state;
    assert_int_equal(as_maker_new(directory, &maker, &failure), 0);
    define_rank(0, 2);
    put(0, AS_TRACE_THREAD_END, 400, 0, 0, 0, 0, 0, 0);
    end_trace();
    expect_refused("rank 1: it is missing");
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A ring of operations of all sorts, with a limit that makes queues. */
static int simulate_made_up(void)
{
    struct as_trace trace;
    struct as_recorded recorded = {0};
    struct as_simulated_program program;
    struct as_simulated simulated = {0};
    struct as_machine_model model;
    as_machine_ideal(&model);
    model.network[AS_NETWORK_BETWEEN] = (struct as_network){100, 1000000000, 1, 1, 1, 0};
    int rc = as_trace_open(directory, &trace, &failure);
    if (rc < 0)
        return rc;
    rc = as_recorded_open(&trace, NULL, 0, &recorded, &program, &failure);
    if (rc == 0)
        rc = as_simulate_program(&program, &model, &simulated, &failure);
    if (rc == 0)
        assert_int_equal(simulated.messages_n, 4);
    as_simulated_fini(&simulated);
    as_program_fini(&program);
    as_recorded_fini(&recorded);
    as_trace_close(&trace);
    return rc;
}

/* The same once more, with its simulated streams beside it. Fills the time of the copy. */
static int copy_made_up(int64_t *copied_ns)
{
    char copies[sizeof directory + 8];
    struct as_trace trace = {0}, copied = {0};
    struct as_recorded before = {0}, recorded = {0};
    struct as_simulated_program program = {0};
    struct as_simulated simulated = {0};
    struct as_simulated_trace *copy = NULL;
    struct as_machine_model model;
    as_machine_ideal(&model);
    snprintf(copies, sizeof copies, "%s/copies", directory);
    as_tree_remove(AT_FDCWD, copies);
    assert_int_equal(mkdir(copies, 0700), 0);
    int rc = as_trace_open(directory, &trace, &failure);
    if (rc == 0)
        rc = as_recorded_open(&trace, NULL, 0, &before, &program, &failure);
    if (rc == 0)
        rc = as_simulate_program(&program, &model, &simulated, &failure);
    as_simulated_fini(&simulated);
    as_program_fini(&program);
    if (rc == 0)
        rc = as_recorded_open(&trace, NULL, 0, &recorded, &program, &failure);
    if (rc == 0)
        rc = as_simulated_trace_begin(directory, copies, &before, &program, &copy, &failure);
    if (rc == 0)
        rc = as_simulate_program(&program, &model, &simulated, &failure);
    rc = as_simulated_trace_end(&copy, rc, &failure);
    as_simulated_fini(&simulated);
    as_program_fini(&program);
    as_recorded_fini(&recorded);
    if (rc == 0)
        rc = as_trace_open(copies, &copied, &failure);
    if (rc == 0)
        rc = as_recorded_open(&copied, NULL, 0, &recorded, &program, &failure);
    if (rc == 0)
        rc = as_simulate_program(&program, &model, &simulated, &failure);
    *copied_ns = rc == 0 ? as_recorded_ns(&recorded) : -1;
    as_simulated_fini(&simulated);
    as_program_fini(&program);
    as_recorded_fini(&recorded);
    as_recorded_fini(&before);
    as_trace_close(&copied);
    as_trace_close(&trace);
    return rc;
}

static void test_copy(void **state)
{
    int rc = AS_ERR_NOMEM;
    int64_t copied_ns, n = 0;
    (void)state;
    begin_trace();
    for (uint32_t rank = 0; rank < 2; rank++) {
        call(rank, 100, 110, ISEND, AS_TRACE_SEND, 1 - rank, 3, 80, 1, 5, 0);
        call(rank, 300, 400, RECV, AS_TRACE_RECEIVE, 1 - rank, 3, 80, 1, 0, 0);
        call(rank, 500, 900, WAIT, AS_TRACE_DONE, 5, 0, 0, 0, 0, 0);
    }
    end_trace();
    /* The first event is at 100. Bursts are left: 110 to 300 and 400 to 500. */
    assert_int_equal(copy_made_up(&copied_ns), 0);
    assert_int_equal(copied_ns, 190 + 100);
    for (; rc == AS_ERR_NOMEM; n++) {
        as_alloc_fail_after(n);
        rc = copy_made_up(&copied_ns);
        as_alloc_fail_after(-1);
    }
    assert_int_equal(rc, 0);
    assert_true(n > 20);
}

static void test_memory(void **state)
{
    int rc = AS_ERR_NOMEM;
    (void)state;
    begin_trace();
    for (uint32_t rank = 0; rank < 2; rank++) {
        const int64_t other = 1 - rank;
        call(rank, 100, 110, IRECV, AS_TRACE_POST, AS_TRACE_ANY, 3, 80, 1, 7, 0);
        call(rank, 100, 110, ISEND, AS_TRACE_SEND, other, 3, 80, 1, 5, AS_TRACE_SYNCHRONOUS);
        enter(rank, 300, WAIT);
        put(rank, AS_TRACE_RECEIVE, 400, other, 3, 80, 1, 7, 0);
        put(rank, AS_TRACE_DONE, 400, 5, 0, 0, 0, 0, 0);
        leave(rank, 400, WAIT);
        call(rank, 500, 510, IALLREDUCE, AS_TRACE_COLLECTIVE, 1, 9, -1, 8, 8, 0);
        call(rank, 520, 520, SEND, AS_TRACE_SEND, other, 4, 80, 1, 0, 0);
        call(rank, 520, 530, RECV, AS_TRACE_RECEIVE, other, 4, 80, 1, 0, 0);
        call(rank, 540, 600, WAIT, AS_TRACE_DONE, 9, 0, 0, 0, 0, 0);
    }
    end_trace();
    assert_int_equal(simulate_made_up(), 0);
    int64_t n = 0;
    for (; rc == AS_ERR_NOMEM; n++) {
        as_alloc_fail_after(n);
        rc = simulate_made_up();
        as_alloc_fail_after(-1);
    }
    assert_int_equal(rc, 0);
    assert_true(n > 20);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        TEST(test_bursts),      TEST(test_wildcards), TEST(test_receives_without_end),
        TEST(test_sends),       TEST(test_sendrecv),  TEST(test_persistent),
        TEST(test_collectives), TEST(test_functions), TEST(test_off),
        TEST(test_refused),     TEST(test_sums),      TEST(test_missing_rank),
        TEST(test_memory),      TEST(test_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
