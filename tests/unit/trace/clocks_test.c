/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks of two machines. A clock is off by seconds and drifts. Its streams are read in the times
 * of rank 0's clock, as precisely as the measurements allow. Without measurements, the time of day
 * relates the clocks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "analytics/state/analysis.h"
#include "directory.h"
#include "trace/read.h"
#include "trace/write.h"

#define SECOND    1000000000
#define BEGIN_NS  ((int64_t)100 * SECOND) /* in truth, which is the clock of machine a */
#define OFF_NS    ((int64_t)5 * SECOND)   /* machine b is ahead */
#define DRIFT     50e-6                   /* and faster */
#define MESSAGES  200
#define LENGTH_NS ((int64_t)10 * SECOND)
#define TRIP_NS   2000

static int64_t clock_of(int rank, int64_t true_ns)
{
    return rank == 0 ? true_ns : true_ns + OFF_NS + (int64_t)((double)(true_ns - BEGIN_NS) * DRIFT);
}

static void open_stream(struct as_trace_writer *w, int rank, uint32_t tid)
{
    char path[128];
    const struct as_trace_writing how = {.path = path,
                                         .pid = 10 + (uint32_t)rank,
                                         .tid = tid,
                                         .clock = AS_TRACE_GIVEN,
                                         .begin_tick = (uint64_t)clock_of(rank, BEGIN_NS),
                                         .name = rank ? "b" : "a"};
    snprintf(path, sizeof path, "%s/stream.%u.7.%u", directory, 10 + (unsigned)rank, tid);
    assert_int_equal(as_trace_writer_open(w, &how), 0);
    w->head->clock = AS_TRACE_KERNEL; /* as an agent says it: imports have one clock already */
}

static void put(struct as_trace_writer *w, int rank, unsigned kind, int64_t true_ns,
                const uint64_t *field, unsigned n)
{
    as_trace_emit(w, kind, (uint64_t)clock_of(rank, true_ns), field, n);
}

/* Errors of the measurements, at most TRIP_NS. */
static int64_t measured_off_ns[2];

static void define_rank(int rank, const int64_t *relation_ns, size_t relations_n, int64_t day_ns)
{
    struct as_trace_writer w;
    const uint64_t member[] = {0, 1}, world[] = {(uint64_t)rank, 2, 0};
    const uint64_t comm[] = {1, 1, 2, (uint64_t)rank, 0};
    const uint64_t name[] = {1, AS_TRACE_OF_MPI_POINT};
    open_stream(&w, rank, 0);
    w.head->real_ns = w.head->begin.raw_ns + day_ns - (rank ? OFF_NS : 0);
    as_trace_emit(&w, AS_TRACE_WORLD, 0, world, 3);
    as_trace_emit_list(&w, AS_TRACE_COMM, 0, comm, 5, member, 2);
    as_trace_emit_text(&w, AS_TRACE_NAME, 0, name, 2, rank ? "MPI_Recv" : "MPI_Send");
    for (size_t i = 0; i < relations_n; i++) {
        const uint64_t field[] = {as_trace_zigzag(clock_of(rank, relation_ns[i])),
                                  as_trace_zigzag(relation_ns[i] + measured_off_ns[i % 2]),
                                  TRIP_NS};
        as_trace_emit(&w, AS_TRACE_RELATED, 0, field, 3);
    }
    as_trace_writer_close(&w, AS_TRACE_CLOSED);
}

/* Rank 0 sends at k * 50 ms, rank 1 has it 20 us later; it waited for it since 1 ms before. */
static int64_t sent_ns(int k)
{
    return BEGIN_NS + SECOND + (int64_t)k * (LENGTH_NS - 2 * (int64_t)SECOND) / MESSAGES;
}

static void write_ranks(void)
{
    struct as_trace_writer send, receive;
    const uint64_t name = 1;
    const uint64_t to[] = {as_trace_zigzag(1), as_trace_zigzag(3), 64, 1, 0, 0};
    const uint64_t from[] = {as_trace_zigzag(0), as_trace_zigzag(3), 64, 1, 0, 0};
    open_stream(&send, 0, 1);
    open_stream(&receive, 1, 1);
    for (int k = 0; k < MESSAGES; k++) {
        put(&send, 0, AS_TRACE_ENTER, sent_ns(k), &name, 1);
        put(&send, 0, AS_TRACE_SEND, sent_ns(k), to, 6);
        put(&send, 0, AS_TRACE_LEAVE, sent_ns(k) + 3000, &name, 1);
        put(&receive, 1, AS_TRACE_ENTER, sent_ns(k) - 1000000, &name, 1);
        put(&receive, 1, AS_TRACE_POST, sent_ns(k) - 1000000, from, 6);
        put(&receive, 1, AS_TRACE_RECEIVE, sent_ns(k) + 20000, from, 5);
        put(&receive, 1, AS_TRACE_LEAVE, sent_ns(k) + 20000, &name, 1);
    }
    as_trace_writer_close(&send, AS_TRACE_CLOSED);
    as_trace_writer_close(&receive, AS_TRACE_CLOSED);
}

