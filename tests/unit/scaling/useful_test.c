/* SPDX-License-Identifier: Apache-2.0 */
/* Counters outside MPI, of a made-up rank. Its readings are running totals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "scaling/point.h"
#include "trace/write.h"

#define S 1000000000

enum { BARRIER_NAME = 1, INSTRUCTIONS_NAME, CYCLES_NAME };

static struct as_trace_writer writer;
static const uint64_t zero_tick = 1000 * (uint64_t)S;

static void open_stream(const char *directory, uint32_t tid)
{
    char path[200];
    snprintf(path, sizeof path, "%s/stream.7.1.%u", directory, tid);
    const struct as_trace_writing how = {.path = path,
                                         .pid = 7,
                                         .tid = tid,
                                         .clock = AS_TRACE_GIVEN,
                                         .tick_hz = S,
                                         .begin_tick = zero_tick,
                                         .name = "made up"};
    assert_int_equal(as_trace_writer_open(&writer, &how), 0);
}

static void put(unsigned kind, int64_t at_s, const uint64_t *field, unsigned n)
{
    as_trace_emit(&writer, kind, zero_tick + (uint64_t)at_s * S, field, n);
}

static void put_name(uint64_t number, uint64_t group, const char *text)
{
    const uint64_t field[] = {number, group};
    assert_true(as_trace_emit_text(&writer, AS_TRACE_NAME, zero_tick, field, 2, text));
}

static void put_value(uint64_t name, int64_t at_s, int64_t value)
{
    const uint64_t field[] = {name, as_trace_zigzag(value)};
    put(AS_TRACE_COUNTER, at_s, field, 2);
}

/* A call with readings behind its begin and its end; a cycle count below 0 is not read. */
static void put_call(int64_t enter_s, int64_t leave_s, const int64_t *instructions,
                     const int64_t *cycles)
{
    const uint64_t name = BARRIER_NAME;
    for (unsigned i = 0; i < 2; i++) {
        const int64_t at_s = i ? leave_s : enter_s;
        put(i ? AS_TRACE_LEAVE : AS_TRACE_ENTER, at_s, &name, 1);
        put_value(INSTRUCTIONS_NAME, at_s, instructions[i]);
        if (cycles)
            put_value(CYCLES_NAME, at_s, cycles[i]);
    }
}

static void make_thread(const char *directory, uint32_t tid, bool has_cycles)
{
    open_stream(directory, tid);
    put_call(2, 3, (const int64_t[]){1000, 1400},
             has_cycles ? (const int64_t[]){3000, 3500} : NULL);
    put_call(5, 6, (const int64_t[]){2400, 2500},
             has_cycles ? (const int64_t[]){5500, 5600} : NULL);
    put_value(INSTRUCTIONS_NAME, 8, 2550);
    if (has_cycles)
        put_value(CYCLES_NAME, 8, 5700);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
}

/* Counts the trace of one or two threads; the second has no cycles. */
static void count_made_up(unsigned thread_n, double *instructions, double *cycles)
{
    char directory[] = "/tmp/useful-test-XXXXXX", command[60];
    struct as_error err = {0};
    struct as_trace trace = {0};

    assert_non_null(mkdtemp(directory));
    open_stream(directory, 0);
    put_name(BARRIER_NAME, AS_TRACE_OF_MPI_COLLECTIVE, "MPI_Barrier");
    put_name(INSTRUCTIONS_NAME, AS_TRACE_OF_COUNTED, "instructions");
    put_name(CYCLES_NAME, AS_TRACE_OF_COUNTED, "PAPI_TOT_CYC [Total cycles]");
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    for (unsigned i = 0; i < thread_n; i++)
        make_thread(directory, 7 + i, i == 0);
    assert_int_equal(as_trace_open(directory, &trace, &err), 0);
    assert_int_equal(as_scaling_count_useful(&trace, instructions, cycles, &err), 0);
    as_trace_close(&trace);
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}

/* Until 2 s, from 3 to 5 s and from 6 to 8 s: 1000 + 1000 + 50; the totals would add up to 5950. */
static void test_totals(void **state)
{
    double instructions, cycles;
    (void)state;
    count_made_up(1, &instructions, &cycles);
    assert_true(instructions == 1000 + 1000 + 50);
    assert_true(cycles == 3000 + 2000 + 100);
}

static void test_missing_counter(void **state)
{
    double instructions, cycles;
    (void)state;
    count_made_up(2, &instructions, &cycles);
    assert_true(instructions == 2 * 2050);
    assert_true(isnan(cycles));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_missing_counter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
