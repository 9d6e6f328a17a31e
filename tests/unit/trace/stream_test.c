/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of events: what a writer was given, a reader gives again, in order and in nanoseconds;
 * also of programs that are killed, of rings, limits and files that were damaged.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "directory.h"
#include "trace/read.h"
#include "trace/write.h"

static struct as_trace_writer writer;

/* Ticks are nanoseconds, so that times are known. */
static void open_writer(const char *name, uint32_t tid, uint32_t ring_n, _Atomic int64_t *budget_b)
{
    const struct as_trace_writing how = {.path = path_of(name),
                                         .pid = 77,
                                         .tid = tid,
                                         .clock = AS_TRACE_KERNEL,
                                         .ring_n = ring_n,
                                         .budget_b = budget_b,
                                         .name = "solver"};
    assert_int_equal(as_trace_writer_open(&writer, &how), 0);
}

static struct as_trace_stream *open_reader(const char *name)
{
    struct as_trace_stream *stream;
    struct as_error err;
    assert_int_equal(as_trace_stream_open(AT_FDCWD, path_of(name), &stream, &err), 0);
    return stream;
}

static uint64_t tick_of(uint64_t i)
{
    return writer.head->begin.tick + 100 + 37 * i + (i % 1000 == 999 ? 70000 : 0);
}

/* ---- What goes in comes out ----------------------------------------------------------------- */

static uint64_t seed = 1;
static uint64_t any(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> (seed >> 58); /* numbers of all lengths */
}

static const char *const signature[] = {NULL,
#define SIGNATURE(kind, name, fields) fields,
                                        AS_TRACE_KINDS(SIGNATURE)};

/* A kind, but samples, which have a function of their own. */
static unsigned any_kind(void)
{
    const unsigned kind = 1 + (unsigned)(any() % (AS_TRACE_KINDS_N - 1));
    return kind == AS_TRACE_SAMPLE ? AS_TRACE_CALLERS : kind;
}

/* One record of any kind, from the same numbers each time. */
static void write_any(uint64_t from, uint64_t tick)
{
    seed = from;
    const unsigned kind = any_kind();
    const char *of = signature[kind];
    uint64_t field[8], list[20];
    unsigned n = 0;
    for (; *of == 'u' || *of == 's'; of++, n++)
        field[n] = *of == 'u' ? any() : as_trace_zigzag((int64_t)any());
    if (*of == 't') {
        char text[64] = {0};
        snprintf(text, 20, "key %u", (unsigned)any());
        snprintf(text + strlen(text) + 1, 20, "value %u", (unsigned)any());
        assert_true(as_trace_emit_text(&writer, kind, tick, field, n, text));
    } else if (*of == 'l') {
        const size_t list_n = any() % 20;
        for (size_t i = 0; i < list_n; i++)
            list[i] = any();
        assert_true(as_trace_emit_list(&writer, kind, tick, field, n, list, list_n));
    } else {
        as_trace_emit(&writer, kind, tick, field, n);
    }
}

static void check_any(uint64_t from, const struct as_trace_event *e)
{
    char text[64];
    seed = from;
    const unsigned kind = any_kind();
    const char *of = signature[kind];
    assert_int_equal(e->kind, kind);
    for (unsigned n = 0; *of == 'u' || *of == 's'; of++, n++)
        assert_true((uint64_t)e->field[n] == any());
    if (*of == 't') {
        snprintf(text, sizeof text, "key %u", (unsigned)any());
        assert_true(as_view_equal(e->text, as_view_of(text)));
        snprintf(text, sizeof text, "value %u", (unsigned)any());
        if (of[1] == 't')
            assert_true(as_view_equal(e->value, as_view_of(text)));
    } else if (*of == 'l') {
        assert_int_equal(e->list_n, any() % 20);
        for (size_t i = 0; i < e->list_n; i++)
            assert_true(e->list[i] == any());
    }
}

