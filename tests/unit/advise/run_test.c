/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice on an experiment with known numbers (cxx.c): four threads of 0.575 s. They compute 0.575,
 * 0.475, 0.375 and 0.275 s and run 0, 0.1, 0.2 and 0.3 s in OpenMP; the last one waits 0.2 s there.
 * The run took 0.7 s. One loop: 0.4, 0.3, 0.2, 0.1 s.
 */
#include "place.h"

#include <math.h>

#include "advise/advise.h"
#include "cxx.h"

#define near(a, b) assert_true(fabs((a) - (b)) < 1e-6)

static void set(struct as_experiment *e, const char *name, double value)
{
    const struct as_metric metric = {
        .name = name, .unit = "1", .meaning = "m", .formula = "f", .better = AS_BETTER_LOWER};
    int64_t id;

    fine(as_experiment_metric(e, &metric, &id, err));
    fine(as_experiment_value(e, id, &(struct as_subject){.kind = AS_OBJECT_LOOP, .object_id = 1},
                             as_value_exact(value, 1), err));
}

static struct as_experiment *filled(const struct place *place)
{
    struct as_experiment *e;
    struct cxx c;

    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(cxx_fill(e, &c, err));
    set(e, "flow_paths", 3);
    set(e, "flow_steering_pct", 50);
    set(e, "array_access_efficiency_pct", 60);
    set(e, "array_access_least_pct", 60);
    set(e, "array_access_most_pct", 60);
    set(e, "access_strided_n", 2);
    set(e, "fp_packed_pct", 10);
    set(e, "fp_divide_n", 1);
    return e;
}

static double value(struct as_experiment *e, const char *metric)
{
    char sql[256];

    snprintf(
        sql, sizeof sql,
        "SELECT value FROM v_values WHERE object_kind = 'run' AND run_id = 1 AND metric = '%s'",
        metric);
    return real_of(e, sql);
}

static void test_metrics(void **state)
{
    struct as_experiment *e = filled(*state);

    fine(as_advise_run(e, 1, err));
    near(value(e, "run_time_s"), 0.7);
    near(value(e, "cpu_time_s"), 2.3);
    near(value(e, "busy_cpus"), 2.3 / 0.7);
    near(value(e, "user_code_pct"), 100 * 1700 / 2300.0);
    /* 600 samples are in OpenMP. */
    near(value(e, "loops_pct"), 100 * 1000 / 1700.0);
    near(value(e, "innermost_loops_pct"), 100 * 1000 / 1700.0);
    near(value(e, "analysed_loops_pct"), 100 * 1000 / 1700.0);
    near(value(e, "loops_to_80_n"), 1);
    near(value(e, "flow_complexity"), 3);
    near(value(e, "array_access_pct"), 60);
    near(value(e, "packed_arithmetic_pct"), 10);
    near(value(e, "parallel_runtime_pct"), 100 * 600 / 2300.0);
    near(value(e, "load_balance_pct"), 100 * 0.425 / 0.575);
    near(value(e, "lost_samples_pct"), 0);
    /* No kernel account of these threads, no unit of these functions: no value. */
    expect_row(e,
               "SELECT count(*) FROM v_values WHERE object_kind = 'run' AND metric IN"
               " ('thread_activity_pct', 'migrations_per_s', 'preemptions_per_s', 'options_pct')",
               "0");
    /* A share has Wilson's interval over all samples. */
    expect_row(e,
               "SELECT printf('%.3f %.3f', low, high), n, origin FROM v_values"
               " WHERE metric = 'loops_pct'",
               "56.467 61.141 1700 measured");
    fine(as_experiment_close(&e, err));
}