/* How far times of messages are from the truth, at most. */
static int64_t worst_ns;
static int check_message(void *context, const struct as_message *m)
{
    int *k = context;
    const int64_t off[] = {m->send.begin_ns - sent_ns(*k),
                           m->receive.begin_ns - (sent_ns(*k) - 1000000),
                           m->receive.leave_ns - (sent_ns(*k) + 20000)};
    ++*k;
    for (int i = 0; i < 3; i++)
        worst_ns = llabs(off[i]) > worst_ns ? llabs(off[i]) : worst_ns;
    return 0;
}

/* Answers how many messages were received before they were sent. */
static uint64_t analyse(struct as_trace *trace)
{
    struct as_error err;
    struct as_analysis analysis;
    int k = 0;
    const struct as_analysis_watch watch = {.context = &k, .message = check_message};
    worst_ns = 0;
    assert_int_equal(as_trace_open(directory, trace, &err), 0);
    assert_int_equal(as_analyse_trace(trace, &watch, &analysis, &err), 0);
    assert_int_equal(k, MESSAGES);
    assert_int_equal(analysis.messages.matched_n, MESSAGES);
    const uint64_t violated_n = analysis.violated_n;
    as_analysis_fini(&analysis);
    return violated_n;
}

static void test_drift(void **state)
{
    const int64_t at[] = {BEGIN_NS, BEGIN_NS + LENGTH_NS};
    struct as_trace trace;
    (void)state;
    define_rank(0, NULL, 0, 0);
    define_rank(1, at, 2, 0);
    write_ranks();
    assert_int_equal(analyse(&trace), 0);
    assert_true(worst_ns <= 2); /* numbers are cut off */
    assert_int_equal(trace.process.at[0].clock.related, AS_TRACE_ONE_CLOCK);
    assert_int_equal(trace.process.at[1].clock.related, AS_TRACE_MEASURED);
    assert_in_range(trace.process.at[1].clock.uncertain_ns, TRIP_NS, TRIP_NS + 2);
    const struct as_trace_stream_facts *facts =
        as_trace_stream_facts(trace.process.at[1].thread.at[0]);
    assert_int_equal(facts->begin_raw_ns, BEGIN_NS);
    assert_int_equal(facts->shift_ns, -OFF_NS);
    as_trace_close(&trace);
}

/* Calls before the first measurement: the error of the rate counts for them, too. */
static void test_outside(void **state)
{
    const int64_t at[] = {BEGIN_NS + 4 * (int64_t)SECOND, BEGIN_NS + 8 * (int64_t)SECOND};
    struct as_trace trace;
    (void)state;
    measured_off_ns[0] = TRIP_NS;
    measured_off_ns[1] = -TRIP_NS;
    define_rank(0, NULL, 0, 0);
    define_rank(1, at, 2, 0);
    measured_off_ns[0] = measured_off_ns[1] = 0;
    write_ranks();
    analyse(&trace);
    assert_true(worst_ns > TRIP_NS + 2);
    assert_true(worst_ns <= trace.process.at[1].clock.uncertain_ns);
    assert_true(trace.process.at[1].clock.uncertain_ns <= 4 * TRIP_NS);
    as_trace_close(&trace);
}

/* One moment alone says nothing of the drift: 50 us a second. */
static void test_one_measurement(void **state)
{
    const int64_t at[] = {BEGIN_NS};
    struct as_trace trace;
    (void)state;
    define_rank(0, NULL, 0, 0);
    define_rank(1, at, 1, 0);
    write_ranks();
    analyse(&trace);
    assert_true(worst_ns > 400000 && worst_ns < 500000);
    as_trace_close(&trace);
}

/* A third measurement off the line is reported. */
static void test_residual(void **state)
{
    struct as_trace_writer w;
    struct as_trace trace;
    const int64_t middle_ns = BEGIN_NS + LENGTH_NS / 2;
    const uint64_t field[] = {as_trace_zigzag(clock_of(1, middle_ns)),
                              as_trace_zigzag(middle_ns + 30000), 10};
    const int64_t at[] = {BEGIN_NS, BEGIN_NS + LENGTH_NS};
    (void)state;
    define_rank(0, NULL, 0, 0);
    define_rank(1, at, 2, 0);
    write_ranks();
    /* Another process of that machine measured it. */
    const struct as_trace_writing how = {
        .path = "", .pid = 12, .clock = AS_TRACE_GIVEN, .name = "b"};
    struct as_trace_writing other = how;
    char path[128];
    snprintf(path, sizeof path, "%s/stream.12.7.0", directory);
    other.path = path;
    assert_int_equal(as_trace_writer_open(&w, &other), 0);
    as_trace_emit(&w, AS_TRACE_RELATED, 0, field, 3);
    as_trace_writer_close(&w, AS_TRACE_CLOSED);
    assert_int_equal(analyse(&trace), 0);
    assert_in_range(trace.process.at[1].clock.uncertain_ns, TRIP_NS + 29990, TRIP_NS + 30010);
    as_trace_close(&trace);
}