static void test_all_kinds(void **state)
{
    enum { N = 100000 };
    struct as_trace_event event;
    (void)state;
    open_writer("all", 1, 0, NULL);
    const uint64_t first = writer.head->begin.tick;
    int64_t latest = 0;
    for (uint64_t i = 0; i < N; i++)
        write_any(i + 1, tick_of(i));
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    struct as_trace_stream *stream = open_reader("all");
    assert_int_equal(as_trace_stream_facts(stream)->end, AS_TRACE_CLOSED);
    assert_true(as_trace_stream_facts(stream)->blocks_n > 5);
    assert_string_equal(as_trace_stream_facts(stream)->name, "solver");
    for (uint64_t i = 0; i < N; i++) {
        assert_int_equal(as_trace_stream_next(stream, &event, NULL), 1);
        check_any(i + 1, &event);
        const int64_t own = (int64_t)(first + 100 + 37 * i + (i % 1000 == 999 ? 70000 : 0));
        latest = own > latest ? own : latest;
        assert_true(event.raw_ns == latest);
    }
    assert_int_equal(as_trace_stream_next(stream, &event, NULL), 0);
    assert_int_equal(as_trace_stream_facts(stream)->damaged_n, 0);
    as_trace_stream_close(&stream);
}

/* Times of all records, a clock that goes back included: it stands still. */
static void test_times(void **state)
{
    enum { N = 60000 };
    struct as_trace_event event;
    (void)state;
    open_writer("times", 1, 0, NULL);
    const uint64_t first = writer.head->begin.tick;
    for (uint64_t i = 0; i < N; i++)
        as_trace_emit(&writer, AS_TRACE_ENTER, tick_of(i), &i, 1);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    struct as_trace_stream *stream = open_reader("times");
    int64_t latest = 0;
    for (uint64_t i = 0; i < N; i++) {
        assert_int_equal(as_trace_stream_next(stream, &event, NULL), 1);
        assert_true((uint64_t)event.name == i);
        const int64_t own = (int64_t)(first + 100 + 37 * i + (i % 1000 == 999 ? 70000 : 0));
        latest = own > latest ? own : latest;
        assert_true(event.raw_ns == latest);
    }
    assert_int_equal(as_trace_stream_next(stream, &event, NULL), 0);
    assert_int_equal(as_trace_stream_facts(stream)->damaged_n, 0);
    as_trace_stream_close(&stream);
}

/* From any time on the same events follow as when all are read. */
static void test_seek(void **state)
{
    enum { N = 300000 };
    struct as_trace_event event;
    (void)state;
    open_writer("seek", 1, 0, NULL);
    const int64_t first_ns = (int64_t)writer.head->begin.tick;
    for (uint64_t i = 0; i < N; i++)
        as_trace_emit(&writer, AS_TRACE_ENTER, (uint64_t)first_ns + 10 * i, &i, 1);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    struct as_trace_stream *stream = open_reader("seek");
    assert_true(as_trace_stream_facts(stream)->blocks_n > 4);
    for (uint64_t i = 0; i < N; i += 997)
        for (int64_t off = -1; off <= 1; off++) {
            const uint64_t expected = i + (off > 0);
            assert_int_equal(as_trace_stream_seek(stream, first_ns + 10 * (int64_t)i + off, NULL),
                             0);
            if (as_trace_stream_next(stream, &event, NULL) == 1)
                assert_int_equal(event.name, expected);
            else
                assert_true(expected >= N);
        }
    assert_int_equal(as_trace_stream_seek(stream, INT64_MAX, NULL), 0);
    assert_int_equal(as_trace_stream_next(stream, &event, NULL), 0);
    assert_int_equal(as_trace_stream_seek(stream, INT64_MIN, NULL), 0);
    assert_int_equal(as_trace_stream_next(stream, &event, NULL), 1);
    assert_int_equal(event.name, 0);
    as_trace_stream_close(&stream);
}

