/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples in streams of events: stacks stored as differences, and samples that fall into the
 * writing of records or among polls. Also samples without room.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "directory.h"
#include "trace/read.h"
#include "trace/write.h"

#define ASIDE_N 1024u

static struct as_trace_writer writer;
static uint64_t aside[ASIDE_N];
static uint64_t first; /* tick of the beginning: ticks are nanoseconds here */

static const char *stream_path(void)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/stream", directory);
    return path;
}

static void begin_stream(uint32_t aside_n)
{
    const struct as_trace_writing how = {.path = stream_path(),
                                         .pid = 7,
                                         .tid = 7,
                                         .clock = AS_TRACE_KERNEL,
                                         .aside = aside_n ? aside : NULL,
                                         .aside_n = aside_n};
    assert_int_equal(as_trace_writer_open(&writer, &how), 0);
    first = writer.head->begin.tick;
}

static struct as_trace_stream *end_stream(void)
{
    struct as_trace_stream *stream;
    struct as_error err;
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    assert_int_equal(as_trace_stream_open(AT_FDCWD, stream_path(), &stream, &err), 0);
    return stream;
}

static int64_t next(struct as_trace_stream *stream, struct as_trace_event *event, unsigned kind)
{
    assert_int_equal(as_trace_stream_next(stream, event, NULL), 1);
    assert_int_equal(event->kind, kind);
    return event->raw_ns - (int64_t)first;
}

static void at_end(struct as_trace_stream *stream)
{
    struct as_trace_event event;
    assert_int_equal(as_trace_stream_next(stream, &event, NULL), 0);
    assert_int_equal(as_trace_stream_facts(stream)->damaged_n, 0);
    as_trace_stream_close(&stream);
}

/* ---- Stacks --------------------------------------------------------------------------------- */

/* The i-th stack: calls that come and go, of a depth and with addresses of its number. */
static unsigned make_stack(uint64_t i, uint64_t *stack)
{
    const unsigned n = 1 + (unsigned)(i * 7 % AS_TRACE_STACK_N);
    for (unsigned k = 0; k < n; k++) /* the outermost is the last */
        stack[n - 1 - k] = 0x7f0000000000u + 4096 * k + (k < 3 ? 0 : i % (k + 1) * 16);
    stack[0] += i;
    return n;
}

static void check_stack(const struct as_trace_event *event, uint64_t i)
{
    uint64_t stack[AS_TRACE_STACK_N];
    const unsigned n = make_stack(i, stack);
    assert_int_equal(event->sample.period_ns, 1000 + i);
    assert_int_equal(event->list_n, n);
    assert_memory_equal(event->list, stack, n * sizeof *stack);
}

#define SAMPLES_N 40000u

static void write_samples(void)
{
    uint64_t stack[AS_TRACE_STACK_N];
    for (uint64_t i = 0; i < SAMPLES_N; i++) {
        const unsigned n = make_stack(i, stack);
        if (i % 3 == 0)
            as_trace_emit(&writer, AS_TRACE_ENTER, first + 10 * i, &i, 1);
        assert_true(as_trace_sample(&writer, first + 10 * i + 1, 1000 + i, stack, n, false));
    }
}

/* Also across blocks, each of which begins without a stack before. */
static void test_stacks(void **state)
{
    struct as_trace_event event;
    (void)state;
    begin_stream(0);
    write_samples();
    struct as_trace_stream *stream = end_stream();
    assert_true(as_trace_stream_facts(stream)->blocks_n > 3);
    for (uint64_t i = 0; i < SAMPLES_N; i++) {
        if (i % 3 == 0)
            assert_int_equal(next(stream, &event, AS_TRACE_ENTER), 10 * i);
        assert_int_equal(next(stream, &event, AS_TRACE_SAMPLE), 10 * i + 1);
        check_stack(&event, i);
    }
    at_end(stream);
}

/* Whatever is before it: the stack is that which was written. */
static void test_seek(void **state)
{
    struct as_trace_event event;
    (void)state;
    begin_stream(0);
    write_samples();
    struct as_trace_stream *stream = end_stream();
    for (uint64_t i = 1; i < SAMPLES_N; i += 331) {
        assert_int_equal(
            as_trace_stream_seek(stream, (int64_t)(first + 10 * i) + (i % 2 ? 1 : -3), NULL), 0);
        if (i % 3 == 0 && i % 2 == 0)
            next(stream, &event, AS_TRACE_ENTER);
        assert_int_equal(next(stream, &event, AS_TRACE_SAMPLE), 10 * i + 1);
        check_stack(&event, i);
    }
    as_trace_stream_close(&stream);
}

