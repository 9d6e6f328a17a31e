/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The score of a trace that is made up, in nanoseconds from its beginning: a region "outer" from 0
 * to 100000, and in it
 *
 *   1000    100 calls of MPI_Comm_rank, of 10 each, every 20
 *   10000   50 regions "inner", of 100 each, every 200
 *   30000   MPI_Send, of 5000, with its message
 *   40000   100 calls of MPI_Test, of 10 each, every 20, and one that completes a request
 *   50000   MPI_Barrier, of 40000
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analytics/store/score.h"
#include "base/error.h"
#include "trace/write.h"

enum { RANK = 1, SEND, OUTER, INNER, TEST, BARRIER };

static char directory[64];
static struct as_trace_writer writer;
static uint64_t zero_tick, size_b;
static struct as_trace trace;
static struct as_error err;

static void open_made(uint32_t tid)
{
    char path[200];
    snprintf(path, sizeof path, "%s/stream.7.1.%u", directory, tid);
    const struct as_trace_writing how = {
        .path = path, .pid = 7, .tid = tid, .clock = AS_TRACE_KERNEL, .name = "made up"};
    assert_int_equal(as_trace_writer_open(&writer, &how), 0);
}

static void define(uint64_t number, uint64_t group, const char *text)
{
    const uint64_t field[] = {number, group};
    assert_true(as_trace_emit_text(&writer, AS_TRACE_NAME, as_trace_now(&writer), field, 2, text));
}

static void put_made(unsigned kind, uint64_t at_ns, uint64_t name)
{
    as_trace_emit(&writer, kind, zero_tick + at_ns, &name, 1);
}

static void call(uint64_t name, uint64_t at_ns, uint64_t took_ns)
{
    put_made(AS_TRACE_ENTER, at_ns, name);
    put_made(AS_TRACE_LEAVE, at_ns + took_ns, name);
}

static void write_thread(void)
{
    const uint64_t send[] = {2, 14, 80, 1, 0, 0};
    open_made(9);
    zero_tick = writer.head->begin.tick + 1000;
    put_made(AS_TRACE_ENTER, 0, OUTER);
    for (uint64_t i = 0; i < 100; i++)
        call(RANK, 1000 + 20 * i, 10);
    for (uint64_t i = 0; i < 50; i++)
        call(INNER, 10000 + 200 * i, 100);
    put_made(AS_TRACE_ENTER, 30000, SEND);
    as_trace_emit(&writer, AS_TRACE_SEND, 0, send, 6);
    put_made(AS_TRACE_LEAVE, 35000, SEND);
    for (uint64_t i = 0; i < 100; i++)
        call(TEST, 40000 + 20 * i, 10);
    put_made(AS_TRACE_ENTER, 45000, TEST);
    put_made(AS_TRACE_DONE, 45010, 3);
    put_made(AS_TRACE_LEAVE, 45010, TEST);
    call(BARRIER, 50000, 40000);
    put_made(AS_TRACE_LEAVE, 100000, OUTER);
    size_b = writer.block->used_b - sizeof *writer.block;
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
}

static int make_trace(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/assay-score-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    open_made(0);
    define(RANK, AS_TRACE_OF_MPI_OTHER, "MPI_Comm_rank");
    define(SEND, AS_TRACE_OF_MPI_POINT, "MPI_Send");
    define(OUTER, AS_TRACE_OF_USER, "outer");
    define(INNER, AS_TRACE_OF_USER, "inner");
    define(TEST, AS_TRACE_OF_MPI_COMPLETION, "MPI_Test");
    define(BARRIER, AS_TRACE_OF_MPI_COLLECTIVE, "MPI_Barrier");
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    write_thread();
    return as_trace_open(directory, &trace, &err);
}

