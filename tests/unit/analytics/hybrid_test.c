/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ranks of two threads, made up as streams and read back as facts. In seconds from the
 * beginning (c: computing, b: at the barrier that ends a parallel region, M: in MPI_Barrier, -:
 * no region), T = 10:
 *
 *             0         1         2         3         4         5         6         7         8
 *   rank 0    c c       region of 2 to 6: c c c b     c         M M       c                     [10
 *   worker    - -       c c c c                       - - - -
 *   rank 1    c c c     region of 3 to 7: c c c c     c c       M c
 *   worker    - - -     c c c b                       - - -
 *
 * - rank 0    useful 2 + 3 + 1 + 1 = 7     at barriers 1     in MPI 2 (7 to 9)
 * - worker    useful 4                     at barriers 0     without a region 6
 * - rank 1    useful 3 + 4 + 2 + 1 = 10    at barriers 0     in MPI 0 (at 9)
 * - worker    useful 3                     at barriers 1     without a region 6
 *
 * Multiplicative: mean useful is 24 / 4 = 6, the most 10; ranks are outside MPI for 8 and 10,
 * in the mean 9.
 *   parallel efficiency 6 / 10 = 0.6 = load balance 6 / 10 * communication 10 / 10
 *   MPI 9 / 10 = 0.9 = load balance 9 / 10 * communication 10 / 10
 *   OpenMP 0.6 / 0.9 = 2/3 = load balance 0.6 / 0.9 * communication 1 / 1
 * Additive:
 *   process load balance 1 - (10 - 9) / 10 = 0.9; 1 - 0.9 = (1 - 0.9) + (1 - 1)
 *   threads 1 - (9 - 6) / 10 = 0.7; 1 - 0.6 = (1 - 0.9) + (1 - 0.7)
 *   regions 1 - ((1 + 0 + 0 + 1) / 4) / 10 = 0.95; serial 0.7 - 0.95 + 1 = 0.75
 *
 * A region "phase" of the first threads: rank 0 is in it from 1 to 7 and from 7 to 10. Rank 1 is in
 * it from 2 to 8 and from 8 to 10. So its first call has 6 and 6, its second 3 and 2.
 *
 *   first    useful 5, worker 4; 6, worker 3: 18 / 4 / 6 = 0.75
 *   second   useful 1, worker 0; 2, worker 0: 3 / 4 / 3 = 0.25
 *            outside MPI 1 and 2: 1.5 / 3 = 0.5 = 1.5 / 2 * 2 / 3
 *   both     21 / 4 / 9 = 7/12
 *            outside MPI 7 and 8: 7.5 / 9 = 7.5 / 8 * 8 / 9
 *
 * Rank 1 arrives last everywhere, so the critical path is on rank 1 until 9. Then it is on rank 0,
 * which ends at the same time and comes first.
 */
#include "made_stream.h"
#include "place.h"

#include <math.h>

#include "analytics/analytics.h"
#include "analytics/store/trace_result.h"

#define S 1000000000

enum { MPI_BARRIER_NAME = 1, PHASE_NAME = 2, WORLD = 1, REGION = 77 };

static struct as_trace_writer writer;
/* Ticks are ns. A given clock: all streams begin at this time, however long it takes to write. */
static const uint64_t zero_tick = 1000 * (uint64_t)S;

static void open_stream(const char *directory, uint32_t pid, uint32_t tid, uint32_t parent)
{
    made_stream_open(
        &writer, directory,
        (struct as_trace_writing){
            .pid = pid, .tid = tid, .parent_tid = parent, .tick_hz = S, .begin_tick = zero_tick});
}

static void close_stream(void)
{
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
}

/* At so many seconds. */
static void put(unsigned kind, int64_t at_s, const uint64_t *field, unsigned n)
{
    as_trace_emit(&writer, kind, zero_tick + (uint64_t)at_s * S, field, n);
}

static void define_rank(const char *directory, uint32_t rank)
{
    const uint64_t world[] = {rank, 2, 0}, comm[] = {WORLD, 99, 2, rank, 0}, member[] = {0, 1};
    const uint64_t name[] = {MPI_BARRIER_NAME, AS_TRACE_OF_MPI_COLLECTIVE};
    open_stream(directory, 100 + rank, 0, 0);
    assert_true(
        as_trace_emit_text(&writer, AS_TRACE_NAME, as_trace_now(&writer), name, 2, "MPI_Barrier"));
    const uint64_t phase[] = {PHASE_NAME, AS_TRACE_OF_USER};
    assert_true(
        as_trace_emit_text(&writer, AS_TRACE_NAME, as_trace_now(&writer), phase, 2, "phase"));
    as_trace_emit(&writer, AS_TRACE_WORLD, 0, world, 3);
    assert_true(as_trace_emit_list(&writer, AS_TRACE_COMM, 0, comm, 5, member, 2));
    close_stream();
}

/* Writes the part of one thread in the region; it arrives at the end at `came_s`. The first thread
 * opens and ends the region. */
static void put_region(uint64_t index, int64_t begin_s, int64_t came_s, int64_t end_s)
{
    const uint64_t region[] = {REGION, 2, 0x1000}, task[] = {REGION, index, 2};
    if (index == 0)
        put(AS_TRACE_PARALLEL, begin_s, region, 3);
    put(AS_TRACE_IMPLICIT, begin_s, task, 3);
    put(AS_TRACE_IMPLICIT_END, came_s, task, 2);
    if (index == 0) /* a little after the last arrival */
        as_trace_emit(&writer, AS_TRACE_PARALLEL_END, zero_tick + (uint64_t)end_s * S + 1000,
                      region, 1);
}

static void put_barrier(int64_t enter_s, int64_t leave_s)
{
    const uint64_t name = MPI_BARRIER_NAME;
    const uint64_t collective[] = {WORLD, 0, as_trace_zigzag(-1), 0, 0, 0};
    put(AS_TRACE_ENTER, enter_s, &name, 1);
    put(AS_TRACE_COLLECTIVE, leave_s, collective, 6);
    put(AS_TRACE_LEAVE, leave_s, &name, 1);
}

static void put_phase(unsigned kind, int64_t at_s)
{
    const uint64_t name = PHASE_NAME;
    put(kind, at_s, &name, 1);
}

static void put_end(void)
{
    const uint64_t event[] = {0, 0};
    put(AS_TRACE_EVENT, 10, event, 2);
}

static void make_trace(const char *directory)
{
    for (uint32_t rank = 0; rank < 2; rank++) {
        const int64_t begin_s = rank ? 3 : 2, end_s = rank ? 7 : 6;
        define_rank(directory, rank);
        open_stream(directory, 100 + rank, 100 + rank, 0);
        put_phase(AS_TRACE_ENTER, begin_s - 1);
        put_region(0, begin_s, rank ? 7 : 5, end_s);
        put_phase(AS_TRACE_LEAVE, end_s + 1);
        put_phase(AS_TRACE_ENTER, end_s + 1);
        put_barrier(rank ? 9 : 7, 9);
        put_phase(AS_TRACE_LEAVE, 10);
        put_end();
        close_stream();
        open_stream(directory, 100 + rank, 200 + rank, 100 + rank);
        put_region(1, begin_s, 6, end_s);
        put_end();
        close_stream();
    }
}

/* ---- Reading it back ------------------------------------------------------------------------- */

/* Streams begin some microseconds after each other. */
static void assert_near(struct as_experiment *e, double want, const char *sql)
{
    const double is = real_of(e, sql);
    if (!(fabs(is - want) <= 0.002 * fabs(want) + 0.001))
        fail_msg("%s: %g, not %g", sql, is, want);
}

static struct as_experiment *traced(const struct place *place)
{
    struct as_experiment *e;
    const struct as_row_run row = {.kind = "trace", .command = "made up", .state = "complete"};
    char directory[200];
    int64_t run;
    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(as_experiment_begin(e, err));
    fine(as_experiment_add_run(e, &row, &run, err));
    fine(as_experiment_commit(e, err));
    fine(as_experiment_run_directory(e, run, directory, sizeof directory - 8, err));
    strcat(directory, "/trace");
    assert_int_equal(mkdir(directory, 0777), 0);
    make_trace(directory);
    fine(as_analytics_run(e, run, run, err));
    return e;
}

static void assert_share(struct as_experiment *e, const char *name, double want)
{
    char sql[200];
    snprintf(
        sql, sizeof sql,
        "SELECT value / 100 FROM v_values WHERE object_kind = 'run' AND metric = 'trace_%s_pct'",
        name);
    assert_near(e, want, sql);
}

static void test_efficiency(void **state)
{
    struct as_experiment *e = traced(*state);
    assert_share(e, "parallel_efficiency", 0.6);
    assert_share(e, "load_balance", 0.6);
    assert_share(e, "communication_efficiency", 1);
    assert_share(e, "mpi_parallel_efficiency", 0.9);
    assert_share(e, "mpi_load_balance", 0.9);
    assert_share(e, "mpi_communication_efficiency", 1);
    /* On the ideal network rank 0 still waits from 7 to 9, and the run takes 10. */
    assert_share(e, "mpi_startup_efficiency", 1);
    assert_share(e, "mpi_serialisation_efficiency", 1);
    assert_share(e, "mpi_transfer_efficiency", 1);
    assert_share(e, "process_serialisation", 1);
    assert_share(e, "process_transfer", 1);
    assert_share(e, "openmp_parallel_efficiency", 2. / 3);
    assert_share(e, "openmp_load_balance", 2. / 3);
    assert_share(e, "openmp_communication_efficiency", 1);
    assert_share(e, "process_load_balance", 0.9);
    assert_share(e, "thread_efficiency", 0.7);
    assert_share(e, "openmp_region_efficiency", 0.95);
    assert_share(e, "serial_region_efficiency", 0.75);
    fine(as_experiment_close(&e, err));
}

static void test_states(void **state)
{
    struct as_experiment *e = traced(*state);
    static const struct {
        const char *location, *name;
        double time_s;
    } want[] = {{"rank 0", "computing", 7},
                {"rank 0", "mpi", 2},
                {"rank 0", "openmp", 1},
                {"rank 0, thread 1", "computing", 4},
                {"rank 0, thread 1", "idle", 6},
                {"rank 1", "computing", 10},
                {"rank 1, thread 1", "computing", 3},
                {"rank 1, thread 1", "openmp", 1},
                {"rank 1, thread 1", "idle", 6}};
    char sql[300];
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        snprintf(sql, sizeof sql,
                 "SELECT sum(time_s) FROM v_trace_states WHERE location = '%s' AND name = '%s'",
                 want[i].location, want[i].name);
        assert_near(e, want[i].time_s, sql);
        /* The same of the time line, where what is waited for is a state of its own. */
        snprintf(sql, sizeof sql,
                 "SELECT sum(j.value * t.bin_s / 1000) FROM v_trace_timeline t, json_each(t.bins) j"
                 " WHERE location = '%s' AND (name = '%s' OR name = 'waiting' AND '%s' IN"
                 " ('mpi', 'openmp') AND location <> 'rank 0')",
                 want[i].location, want[i].name, want[i].name);
        if (strcmp(want[i].location, "rank 0") != 0 || strcmp(want[i].name, "computing") == 0)
            assert_near(e, want[i].time_s, sql);
    }
    /* Each level has it all, in rows that begin where they say; one is the time line. */
    assert_near(e, 6, "SELECT count(DISTINCT level) FROM v_trace_levels");
    assert_near(e, 0,
                "SELECT count(*) FROM v_trace_levels WHERE abs(begin_s - segment * 256 * bin_s) >"
                " 1e-9 OR json_array_length(bins) > 256");
    assert_near(e, 60,
                "SELECT sum(j.value * t.bin_s / 1000) FROM v_trace_levels t, json_each(t.bins) j"
                " WHERE location = 'rank 1' AND name = 'computing'");
    assert_near(e, 0,
                "SELECT count(*) FROM v_trace_timeline t WHERE NOT EXISTS (SELECT 1 FROM"
                " v_trace_levels l WHERE l.level = 3 AND l.location = t.location AND"
                " l.name = t.name AND l.bins = t.bins AND l.bin_s = t.bin_s)");
    assert_near(e, 3,
                "SELECT sum(j.value * t.bin_s / 1000) FROM v_trace_timeline t,"
                " json_each(t.bins) j WHERE location = 'rank 0' AND name = 'waiting'");
    assert_near(e, 10,
                "SELECT elapsed_s FROM v_traces WHERE bin_n * bin_s >= elapsed_s"
                " AND (bin_n - 1) * bin_s < elapsed_s AND bin_n BETWEEN 100 AND 240");
    fine(as_experiment_close(&e, err));
}

