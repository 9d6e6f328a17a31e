/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of samples, held to those added up by hand from the table at the head of fixture.c. */
#include "place.h"

#include <math.h>

static struct as_experiment *filled(const struct place *place, struct fixture *f)
{
    struct as_experiment *e;
    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(fixture_fill(e, f, err));
    return e;
}

static void expect_sums(struct as_experiment *e, const char *view, const char *which,
                        const char *want)
{
    char sql[300];
    snprintf(sql, sizeof sql,
             "SELECT exclusive_sample_n, inclusive_sample_n, printf('%%.2f', exclusive_time_s),"
             " printf('%%.2f', inclusive_time_s), exclusive_pct, inclusive_pct, few_samples"
             " FROM v_%s WHERE %s",
             view, which);
    expect_row(e, sql, want);
}

static void test_functions(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    expect_sums(e, "functions", "name = 'main'", "0 200 0.00 2.00 0.0 100.0 0");
    expect_sums(e, "functions", "name = 'solve'", "105 134 1.05 1.34 52.5 67.0 0");
    /* Recursion: each sample once, though fib stands on its path up to three times. */
    expect_sums(e, "functions", "name = 'fib'", "29 29 0.29 0.29 14.5 14.5 1");
    expect_sums(e, "functions", "name = 'MPI_Wait'", "60 66 0.60 0.66 30.0 33.0 0");
    expect_sums(e, "functions", "name = 'memcpy'", "6 6 0.06 0.06 3.0 3.0 1");
    expect_row(e,
               "SELECT module, category, source_file, line, address, size_b, loop_n, origin"
               " FROM v_functions WHERE name = 'solve'",
               "solver application /src/solver.c 21 0x1100 128 2 measured");
    /* memcpy inside MPI is MPI; main has no time of its own to be of a category. */
    expect_row(e, "SELECT category FROM v_functions WHERE name = 'memcpy'", "mpi");
    expect_row(e, "SELECT category FROM v_functions WHERE name = 'main'", "-");
    fine(as_experiment_close(&e, err));
}

static void test_loops_blocks_lines(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    expect_sums(e, "loops", "depth = 2", "100 104 1.00 1.04 50.0 52.0 0");
    /* The inner loop and what both call are inside the outer. */
    expect_sums(e, "loops", "depth = 1", "5 134 0.05 1.34 2.5 67.0 0");
    expect_row(e,
               "SELECT function, first_line, last_line, is_innermost, role, parent_id, category"
               " FROM v_loops WHERE depth = 2",
               "solve 22 23 1 main 1 application");
    expect_sums(e, "blocks", "1", "100 104 1.00 1.04 50.0 52.0 0");
    expect_sums(e, "lines", "line = 23", "100 104 1.00 1.04 50.0 52.0 0");
    expect_sums(e, "lines", "line = 21", "5 30 0.05 0.30 2.5 15.0 0");
    expect_sums(e, "lines", "line = 41", "28 28 0.28 0.28 14.0 14.0 1");
    /* Called twice on the same way down: once. */
    expect_sums(e, "lines", "line = 40", "1 15 0.01 0.15 0.5 7.5 1");
    expect_sums(e, "lines", "line = 12", "0 134 0.00 1.34 0.0 67.0 0");
    fine(as_experiment_close(&e, err));
}

static void test_modules_categories_paths(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    expect_sums(e, "modules", "name = 'solver'", "134 200 1.34 2.00 67.0 100.0 0");
    expect_sums(e, "modules", "name = 'libmpi.so.40'", "60 66 0.60 0.66 30.0 33.0 0");
    expect_sums(e, "modules", "name = 'libc.so.6'", "6 6 0.06 0.06 3.0 3.0 1");
    expect_row(e,
               "SELECT sample_n, time_pct, blocked_time_s, thread_n FROM v_categories"
               " WHERE name = 'mpi'",
               "66 33.0 0.5 2");
    expect_row(e, "SELECT sum(sample_n), sum(time_pct) FROM v_categories", "200 100.0");
    expect_sums(e, "callpaths", "path = 'main;solve;fib;fib'", "8 15 0.08 0.15 4.0 7.5 1");
    expect_sums(e, "callpaths", "path = 'main'", "0 200 0.00 2.00 0.0 100.0 0");
    expect_row(e, "SELECT sum(exclusive_sample_n), count(*) FROM v_callpaths", "200 8");
    expect_row(e, "SELECT depth, call_line, category FROM v_callpaths WHERE callpath_id = 4",
               "4 40 application");
    fine(as_experiment_close(&e, err));
}

static void test_threads_processes_runs(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    expect_row(e,
               "SELECT rank, tid, sample_n, time_s, time_pct, blocked_time_s, lost_sample_n"
               " FROM v_threads WHERE thread_id = 1",
               "0 4242 100 1.0 50.0 0.5 0");
    expect_row(e, "SELECT cpu_n, cpus, numa_nodes FROM v_threads WHERE thread_id = 1",
               "3 2 1 3 0 1");
    expect_row(e, "SELECT sample_n, printf('%.3f', lost_pct) FROM v_threads WHERE thread_id = 2",
               "100 2.913");
    expect_row(e, "SELECT sample_n, omp_thread, time_pct FROM v_threads WHERE thread_id = 3",
               "0 1 0.0");
    expect_row(e,
               "SELECT rank, thread_n, sample_n, time_pct, lost_sample_n FROM v_processes"
               " WHERE pid = 4243",
               "1 1 100 50.0 3");
    expect_row(e,
               "SELECT start_utc, wall_s, process_n, thread_n, rank_n, sample_n,"
               " sampled_time_s, lost_sample_n, overhead_pct FROM v_runs",
               "2023-11-14T22:13:20Z 1.25 2 3 2 200 2.0 3 1.0");
    fine(as_experiment_close(&e, err));
}

