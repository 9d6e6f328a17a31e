/* SPDX-License-Identifier: Apache-2.0 */
/* Writing rows and values: every table, what is unknown, what is completed, what is refused. */
#include "place.h"

#include <math.h>
#include <stdlib.h>

#include "base/version.h"

static struct as_experiment *fresh(const struct place *place)
{
    struct as_experiment *e;
    fine(as_experiment_create(place->exp, 0, &e, err));
    return e;
}

static void test_unknown_is_null(void **state)
{
    struct as_experiment *e = fresh(*state);
    const struct as_row_run run = {.kind = "profile",
                                   .command = "x",
                                   .state = "complete",
                                   .start_ns = 0,
                                   .exit_code = as_known(0)};
    int64_t id = 0;
    fine(as_experiment_add_run(e, &run, &id, err));
    assert_int_equal(id, 1);
    expect_row(e, "SELECT label, host_id, exit_code, exit_signal, wall_ns, assay_version FROM run",
               "- - 0 - - " AS_VERSION);
    const struct as_row_process process = {.run_id = 1, .pid = 7, .rank = as_known(0)};
    fine(as_experiment_add_process(e, &process, &id, err));
    expect_row(e, "SELECT parent_id, rank, end_ns FROM process", "- 0 -");
    fine(as_experiment_close(&e, err));
}

static void test_set(void **state)
{
    struct as_experiment *e = fresh(*state);
    struct as_row_run run = {.kind = "profile", .command = "x", .state = "recording"};
    int64_t id = 0;
    fine(as_experiment_add_run(e, &run, &id, err));
    run.state = "complete";
    run.wall_ns = as_known(5);
    run.exit_signal = as_known(9);
    fine(as_experiment_set_run(e, id, &run, err));
    expect_row(e, "SELECT state, wall_ns, exit_code, exit_signal FROM run", "complete 5 - 9");
    refused(as_experiment_set_run(e, 99, &run, err), INTERNAL, "has no row 99");
    fine(as_experiment_close(&e, err));
}

static void test_natural_keys(void **state)
{
    struct as_experiment *e = fresh(*state);
    struct as_row_module module = {.path = "/a", .name = "a", .kind = "shared"};
    int64_t first, again, other;
    fine(as_experiment_add_module(e, &module, &first, err));
    module.size_b = as_known(9);
    fine(as_experiment_add_module(e, &module, &again, err));
    assert_int_equal(first, again);
    module.size_b = (struct as_number){0}; /* unknown does not undo known */
    fine(as_experiment_add_module(e, &module, &again, err));
    expect_row(e, "SELECT size_b FROM module", "9");
    module.build_id = "ff"; /* the file was built anew */
    fine(as_experiment_add_module(e, &module, &other, err));
    assert_int_not_equal(first, other);

    const struct as_row_function function = {.module_id = first, .name = "[unknown]"};
    fine(as_experiment_add_function(e, &function, &first, err));
    fine(as_experiment_add_function(e, &function, &again, err));
    assert_int_equal(first, again);
    struct as_row_callpath path = {.function_id = first, .depth = 1};
    fine(as_experiment_add_callpath(e, &path, &first, err));
    fine(as_experiment_add_callpath(e, &path, &again, err));
    assert_int_equal(first, again);
    path.parent_id = first;
    fine(as_experiment_add_callpath(e, &path, &other, err));
    assert_int_not_equal(first, other);
    fine(as_experiment_close(&e, err));
}

