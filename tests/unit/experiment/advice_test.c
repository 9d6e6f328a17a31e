/* SPDX-License-Identifier: Apache-2.0 */
/* Checks, what-ifs, gains in seconds, and that making advice anew leaves nothing of the old. */
#include "place.h"

static struct as_experiment *with_run(const struct place *place)
{
    const struct as_row_run run = {
        .kind = "profile", .command = "x", .state = "complete", .wall_ns = as_known(40000000000)};
    struct as_experiment *e;
    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(as_experiment_add_run(e, &run, NULL, err));
    return e;
}

static void test_checks(void **state)
{
    struct as_experiment *e = with_run(*state);
    struct as_check check = {.run_id = 1,
                             .name = "debug",
                             .title = "Debug information",
                             .text = "half",
                             .advice = "give -g",
                             .weight = 2,
                             .score = 0.5,
                             .position = 3};
    fine(as_experiment_check(e, &check, err));
    expect_row(e, "SELECT name, title, position, weight, score, state, text, advice FROM v_checks",
               "debug Debug information 3 2.0 0.5 partly half give -g");
    check.score = 1; /* again: replaced */
    check.advice = NULL;
    fine(as_experiment_check(e, &check, err));
    expect_row(e, "SELECT score, state, advice FROM v_checks", "1.0 passed -");
    check.score = -1;
    fine(as_experiment_check(e, &check, err));
    expect_row(e, "SELECT score, state FROM v_checks", "- unknown");
    check.score = 0;
    fine(as_experiment_check(e, &check, err));
    expect_row(e, "SELECT score, state FROM v_checks", "0.0 failed");
    check.score = 1.5;
    refused(as_experiment_check(e, &check, err), INTERNAL, "score 1.5");
    fine(as_experiment_close(&e, err));
}

static void test_what_ifs(void **state)
{
    struct as_experiment *e = with_run(*state);
    const struct as_what_if_object object[] = {{7, 15, 1.6}, {3, 5, 2}};
    struct as_what_if it = {.run_id = 1,
                            .name = "perfect",
                            .title = "Perfect",
                            .meaning = "all",
                            .kind = AS_OBJECT_LOOP,
                            .time_s = 40,
                            .gain_s = as_value_derived(20, 10, 30, 99),
                            .object = object,
                            .object_n = 2,
                            .to_80_n = 2};
    fine(as_experiment_what_if(e, &it, err));
    expect_row(e,
               "SELECT name, object_kind, time_s, gain_s, speedup, speedup_low, speedup_high, n,"
               " origin, object_n, to_80_n FROM v_what_ifs",
               "perfect loop 40.0 20.0 2.0 1.33333333333333 4.0 99 derived 2 2");
    expect_row(e,
               "SELECT object_id, gain_s, speedup FROM v_what_if_objects WHERE name = 'perfect'"
               " AND position = 2",
               "3 5.0 2.0");
    it.object_n = 1; /* again: the old objects are gone */
    fine(as_experiment_what_if(e, &it, err));
    assert_int_equal(integer_of(e, "SELECT count(*) FROM what_if_object"), 1);
    it.gain_s.low = 25;
    refused(as_experiment_what_if(e, &it, err), INTERNAL, "not within its interval");
    fine(as_experiment_close(&e, err));
}

static void test_gain_in_seconds_and_forgetting(void **state)
{
    struct as_experiment *e = with_run(*state);
    const struct as_bounded_value gain = as_value_derived(1.25, 1, 1.6, 50);
    struct as_finding finding = {.of = {AS_OBJECT_RUN, 1, 1, 0},
                                 .level = AS_FINDING_GAIN,
                                 .topic = "load",
                                 .text = "t",
                                 .gain = &gain,
                                 .time_ns = 9000000000,
                                 .pass = "advise"};
    fine(as_experiment_finding(e, &finding, err));
    expect_row(e,
               "SELECT gain, gain_n, gain_s, gain_low_s, gain_high_s, time_s, pass"
               " FROM v_findings",
               "1.25 50 8.0 0.0 15.0 9.0 advise");
    finding.pass = "quality";
    fine(as_experiment_finding(e, &finding, err));
    fine(as_experiment_forget(e, 1, "advise", err));
    expect_row(e, "SELECT count(*), max(pass) FROM finding", "1 quality");
    fine(as_experiment_close(&e, err));
}

static void test_details(void **state)
{
    struct as_experiment *e = with_run(*state);
    static const char *const column[] = {"At", "Step", "Used"};
    const struct as_sql_cell cell[] = {
        {.kind = AS_SQL_CELL_TEXT, .text = "0x40"},
        {.kind = AS_SQL_CELL_INTEGER, .integer = -8},
        {.kind = AS_SQL_CELL_REAL, .real = 12.5},
        {.kind = AS_SQL_CELL_TEXT, .text = "0x44"},
        {0},
        {.kind = AS_SQL_CELL_REAL, .real = 100},
    };
    struct as_detail detail = {.of = {AS_OBJECT_LOOP, 7, 0, 0},
                               .name = "accesses",
                               .title = "Accesses",
                               .position = 2,
                               .column = column,
                               .column_n = 3,
                               .cell = cell,
                               .row_n = 2};
    fine(as_experiment_detail(e, &detail, err));
    expect_row(e, "SELECT columns FROM detail", "[\"At\",\"Step\",\"Used\"]");
    expect_row(e,
               "SELECT group_concat(ifnull(c.value, '-'), ',') FROM detail d, json_each(d.cells) r,"
               " json_each(r.value) c",
               "0x40,-8,12.5,0x44,-,100");
    detail.row_n = 1; /* again: the old table is gone */
    detail.text = "less";
    fine(as_experiment_detail(e, &detail, err));
    expect_row(e, "SELECT json_array_length(cells) FROM detail", "1");
    expect_row(e, "SELECT count(*), text FROM detail", "1 less");
    fine(as_experiment_close(&e, err));
}

static void test_ratings_of_a_metric(void **state)
{
    struct as_experiment *e = with_run(*state);
    struct as_metric metric = {.name = "m",
                               .unit = "%",
                               .meaning = "a",
                               .formula = "b",
                               .better = AS_BETTER_HIGHER,
                               .title = "M",
                               .topic = "code",
                               .good = 80,
                               .fair = 50,
                               .position = 4};
    fine(as_experiment_metric(e, &metric, NULL, err));
    expect_row(e, "SELECT name, title, topic, good, fair, position FROM v_metrics",
               "m M code 80.0 50.0 4");
    metric.good = metric.fair = 0;
    fine(as_experiment_metric(e, &metric, NULL, err));
    expect_row(e, "SELECT good, fair FROM v_metrics", "- -");
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_checks),
        place_test(test_what_ifs),
        place_test(test_gain_in_seconds_and_forgetting),
        place_test(test_details),
        place_test(test_ratings_of_a_metric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
