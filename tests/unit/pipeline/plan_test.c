/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans: the order of passes and their waves, what is left out, and passes that wait for each
 * other.
 */
#include "unit.h"

#include "pipeline/plan.h"

/* "a b | c": the names in order, a bar between waves. */
static void expect_plan(const struct as_pass *pass, size_t n, int level, const char *there,
                        const char *want)
{
    struct as_error err = {0};
    struct as_pass_plan plan;
    char got[256] = "";

    if (as_plan_make(pass, n, level, there, &plan, &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < plan.step_n; i++) {
        const char *between = i == 0                                       ? ""
                              : plan.step[i].wave == plan.step[i - 1].wave ? " "
                                                                           : " | ";
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", between,
                 plan.step[i].pass->name);
    }
    assert_string_equal(got, want);
}

#define PLAN(level, there, want, ...)                                                              \
    do {                                                                                           \
        const struct as_pass table[] = {__VA_ARGS__};                                              \
        expect_plan(table, sizeof table / sizeof *table, level, there, want);                      \
    } while (0)

static void test_order(void **state)
{
    (void)state;
    /* Not that of the table: each behind what it needs and uses. */
    PLAN(1, "", "d | c | b | a", {.name = "a", .needs = "2 3"},
         {.name = "b", .uses = "2", .makes = "3"}, {.name = "c", .needs = "1", .makes = "2"},
         {.name = "d", .makes = "1"});
    /* Two makers of a fact: behind both. */
    PLAN(1, "", "a b | c", {.name = "a", .makes = "1"}, {.name = "b", .makes = "1"},
         {.name = "c", .needs = "1"});
    /* A pass that needs its own result, and a part of that result exists already. */
    PLAN(1, "1", "a", {.name = "a", .needs = "1", .makes = "1 2"});
}

static void test_side_by_side(void **state)
{
    (void)state;
    PLAN(1, "", "a | b c | d", {.name = "a", .makes = "1"},
         {.name = "b", .needs = "1", .makes = "2"}, {.name = "c", .needs = "1", .makes = "3"},
         {.name = "d", .needs = "2 3"});
    /* Those that start the program come alone, and not before their time. */
    PLAN(1, "", "a | c | b | d | e", {.name = "a", .makes = "1", .starts = true},
         {.name = "b", .needs = "1 2", .makes = "3", .starts = true},
         {.name = "c", .needs = "1", .makes = "2"},
         {.name = "d", .needs = "2", .makes = "4", .starts = true},
         {.name = "e", .needs = "3 4", .starts = true});
}

static void test_level_and_there(void **state)
{
    (void)state;
    PLAN(1, "samples", "b c", {.name = "a", .makes = "samples"},
         {.name = "b", .needs = "samples", .makes = "code"}, {.name = "c", .needs = "samples"},
         {.name = "d", .level = 2, .needs = "code"});
    PLAN(2, "", "a | b c | d", {.name = "a", .makes = "samples"},
         {.name = "b", .needs = "samples", .makes = "code"}, {.name = "c", .needs = "samples"},
         {.name = "d", .level = 2, .needs = "code"});
    /* A pass that needs a result without a source stays in the plan: the run reports it. */
    PLAN(1, "", "a b", {.name = "a", .needs = "nothing"}, {.name = "b", .uses = "nothing"});
}

static void test_cycle(void **state)
{
    const struct as_pass table[] = {{.name = "fine", .makes = "0"},
                                    {.name = "hen", .needs = "egg", .makes = "bird"},
                                    {.name = "nest", .uses = "bird", .makes = "egg"},
                                    {.name = "omelette", .needs = "egg"}};
    struct as_error err = {0};
    struct as_pass_plan plan;

    (void)state;
    assert_int_equal(as_plan_make(table, 4, 1, "", &plan, &err), AS_ERR_INTERNAL);
    assert_string_equal(err.text, "passes: hen, nest, omelette wait for what each other makes; "
                                  "take one of the needs away");
}

static void test_limits(void **state)
{
    struct as_pass table[AS_PIPELINE_PASSES_MAX + 1] = {{.name = "a"}};
    char words[1024] = "";
    struct as_error err = {0};
    struct as_pass_plan plan;

    (void)state;
    for (size_t i = 0; i <= AS_PIPELINE_PASSES_MAX; i++)
        table[i].name = "a";
    assert_int_equal(as_plan_make(table, AS_PIPELINE_PASSES_MAX + 1, 1, "", &plan, &err),
                     AS_ERR_LIMIT);
    for (int i = 0; i <= AS_PLAN_FACTS_MOST; i++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "f%d ", i);
    table[0].makes = words;
    assert_int_equal(as_plan_make(table, 1, 1, "", &plan, &err), AS_ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),           cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_level_and_there), cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