static int remove_trace(void **state)
{
    char command[128];
    (void)state;
    as_trace_close(&trace);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static const struct as_score_row *row_named(const struct as_score *score, const char *routine)
{
    as_vec_foreach (&score->row, row)
        if (strcmp(row->routine, routine) == 0)
            return row;
    fail_msg("there is no %s", routine);
    return NULL;
}

static void calls_and_times_are_exact(void **state)
{
    struct as_score score;
    (void)state;
    assert_int_equal(as_score_trace(&trace, NULL, 10, &score, &err), 0);
    assert_int_equal(score.row.n, 6);
    assert_int_equal(score.threads_n, 1);
    assert_int_equal(score.all.records_n, 2 + 2 * 100 + 2 * 50 + 3 + 2 * 100 + 3 + 2);
    assert_int_equal(score.all.size_b, size_b);
    assert_int_equal(score.whole.size_b, size_b);
    assert_int_equal(score.whole.thread_most_b, size_b);
    assert_int_equal(score.filtered.size_b, size_b);
    assert_int_equal(score.recorded_ns, 100000);
    /* 510 records of 10 ns within 100 us. */
    assert_int_equal(score.whole.slower * 1e6, 510 * 10 * 1000000.0 / 100000);
    const struct as_score_row *rank = row_named(&score, "MPI_Comm_rank");
    assert_int_equal(rank->all.calls_n, 100);
    assert_int_equal(rank->whole_ns, 1000);
    const struct as_score_row *test = row_named(&score, "MPI_Test");
    assert_int_equal(test->all.calls_n, 101);
    assert_int_equal(test->missed.calls_n, 100);
    const struct as_score_row *outer = row_named(&score, "outer");
    assert_int_equal(outer->type, AS_SCORE_COM);
    assert_int_equal(outer->whole_ns, 100000);
    assert_int_equal(outer->all.time_ns, 100000 - 1000 - 5000 - 5000 - 1010 - 40000);
    assert_int_equal(row_named(&score, "inner")->type, AS_SCORE_USR);
    assert_int_equal(score.type[AS_SCORE_MPI].calls_n, 100 + 1 + 101 + 1);
    /* All together they are the time of the thread. */
    assert_int_equal(score.all.time_ns, 100000);
    as_score_fini(&score);
}

static void many_short_calls_are_worth_excluding(void **state)
{
    struct as_score score;
    (void)state;
    assert_int_equal(as_score_trace(&trace, NULL, 10, &score, &err), 0);
    assert_true(as_score_is_worth(&score, row_named(&score, "MPI_Comm_rank")));
    assert_true(as_score_is_worth(&score, row_named(&score, "inner")));
    assert_true(as_score_is_worth(&score, row_named(&score, "MPI_Test")));
    assert_false(as_score_is_worth(&score, row_named(&score, "MPI_Send")));
    assert_false(as_score_is_worth(&score, row_named(&score, "MPI_Barrier")));
    assert_false(as_score_is_worth(&score, row_named(&score, "outer")));
    as_score_fini(&score);
}

static void a_filter_takes_what_it_excludes(void **state)
{
    static const char rules[] = "SCOREP_REGION_NAMES_BEGIN EXCLUDE MPI_Comm_rank MPI_Test MPI_Send "
                                "SCOREP_REGION_NAMES_END";
    struct as_trace_filter filter;
    struct as_filter_kept kept = {0};
    struct as_score score;
    (void)state;
    assert_int_equal(as_trace_filter_parse(as_view_of(rules), "f", &filter, &err), 0);
    assert_int_equal(as_trace_filter_settle(&filter, &kept), 0);
    assert_int_equal(as_score_trace(&trace, &filter, 10, &score, &err), 0);
    const struct as_score_row *rank = row_named(&score, "MPI_Comm_rank");
    const struct as_score_row *test = row_named(&score, "MPI_Test");
    assert_int_equal(rank->verdict, AS_FILTER_LEFT_OUT);
    assert_int_equal(test->verdict, AS_FILTER_FOUND);
    assert_int_equal(row_named(&score, "MPI_Send")->verdict, AS_FILTER_RECORDED);
    assert_int_equal(score.filtered.records_n, score.whole.records_n - 200 - 200);
    assert_int_equal(score.filtered.size_b, size_b - rank->all.size_b - test->missed.size_b);
    assert_true(score.filtered.slower < score.whole.slower);
    as_score_fini(&score);
    as_trace_filter_fini(&filter);
    as_filter_kept_fini(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_and_times_are_exact),
        cmocka_unit_test(many_short_calls_are_worth_excluding),
        cmocka_unit_test(a_filter_takes_what_it_excludes),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_trace, remove_trace);
}
