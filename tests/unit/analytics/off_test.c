/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of two ranks with pauses of tracing at different times, made up as streams. Sends,
 * receives and collectives in a pause are recorded as counts alone. Partners are still matched
 * behind a pause. Sides without a partner are counted, and they have no wait states.
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

#include "analytics/state/analysis.h"
#include "base/alloc.h"
#include "made_stream.h"

#define S   1000000000
#define TAG 5

enum { SEND_NAME = 1, RECV_NAME, ISEND_NAME, IRECV_NAME, WAIT_NAME, BARRIER_NAME };
static const char *const names[] = {NULL,        "MPI_Send", "MPI_Recv",   "MPI_Isend",
                                    "MPI_Irecv", "MPI_Wait", "MPI_Barrier"};
static const uint32_t groups[] = {0,
                                  AS_TRACE_OF_MPI_POINT,
                                  AS_TRACE_OF_MPI_POINT,
                                  AS_TRACE_OF_MPI_POINT,
                                  AS_TRACE_OF_MPI_POINT,
                                  AS_TRACE_OF_MPI_COMPLETION,
                                  AS_TRACE_OF_MPI_COLLECTIVE};

static struct as_error failure;
static struct as_trace_writer writer;
/* A given clock in ns: all streams begin at this time, however long it takes to write them. */
static const uint64_t zero_tick = 1000 * (uint64_t)S;
static char directory[64];
static uint32_t own_rank, ring_n;

/* ---- Making it up ---------------------------------------------------------------------------- */

static void open_stream(uint32_t pid, uint32_t tid)
{
    made_stream_open(&writer, directory,
                     (struct as_trace_writing){.pid = pid,
                                               .tid = tid,
                                               .tick_hz = S,
                                               .begin_tick = zero_tick,
                                               .ring_n = tid ? ring_n : 0});
}

static void begin_rank(uint32_t rank)
{
    const uint64_t world[] = {rank, 2, 0}, comm[] = {1, 99, 2, rank, 0}, member[] = {0, 1};
    own_rank = rank;
    open_stream(100 + rank, 0);
    for (uint64_t i = SEND_NAME; i <= BARRIER_NAME; i++) {
        const uint64_t name[] = {i, groups[i]};
        assert_true(
            as_trace_emit_text(&writer, AS_TRACE_NAME, as_trace_now(&writer), name, 2, names[i]));
    }
    as_trace_emit(&writer, AS_TRACE_WORLD, 0, world, 3);
    assert_true(as_trace_emit_list(&writer, AS_TRACE_COMM, 0, comm, 5, member, 2));
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    open_stream(100 + rank, 100 + rank);
}

static void put(unsigned kind, double at_s, const uint64_t *field, unsigned n)
{
    as_trace_emit(&writer, kind, zero_tick + (uint64_t)(at_s * S), field, n);
}

static void end_rank(double at_s)
{
    const uint64_t event[] = {0, 0};
    put(AS_TRACE_EVENT, at_s, event, 2);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
}

/* A call of a routine, and what it says of itself when it is left. */
static void put_call(uint64_t name, double enter_s, double leave_s, unsigned kind,
                     const uint64_t *field, unsigned n)
{
    put(AS_TRACE_ENTER, enter_s, &name, 1);
    put(kind, leave_s, field, n);
    put(AS_TRACE_LEAVE, leave_s, &name, 1);
}

static void put_message(uint64_t name, double enter_s, double leave_s, unsigned kind,
                        uint64_t request)
{
    const uint64_t field[] = {
        as_trace_zigzag(1 - (int64_t)own_rank), as_trace_zigzag(TAG), 8, 1, request, 0};
    put_call(name, enter_s, leave_s, kind, field, kind == AS_TRACE_RECEIVE ? 5 : 6);
}

static void put_barrier(double enter_s, double leave_s)
{
    const uint64_t field[] = {1, 0, as_trace_zigzag(-1), 0, 0, 0};
    put_call(BARRIER_NAME, enter_s, leave_s, AS_TRACE_COLLECTIVE, field, 6);
}

static void put_off(double from_s, double to_s)
{
    const uint64_t why = AS_TRACE_BY_USER;
    put(AS_TRACE_OFF, from_s, &why, 1);
    put(AS_TRACE_ON, to_s, NULL, 0);
}

