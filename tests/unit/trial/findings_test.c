/* SPDX-License-Identifier: Apache-2.0 */
/* Results of tries stand beside the findings that they answer, and these rank by them. */
#include "place.h"

#include <stdio.h>
#include <string.h>

#include "trial/trial.h"

static void add_rule(struct as_experiment *e, int64_t run_id, const char *rule, int64_t time_ns)
{
    const struct as_finding finding = {.of = {AS_OBJECT_RUN, run_id, run_id, 0},
                                       .level = AS_FINDING_POTENTIAL,
                                       .topic = "t",
                                       .text = rule,
                                       .time_ns = time_ns,
                                       .pass = "advise",
                                       .rule = rule};
    fine(as_experiment_finding(e, &finding, err));
}

static void add_tried(struct as_experiment *e, int64_t run_id, const char *name, const char *rules,
                      enum as_trial_verdict verdict, double ratio)
{
    const struct as_row_trial row = {.run_id = run_id,
                                     .name = name,
                                     .title = name,
                                     .what = "env",
                                     .verdict = as_trial_word(verdict),
                                     .n = 9,
                                     .base_s = 5.4,
                                     .ratio = ratio,
                                     .ratio_low = ratio - 0.01,
                                     .ratio_high = ratio + 0.01,
                                     .differs_by = 0,
                                     .rules = rules};
    fine(as_experiment_add_trial(e, &row, NULL, err));
}

static void says(struct as_experiment *e, int64_t rank, const char *rule, const char *want)
{
    struct as_rows *rows;
    fine(as_rows_open(e, "SELECT rule, ifnull(measured, '') FROM v_findings WHERE rank = ?1", &rows,
                      err));
    as_rows_bind_integer(rows, 1, rank);
    assert_int_equal(as_rows_next(rows, NULL), 1);
    assert_string_equal(as_rows_text(rows, 0), rule);
    assert_string_equal(as_rows_text(rows, 1), want);
    as_rows_close(&rows);
}

static void test_measured(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    const struct as_row_run run = {
        .kind = "profile", .command = "./a", .state = "complete", .wall_ns = as_known(5400000000)};
    int64_t run_id;
    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(as_experiment_add_run(e, &run, &run_id, err));
    add_rule(e, run_id, "first", 4000);
    add_rule(e, run_id, "second", 3000);
    add_rule(e, run_id, "third", 2000);
    add_rule(e, run_id, "fourth", 1000);
    says(e, 1, "first", "");
    add_tried(e, run_id, "a", " first  other ", AS_TRIAL_NONE, 0.99);
    add_tried(e, run_id, "b", " second ", AS_TRIAL_HARM, 1.3);
    add_tried(e, run_id, "c", " fourth ", AS_TRIAL_GAIN, 0.8);
    add_tried(e, run_id, "d", " fourth ", AS_TRIAL_GAIN, 0.6444444444444444);
    add_tried(e, run_id, "e", " fourth ", AS_TRIAL_DIFFERS, 0.1);
    says(e, 1, "fourth", "measured: -1.92 s \302\261 0.05 of 5.40 s (d)");
    says(e, 2, "third", ""); /* not tried: it may pay */
    says(e, 3, "first", "tried: no gain (a)");
    says(e, 4, "second", "tried: slower by 30 % (b)");
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