static void test_waits_and_path(void **state)
{
    struct as_experiment *e = traced(*state);
    assert_near(e, 2,
                "SELECT time_s FROM v_trace_waits WHERE location = 'rank 0'"
                " AND kind = 'wait_at_barrier' AND routine = 'MPI_Barrier' AND n = 1");
    assert_near(e, 1,
                "SELECT time_s FROM v_trace_waits WHERE location = 'rank 0'"
                " AND kind = 'wait_at_omp_barrier'");
    assert_near(e, 1,
                "SELECT time_s FROM v_trace_waits WHERE location = 'rank 1, thread 1'"
                " AND kind = 'wait_at_omp_barrier'");
    assert_near(e, 2,
                "SELECT total_s FROM v_trace_late WHERE location = 'rank 1'"
                " AND routine = 'MPI_Barrier'");
    assert_near(e, 2,
                "SELECT elapsed_s FROM v_trace_late WHERE location = 'rank 1'"
                " AND routine = 'MPI_Barrier'");
    /* At the end of its region its worker waits for it, and at MPI_Barrier rank 0. */
    assert_near(e, 3, "SELECT late_s FROM v_trace_locations WHERE location = 'rank 1'");
    assert_near(e, 3, "SELECT waiting_s FROM v_trace_locations WHERE location = 'rank 0'");
    assert_near(e, 1, "SELECT path_s FROM v_trace_locations WHERE location = 'rank 0'");
    assert_near(e, 9, "SELECT path_s FROM v_trace_locations WHERE location = 'rank 1'");
    assert_near(e, 10, "SELECT sum(path_s) FROM v_trace_locations");
    fine(as_experiment_close(&e, err));
}