/* Rows written at once are found again with every column. The index of their key is removed. */
static void test_many_at_once(void **state)
{
    struct as_experiment *e = fresh(*state);
    const struct as_row_module module = {.path = "/a", .name = "a", .kind = "shared"};
    struct as_row_function function = {.name = "[unknown]"};
    struct as_row_callpath path[3] = {{.depth = 1}};
    struct as_row_location place[2] = {{.address = -5}, {.address = 7}};
    int64_t again;
    fine(as_experiment_begin(e, err));
    fine(as_experiment_add_module(e, &module, &function.module_id, err));
    fine(as_experiment_add_function(e, &function, &path[0].function_id, err));
    for (int i = 0; i < 2; i++) {
        place[i].module_id = function.module_id;
        path[i + 1] = (struct as_row_callpath){.parent_id = 11,
                                               .function_id = path[0].function_id,
                                               .call_location_id = 21 + i,
                                               .depth = 2};
    }
    fine(as_experiment_add_new_locations(e, place, 2, 21, err));
    fine(as_experiment_add_new_callpaths(e, path, 3, 11, err));
    fine(as_experiment_add_new_callpaths(e, path, 0, 11, err));
    fine(as_experiment_add_callpath(e, &path[2], &again, err));
    assert_int_equal(again, 13);
    fine(as_experiment_add_location(e, &place[1], &again, err));
    assert_int_equal(again, 22);
    fine(as_experiment_commit(e, err));
    expect_row(e,
               "SELECT count(*), min(callpath_id), max(parent_id), min(call_location_id),"
               " sum(depth) FROM callpath",
               "3 11 11 21 5");
    expect_row(e, "SELECT min(location_id), min(address), count(function_id) FROM location",
               "21 -5 0");
    expect_row(e,
               "SELECT count(*) FROM sqlite_schema WHERE name IN ('callpath_key',"
               " 'location_key')",
               "0");

    /* Rows with ids in use are refused. So are rows that falsely claim to be new. */
    refused(as_experiment_add_new_callpaths(e, path, 3, 9, err), INTERNAL, "UNIQUE");
    expect_row(e, "SELECT count(*) FROM callpath", "3");
    fine(as_experiment_add_new_callpaths(e, path, 1, 14, err));
    refused(as_experiment_add_callpath(e, &path[0], &again, err), INTERNAL, "UNIQUE");
    fine(as_experiment_close(&e, err));
}

static bool stop_now(void)
{
    return true;
}

/* A writer stops in the midst of many rows when it is asked to. */
static void test_stop_many(void **state)
{
    enum { N = 20000 };
    struct as_experiment *e = fresh(*state);
    struct as_row_callpath *path = calloc(N, sizeof *path);
    for (int i = 0; i < N; i++)
        path[i] = (struct as_row_callpath){.function_id = 1, .call_location_id = i, .depth = 1};
    fine(as_experiment_begin(e, err));
    fine(as_experiment_add_new_callpaths(e, path, N, 1, err));
    as_experiment_stop_when(e, stop_now);
    refused(as_experiment_add_new_callpaths(e, path, N, N + 1, err), LIMIT, "stopped");
    as_experiment_rollback(e);
    as_experiment_stop_when(e, NULL);
    expect_row(e, "SELECT count(*) FROM callpath", "0");
    free(path);
    fine(as_experiment_close(&e, err));
}