static int64_t raw_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Stamps of the CPU's counter become nanoseconds of the clock. Each lies between the readings of
 * the clock before it and behind it. The stream states the precision of reading both together,
 * which the host may disturb. */
static void test_clock(void **state)
{
    enum { N = 20 };
    struct as_trace_event event;
    const struct as_trace_writing how = {.path = path_of("clock"), .pid = 1, .tid = 1};
    const struct timespec rest = {0, 3000000};
    int64_t around_ns[N][2];
    (void)state;
    assert_int_equal(as_trace_writer_open(&writer, &how), 0);
    for (uint64_t i = 0; i < N; i++) {
        around_ns[i][0] = raw_clock_ns();
        as_trace_emit(&writer, AS_TRACE_ENTER, as_trace_now(&writer), &i, 1);
        around_ns[i][1] = raw_clock_ns();
        nanosleep(&rest, NULL);
    }
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    struct as_trace_stream *stream = open_reader("clock");
    const int64_t off_ns = 2000 + as_trace_stream_facts(stream)->residual_ns;
    print_message("# within %lld ns\n", (long long)off_ns);
    for (uint64_t i = 0; i < N; i++) {
        assert_int_equal(as_trace_stream_next(stream, &event, NULL), 1);
        assert_true(event.raw_ns > around_ns[i][0] - off_ns);
        assert_true(event.raw_ns < around_ns[i][1] + off_ns);
    }
    as_trace_stream_close(&stream);
}

/* ---- Ends ----------------------------------------------------------------------------------- */

/* A killed program has told all that it did. */
static void test_killed(void **state)
{
    enum { N = 123457 };
    struct as_trace_event event;
    int status;
    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        open_writer("killed", 1, 0, NULL);
        for (uint64_t i = 0; i < N; i++)
            as_trace_emit(&writer, AS_TRACE_ENTER, tick_of(i), &i, 1);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    struct as_trace_stream *stream = open_reader("killed");
    assert_int_equal(as_trace_stream_facts(stream)->end, AS_TRACE_OPEN);
    for (uint64_t i = 0; i < N; i++) {
        assert_int_equal(as_trace_stream_next(stream, &event, NULL), 1);
        assert_int_equal(event.name, i);
    }
    assert_int_equal(as_trace_stream_next(stream, &event, NULL), 0);
    as_trace_stream_close(&stream);
}

/* The last ones are kept, in a file that does not grow. */
static void test_ring(void **state)
{
    enum { N = 1000000 };
    struct as_trace_event event;
    (void)state;
    open_writer("ring", 1, 3, NULL);
    for (uint64_t i = 0; i < N; i++)
        as_trace_emit(&writer, AS_TRACE_ENTER, tick_of(i), &i, 1);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    struct as_trace_stream *stream = open_reader("ring");
    assert_int_equal(as_trace_stream_facts(stream)->size_b, AS_TRACE_PAGE_B + 3 * AS_TRACE_BLOCK_B);
    assert_int_equal(as_trace_stream_facts(stream)->blocks_n, 3);
    assert_int_equal(as_trace_stream_next(stream, &event, NULL), 1);
    assert_true(event.name > N / 2);
    for (uint64_t i = (uint64_t)event.name + 1; i < N; i++) {
        assert_int_equal(as_trace_stream_next(stream, &event, NULL), 1);
        assert_int_equal(event.name, i);
    }
    assert_int_equal(as_trace_stream_next(stream, &event, NULL), 0);
    as_trace_stream_close(&stream);
}

