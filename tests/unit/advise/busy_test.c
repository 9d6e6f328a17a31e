/* SPDX-License-Identifier: Apache-2.0 */
/* Promises of findings on a host with external load: less work queues less, too. */

#include "place.h"

#include "advise/advise.h"
#include "rule_case.h"

static void expect_of(const struct story *story, const char *sql, const char *want)
{
    struct as_experiment *e = story_tell(story);

    expect_row(e, sql, want);
    fine(as_experiment_close(&e, err));
}

/* 0.2 s ran and 9 s queued: 46 s for each that ran. Waiting for the disk queues for nothing. */
static void test_synchronised(void **state)
{
    struct story story = {.wall_ms = 10000,
                          .cpu_n = 2,
                          .queued_ms = 9000,
                          .others_ms = 18000,
                          .code = {OWN(150), {"fdatasync", "io", 50, 800}}};
    const char *sql = "SELECT printf('%.2f', gain_s), workaround LIKE 'Synchronise less often: %'"
                      " FROM v_findings WHERE rule = 'input_output'";

    (void)state;
    expect_of(&story, sql, "4.34 1"); /* 1.4 * (0.05 * 46 + 0.8) */
    story.queued_ms = 0;
    story.code[1].name = "write";
    expect_of(&story, sql, "1.19 0"); /* 1.4 * (0.05 + 0.8) */
}

/* Two threads take 0.6 and 0.3 s: the longest has 0.15 s more than the mean, and queued 10 s. */
static void test_uneven(void **state)
{
    struct story story = {.wall_ms = 12000,
                          .cpu_n = 2,
                          .thread_n = 2,
                          .queued_ms = 10000,
                          .others_ms = 20000,
                          .no_openmp = true,
                          .code = {{"lzma_code", "compression", 600, .is_uneven = true}}};
    const char *sql = "SELECT printf('%.2f', gain_s), gain_low_s < 0.15, gain_high_s > gain_s,"
                      " workaround LIKE '% smaller pieces, %' FROM v_findings WHERE rule ="
                      " 'load_imbalance'";

    (void)state;
    expect_of(&story, sql, "2.65 1 1 1"); /* 0.15 * (1 + 10 / 0.6) */
    story.others_ms = 2700;               /* with 0.3 s of the story: an external load of 3 s */
    expect_of(&story, sql, "0.90 1 1 1");
    story.others_ms = 20000; /* a spinning thread takes what the longest queues for */
    story.code[1] = (struct story_code){"GOMP_barrier", "openmp", 300};
    expect_of(&story, "SELECT count(*) FROM v_findings WHERE rule = 'load_imbalance'", "0");
}

/* At most the thread that waits longest gains its waiting, and what it queued for that. */
static void test_spinning(void **state)
{
    struct story story = {RUN, .thread_n = 2, .queued_ms = 300,
                          .code = {OWN(300), {"GOMP_barrier", "openmp", 200}}};
    const char *sql = "SELECT level, printf('%.2f', gain_s), gain_low_s FROM v_findings"
                      " WHERE rule = 'busy_waiting'";

    (void)state;
    expect_of(&story, sql, "potential 0.32 0.0"); /* 0.2 * (1 + 0.3 / 0.5) */
}

/* A finding without a cause comes after hints that are about half of its time. */
static void test_order_of_hints(void **state)
{
    struct story story = {RUN, .code = {OWN(600), {"poll", "other", 0, 500}}};
    const char *sql = "SELECT rule FROM v_findings WHERE rule IN ('waiting', 'hottest')"
                      " ORDER BY rank LIMIT 1";

    (void)state;
    expect_of(&story, sql, "waiting");
    story.code[1].blocked_ms = 250;
    expect_of(&story, sql, "hottest");
}

/* Bounds of a twentieth of the run or more come before times without one, smaller ones after. */
static void test_order_of_bounds(void **state)
{
    struct story story = {RUN, .code = {OWN(500),
                                        {"strcmp", "runtime", 400, .module = LIBC, .under = "work"},
                                        {"read", "io", 60}}};
    const char *sql = "SELECT group_concat(rule, ' ') FROM (SELECT rule FROM v_findings WHERE rule"
                      " IN ('library_calls', 'input_output') ORDER BY rank)";

    (void)state;
    expect_of(&story, sql, "input_output library_calls");
}

/* Comparisons of texts that differ early gain nothing by other ones. */
static void test_compared_texts(void **state)
{
    struct story story = {
        RUN, .code = {OWN(600), {"strcmp", "runtime", 400, .module = LIBC, .under = "work"}}};
    const char *sql = "SELECT level || ' ' || (gain_s IS NULL) FROM v_findings"
                      " WHERE rule = 'library_calls'";

    (void)state;
    expect_of(&story, sql, "potential 1");
    story.code[1].name = "strlen";
    expect_of(&story, sql, "potential 0");
}

/* Vectors do not bring data of more than the second cache any sooner: the finding says so. */
static void test_options_of_sweeps(void **state)
{
    struct story story = {
        RUN, .code = {OLD}, .cache = "32768K",
        .metric = {{"fp_packed_pct", 0}, {"flow_paths", 1}, {"operand_sweep_b", 16e6}}};
    const char *sql = "SELECT level || (text LIKE '% more than L2 holds%') FROM v_findings"
                      " WHERE rule = 'scalar_options'";

    (void)state;
    expect_of(&story, sql, "potential1");
    story.metric[2].value = 5e5;
    expect_of(&story, sql, "potential0");
}

/* The mean of the paths that ran is less than one division. */
static void test_division_on_a_path(void **state)
{
    struct story story = {RUN,
                          .code = {{"work", "application", 1000, .in_loop = true, .flags = "-O3"}},
                          .metric = {{"cqa_insn_class_divide_n", 0.4},
                                     {"cqa_divide_cy", 3},
                                     {"cqa_cycles", 4},
                                     {"fp_divide_n", 0}}};
    const char *sql = "SELECT text LIKE '% divides integers (/ or %) on some paths: 3 of its 4 %'"
                      " FROM v_findings WHERE rule = 'integer_division'";

    (void)state;
    expect_of(&story, sql, "1");
    story.metric[0].value = 2;
    expect_of(&story, sql, "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_synchronised),      cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_spinning),          cmocka_unit_test(test_order_of_hints),
        cmocka_unit_test(test_order_of_bounds),   cmocka_unit_test(test_compared_texts),
        cmocka_unit_test(test_options_of_sweeps), cmocka_unit_test(test_division_on_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