/* Every table takes a row and keeps every column of it (the fixture leaves some out). */
static void test_all_tables(void **state)
{
    struct as_experiment *e = fresh(*state);
    struct fixture f;
    fine(fixture_fill(e, &f, err));
    const struct as_row_host_fact fact = {f.host, "governor", "performance"};
    const struct as_row_run_environment environment = {f.run, "OMP_NUM_THREADS", "2"};
    const struct as_row_run_file file = {f.run, "run-001/samples", "samples", as_known(12)};
    const struct as_row_overhead overhead = {f.run, "sampling", as_known(4), as_known(5),
                                             "measured"};
    const struct as_row_mapping mapping = {
        f.process[0], f.module[1], 0x7f0000000000, 0x7f0000010000, 4096, as_known(1), as_known(2)};
    const struct as_row_unit unit = {f.module[0], "solver.c", "C17", "gcc", "12.2.0", "-O2"};
    const struct as_row_inlining inlining = {f.solve, 0, f.fib, 1};
    const struct as_row_disassembly insn = {f.module[0], 0x1150,  f.solve, 4,
                                            "addsd",     f.inner, f.block, 1};
    for (int i = 0; i < 2; i++) {
        fine(as_experiment_add_host_fact(e, &fact, err));
        fine(as_experiment_add_run_environment(e, &environment, err));
        fine(as_experiment_add_run_file(e, &file, NULL, err));
        fine(as_experiment_add_overhead(e, &overhead, NULL, err));
        fine(as_experiment_add_unit(e, &unit, NULL, err));
        fine(as_experiment_add_inlining(e, &inlining, NULL, err));
        fine(as_experiment_add_disassembly(e, &insn, err));
    }
    fine(as_experiment_add_mapping(e, &mapping, NULL, err));
    expect_row(e, "SELECT * FROM host_fact", "1 governor performance");
    expect_row(e, "SELECT * FROM run_environment", "1 OMP_NUM_THREADS 2");
    expect_row(e, "SELECT * FROM run_file", "1 1 run-001/samples samples 12");
    expect_row(e, "SELECT * FROM overhead", "1 1 sampling 4 5 measured");
    expect_row(e, "SELECT * FROM mapping", "1 1 2 139637976727552 139637976793088 4096 1 2");
    expect_row(e, "SELECT * FROM unit", "1 1 solver.c C17 gcc 12.2.0 -O2");
    expect_row(e, "SELECT * FROM inlining", "1 2 - 3 1");
    expect_row(e, "SELECT * FROM disassembly", "1 4432 2 4 addsd 2 1 1");
    expect_row(e, "SELECT * FROM loop WHERE loop_id = 2", "2 2 1 - 4416 2 1 main - 5 6 1 7");
    expect_row(e, "SELECT * FROM thread_cpu WHERE cpu = 2", "1 2 0 70");
    assert_int_equal(integer_of(e, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    fine(as_experiment_close(&e, err));
}

static void test_samples_add_up(void **state)
{
    struct as_experiment *e = fresh(*state);
    struct fixture f;
    fine(fixture_fill(e, &f, err));
    expect_row(e, "SELECT n, time_ns FROM sample WHERE state = 1", "3 500000000");
    fine(as_experiment_close(&e, err));
}

static void test_rows_that_cannot_be(void **state)
{
    struct as_experiment *e = fresh(*state);
    const struct as_row_thread orphan = {.process_id = 77, .tid = 1};
    const struct as_row_run odd = {.kind = "profile", .command = "x", .state = "finished"};
    const struct as_row_module nameless = {.path = "/a", .kind = "shared"};
    refused(as_experiment_add_thread(e, &orphan, NULL, err), INTERNAL, "FOREIGN KEY");
    refused(as_experiment_add_run(e, &odd, NULL, err), INTERNAL, "CHECK constraint");
    refused(as_experiment_add_module(e, &nameless, NULL, err), INTERNAL, "NOT NULL");
    fine(as_experiment_close(&e, err));
}

/* A failure dooms its batch: the same sentence until it is rolled back, and nothing of it stays. */
static void test_failure_in_a_batch_sticks(void **state)
{
    struct as_experiment *e = fresh(*state);
    const struct as_row_module module = {.path = "/a", .name = "a", .kind = "shared"};
    const struct as_row_module nameless = {.path = "/b", .kind = "shared"};
    fine(as_experiment_begin(e, err));
    fine(as_experiment_add_module(e, &module, NULL, err));
    refused(as_experiment_add_module(e, &nameless, NULL, err), INTERNAL, "NOT NULL");
    refused(as_experiment_add_module(e, &module, NULL, err), INTERNAL, "NOT NULL");
    refused(as_experiment_commit(e, err), INTERNAL, "NOT NULL");
    assert_int_equal(integer_of(e, "SELECT count(*) FROM module"), 0);
    fine(as_experiment_begin(e, err));
    fine(as_experiment_add_module(e, &module, NULL, err));
    fine(as_experiment_commit(e, err));
    fine(as_experiment_close(&e, err));
}

static int64_t speed(struct as_experiment *e)
{
    const struct as_metric metric = {.name = "speed_up",
                                     .unit = "1",
                                     .meaning = "How much faster.",
                                     .formula = "old / new",
                                     .better = AS_BETTER_HIGHER};
    int64_t id, again;
    fine(as_experiment_metric(e, &metric, &id, err));
    fine(as_experiment_metric(e, &metric, &again, err));
    assert_int_equal(id, again);
    return id;
}

static void test_values(void **state)
{
    struct as_experiment *e = fresh(*state);
    int64_t m = speed(e);
    const struct as_bounded_value all[] = {
        as_value_measured(2, 1.5, 2.5, 10), as_value_exact(7, 3),
        as_value_derived(1, 0, 3, 9),       as_value_modelled(4, 3, INFINITY),
        as_value_simulated(5, 4, 6, 8),     as_value_share(81, 263),
    };
    for (int i = 0; i < 6; i++)
        fine(as_experiment_value(
            e, m, &(struct as_subject){.kind = AS_OBJECT_LOOP, .object_id = i + 1}, all[i], err));
    expect_row(e,
               "SELECT metric, object_kind, value, unit, origin, low, high, n, better"
               " FROM v_values WHERE object_id = 1",
               "speed_up loop 2.0 1 measured 1.5 2.5 10 higher");
    expect_row(e, "SELECT value, origin, low, high, n FROM value WHERE object_id = 2",
               "7.0 exact 7.0 7.0 3");
    expect_row(e, "SELECT origin, high FROM value WHERE object_id = 4", "modelled Inf");
    expect_row(e,
               "SELECT printf('%.4f %.4f %.4f', low, value, high), n FROM value"
               " WHERE object_id = 6",
               "0.2553 0.3080 0.3662 263");
    fine(as_experiment_value(e, m, &(struct as_subject){.kind = AS_OBJECT_LOOP, .object_id = 1},
                             as_value_exact(3, 1), err));
    expect_row(e, "SELECT value, origin FROM value WHERE object_id = 1", "3.0 exact");
    fine(as_experiment_close(&e, err));
}

static void test_values_without_origin_or_confidence(void **state)
{
    struct as_experiment *e = fresh(*state);
    int64_t m = speed(e);
    const struct {
        struct as_bounded_value quantity;
        const char *why;
    } bad[] = {
        {{0}, "no origin"},
        {{.value = 1, .low = 1, .high = 1, .n = 1}, "no origin"},
        {as_value_measured(2, 0, 0, 5), "not within its interval"},
        {as_value_measured(2, 3, 4, 5), "not within its interval"},
        {as_value_measured(2, NAN, NAN, 5), "not within its interval"},
        {as_value_measured(NAN, 1, 2, 5), "not a finite number"},
        {as_value_modelled(INFINITY, 0, INFINITY), "not a finite number"},
        {as_value_measured(2, 1, 3, -1), "negative count"},
    };
    const struct as_subject run = {.kind = AS_OBJECT_RUN, .object_id = 1, .run_id = 1};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(as_experiment_value(e, m, &run, bad[i].quantity, err), INTERNAL, bad[i].why);
    const struct as_finding finding = {.of = {AS_OBJECT_RUN, 1, 0, 0},
                                       .level = AS_FINDING_HINT,
                                       .topic = "t",
                                       .text = "x",
                                       .gain = &bad[1].quantity};
    refused(as_experiment_finding(e, &finding, err), INTERNAL, "no origin");
    assert_int_equal(integer_of(e, "SELECT count(*) FROM value"), 0);
    fine(as_experiment_close(&e, err));
}

static void test_findings_and_flags(void **state)
{
    struct as_experiment *e = fresh(*state);
    struct fixture f;
    fine(fixture_fill(e, &f, err));
    expect_row(e,
               "SELECT object_kind, object_id, level, topic, workaround, gain, gain_low,"
               " gain_high, gain_origin FROM v_findings",
               "loop 2 gain vectorisation Use -O3. 1.8 1.2 2.5 modelled");
    expect_row(e, "SELECT object_kind, object_id, name, n FROM v_flags", "thread 2 lost_samples 3");
    const struct as_finding plain = {
        .of = {AS_OBJECT_RUN, 1, 0, 0}, .level = AS_FINDING_HINT, .topic = "t", .text = "x"};
    fine(as_experiment_finding(e, &plain, err)); /* bindings of the last one are gone */
    expect_row(e, "SELECT run_id, gain, gain_origin, workaround FROM finding WHERE topic = 't'",
               "- - - -");
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_unknown_is_null),
        place_test(test_set),
        place_test(test_natural_keys),
        place_test(test_many_at_once),
        place_test(test_stop_many),
        place_test(test_all_tables),
        place_test(test_samples_add_up),
        place_test(test_rows_that_cannot_be),
        place_test(test_failure_in_a_batch_sticks),
        place_test(test_values),
        place_test(test_values_without_origin_or_confidence),
        place_test(test_findings_and_flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