static void put_missed(enum as_trace_missed what, uint64_t n)
{
    const bool is_message = what < AS_TRACE_MISSED_COLLECTIVES;
    const uint64_t field[] = {what, is_message ? as_trace_zigzag(1 - (int64_t)own_rank) : 0,
                              is_message ? as_trace_zigzag(TAG) : 0, 1, n};
    as_trace_emit(&writer, AS_TRACE_MISSED, 0, field, 5);
}

/* ---- Looking at it --------------------------------------------------------------------------- */

struct looked {
    struct as_trace trace;
    struct as_analysis analysis;
};

static void look_at(struct looked *out)
{
    assert_int_equal(as_trace_open(directory, &out->trace, &failure), 0);
    assert_int_equal(as_analyse_trace(&out->trace, NULL, &out->analysis, &failure), 0);
    as_vec_foreach (&out->analysis.location, location) {
        int64_t sum_ns = 0;
        for (unsigned a = 0; a < AS_ACTIVITIES_N; a++) {
            assert_true(location->activity_ns[a] >= 0);
            sum_ns += location->activity_ns[a];
        }
        assert_int_equal(sum_ns, location->span.end_ns - location->span.begin_ns);
    }
}

static void let_go(struct looked *looked)
{
    as_analysis_fini(&looked->analysis);
    as_trace_close(&looked->trace);
}

/* Streams begin some microseconds after each other. */
static void assert_seconds(int64_t ns, double want)
{
    if (ns < (int64_t)(want * S) - S / 100 || ns > (int64_t)(want * S) + S / 100)
        fail_msg("%g s, not %g", (double)ns / S, want);
}

/* The waits that are there, and no others. */
static void assert_waited(const struct looked *l, enum as_wait_kind kind, int64_t rank, double want)
{
    int64_t ns = 0;
    as_vec_foreach (&l->analysis.waits.wait, wait)
        if (wait->kind == kind && l->analysis.location.at[wait->location].rank == rank)
            ns += wait->end_ns - wait->begin_ns;
    assert_seconds(ns, want);
}

