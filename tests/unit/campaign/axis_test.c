/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that take several values: how they are written, their combinations, and words. */
#include "unit.h"

#include <stdlib.h>

#include "campaign/campaign.h"

/* "name: a|b|c" */
static void expect_axis(const char *text, const char *want)
{
    struct as_axis *axis;
    struct as_error err = {0};
    char got[256];

    if (as_axis_parse(text, &axis, &err) < 0)
        fail_msg("%s", err.text);
    snprintf(got, sizeof got, "%s: ", axis->name);
    for (size_t i = 0; i < axis->value_n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? "|" : "", axis->value[i]);
    assert_string_equal(got, want);
    as_axis_free(&axis);
    assert_null(axis);
}

static void expect_refused(const char *text, const char *part)
{
    struct as_axis *axis;
    struct as_error err = {0};

    assert_int_equal(as_axis_parse(text, &axis, &err), AS_ERR_USAGE);
    assert_null(axis);
    if (!has(err.text, part))
        fail_msg("'%s' is not in: %s", part, err.text);
}

static void test_parse(void **state)
{
    (void)state;
    expect_axis("size=1000", "size: 1000");
    expect_axis("size=1,2,3", "size: 1|2|3");
    expect_axis("env:OMP_SCHEDULE=static,dynamic\\,4", "env:OMP_SCHEDULE: static|dynamic,4");
    expect_axis("path=a\\\\,b\\c=d", "path: a\\|b\\c=d");
    expect_axis("flag=,-x", "flag: |-x");
    expect_refused("size", "invalid value");
    expect_refused("size=", "invalid value");
    expect_refused("=1", "invalid value");
    expect_refused("a b=1", "invalid value");
    expect_refused("env:=1", "invalid value");
    expect_refused("size=1,2,1", "has the value '1' twice");
}

static void test_combinations(void **state)
{
    struct as_axis *axis[2];
    struct as_error err = {0};
    struct as_setting setting[2];
    char got[256] = "";

    (void)state;
    assert_int_equal(as_axis_parse("a=1,2", &axis[0], &err), 0);
    assert_int_equal(as_axis_parse("env:B=x,y,z", &axis[1], &err), 0);
    assert_int_equal(as_axes_product(axis, 0), 1);
    assert_int_equal(as_axes_product(axis, 2), 6);
    for (size_t i = 0; i < 6; i++) {
        as_axes_at(axis, 2, i, setting);
        assert_string_equal(setting[1].name, "env:B");
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s ", setting[0].value,
                 setting[1].value);
    }
    assert_string_equal(got, "1x 1y 1z 2x 2y 2z ");
    as_axis_free(&axis[0]);
    as_axis_free(&axis[1]);
}

static void test_words(void **state)
{
    const struct as_setting setting[] = {{"size", "{mode}"}, {"mode", "fast"}};
    static const char *const words[][2] = {{"{size}", "{mode}"},
                                           {"--n={size}x{size}", "--n={mode}x{mode}"},
                                           {"{other}{mode}", "{other}fast"},
                                           {"{mode", "{mode"},
                                           {"", ""}};

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *got = as_setting_expand(words[i][0], setting, 2);

        assert_string_equal(got, words[i][1]);
        free(got);
    }
    assert_true(as_setting_is_in("-n {size}", "size"));
    assert_false(as_setting_is_in("-n {sizes} {siz} size", "size"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse),
                                       cmocka_unit_test(test_combinations),
                                       cmocka_unit_test(test_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