static void test_spread_and_intervals(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    expect_row(e,
               "SELECT thread_n, thread_min_s, thread_max_s, printf('%.4f', thread_mean_s),"
               " printf('%.6f', thread_deviation_s) FROM v_functions WHERE name = 'solve'",
               "2 0.6 0.74 0.6700 0.098995"); /* 0.14 / sqrt 2 */
    /* 105 of 200 by Wilson: (0.525 + z2/400 -+ z sqrt(0.525*0.475/200 + z2/160000)) / (1 + z2/200)
     */
    assert_true(fabs(real_of(e, "SELECT exclusive_low_pct FROM v_functions WHERE name = 'solve'") -
                     45.5974) < 1e-3);
    assert_true(fabs(real_of(e, "SELECT exclusive_high_pct FROM v_functions WHERE name = 'solve'") -
                     59.3084) < 1e-3);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM object_time WHERE NOT (exclusive_low <="
                                   " exclusive_share AND exclusive_share <= exclusive_high AND"
                                   " inclusive_low <= inclusive_share AND inclusive_share <="
                                   " inclusive_high AND exclusive_n <= inclusive_n)"),
                     0);
    expect_row(e,
               "SELECT blocked_time_s, blocked_inclusive_time_s FROM v_functions"
               " WHERE name = 'main'",
               "0.0 0.5");
    expect_row(e,
               "SELECT sum(inclusive_ns) FROM thread_time WHERE object_kind = 'function' AND "
               "object_id = 2",
               "1340000000");
    fine(as_experiment_close(&e, err));
}

static void test_again_gives_the_same(void **state)
{
    static const char all[] =
        "SELECT count(*), sum(exclusive_n), sum(inclusive_n), sum(blocked_ns),"
        " sum(exclusive_low) FROM object_time";
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    double before = real_of(e, all);
    int64_t n = integer_of(e, "SELECT sum(inclusive_n) FROM object_time");
    fine(as_experiment_summarise(e, f.run, err));
    assert_true(before == real_of(e, all));
    assert_int_equal(n, integer_of(e, "SELECT sum(inclusive_n) FROM object_time"));
    fine(as_experiment_close(&e, err));
}

/* A thread without a sample hardly ran if another has a hundred; if another has few, it may be
 * chance. */
static void test_few_samples_make_nobody_idle(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    const char *roles = "SELECT group_concat(role, ' ') FROM (SELECT role FROM thread ORDER BY 1)";
    expect_row(e, roles, "idle worker worker");
    fine(as_experiment_close(&e, err));
    behind(*state, "UPDATE sample SET n = 2");
    fine(as_experiment_open(((const struct place *)*state)->exp, &e, err));
    fine(as_experiment_summarise(e, f.run, err));
    expect_row(e, roles, "worker worker worker");
    fine(as_experiment_close(&e, err));
}

static void test_run_without_samples(void **state)
{
    const struct place *place = *state;
    const struct as_row_run run = {.kind = "profile", .command = "true", .state = "complete"};
    struct as_experiment *e;
    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(as_experiment_add_run(e, &run, NULL, err));
    fine(as_experiment_summarise(e, 1, err));
    expect_row(e, "SELECT sample_n, sampled_time_s, thread_n FROM v_runs", "0 0.0 0");
    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_functions"), 0);
    fine(as_experiment_close(&e, err));
}

/* A chain of 3000 frames: sums without recursion, a path text that stays short. */
static void test_deep_recursion(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    struct as_row_callpath row = {.function_id = f.fib, .category_id = f.category[0]};
    fine(as_experiment_begin(e, err));
    for (int i = 1; i <= 3000; i++) {
        row.depth = i;
        fine(as_experiment_add_callpath(e, &row, &row.parent_id, err));
    }
    const struct as_row_sample sample = {.thread_id = f.thread[2],
                                         .callpath_id = row.parent_id,
                                         .location_id = 6,
                                         .n = 50,
                                         .time_ns = 500000000};
    fine(as_experiment_add_sample(e, &sample, err));
    fine(as_experiment_commit(e, err));
    fine(as_experiment_summarise(e, f.run, err));
    expect_sums(e, "functions", "name = 'fib'", "79 79 0.79 0.79 31.6 31.6 0");
    assert_int_equal(integer_of(e, "SELECT max(length(path)) FROM v_callpaths"), 128 * 4 + 3);
    expect_row(e, "SELECT path FROM v_callpaths WHERE depth = 129", "...;fib");
    fine(as_experiment_close(&e, err));
}

static void test_no_memory(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    int64_t n = integer_of(e, "SELECT sum(inclusive_n) FROM object_time");
    int refusals = 0;
    for (int after = 0; after < 60; after++) {
        struct as_error err = {0};
        as_alloc_fail_after(after);
        int rc = as_experiment_summarise(e, f.run, &err);
        as_alloc_fail_after(-1);
        assert_true(rc == 0 || rc == AS_ERR_NOMEM);
        refusals += rc != 0;
        assert_int_equal(n, integer_of(e, "SELECT sum(inclusive_n) FROM object_time"));
    }
    assert_in_range(refusals, 5, 59);
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_functions),
        place_test(test_loops_blocks_lines),
        place_test(test_modules_categories_paths),
        place_test(test_threads_processes_runs),
        place_test(test_spread_and_intervals),
        place_test(test_again_gives_the_same),
        place_test(test_few_samples_make_nobody_idle),
        place_test(test_run_without_samples),
        place_test(test_deep_recursion),
        place_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