static void assert_waited_in_all(const struct looked *l, double want)
{
    int64_t ns = 0;
    as_vec_foreach (&l->analysis.waits.wait, wait)
        ns += wait->end_ns - wait->begin_ns;
    assert_seconds(ns, want);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* Four messages: only the receiver recorded the second, and neither side the third. */
static void test_messages(void **state)
{
    struct looked l;
    (void)state;
    begin_rank(0);
    put_message(SEND_NAME, 1, 2, AS_TRACE_SEND, 0);
    put_off(3, 6);
    put_missed(AS_TRACE_MISSED_SENDS, 2);
    put_missed(AS_TRACE_MISSED_COLLECTIVES, 1);
    put_message(SEND_NAME, 8, 8, AS_TRACE_SEND, 0);
    put_barrier(9, 10);
    end_rank(12);
    begin_rank(1);
    put_message(RECV_NAME, 1, 2, AS_TRACE_RECEIVE, 0);
    put_message(RECV_NAME, 3, 4, AS_TRACE_RECEIVE, 0);
    put_off(4, 6);
    put_missed(AS_TRACE_MISSED_RECEIVES, 1);
    put_missed(AS_TRACE_MISSED_COLLECTIVES, 1);
    put_message(RECV_NAME, 7, 8, AS_TRACE_RECEIVE, 0);
    put_barrier(10, 10);
    end_rank(12);
    look_at(&l);
    const struct as_analysis *a = &l.analysis;
    assert_int_equal(a->messages.matched_n, 2);
    assert_int_equal(a->messages.sends_n, 0);
    assert_int_equal(a->messages.receives_n, 1);
    assert_int_equal(a->unmet_n, 0);
    assert_int_equal(a->broken_n, 0);
    assert_int_equal(a->missed_n, 5);
    assert_waited(&l, AS_WAIT_LATE_SENDER, 1, 1);
    assert_waited(&l, AS_WAIT_BARRIER, 0, 1);
    assert_waited_in_all(&l, 2);
    assert_seconds(a->location.at[0].activity_ns[AS_ACTIVITY_OFF], 3);
    assert_seconds(a->location.at[1].activity_ns[AS_ACTIVITY_OFF], 2);
    assert_seconds(a->location.at[0].activity_ns[AS_ACTIVITY_COMPUTING], 7);
    assert_seconds(a->location.at[1].activity_ns[AS_ACTIVITY_COMPUTING], 7);
    /* Of 12 s each, 2.5 s in the mean are not recorded. */
    assert_true(a->efficiency.parallel > 7 / 9.5 - 0.001);
    assert_true(a->efficiency.parallel < 7 / 9.5 + 0.001);
    let_go(&l);
}

/* A send and a receive that were begun before are complete while it is off, or behind it. */
static void test_requests(void **state)
{
    struct looked l;
    const uint64_t request = 1;
    (void)state;
    begin_rank(0);
    put_message(ISEND_NAME, 1, 1, AS_TRACE_SEND, 1);
    put_off(2, 4);
    put_message(SEND_NAME, 6, 6, AS_TRACE_SEND, 0);
    put_call(WAIT_NAME, 7, 7, AS_TRACE_DONE, &request, 1); /* the first: it went its way */
    end_rank(10);
    begin_rank(1);
    put_message(IRECV_NAME, 1, 1, AS_TRACE_POST, 1);
    put_off(2, 4);
    put_message(WAIT_NAME, 4.5, 4.5, AS_TRACE_RECEIVE, 1);
    put_message(RECV_NAME, 5, 6, AS_TRACE_RECEIVE, 0);
    end_rank(10);
    look_at(&l);
    assert_int_equal(l.analysis.messages.matched_n, 2);
    assert_int_equal(l.analysis.messages.sends_n, 0);
    assert_int_equal(l.analysis.messages.receives_n, 0);
    assert_int_equal(l.analysis.broken_n, 0);
    assert_waited(&l, AS_WAIT_LATE_SENDER, 1, 1);
    assert_waited_in_all(&l, 1);
    let_go(&l);
}

static void make_parts(unsigned kind)
{
    const uint64_t field[] = {
        as_trace_zigzag(1 - (int64_t)own_rank),    as_trace_zigzag(TAG), 8, 1, 7,
        AS_TRACE_PERSISTENT | AS_TRACE_PARTITIONED};
    put_call(ISEND_NAME, 0.1, 0.1, kind, field, 6);
}

/* One in parts: started, ready (what sends), and waited for. */
static void put_parts(double start_s, double ready_s, double wait_s, double done_s)
{
    const uint64_t request = 7, parts[] = {7, 2};
    put_call(ISEND_NAME, start_s, start_s, AS_TRACE_START, &request, 1);
    if (own_rank == 0)
        put_call(ISEND_NAME, ready_s, ready_s, AS_TRACE_PARTS, parts, 2);
    put_call(WAIT_NAME, wait_s, done_s, AS_TRACE_DONE, &request, 1);
}

/* Six partitioned messages: the sender recorded neither the second nor the third, the receiver not
 * the fifth. Each of the others matches its partner. */
static void test_parts(void **state)
{
    struct looked l;
    const uint64_t two[] = {AS_TRACE_MISSED_STARTS, 0, 0, 7, 2};
    const uint64_t one[] = {AS_TRACE_MISSED_STARTS, 0, 0, 7, 1};
    (void)state;
    begin_rank(0);
    make_parts(AS_TRACE_SEND);
    put_parts(1, 1.5, 1.6, 1.6);
    put_off(2, 6);
    as_trace_emit(&writer, AS_TRACE_MISSED, 0, two, 5);
    put_parts(7, 9, 9, 9);
    put_parts(10, 10, 10, 10);
    put_parts(13, 15, 15, 15);
    end_rank(16);
    begin_rank(1);
    make_parts(AS_TRACE_POST);
    put_parts(1, 0, 1, 1.5);
    put_parts(3, 0, 3, 3.5);
    put_parts(4, 0, 4, 4.5);
    put_parts(7, 0, 8, 9);
    put_off(9.5, 12);
    as_trace_emit(&writer, AS_TRACE_MISSED, 0, one, 5);
    put_parts(13, 0, 14, 15);
    end_rank(16);
    look_at(&l);
    assert_int_equal(l.analysis.messages.matched_n, 3);
    assert_int_equal(l.analysis.messages.receives_n, 2);
    assert_int_equal(l.analysis.messages.sends_n, 1);
    assert_int_equal(l.analysis.doubtful_n, 0);
    assert_waited(&l, AS_WAIT_LATE_SENDER, 1, 2.5);
    assert_waited_in_all(&l, 2.5);
    let_go(&l);
}

/* A receive that is posted before and complete meanwhile holds up none of those that follow. */
static void test_receive_meanwhile(void **state)
{
    struct looked l;
    (void)state;
    begin_rank(0);
    put_message(SEND_NAME, 1, 1, AS_TRACE_SEND, 0);
    put_message(SEND_NAME, 7, 7, AS_TRACE_SEND, 0);
    end_rank(10);
    begin_rank(1);
    put_message(IRECV_NAME, 0.5, 0.5, AS_TRACE_POST, 1);
    put_off(2, 4);
    put_missed(AS_TRACE_MISSED_RECEIVES, 1);
    put_message(RECV_NAME, 5, 7, AS_TRACE_RECEIVE, 0);
    end_rank(10);
    look_at(&l);
    assert_int_equal(l.analysis.messages.matched_n, 1);
    assert_int_equal(l.analysis.messages.sends_n, 1);
    assert_int_equal(l.analysis.messages.receives_n, 0);
    assert_waited(&l, AS_WAIT_LATE_SENDER, 1, 2);
    assert_waited_in_all(&l, 2);
    let_go(&l);
}

/* Three barriers: one rank records the last, the other the last two. */
static void test_barriers(void **state)
{
    struct looked l;
    (void)state;
    begin_rank(0);
    put_off(1, 5);
    put_missed(AS_TRACE_MISSED_COLLECTIVES, 2);
    put_barrier(6, 8);
    end_rank(10);
    begin_rank(1);
    put_off(1, 2);
    put_missed(AS_TRACE_MISSED_COLLECTIVES, 1);
    put_barrier(3, 4);
    put_barrier(8, 8);
    end_rank(10);
    look_at(&l);
    assert_int_equal(l.analysis.unmet_n, 1);
    assert_waited(&l, AS_WAIT_BARRIER, 0, 2);
    assert_waited_in_all(&l, 2);
    let_go(&l);
}

/* If the number of missed operations is unknown, messages with this rank have no results. */
static void test_doubts(void **state)
{
    struct looked l;
    (void)state;
    begin_rank(0);
    put_off(1, 5);
    put_missed(AS_TRACE_MISSED_ANY, 7);
    put_message(SEND_NAME, 8, 8, AS_TRACE_SEND, 0);
    end_rank(10);
    begin_rank(1);
    put_message(RECV_NAME, 6, 8, AS_TRACE_RECEIVE, 0);
    end_rank(10);
    look_at(&l);
    assert_int_equal(l.analysis.messages.matched_n, 0);
    assert_waited_in_all(&l, 0);
    let_go(&l);
}

/* A region that is open on one side of it alone: a worker comes to its end behind it, and has no
 * work from there on. */
static void test_region(void **state)
{
    struct looked l;
    const uint64_t region[] = {7, 2, 0x1000}, task[] = {7, 1, 2}, next[] = {8, 1, 2};
    const uint64_t why = AS_TRACE_BY_USER;
    (void)state;
    begin_rank(0);
    put(AS_TRACE_PARALLEL, 1, region, 3);
    put(AS_TRACE_IMPLICIT, 1, (const uint64_t[]){7, 0, 2}, 3);
    put_off(2, 4);
    put(AS_TRACE_IMPLICIT_END, 6, (const uint64_t[]){7, 0}, 2);
    put(AS_TRACE_PARALLEL_END, 6, region, 1);
    put(AS_TRACE_PARALLEL, 8, (const uint64_t[]){8, 2, 0x1000}, 3);
    put(AS_TRACE_PARALLEL_END, 9, (const uint64_t[]){8}, 1);
    end_rank(10);
    open_stream(100, 200);
    put(AS_TRACE_IMPLICIT, 1, task, 3);
    put(AS_TRACE_OFF, 2, &why, 1);
    put(AS_TRACE_ON, 4, NULL, 0);
    put(AS_TRACE_IMPLICIT_END, 5, task, 2);
    put(AS_TRACE_IMPLICIT, 8, next, 3);
    end_rank(9);
    look_at(&l);
    assert_int_equal(l.analysis.broken_n, 0);
    const int64_t *worker_ns = l.analysis.location.at[1].activity_ns;
    assert_seconds(worker_ns[AS_ACTIVITY_OFF], 2);
    assert_seconds(worker_ns[AS_ACTIVITY_COMPUTING], 3); /* 1 to 2, 4 to 5, 8 to 9 */
    assert_seconds(worker_ns[AS_ACTIVITY_IDLE], 4);      /* before 1, 5 to 8 */
    assert_waited(&l, AS_WAIT_IDLE, 0, 3);
    assert_waited_in_all(&l, 3);
    let_go(&l);
}

/* The ring of the sender may have lost more messages than the ring of the receiver. So overwritten
 * messages are unknown, and so are their partners. */
static void test_ring(void **state)
{
    enum { MESSAGES = 60000 };
    struct looked l;
    (void)state;
    ring_n = 2;
    begin_rank(0);
    ring_n = 0;
    for (unsigned i = 0; i < MESSAGES; i++)
        put_message(SEND_NAME, i * 1e-3, i * 1e-3 + 1e-4, AS_TRACE_SEND, 0);
    put_barrier(61, 62);
    end_rank(64);
    begin_rank(1);
    for (unsigned i = 0; i < MESSAGES; i++)
        put_message(RECV_NAME, i * 1e-3, i * 1e-3 + 2e-4, AS_TRACE_RECEIVE, 0);
    put_barrier(62, 62);
    end_rank(64);
    look_at(&l);
    const struct as_analysis *a = &l.analysis;
    const struct as_trace_stream *ring = l.trace.process.at[0].thread.at[0];
    const struct as_trace_stream_facts *facts = as_trace_stream_facts(ring);
    const int64_t lost_ns = as_trace_stream_kept_ns(ring) - a->location.at[0].span.begin_ns;
    assert_true(facts->overwritten_n > 0 && facts->blocks_n == 2);
    assert_true(lost_ns > 10LL * S && lost_ns < 59LL * S);
    assert_int_equal(a->location.at[0].activity_ns[AS_ACTIVITY_OFF], lost_ns);
    assert_int_equal(a->location.at[1].activity_ns[AS_ACTIVITY_OFF], 0);
    assert_int_equal(a->messages.matched_n, 0);
    assert_int_equal(a->violated_n, 0);
    assert_int_equal(a->waits.wait.n, 0);
    let_go(&l);
}

/* A thread waits at most until its stream ends at a limit. */
static void test_cut_wait(void **state)
{
    const uint64_t region[] = {1, 2, 0}, end[] = {1, 0};
    struct looked l;
    (void)state;
    begin_rank(0);
    for (uint64_t thread = 0; thread < 2; thread++) {
        const uint64_t part[] = {1, thread, 2};
        if (thread)
            open_stream(100, 101);
        else
            put(AS_TRACE_PARALLEL, 1, region, 3);
        put(AS_TRACE_IMPLICIT, 1, part, 3);
        put(AS_TRACE_IMPLICIT_END, thread ? 8 : 3, ((uint64_t[]){1, thread}), 2);
        if (thread)
            put(AS_TRACE_THREAD_END, 10, NULL, 0);
        else
            put(AS_TRACE_PARALLEL_END, 5, end, 1); /* by a clock, or a run, that was cut */
        as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    }
    look_at(&l);
    as_vec_foreach (&l.analysis.waits.wait, wait) {
        const struct as_span *span = &l.analysis.location.at[wait->location].span;
        assert_true(wait->begin_ns < wait->end_ns && wait->end_ns <= span->end_ns);
    }
    assert_waited(&l, AS_WAIT_OMP_BARRIER, 0, 2); /* from 3 to its end, not to 8 */
    let_go(&l);
}

/* ---- Places ---------------------------------------------------------------------------------- */

static int make_place(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/assay-off-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_place(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

int main(void)
{
#define off_test(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        off_test(test_messages), off_test(test_requests), off_test(test_receive_meanwhile),
        off_test(test_barriers), off_test(test_doubts),   off_test(test_region),
        off_test(test_parts),    off_test(test_ring),     off_test(test_cut_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
