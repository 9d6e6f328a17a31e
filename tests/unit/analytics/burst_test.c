/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One random run of two ranks, as a trace of all calls and as a trace of bursts. A burst trace sums
 * up calls less than a millisecond apart. Times, counts and bytes of calls must be equal to the
 * nanosecond. So must states, efficiencies, and begin and end of each burst.
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

#define BURST_NS 1000000
#define CALLS_N  4000
#define BEGIN_NS 1000000000 /* of the first call, in both */

enum { SEND_NAME = 1, ALLREDUCE_NAME, WAIT_NAME, NAMES_N };
static const char *const names[] = {NULL, "MPI_Send", "MPI_Allreduce", "MPI_Wait"};

static struct as_error failure;
static struct as_trace_writer writer;
/* A given clock in ns: all streams begin at this time, however long it takes to write them. */
static const uint64_t zero_tick = UINT64_C(1000000000000);
static uint64_t seed;

/* ---- Making it up ---------------------------------------------------------------------------- */

static uint64_t any_below(uint64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % n;
}

static void open_stream(const char *directory, uint32_t pid, uint32_t tid)
{
    made_stream_open(&writer, directory,
                     (struct as_trace_writing){
                         .pid = pid, .tid = tid, .tick_hz = 1000000000, .begin_tick = zero_tick});
}

static void define_rank(const char *directory, uint32_t rank)
{
    const uint64_t world[] = {rank, 2, 0};
    open_stream(directory, 100 + rank, 0);
    for (uint64_t i = SEND_NAME; i < NAMES_N; i++) {
        const uint64_t name[] = {i, AS_TRACE_OF_MPI_POINT};
        assert_true(
            as_trace_emit_text(&writer, AS_TRACE_NAME, as_trace_now(&writer), name, 2, names[i]));
    }
    as_trace_emit(&writer, AS_TRACE_WORLD, 0, world, 3);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
}

static void put_call(bool is_burst, uint64_t name, uint64_t enter, uint64_t leave, uint64_t sent_b)
{
    const uint64_t traffic[] = {sent_b, 2 * sent_b};
    if (is_burst) {
        as_trace_poll(&writer, name, enter, leave);
        as_trace_poll_traffic(&writer, name, traffic[0], traffic[1]);
        return;
    }
    as_trace_emit(&writer, AS_TRACE_ENTER, enter, &name, 1);
    as_trace_emit(&writer, AS_TRACE_TRAFFIC, 0, traffic, 2);
    as_trace_emit(&writer, AS_TRACE_LEAVE, leave, &name, 1);
}

/* Most calls follow each other within microseconds; every tenth comes after a burst. */
static void make_rank(const char *directory, uint32_t rank, bool is_burst)
{
    uint64_t at = zero_tick + BEGIN_NS;
    const uint64_t event[] = {0, 0};
    seed = 7 + rank;
    open_stream(directory, 100 + rank, 100 + rank);
    if (is_burst)
        as_trace_writer_sum(&writer, BURST_NS, 1000000000);
    for (unsigned i = 0; i < CALLS_N; i++) {
        at += any_below(10) ? any_below(BURST_NS / 50) : BURST_NS + 1 + any_below(9 * BURST_NS);
        const uint64_t leave = at + 100 + any_below(200000);
        put_call(is_burst, SEND_NAME + any_below(NAMES_N - 1), at, leave, any_below(100));
        at = leave;
    }
    as_trace_emit(&writer, AS_TRACE_EVENT, at + 5 * BURST_NS, event, 2);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
}

static void make_trace(const char *directory, bool is_burst)
{
    define_rank(directory, 0);
    define_rank(directory, 1);
    make_rank(directory, 0, is_burst);
    make_rank(directory, 1, is_burst);
}

/* ---- Reading it back ------------------------------------------------------------------------- */

struct stretch {
    uint32_t location;
    int64_t begin_ns, end_ns;
};

struct looked {
    struct as_trace trace;
    struct as_analysis analysis;
    int64_t zero_ns;
    AS_VEC(struct stretch) burst;
    uint64_t size_b;
};

static int keep_burst(void *context, uint32_t location, enum as_activity activity,
                      const char *routine, uint32_t group, int64_t begin_ns, int64_t end_ns)
{
    struct looked *l = context;
    const struct stretch burst = {location, begin_ns - l->zero_ns, end_ns - l->zero_ns};
    (void)routine;
    (void)group;
    return activity == AS_ACTIVITY_COMPUTING && end_ns - begin_ns > BURST_NS
               ? as_vec_push(&l->burst, burst)
               : 0;
}