/* Equal ones take a few bytes, however deep. */
static void test_same(void **state)
{
    uint64_t stack[AS_TRACE_STACK_N];
    (void)state;
    begin_stream(0);
    const unsigned n = make_stack(9, stack);
    assert_int_equal(n, AS_TRACE_STACK_N);
    assert_true(as_trace_sample(&writer, first + 1, 1000, stack, n, false));
    const uint8_t *at = writer.at;
    for (uint64_t i = 0; i < 100; i++)
        assert_true(as_trace_sample(&writer, first + 2 + i, 1000, stack, n, false));
    assert_true(writer.at - at <= 100 * 8);
    struct as_trace_stream *stream = end_stream();
    as_trace_stream_close(&stream);
}

/* ---- In the midst of others ----------------------------------------------------------------- */

/* As a handler finds it that interrupts the writing of a record. */
static void sample_at(uint64_t tick, bool in_midst)
{
    const uint64_t stack[] = {0x1000 + tick, 0x2000};
    const uint8_t state = writer.state;
    if (in_midst)
        writer.state = (uint8_t)(state | AS_TRACE_BUSY);
    as_trace_sample(&writer, first + tick, 1000, stack, 2, false);
    if (in_midst)
        writer.state = state;
}

/* It comes with the next record, before it, at its own time. */
static void test_aside(void **state)
{
    struct as_trace_event event;
    const uint64_t name = 1;
    (void)state;
    begin_stream(ASIDE_N);
    as_trace_emit(&writer, AS_TRACE_ENTER, first + 100, &name, 1);
    sample_at(110, true);
    sample_at(120, true);
    as_trace_emit(&writer, AS_TRACE_LEAVE, first + 200, &name, 1);
    sample_at(210, true); /* and at the end, when none follows */
    struct as_trace_stream *stream = end_stream();
    assert_int_equal(next(stream, &event, AS_TRACE_ENTER), 100);
    assert_int_equal(next(stream, &event, AS_TRACE_SAMPLE), 110);
    assert_int_equal(event.list[0], 0x1000 + 110);
    assert_int_equal(next(stream, &event, AS_TRACE_SAMPLE), 120);
    assert_int_equal(next(stream, &event, AS_TRACE_LEAVE), 200);
    assert_int_equal(next(stream, &event, AS_TRACE_SAMPLE), 210);
    assert_int_equal(as_trace_stream_facts(stream)->samples_lost_n, 0);
    at_end(stream);
}

/* The first that came are kept, the others counted. */
static void test_lost(void **state)
{
    enum { N = 1000 };
    struct as_trace_event event;
    const uint64_t name = 1;
    uint64_t n = 0;
    (void)state;
    begin_stream(ASIDE_N);
    for (uint64_t i = 0; i < N; i++)
        sample_at(i, true);
    as_trace_emit(&writer, AS_TRACE_ENTER, first + N, &name, 1);
    struct as_trace_stream *stream = end_stream();
    while (as_trace_stream_next(stream, &event, NULL) == 1 && event.kind == AS_TRACE_SAMPLE)
        assert_int_equal(event.raw_ns - (int64_t)first, n++);
    assert_int_equal(event.kind, AS_TRACE_ENTER);
    assert_true(n > 100 && n < N);
    assert_int_equal(as_trace_stream_facts(stream)->samples_lost_n, N - n);
    assert_int_equal(as_trace_stream_facts(stream)->lost_n, 0);
    at_end(stream);
}

/* They do not part what follows each other: three polls are one call, with samples in it. */
static void test_polls(void **state)
{
    struct as_trace_event event;
    (void)state;
    begin_stream(ASIDE_N);
    as_trace_poll(&writer, 5, first + 100, first + 150);
    sample_at(160, false);
    as_trace_poll(&writer, 5, first + 200, first + 250);
    sample_at(220, true);
    as_trace_poll(&writer, 5, first + 300, first + 350);
    sample_at(400, false);
    struct as_trace_stream *stream = end_stream();
    assert_int_equal(next(stream, &event, AS_TRACE_ENTER), 100);
    assert_int_equal(next(stream, &event, AS_TRACE_REPEATED), 100);
    assert_int_equal(event.repeated.calls, 3);
    assert_int_equal(next(stream, &event, AS_TRACE_SAMPLE), 160);
    assert_int_equal(next(stream, &event, AS_TRACE_SAMPLE), 220);
    assert_int_equal(next(stream, &event, AS_TRACE_LEAVE), 350);
    assert_int_equal(next(stream, &event, AS_TRACE_SAMPLE), 400);
    at_end(stream);
}

