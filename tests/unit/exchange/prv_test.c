/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of OpenMP, locks, files, memory and counters in a .prv: a made-up stream is written, its
 * lines are compared with the public event types; and read again they are the same records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "directory.h"
#include "exchange/import.h"
#include "exchange/prv.h"
#include "trace/read.h"
#include "trace/write.h"

static struct as_trace_writer writer;

static void open_stream_of(const char *name, uint32_t pid, uint32_t tid)
{
    const struct as_trace_writing how = {
        .path = path_of(name), .pid = pid, .tid = tid, .clock = AS_TRACE_GIVEN, .name = "node"};
    assert_int_equal(as_trace_writer_open(&writer, &how), 0);
}

static void open_stream(const char *name, uint32_t tid)
{
    open_stream_of(name, 5, tid);
}

static void name_it(uint64_t number, uint32_t group, const char *text)
{
    as_trace_emit_text(&writer, AS_TRACE_NAME, 0, (uint64_t[]){number, group}, 2, text);
}

static double real = -1.25;

/* In the order of `lines`. */
static void write_stream(void)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    open_stream("t/stream.5.1.0", 0);
    name_it(1, AS_TRACE_OF_FILES, "write");
    name_it(2, AS_TRACE_OF_MEMORY, "malloc");
    name_it(3, AS_TRACE_OF_LOCK, "pthread_mutex_lock");
    name_it(4, AS_TRACE_OF_COUNTED, "instructions");
    name_it(5, AS_TRACE_OF_USER, "residual");
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    open_stream("t/stream.5.1.5", 5);
    const struct {
        unsigned kind, n;
        uint64_t tick, field[4];
    } records[] = {{AS_TRACE_PARALLEL, 3, 10, {1, 1, 0x4010}},
                   {AS_TRACE_IMPLICIT, 3, 20, {1, 0, 1}},
                   {AS_TRACE_WORK, 3, 30, {1, AS_TRACE_LOOP, 100}},
                   {AS_TRACE_WORK_END, 2, 40, {1, AS_TRACE_LOOP}},
                   {AS_TRACE_LOCK_WAIT, 2, 50, {77, AS_TRACE_CRITICAL}},
                   {AS_TRACE_LOCK_HELD, 2, 60, {77, AS_TRACE_CRITICAL}},
                   {AS_TRACE_LOCK_RELEASED, 2, 70, {77, AS_TRACE_CRITICAL}},
                   {AS_TRACE_TASK_BEGIN, 1, 80, {9}},
                   {AS_TRACE_TASK_END, 2, 90, {9, 1}},
                   {AS_TRACE_BARRIER, 2, 100, {1, AS_TRACE_EXPLICIT}},
                   {AS_TRACE_BARRIER_END, 2, 110, {1, AS_TRACE_EXPLICIT}},
                   {AS_TRACE_IMPLICIT_END, 2, 120, {1, 0}},
                   {AS_TRACE_PARALLEL_END, 1, 130, {1}},
                   {AS_TRACE_ENTER, 1, 140, {1}},
                   {AS_TRACE_IO, 4, 150, {3, 2 * 512, 2, AS_TRACE_IS_WRITTEN}},
                   {AS_TRACE_LEAVE, 1, 160, {1}},
                   {AS_TRACE_ENTER, 1, 170, {2}},
                   {AS_TRACE_ALLOCATE, 2, 180, {4096, 64}},
                   {AS_TRACE_LEAVE, 1, 190, {2}},
                   {AS_TRACE_ENTER, 1, 200, {3}},
                   {AS_TRACE_LEAVE, 1, 210, {3}},
                   {AS_TRACE_COUNTER, 2, 220, {4, 2 * 1000}},
                   {AS_TRACE_EVENT, 2, 230, {5, bits}}};
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        as_trace_emit(&writer, records[i].kind, records[i].tick, records[i].field, records[i].n);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
}

static const char *const lines[] = {
    "10:60000001:3",   "20:60000018:1",     "30:60000002:4",        "40:60000002:0",
    "50:60000032:77",  "50:60000006:3",     "60:60000006:6",        "70:60000032:77",
    "70:60000006:0",   "80:60000028:9",     "90:60000028:0",        "100:60000005:1",
    "110:60000005:0",  "120:60000018:0",    "130:60000001:0",       "140:40000004:2",
    "150:40000010:3",  "150:40000011:512",  "160:40000004:0",       "170:40000040:1",
    "180:40000041:64", "180:40000043:4096", "190:40000040:0",       "200:61000008:1",
    "210:61000008:0",  "220:42000050:1000", "230:44000001:-1250000"};