static void test_limit(void **state)
{
    struct as_trace_event event;
    _Atomic int64_t budget_b = 2 * AS_TRACE_BLOCK_B + 5;
    uint64_t n = 0;
    (void)state;
    open_writer("limit", 1, 0, &budget_b);
    for (uint64_t i = 0; i < 500000; i++)
        as_trace_emit(&writer, AS_TRACE_ENTER, tick_of(i), &i, 1);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    assert_int_equal(budget_b, 5);
    struct as_trace_stream *stream = open_reader("limit");
    assert_int_equal(as_trace_stream_facts(stream)->end, AS_TRACE_LIMIT);
    while (as_trace_stream_next(stream, &event, NULL) == 1 && event.kind == AS_TRACE_ENTER)
        assert_int_equal(event.name, n++);
    assert_true(n > 80000 && n < 200000);
    assert_int_equal(event.kind, AS_TRACE_OFF);
    assert_int_equal(event.field[0], AS_TRACE_BY_LIMIT);
    as_trace_stream_close(&stream);
}

/* If files may not grow, the signal for that does not kill the program. */
static void test_no_room(void **state)
{
    int status;
    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {600000, 600000};
        setrlimit(RLIMIT_FSIZE, &limit);
        open_writer("refused", 1, 0, NULL);
        for (uint64_t i = 0; i < 500000; i++)
            as_trace_emit(&writer, AS_TRACE_ENTER, tick_of(1), &i, 1);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    struct as_trace_stream *stream = open_reader("refused");
    assert_int_equal(as_trace_stream_facts(stream)->end, AS_TRACE_REFUSED);
    assert_int_equal(as_trace_stream_facts(stream)->end_errno, EFBIG);
    assert_int_equal(as_trace_stream_facts(stream)->blocks_n, 2);
    as_trace_stream_close(&stream);
}

/* A handler that interrupts the writing of a record leaves it whole, and is counted. */
static void test_handler(void **state)
{
    struct as_trace_event event;
    const uint64_t one = 1, two = 2;
    (void)state;
    open_writer("handler", 1, 0, NULL);
    as_trace_emit(&writer, AS_TRACE_ENTER, 0, &one, 1);
    writer.state = AS_TRACE_BUSY; /* as if interrupted */
    as_trace_emit(&writer, AS_TRACE_ENTER, 0, &two, 1);
    assert_false(as_trace_emit_text(&writer, AS_TRACE_EXEC, 0, NULL, 0, "x"));
    writer.state = 0;
    as_trace_emit(&writer, AS_TRACE_LEAVE, 0, &one, 1);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    struct as_trace_stream *stream = open_reader("handler");
    assert_int_equal(as_trace_stream_facts(stream)->lost_n, 2);
    assert_int_equal(as_trace_stream_next(stream, &event, NULL), 1);
    assert_int_equal(as_trace_stream_next(stream, &event, NULL), 1);
    assert_int_equal(event.kind, AS_TRACE_LEAVE);
    as_trace_stream_close(&stream);
}