static void look_at(struct looked *l, bool is_burst)
{
    char directory[] = "/tmp/assay-burst-XXXXXX", command[100];
    *l = (struct looked){0};
    const struct as_analysis_watch watch = {.context = l, .stretch = keep_burst};
    assert_non_null(mkdtemp(directory));
    make_trace(directory, is_burst);
    l->zero_ns = (int64_t)zero_tick;
    assert_int_equal(as_trace_open(directory, &l->trace, &failure), 0);
    assert_int_equal(as_analyse_trace(&l->trace, &watch, &l->analysis, &failure), 0);
    as_vec_foreach (&l->trace.process, process)
        l->size_b += as_trace_stream_facts(process->thread.at[0])->records_n;
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}

static void let_go(struct looked *l)
{
    as_vec_fini(&l->burst);
    as_analysis_fini(&l->analysis);
    as_trace_close(&l->trace);
}

static const struct as_site_sum *sum_of(const struct as_analysis *a, uint32_t location,
                                        const char *routine)
{
    as_vec_foreach (&a->sum, sum)
        if (sum->location == location && strcmp(a->site.at[sum->site].routine, routine) == 0)
            return sum;
    return NULL;
}

static void assert_same_sums(const struct as_analysis *all, const struct as_analysis *bursts)
{
    for (uint32_t location = 0; location < 2; location++)
        for (unsigned name = SEND_NAME; name < NAMES_N; name++) {
            const struct as_site_sum *want = sum_of(all, location, names[name]);
            const struct as_site_sum *got = sum_of(bursts, location, names[name]);
            assert_true(want && got && want->calls_n > CALLS_N / 6);
            assert_int_equal(got->calls_n, want->calls_n);
            assert_int_equal(got->time_ns, want->time_ns);
            assert_int_equal(got->most_ns, want->most_ns);
            assert_int_equal(got->sent_b, want->sent_b);
            assert_int_equal(got->received_b, want->received_b);
        }
}

/* The streams' beginnings differ by microseconds: what is before the first call is left out. */
static void test_same_run(void **state)
{
    struct looked all, bursts;
    (void)state;
    look_at(&all, false);
    look_at(&bursts, true);
    assert_same_sums(&all.analysis, &bursts.analysis);
    for (unsigned location = 0; location < 2; location++) {
        const int64_t *want = all.analysis.location.at[location].activity_ns;
        const int64_t *got = bursts.analysis.location.at[location].activity_ns;
        assert_int_equal(got[AS_ACTIVITY_MPI], want[AS_ACTIVITY_MPI]);
        assert_true(labs(got[AS_ACTIVITY_COMPUTING] - want[AS_ACTIVITY_COMPUTING]) < 50000000);
    }
    const double want = all.analysis.efficiency.mpi_parallel;
    assert_true(want > 0.5 && want < 0.99);
    assert_true(bursts.analysis.efficiency.mpi_parallel > want - 0.005);
    assert_true(bursts.analysis.efficiency.mpi_parallel < want + 0.005);
    assert_int_equal(bursts.analysis.waits.wait.n, 0);
    assert_true(bursts.analysis.summed_n > 0);
    assert_true(bursts.size_b < all.size_b * 3 / 4);
    let_go(&all);
    let_go(&bursts);
}

/* Each burst of the one is there in the other, from the same moment to the same. */
static void test_bursts(void **state)
{
    struct looked all, bursts;
    uint64_t found_n = 0, first_n = 0;
    (void)state;
    look_at(&all, false);
    look_at(&bursts, true);
    as_vec_foreach (&all.burst, want) {
        bool found = want->begin_ns < BEGIN_NS / 2; /* before the first call */
        first_n += found;
        as_vec_foreach (&bursts.burst, got)
            found |= got->location == want->location && got->begin_ns == want->begin_ns &&
                     got->end_ns == want->end_ns;
        assert_true(found);
        found_n++;
    }
    assert_int_equal(first_n, 2);
    assert_true(found_n > 2 * CALLS_N / 20);
    let_go(&all);
    let_go(&bursts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_run),
        cmocka_unit_test(test_bursts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