static void assert_phase(struct as_experiment *e, const char *which, const double want[9])
{
    static const char *const column[] = {
        "time_s",           "parallel_pct",    "balance_pct",           "communication_pct",
        "mpi_parallel_pct", "mpi_balance_pct", "mpi_communication_pct", "useful_s",
        "calls_n"};
    char sql[200];
    for (size_t i = 0; i < sizeof column / sizeof *column; i++) {
        snprintf(sql, sizeof sql,
                 "SELECT %s FROM v_trace_phases WHERE name = 'phase' AND rank_n = 2"
                 " AND thread_n = 4 AND iteration %s",
                 column[i], which);
        assert_near(e, want[i], sql);
    }
}

static void test_phases(void **state)
{
    struct as_experiment *e = traced(*state);
    const double all[] = {9, 175. / 3, 525. / 8, 800. / 9, 250. / 3, 93.75, 800. / 9, 5.25, 2};
    const double first[] = {6, 75, 75, 100, 100, 100, 100, 4.5, 1};
    const double second[] = {3, 25, 37.5, 200. / 3, 50, 75, 200. / 3, 0.75, 1};
    assert_near(e, 3, "SELECT count(*) FROM v_trace_phases");
    assert_phase(e, "IS NULL", all);
    assert_phase(e, "= 1", first);
    assert_phase(e, "= 2", second);
    assert_near(e, 1, "SELECT busiest_rank FROM v_trace_phases WHERE iteration = 2");
    assert_near(e, 1, "SELECT begin_s FROM v_trace_phases WHERE iteration = 1");
    assert_near(e, 8, "SELECT end_s FROM v_trace_phases WHERE iteration = 1");
    fine(as_experiment_close(&e, err));
}