/* A long call that is recorded at its end has the time of its begin. */
static void test_waits(void **state)
{
    struct as_trace_event event;
    const uint64_t stack[] = {1, 2};
    (void)state;
    begin_stream(ASIDE_N);
    as_trace_writer_sum(&writer, 1000000, 1000000000);
    assert_true(as_trace_sample(&writer, first + 500, 1000, stack, 2, true));
    as_trace_poll(&writer, 5, first + 100, first + 900);
    struct as_trace_stream *stream = end_stream();
    assert_int_equal(next(stream, &event, AS_TRACE_ENTER), 100);
    assert_int_equal(next(stream, &event, AS_TRACE_REPEATED), 100);
    assert_int_equal(next(stream, &event, AS_TRACE_TRAFFIC), 100);
    assert_int_equal(next(stream, &event, AS_TRACE_SAMPLE), 500);
    assert_int_equal(next(stream, &event, AS_TRACE_LEAVE), 900);
    at_end(stream);
}

/* ---- By a timer ----------------------------------------------------------------------------- */

static volatile uint64_t handled_n;

static void on_timer(int number)
{
    uint64_t stack[AS_TRACE_STACK_N];
    const unsigned n = make_stack(handled_n, stack);
    (void)number;
    as_trace_sample(&writer, as_trace_now(&writer), 1000 + handled_n, stack, n, false);
    handled_n++;
}

/* Whenever it comes, each record is whole and in order, and each sample is there or counted. */
static void test_timer(void **state)
{
    enum { ROUNDS_MOST = 100000000 };
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART}, before;
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    struct as_trace_event event;
    uint64_t enters_n = 0, polls_n = 0, seen_n = 0, told_n = 0, polled_n = 0;
    int64_t latest_ns = 0;
    (void)state;
    handled_n = 0;
    begin_stream(ASIDE_N);
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    setitimer(ITIMER_REAL, &often, NULL);
    for (uint64_t i = 0; i < ROUNDS_MOST && handled_n < 300; i++) {
        const uint64_t now = as_trace_now(&writer);
        if (i % 64 < 32) {
            as_trace_emit(&writer, AS_TRACE_ENTER, now, &enters_n, 1);
            enters_n++;
        } else {
            as_trace_poll(&writer, 5, now, now + 1);
            polls_n++;
        }
    }
    setitimer(ITIMER_REAL, &never, NULL);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_true(handled_n > 0);
    struct as_trace_stream *stream = end_stream();
    bool is_poll = false;
    while (as_trace_stream_next(stream, &event, NULL) == 1) {
        assert_true(event.raw_ns >= latest_ns);
        latest_ns = event.raw_ns;
        if (event.kind == AS_TRACE_ENTER) {
            is_poll = (uint64_t)event.name == 5 && told_n != 5;
            told_n += !is_poll;
            assert_true(is_poll || (uint64_t)event.name == told_n - 1);
            polled_n += is_poll;
        } else if (event.kind == AS_TRACE_REPEATED) {
            polled_n += (uint64_t)event.repeated.calls - 1;
        } else if (event.kind == AS_TRACE_SAMPLE) {
            const uint64_t number = (uint64_t)event.sample.period_ns - 1000;
            assert_true(number >= seen_n);
            check_stack(&event, number);
            seen_n++;
        }
    }
    assert_int_equal(told_n, enters_n);
    assert_int_equal(polled_n, polls_n);
    assert_int_equal(seen_n + as_trace_stream_facts(stream)->samples_lost_n, handled_n);
    assert_int_equal(as_trace_stream_facts(stream)->lost_n, 0);
    at_end(stream);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(test_stacks), IN_PLACE(test_seek),  IN_PLACE(test_same),  IN_PLACE(test_aside),
        IN_PLACE(test_lost),   IN_PLACE(test_polls), IN_PLACE(test_waits), IN_PLACE(test_timer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