/* Polls that follow each other are one call of each routine; what is further away is another. */
static void test_polls(void **state)
{
    static const struct {
        unsigned kind;
        int64_t field, inside_ns, longest_ns;
    } wanted[] = {{AS_TRACE_ENTER, 1, 0, 0},        {AS_TRACE_PROBE, 5, 0, 0},
                  {AS_TRACE_REPEATED, 3, 700, 400}, {AS_TRACE_LEAVE, 1, 0, 0},
                  {AS_TRACE_ENTER, 2, 0, 0},        {AS_TRACE_LEAVE, 2, 0, 0},
                  {AS_TRACE_ENTER, 1, 0, 0},        {AS_TRACE_LEAVE, 1, 0, 0},
                  {AS_TRACE_ENTER, 7, 0, 0},        {AS_TRACE_LEAVE, 1, 0, 0}};
    struct as_trace_event event;
    const uint64_t seven = 7;
    (void)state;
    open_writer("polls", 1, 0, NULL);
    const uint64_t from = writer.tick + 1000;
    struct as_trace_polls *first = as_trace_poll(&writer, 1, from, from + 100);
    assert_non_null(first);
    first->kind = AS_TRACE_PROBE;
    first->field_n = 5;
    first->field[0] = as_trace_zigzag(5);
    assert_null(as_trace_poll(&writer, 1, from + 200, from + 400));
    assert_non_null(as_trace_poll(&writer, 2, from + 500, from + 600));
    assert_null(as_trace_poll(&writer, 1, from + 1200, from + 1600));
    assert_non_null(as_trace_poll(&writer, 1, from + 1000000, from + 1000001)); /* much later */
    as_trace_emit(&writer, AS_TRACE_ENTER, from + 1000002, &seven, 1);
    assert_non_null(as_trace_poll(&writer, 1, from + 1000003, from + 1000004));
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    struct as_trace_stream *stream = open_reader("polls");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (i == 9) /* the last poll is recorded at the end: its enter comes before */
            assert_int_equal(as_trace_stream_next(stream, &event, NULL), 1);
        assert_int_equal(as_trace_stream_next(stream, &event, NULL), 1);
        assert_int_equal(event.kind, wanted[i].kind);
        assert_int_equal(event.field[0], wanted[i].field);
        if (event.kind == AS_TRACE_REPEATED) {
            assert_int_equal(event.repeated.inside_ns, wanted[i].inside_ns);
            assert_int_equal(event.repeated.longest_ns, wanted[i].longest_ns);
        }
    }
    assert_int_equal(as_trace_stream_next(stream, &event, NULL), 0);
    as_trace_stream_close(&stream);
}