/* ---- A part of the trace --------------------------------------------------------------------- */

static void analyse_part(struct as_experiment *e, struct as_range_edge from,
                         struct as_range_edge to)
{
    const struct as_range_wanted wanted = {from, to};
    struct as_traced part;
    fine(as_traced_read_range(e, 1, &wanted, &part, err));
    fine(as_traced_write(e, 1, 1, &part, err));
    as_traced_fini(&part);
}

#define AT(s)         ((struct as_range_edge){.kind = AS_RANGE_TIME, .ns = (int64_t)(s)*S})
#define CALL(name, n) ((struct as_range_edge){.kind = AS_RANGE_REGION, .region = name, .call = n})

/* From 5 to 8: rank 0 is useful for 1, at a barrier for 1 and in MPI for 1, its worker computes for
 * 1; rank 1 computes for 3, its worker for 1 and is at a barrier for 1. */
static void test_part(void **state)
{
    struct as_experiment *e = traced(*state);
    analyse_part(e, AT(5), AT(8));
    assert_near(e, 3, "SELECT elapsed_s FROM v_traces WHERE from_s BETWEEN 4.999 AND 5.001");
    assert_near(e, 8, "SELECT to_s FROM v_traces");
    assert_share(e, "parallel_efficiency", 6. / 12);
    assert_share(e, "load_balance", 6. / 12);
    assert_share(e, "mpi_parallel_efficiency", 5. / 6);
    assert_share(e, "mpi_load_balance", 5. / 6);
    assert_near(e, 1,
                "SELECT time_s FROM v_trace_states WHERE location = 'rank 0' AND name = 'mpi'");
    assert_near(e, 12, "SELECT sum(time_s) FROM v_trace_states");
    assert_near(e, 1,
                "SELECT time_s FROM v_trace_calls WHERE routine = 'MPI_Barrier' AND calls_n = 1"
                " AND location = 'rank 0' AND longest_s < 1.01");
    assert_near(e, 1, "SELECT count(*) FROM v_trace_calls WHERE routine = 'MPI_Barrier'");
    assert_near(e, 1, "SELECT time_s FROM v_trace_waits WHERE kind = 'wait_at_barrier'");
    assert_near(e, 3, "SELECT sum(path_s) FROM v_trace_locations");
    assert_near(e, 12,
                "SELECT sum(j.value * t.bin_s / 1000) FROM v_trace_timeline t,"
                " json_each(t.bins) j WHERE name <> 'critical_path'");
    assert_near(e, 3, "SELECT time_s FROM v_trace_phases WHERE iteration = 1");
    assert_near(e, 1, "SELECT time_s FROM v_trace_phases WHERE iteration = 2");
    assert_near(e, 1,
                "SELECT count(*) FROM v_flags WHERE name = 'trace_range' AND"
                " text LIKE '%covers 5.000 s to 8.000 s of a trace of 10.000 s'");
    /* All of it again. */
    fine(as_analytics_run(e, 1, 1, err));
    assert_share(e, "parallel_efficiency", 0.6);
    assert_near(e, 0, "SELECT count(*) FROM v_flags WHERE name = 'trace_range'");
    fine(as_experiment_close(&e, err));
}