static void test_lines(void **state)
{
    struct as_error err;
    struct as_trace trace;
    struct as_prv_counts counts;
    char line[512], want[128];
    size_t at = 0;
    (void)state;
    assert_int_equal(mkdir(path_of("t"), 0777), 0);
    write_stream();
    assert_int_equal(as_trace_open(path_of("t"), &trace, &err), 0);
    assert_int_equal(as_prv_write(&trace, path_of("x.prv"), &counts, &err), 0);
    as_trace_close(&trace);
    assert_int_equal(counts.events_n, sizeof lines / sizeof *lines);
    FILE *file = fopen(path_of("x.prv"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (line[0] == '2') {
            snprintf(want, sizeof want, "2:0:1:1:1:%s\n", lines[at++]);
            assert_string_equal(line, want);
        }
    fclose(file);
    assert_int_equal(at, sizeof lines / sizeof *lines);
}

/* Returns a stream in short: kinds, times and the first two fields that a .prv keeps. */
static void test_again(void **state)
{
    static const struct {
        unsigned kind;
        int64_t ns, field;
    } wanted[] = {{AS_TRACE_PARALLEL, 10, 1},
                  {AS_TRACE_IMPLICIT, 20, 1},
                  {AS_TRACE_WORK, 30, 1},
                  {AS_TRACE_WORK_END, 40, 1},
                  {AS_TRACE_LOCK_WAIT, 50, 77},
                  {AS_TRACE_LOCK_HELD, 60, 77},
                  {AS_TRACE_LOCK_RELEASED, 70, 77},
                  {AS_TRACE_TASK_BEGIN, 80, 9},
                  {AS_TRACE_TASK_END, 90, 9},
                  {AS_TRACE_BARRIER, 100, 1},
                  {AS_TRACE_BARRIER_END, 110, 1},
                  {AS_TRACE_IMPLICIT_END, 120, 1},
                  {AS_TRACE_PARALLEL_END, 130, 1},
                  {AS_TRACE_ENTER, 140, -1},
                  {AS_TRACE_IO, 150, 3},
                  {AS_TRACE_LEAVE, 160, -1},
                  {AS_TRACE_ENTER, 170, -1},
                  {AS_TRACE_ALLOCATE, 180, 4096},
                  {AS_TRACE_LEAVE, 190, -1},
                  {AS_TRACE_ENTER, 200, -1},
                  {AS_TRACE_LEAVE, 210, -1},
                  {AS_TRACE_COUNTER, 220, -1},
                  {AS_TRACE_EVENT, 230, -1}};
    struct as_error err;
    struct as_import_counts counts;
    struct as_trace trace;
    struct as_trace_event event;
    size_t at = 0;
    (void)state;
    assert_int_equal(mkdir(path_of("again"), 0777), 0);
    assert_int_equal(as_prv_import(path_of("x.prv"), path_of("again"), &counts, &err), 0);
    assert_int_equal(counts.bad_n + counts.left_out_n, 0);
    assert_int_equal(as_trace_open(path_of("again"), &trace, &err), 0);
    assert_int_equal(trace.process.n, 1);
    assert_string_equal(trace.process.at[0].machine, "node");
    struct as_trace_stream *stream = trace.process.at[0].thread.at[0];
    while (as_trace_stream_next(stream, &event, &err) > 0) {
        assert_true(at < sizeof wanted / sizeof *wanted);
        assert_int_equal(event.kind, wanted[at].kind);
        assert_int_equal(event.raw_ns, wanted[at].ns);
        if (wanted[at].field >= 0)
            assert_int_equal(event.field[0], wanted[at].field);
        if (event.kind == AS_TRACE_IO)
            assert_int_equal(event.field[3], AS_TRACE_IS_WRITTEN);
        if (event.kind == AS_TRACE_EVENT) {
            double value;
            memcpy(&value, &event.field[1], sizeof value);
            assert_true(value == real);
            assert_string_equal(as_trace_name_of(&trace.process.at[0], event.name).text,
                                "residual");
        }
        at++;
    }
    assert_int_equal(at, sizeof wanted / sizeof *wanted);
    as_trace_close(&trace);
}

/* ---- One time -------------------------------------------------------------------------------- */

struct tied_record {
    unsigned kind, n;
    uint64_t tick, field[6];
};

static void write_rank(uint64_t rank, const struct tied_record *records, size_t n)
{
    const uint64_t world[] = {0, 1};
    char name[64];
    snprintf(name, sizeof name, "ties/stream.%u.1.0", (unsigned)rank + 7);
    open_stream_of(name, (uint32_t)rank + 7, 0);
    name_it(1, AS_TRACE_OF_MPI_POINT, "MPI_Send");
    name_it(2, AS_TRACE_OF_MPI_POINT, "MPI_Recv");
    as_trace_emit(&writer, AS_TRACE_WORLD, 0, (uint64_t[]){rank, 2, 0}, 3);
    as_trace_emit_list(&writer, AS_TRACE_COMM, 0, (uint64_t[]){1, 1, 2, rank, 0}, 5, world, 2);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    snprintf(name, sizeof name, "ties/stream.%u.1.1", (unsigned)rank + 7);
    open_stream_of(name, (uint32_t)rank + 7, 1);
    for (size_t i = 0; i < n; i++)
        as_trace_emit(&writer, records[i].kind, records[i].tick, records[i].field, records[i].n);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
}

/* Events, states and communications of one time keep the order in which they are found. A state
 * appears when another begins, a communication when its receive is left. Also covers times of more
 * than eight digits and a gap too long for the word of an event. A message goes between calls that
 * begin together. */
static void test_ties(void **state)
{
    const uint64_t far = 12345678901;
    const struct tied_record sender[] = {{AS_TRACE_ENTER, 1, 10, {1}},
                                         {AS_TRACE_SEND, 6, 10, {2, 6, 8, 1, 0, 0}},
                                         {AS_TRACE_LEAVE, 1, 20, {1}},
                                         {AS_TRACE_ENTER, 1, 20, {1}},
                                         {AS_TRACE_SEND, 6, 20, {2, 8, 16, 1, 0, 0}},
                                         {AS_TRACE_LEAVE, 1, 30, {1}},
                                         {AS_TRACE_ENTER, 1, far, {1}},
                                         {AS_TRACE_SEND, 6, far, {2, 10, 3000000, 1, 0, 0}},
                                         {AS_TRACE_LEAVE, 1, far + 5, {1}}};
    const struct tied_record receiver[] = {{AS_TRACE_ENTER, 1, 10, {2}},
                                           {AS_TRACE_RECEIVE, 5, 20, {0, 6, 8, 1, 0}},
                                           {AS_TRACE_LEAVE, 1, 20, {2}},
                                           {AS_TRACE_ENTER, 1, 20, {2}},
                                           {AS_TRACE_RECEIVE, 5, 30, {0, 8, 16, 1, 0}},
                                           {AS_TRACE_LEAVE, 1, 30, {2}},
                                           {AS_TRACE_ENTER, 1, far, {2}},
                                           {AS_TRACE_RECEIVE, 5, far + 5, {0, 10, 3000000, 1, 0}},
                                           {AS_TRACE_LEAVE, 1, far + 5, {2}}};
    static const char *const wanted[] = {
        "1:0:1:1:1:0:10:1",
        "1:0:1:2:1:0:10:1",
        "2:0:1:1:1:10:50000001:1",
        "2:0:1:2:1:10:50000001:2",
        "3:0:1:1:1:10:20:0:1:2:1:10:20:8:3",
        "1:0:1:1:1:10:30:4",
        "1:0:1:2:1:10:30:3",
        "2:0:1:1:1:20:50000001:0",
        "2:0:1:1:1:20:50000001:1",
        "2:0:1:2:1:20:50000001:0",
        "2:0:1:2:1:20:50000001:2",
        "3:0:1:1:1:20:30:0:1:2:1:20:30:16:4",
        "2:0:1:1:1:30:50000001:0",
        "2:0:1:2:1:30:50000001:0",
        "1:0:1:1:1:30:12345678901:1",
        "1:0:1:2:1:30:12345678901:1",
        "2:0:1:1:1:12345678901:50000001:1",
        "2:0:1:2:1:12345678901:50000001:2",
        "3:0:1:1:1:12345678901:12345678906:0:1:2:1:12345678901:12345678906:3000000:5",
        "1:0:1:1:1:12345678901:12345678906:4",
        "1:0:1:2:1:12345678901:12345678906:3",
        "2:0:1:1:1:12345678906:50000001:0",
        "2:0:1:2:1:12345678906:50000001:0",
    };
    struct as_error err;
    struct as_trace trace;
    struct as_prv_counts counts;
    char line[512];
    size_t at = 0;
    (void)state;
    assert_int_equal(mkdir(path_of("ties"), 0777), 0);
    write_rank(0, sender, sizeof sender / sizeof *sender);
    write_rank(1, receiver, sizeof receiver / sizeof *receiver);
    assert_int_equal(as_trace_open(path_of("ties"), &trace, &err), 0);
    assert_int_equal(as_prv_write(&trace, path_of("ties.prv"), &counts, &err), 0);
    as_trace_close(&trace);
    FILE *file = fopen(path_of("ties.prv"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#' || line[0] == 'c')
            continue;
        assert_true(at < sizeof wanted / sizeof *wanted);
        assert_string_equal(line, wanted[at++]);
    }
    fclose(file);
    assert_int_equal(at, sizeof wanted / sizeof *wanted);
}

/* ---- Many ------------------------------------------------------------------------------------ */

enum { MANY_N = 5000 };

static void name_many(uint64_t first, uint32_t group, const char *how)
{
    char text[32];
    for (uint64_t i = 0; i < MANY_N; i++) {
        snprintf(text, sizeof text, how, (unsigned)i);
        name_it(first + i, group, text);
    }
}

/* So many communicators, counters, functions of the program and of parallel regions, each met
 * twice; numbers are given in the order in which they are met, which is not that of their names. */
static void write_many(void)
{
    const uint64_t world[] = {0, 1};
    uint64_t tick = 10;
    open_stream("many/stream.5.1.0", 0);
    name_many(1, AS_TRACE_OF_COUNTED, "counter %u");
    name_many(MANY_N + 1, AS_TRACE_OF_USER, "function %u");
    as_trace_emit(&writer, AS_TRACE_WORLD, 0, (uint64_t[]){0, 2, 0}, 3);
    for (uint64_t c = 1; c <= MANY_N; c++)
        as_trace_emit_list(&writer, AS_TRACE_COMM, 0, (uint64_t[]){c, c << 32, 2, 0, 0}, 5, world,
                           2);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    open_stream("many/stream.5.1.5", 5);
    for (uint64_t i = 0; i < 2 * MANY_N; i++, tick += 8) {
        const uint64_t k = MANY_N - 1 - i % MANY_N;
        as_trace_emit(&writer, AS_TRACE_ENTER, tick, (uint64_t[]){MANY_N + 1 + k}, 1);
        as_trace_emit(&writer, AS_TRACE_COLLECTIVE, tick + 1, (uint64_t[]){k + 1, 0, 1, 8, 8, 0},
                      6);
        as_trace_emit(&writer, AS_TRACE_COUNTER, tick + 2, (uint64_t[]){1 + k, 2 * 1000}, 2);
        as_trace_emit(&writer, AS_TRACE_EVENT, tick + 3, (uint64_t[]){1 + k, 0}, 2);
        as_trace_emit(&writer, AS_TRACE_PARALLEL, tick + 4, (uint64_t[]){i + 1, 1, 0x1000 + k}, 3);
        as_trace_emit(&writer, AS_TRACE_IMPLICIT, tick + 4, (uint64_t[]){i + 1, 0, 1}, 3);
        as_trace_emit(&writer, AS_TRACE_IMPLICIT_END, tick + 5, (uint64_t[]){i + 1, 0}, 2);
        as_trace_emit(&writer, AS_TRACE_PARALLEL_END, tick + 5, (uint64_t[]){i + 1}, 1);
        as_trace_emit(&writer, AS_TRACE_LEAVE, tick + 6, (uint64_t[]){MANY_N + 1 + k}, 1);
    }
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
}

static void test_many(void **state)
{
    struct as_error err;
    struct as_trace trace;
    struct as_prv_counts counts;
    char line[512];
    long long task, type, value, comms_n = 0, calls_n = 0, counted_n = 0, parts_n = 0;
    (void)state;
    assert_int_equal(mkdir(path_of("many"), 0777), 0);
    write_many();
    assert_int_equal(as_trace_open(path_of("many"), &trace, &err), 0);
    assert_int_equal(as_prv_write(&trace, path_of("many.prv"), &counts, &err), 0);
    as_trace_close(&trace);
    FILE *file = fopen(path_of("many.prv"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "2:0:1:%lld:1:%*d:%lld:%lld", &task, &type, &value) != 3)
            continue;
        if (type == 50100004)
            assert_int_equal(value, comms_n++ % MANY_N + 1);
        else if (type == 60000019 && value)
            assert_int_equal(value, 2000 + calls_n++ % MANY_N);
        else if (type == 60000018 && value)
            assert_int_equal(value, parts_n++ % MANY_N + 1);
        else if (type >= 44000000 && type < 45000000)
            assert_int_equal(type, 44000000 + counted_n++ % (2 * MANY_N));
    }
    fclose(file);
    assert_int_equal(comms_n, 2 * MANY_N);
    assert_int_equal(calls_n, 2 * MANY_N);
    assert_int_equal(parts_n, 2 * MANY_N);
    assert_int_equal(counted_n, 4 * MANY_N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_again),
                                       cmocka_unit_test(test_ties), cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