/* Names of functions become readable, and have a place; numbers without a name are damage. */
static void test_functions(void **state)
{
    static const char fact[] = AS_TRACE_OPENMP_FACT "\0" AS_TRACE_LIBGOMP;
    struct as_trace trace;
    struct as_error err;
    const uint64_t in_cpp[] = {1, AS_TRACE_OF_USER}, in_c[] = {2, AS_TRACE_OF_USER};
    const uint64_t lies[][2] = {{1, 0x401000}, {2, 0x402000}, {7, 0x403000}, {UINT64_MAX, 1}};
    (void)state;
    open_writer("stream.77.5.0", 0, 0, NULL);
    as_trace_emit_text(&writer, AS_TRACE_NAME, 0, in_cpp, 2, "_ZN6solver4stepEi");
    as_trace_emit_text(&writer, AS_TRACE_NAME, 0, in_c, 2, "a.c.program+0x10");
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        as_trace_emit(&writer, AS_TRACE_FUNCTION, 0, lies[i], 2);
    as_trace_emit_text(&writer, AS_TRACE_FACT, 0, NULL, 0, fact);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    assert_int_equal(as_trace_open(directory, &trace, &err), 0);
    const struct as_trace_process *p = &trace.process.at[0];
    assert_string_equal(as_trace_name_of(p, 1).text, "solver::step(int)");
    assert_int_equal(as_trace_name_of(p, 1).address, 0x401000);
    assert_string_equal(as_trace_name_of(p, 2).text, "a.c.program+0x10");
    assert_int_equal(as_trace_name_of(p, 2).address, 0x402000);
    assert_int_equal(as_trace_name_of(p, 7).address, 0);
    assert_int_equal(trace.damaged_n, 2);
    assert_true(p->has_libgomp);
    as_trace_close(&trace);
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static void test_run(void **state)
{
    struct as_trace trace;
    struct as_error err;
    const uint64_t name[] = {3, AS_TRACE_OF_MPI_POINT}, world[] = {1, 2, 0};
    const uint64_t comm[] = {1, 9, 2, 1, 0}, members[] = {4, 7};
    const uint64_t alien[] = {1u << 30, 0};
    (void)state;
    open_writer("stream.77.5.0", 0, 0, NULL);
    as_trace_emit_text(&writer, AS_TRACE_NAME, 0, name, 2, "MPI_Send");
    as_trace_emit_text(&writer, AS_TRACE_NAME, 0, alien, 2, "far away");
    as_trace_emit(&writer, AS_TRACE_WORLD, 0, world, 3);
    as_trace_emit_list(&writer, AS_TRACE_COMM, 0, comm, 5, members, 2);
    as_trace_emit_text(&writer, AS_TRACE_COMM_NAME, 0, comm, 1, "rows");
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    open_writer("stream.77.5.78", 78, 0, NULL);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    open_writer("stream.77.5.77", 77, 0, NULL);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    open_writer("stream.77.9.77", 77, 0, NULL); /* it executed another program */
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    open_writer("stream.77.5.79", 99, 0, NULL); /* is not what its name says */
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    assert_int_equal(as_trace_open(directory, &trace, &err), 0);
    assert_int_equal(trace.process.n, 1);
    assert_int_equal(trace.left_out_n, 1); /* the other program has no rank */
    assert_int_equal(trace.damaged_n, 2);
    const struct as_trace_process *p = &trace.process.at[0];
    assert_int_equal(p->rank, 1);
    assert_int_equal(p->size, 2);
    assert_int_equal(p->thread.n, 2);
    assert_int_equal(as_trace_stream_facts(p->thread.at[0])->tid, 78);
    assert_string_equal(as_trace_name_of(p, 3).text, "MPI_Send");
    assert_int_equal(as_trace_name_of(p, 3).group, AS_TRACE_OF_MPI_POINT);
    assert_string_equal(as_trace_name_of(p, 2).text, "?");
    assert_string_equal(as_trace_comm_of(p, 1)->name, "rows");
    assert_int_equal(as_trace_comm_of(p, 1)->member_n, 2);
    assert_int_equal(as_trace_comm_of(p, 1)->member[1], 7);
    assert_null(as_trace_comm_of(p, 2));
    as_trace_close(&trace);
    for (int64_t n = 0; n < 1000; n++) { /* without memory: an error, or all */
        as_alloc_fail_after(n);
        const int rc = as_trace_open(directory, &trace, &err);
        as_alloc_fail_after(-1);
        if (rc == 0) {
            assert_true(n > 10);
            as_trace_close(&trace);
            return;
        }
        assert_int_equal(rc, AS_ERR_NOMEM);
    }
    fail_msg("it never has enough");
}

/* Communicators by number: those that are made in order, as programs number them; and mixed, where
 * the latest of a number counts. Sizes tell them apart. */
static void test_comms(void **state)
{
    static const uint64_t numbers[2][7] = {{1, 2, 3, 10, 11, 500, 900}, {7, 1, 2, 9, 2, 900, 1}};
    static const char *const names[] = {"stream.77.5.0", "stream.77.6.0"};
    struct as_trace trace;
    struct as_error err;
    (void)state;
    for (unsigned p = 0; p < 2; p++) {
        open_writer(names[p], 0, 0, NULL);
        as_trace_emit(&writer, AS_TRACE_WORLD, 0, (uint64_t[]){p, 2, 0}, 3);
        for (uint64_t i = 0; i < 7; i++)
            as_trace_emit_list(&writer, AS_TRACE_COMM, 0,
                               (uint64_t[]){numbers[p][i], 1, 100 + i, 0, 0}, 5, NULL, 0);
        as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    }
    assert_int_equal(as_trace_open(directory, &trace, &err), 0);
    assert_int_equal(trace.process.n, 2);
    for (unsigned p = 0; p < 2; p++)
        for (int64_t number = -1; number < 1000; number++) {
            uint64_t size = 0;
            for (uint64_t i = 0; i < 7; i++)
                if (numbers[p][i] == (uint64_t)number)
                    size = 100 + i;
            const struct as_trace_comm *comm = as_trace_comm_of(&trace.process.at[p], number);
            assert_true(comm ? comm->size == size : size == 0);
        }
    as_trace_close(&trace);
}

static void test_refusals(void **state)
{
    struct as_trace_stream *stream;
    struct as_error err;
    (void)state;
    assert_int_equal(as_trace_stream_open(AT_FDCWD, path_of("none"), &stream, &err),
                     AS_ERR_NOT_FOUND);
    FILE *file = fopen(path_of("text"), "w");
    fputs("no stream", file);
    fclose(file);
    assert_int_equal(as_trace_stream_open(AT_FDCWD, path_of("text"), &stream, &err),
                     AS_ERR_CORRUPT);
    open_writer("newer", 1, 0, NULL);
    writer.head->version = AS_TRACE_VERSION + 1;
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    assert_int_equal(as_trace_stream_open(AT_FDCWD, path_of("newer"), &stream, &err),
                     AS_ERR_UNSUPPORTED);
    assert_null(stream);
}

/* A file that was cut: what is left is read, and it is said. */
static void test_cut(void **state)
{
    struct as_trace_event event;
    uint64_t n = 0;
    (void)state;
    open_writer("cut", 1, 0, NULL);
    for (uint64_t i = 0; i < 200000; i++)
        as_trace_emit(&writer, AS_TRACE_ENTER, tick_of(1), &i, 1);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    assert_int_equal(truncate(path_of("cut"), AS_TRACE_PAGE_B + 2 * AS_TRACE_BLOCK_B - 1000), 0);
    struct as_trace_stream *stream = open_reader("cut");
    while (as_trace_stream_next(stream, &event, NULL) == 1)
        assert_int_equal(event.name, n++);
    assert_true(n > 50000);
    assert_true(as_trace_stream_facts(stream)->damaged_n > 0);
    as_trace_stream_close(&stream);
}

/* A block that ends at any byte: the records before it are read, and the one that is cut is not,
 * whatever stands behind. */
static void test_cut_records(void **state)
{
    enum { N = 150 };
    uint32_t end_b[N + 1] = {sizeof(struct as_trace_block)};
    struct as_trace_event event;
    (void)state;
    open_writer("bytes", 1, 0, NULL);
    for (uint64_t i = 0; i < N; i++)
        write_any(i + 1, tick_of(i));
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    struct as_trace_stream *stream = open_reader("bytes");
    for (uint64_t i = 0; i < N; i++) {
        assert_int_equal(as_trace_stream_next(stream, &event, NULL), 1);
        end_b[i + 1] = end_b[i] + event.size_b;
    }
    as_trace_stream_close(&stream);
    const int fd = open(path_of("bytes"), O_RDWR);
    assert_true(fd >= 0);
    for (uint32_t used_b = end_b[0], n = 0; used_b < end_b[N]; used_b++) {
        const off_t at = AS_TRACE_PAGE_B + (off_t)offsetof(struct as_trace_block, used_b);
        n += used_b == end_b[n + 1];
        assert_int_equal(pwrite(fd, &used_b, sizeof used_b, at), sizeof used_b);
        stream = open_reader("bytes");
        for (uint64_t i = 0; i < n; i++) {
            assert_int_equal(as_trace_stream_next(stream, &event, NULL), 1);
            check_any(i + 1, &event);
        }
        assert_int_equal(as_trace_stream_next(stream, &event, NULL), 0);
        assert_int_equal(as_trace_stream_facts(stream)->damaged_n, used_b != end_b[n]);
        as_trace_stream_close(&stream);
    }
    close(fd);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(test_all_kinds), IN_PLACE(test_times),   IN_PLACE(test_seek),
        IN_PLACE(test_clock),     IN_PLACE(test_killed),  IN_PLACE(test_ring),
        IN_PLACE(test_limit),     IN_PLACE(test_no_room), IN_PLACE(test_handler),
        IN_PLACE(test_polls),     IN_PLACE(test_run),     IN_PLACE(test_functions),
        IN_PLACE(test_refusals),  IN_PLACE(test_cut),     IN_PLACE(test_cut_records),
        IN_PLACE(test_comms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