static void test_part_of_region(void **state)
{
    struct as_experiment *e = traced(*state);
    const struct as_range_edge open = {0};
    analyse_part(e, CALL("phase", 2), open);
    assert_near(e, 7, "SELECT from_s FROM v_traces");
    assert_near(e, 10, "SELECT to_s FROM v_traces");
    analyse_part(e, CALL("phase", 0), CALL("phase", 1));
    assert_near(e, 1, "SELECT from_s FROM v_traces");
    assert_near(e, 8, "SELECT to_s FROM v_traces");
    analyse_part(e, open, CALL("phase", 0));
    assert_near(e, 0, "SELECT from_s FROM v_traces");
    assert_near(e, 10, "SELECT to_s FROM v_traces");
    fine(as_experiment_close(&e, err));
}

static void test_no_part(void **state)
{
    struct as_experiment *e = traced(*state);
    static const struct {
        struct as_range_wanted wanted;
        const char *text;
    } wrong[] = {
        {{CALL("phase", 3), {0}},
         "--from: the region phase has 2 calls, not 3; use a lower number"},
        {{{0}, CALL("phas", 0)}, "--to: the trace has no region 'phas'; did you mean phase?"},
        {{AT(11), {0}}, "--from, --to: no time of the trace"},
        {{CALL("phase", 2), AT(2)}, "--from, --to: no time of the trace"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct as_traced part;
        struct as_error none = {0};
        assert_int_equal(as_traced_read_range(e, 1, &wrong[i].wanted, &part, &none),
                         AS_ERR_NOT_FOUND);
        assert_int_equal(strncmp(none.text, wrong[i].text, strlen(wrong[i].text)), 0);
        as_traced_fini(&part);
    }
    fine(as_experiment_close(&e, err));
}

/* Made again, it is the same and there once. */
static void test_again(void **state)
{
    struct as_experiment *e = traced(*state);
    fine(as_analytics_run(e, 1, 1, err));
    assert_near(e, 1, "SELECT count(*) FROM trace");
    assert_near(e, 4, "SELECT count(*) FROM trace_location");
    assert_near(e, 19, "SELECT count(*) FROM v_values WHERE metric GLOB 'trace_*'");
    struct as_error none = {0};
    assert_int_equal(as_analytics_run(e, 1, 2, &none), AS_ERR_NOT_FOUND);
    assert_near(e, 4, "SELECT count(*) FROM trace_location");
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_efficiency), place_test(test_states), place_test(test_waits_and_path),
        place_test(test_phases),     place_test(test_part),   place_test(test_part_of_region),
        place_test(test_no_part),    place_test(test_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