/* Days that are 3 ms apart: every message is received before it was sent, and that is said. */
static void test_by_day(void **state)
{
    struct as_trace trace;
    (void)state;
    define_rank(0, NULL, 0, 0);
    define_rank(1, NULL, 0, -3000000);
    write_ranks();
    assert_int_equal(analyse(&trace), MESSAGES);
    assert_int_equal(trace.process.at[1].clock.related, AS_TRACE_BY_DAY);
    assert_int_equal(trace.process.at[1].clock.uncertain_ns, -1);
    as_trace_close(&trace);
}

/* The machine of rank 0 is not in the trace: both others have its clock. */
static void test_without_rank_0(void **state)
{
    const int64_t at[] = {BEGIN_NS, BEGIN_NS + LENGTH_NS};
    struct as_trace_writer w;
    struct as_trace trace;
    struct as_error err;
    char path[128];
    const uint64_t world[] = {2, 3, 0};
    (void)state;
    define_rank(1, at, 2, 0);
    snprintf(path, sizeof path, "%s/stream.12.7.0", directory);
    const struct as_trace_writing how = {.path = path,
                                         .pid = 12,
                                         .clock = AS_TRACE_GIVEN,
                                         .begin_tick = (uint64_t)(BEGIN_NS - OFF_NS),
                                         .name = "c"};
    assert_int_equal(as_trace_writer_open(&w, &how), 0);
    w.head->clock = AS_TRACE_KERNEL;
    as_trace_emit(&w, AS_TRACE_WORLD, 0, world, 3);
    for (int i = 0; i < 2; i++) {
        const uint64_t field[] = {as_trace_zigzag(at[i] - OFF_NS), as_trace_zigzag(at[i]), 5};
        as_trace_emit(&w, AS_TRACE_RELATED, 0, field, 3);
    }
    as_trace_writer_close(&w, AS_TRACE_CLOSED);
    assert_int_equal(as_trace_open(directory, &trace, &err), 0);
    assert_int_equal(trace.process.n, 2);
    as_vec_foreach (&trace.process, process) {
        assert_int_equal(process->clock.related, AS_TRACE_MEASURED);
        assert_true(process->clock.has_drift);
        assert_int_equal(process->clock.relation_n, 2);
    }
    assert_int_equal(trace.process.at[0].clock.shift_ns, -OFF_NS);
    assert_int_equal(trace.process.at[1].clock.shift_ns, OFF_NS);
    as_trace_close(&trace);
}

/* The most precise of several measurements at one moment counts. The rest within its uncertainty
 * does not count as a residual. */
static void test_surest(void **state)
{
    struct as_trace_writer w;
    struct as_trace trace;
    struct as_error err;
    char path[128];
    const uint64_t world[] = {1, 2, 0};
    /* When, how far from the truth, how uncertain. */
    const int64_t said[][3] = {{0, 400, 500},
                               {1000000, 20, 30},
                               {2000000, -90, 100},
                               {LENGTH_NS, -700, 800},
                               {LENGTH_NS + 1000000, 10, 40}};
    (void)state;
    define_rank(0, NULL, 0, 0);
    snprintf(path, sizeof path, "%s/stream.11.7.0", directory);
    const struct as_trace_writing how = {
        .path = path, .pid = 11, .clock = AS_TRACE_GIVEN, .name = "b"};
    assert_int_equal(as_trace_writer_open(&w, &how), 0);
    w.head->clock = AS_TRACE_KERNEL;
    as_trace_emit(&w, AS_TRACE_WORLD, 0, world, 3);
    for (int i = 0; i < 5; i++) {
        const int64_t true_ns = BEGIN_NS + said[i][0];
        const uint64_t field[] = {as_trace_zigzag(clock_of(1, true_ns)),
                                  as_trace_zigzag(true_ns + said[i][1]), (uint64_t)said[i][2]};
        as_trace_emit(&w, AS_TRACE_RELATED, 0, field, 3);
    }
    as_trace_writer_close(&w, AS_TRACE_CLOSED);
    assert_int_equal(as_trace_open(directory, &trace, &err), 0);
    const struct as_trace_correction *clock = &trace.process.at[1].clock;
    assert_int_equal(clock->relation_n, 5);
    /* The third lies 110 off the line, of which it explains 100. */
    assert_in_range(clock->uncertain_ns, 49, 52);
    assert_in_range(clock->residual_ns, 705, 715); /* -700, from a line that is 10 off there */
    assert_true(clock->drift > -DRIFT - 1e-8 && clock->drift < -DRIFT + 1e-8);
    as_trace_close(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_drift, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_one_measurement, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_outside, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_residual, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_by_day, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_without_rank_0, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_surest, make_place, remove_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