static void test_what_ifs(void **state)
{
    struct as_experiment *e = filled(*state);

    fine(as_advise_run(e, 1, err));
    /* Half of the loop goes: 0.575 - 0.2 is still the longest. */
    near(real_of(e, "SELECT gain_s FROM v_what_ifs WHERE name = 'perfect_flow'"), 0.2);
    near(real_of(e, "SELECT speedup FROM v_what_ifs WHERE name = 'perfect_flow'"), 1.4);
    expect_row(e,
               "SELECT gain_low_s, object_n, to_80_n, n FROM v_what_ifs"
               " WHERE name = 'perfect_flow'",
               "0.0 1 1 400");
    expect_row(e,
               "SELECT object_kind, object_id, printf('%.6f %.6f', gain_s, speedup)"
               " FROM v_what_if_objects WHERE name = 'perfect_flow'",
               "loop 1 0.200000 1.400000");
    /* The longest with OpenMP and waiting in it takes 0.775 s. */
    near(real_of(e, "SELECT gain_s FROM v_what_ifs WHERE name = 'perfect_parallel'"), 0.2);
    near(real_of(e, "SELECT gain_s FROM v_what_ifs WHERE name = 'perfect_parallel_and_load'"),
         0.775 - 0.425);
    fine(as_experiment_close(&e, err));
}

static void test_findings(void **state)
{
    struct as_experiment *e = filled(*state);

    fine(as_advise_run(e, 1, err));
    expect_row(e,
               "SELECT level, object_kind, object_id, printf('%.6f', gain_s) FROM v_findings"
               " WHERE topic = 'load_balance'",
               "gain run 1 0.150000");
    expect_row(e,
               "SELECT printf('%.6f', gain_s), gain_n FROM v_findings"
               " WHERE topic = 'parallel_overhead'",
               "0.200000 575");
    expect_row(e,
               "SELECT level, object_id, time_s, text FROM v_findings WHERE topic ="
               " 'memory_access'",
               "hint 1 1.0 The loop at pair_force.cpp:44 uses 60 % of the bytes of the cache "
               "lines that it touches.");
    /* Gains first: what the report lists. */
    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_findings WHERE gain_s < gain_low_s"
                                   " OR gain_s > gain_high_s"),
                     0);
    fine(as_experiment_close(&e, err));
}

static void test_checks(void **state)
{
    struct as_experiment *e = filled(*state);

    fine(as_advise_run(e, 1, err));
    expect_row(e, "SELECT score, state FROM v_checks WHERE name = 'lost_samples'", "1.0 passed");
    expect_row(e, "SELECT score, advice IS NULL FROM v_checks WHERE name = 'run_length'", "1.0 1");
    /* 1500 of 1700 samples of the user's code are in a file with debug information. */
    near(real_of(e, "SELECT score FROM v_checks WHERE name = 'debug_information'"), 1500 / 1700.0);
    near(real_of(e, "SELECT score FROM v_checks WHERE name = 'known_code'"), 1 - 200 / 2300.0);
    near(real_of(e, "SELECT score FROM v_checks WHERE name = 'time_in_loops'"), 1000 / 0.8 / 2300);
    near(real_of(e, "SELECT score FROM v_checks WHERE name = 'processors_used'"),
         2.3 / 0.7 / 0.9 / 8);
    expect_row(e, "SELECT state FROM v_checks WHERE name = 'architecture'", "unknown");
    fine(as_experiment_close(&e, err));
}

static void test_again(void **state)
{
    struct as_experiment *e = filled(*state);

    fine(as_advise_run(e, 1, err));
    const int64_t findings = integer_of(e, "SELECT count(*) FROM finding");
    const int64_t checks = integer_of(e, "SELECT count(*) FROM check_result");
    fine(as_advise_run(e, 1, err));
    assert_int_equal(integer_of(e, "SELECT count(*) FROM finding"), findings);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM check_result"), checks);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM what_if"), 3);
    refused(as_advise_run(e, 9, err), NOT_FOUND, "has no run 9");
    fine(as_experiment_close(&e, err));
}

/* A run of which nothing is known: no samples, no time. */
static void test_empty_run(void **state)
{
    const struct place *place = *state;
    const struct as_row_run run = {.kind = "profile", .command = "x", .state = "interrupted"};
    struct as_experiment *e;

    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(as_experiment_add_run(e, &run, NULL, err));
    fine(as_experiment_summarise(e, 1, err));
    fine(as_advise_run(e, 1, err));
    assert_int_equal(integer_of(e, "SELECT count(*) FROM finding"), 0);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM what_if"), 0);
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_metrics), place_test(test_what_ifs), place_test(test_findings),
        place_test(test_checks),  place_test(test_again),    place_test(test_empty_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
