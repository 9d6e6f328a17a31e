/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of scaling: those that made the points are found, errors are those of a textbook. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scaling/law.h"

static void assert_near(double is, double want, double error)
{
    if (!(fabs(is - want) <= error))
        fail_msg("%.9g, not %.9g", is, want);
}

static const double sizes[] = {1, 2, 4, 8, 16};

/* ---- Laws without noise ---------------------------------------------------------------------- */

static void test_amdahl(void **state)
{
    double y[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        y[i] = 0.98 / (0.9 + 0.1 * sizes[i]);
    const struct as_law_choice choice = as_law_choose(sizes, y, 4);
    assert_int_equal(choice.law.kind, AS_LAW_AMDAHL);
    assert_near(choice.law.a, 0.98, 1e-6);
    assert_near(choice.law.f, 0.9, 1e-6);
    /* 0.98 / (0.9 + 6.4) */
    assert_near(as_law_predict(&choice, 64).value, 0.134246575, 1e-6);
    assert_false(as_law_predict(&choice, 64).has_rival);
}

static void test_pipeline(void **state)
{
    double y[5];
    (void)state;
    for (int i = 0; i < 5; i++)
        y[i] = 0.95 * sizes[i] / (0.7 + 0.3 * (2 * sizes[i] - 1));
    const struct as_law_choice choice = as_law_choose(sizes, y, 5);
    assert_int_equal(choice.law.kind, AS_LAW_PIPELINE);
    assert_near(choice.law.f, 0.3, 1e-6);
    /* 0.95 * 100 / (0.7 + 0.3 * 199) */
    assert_near(as_law_predict(&choice, 100).value, 95 / 60.4, 1e-6);
}

static void test_line_and_constant(void **state)
{
    double line[4], constant[4];
    (void)state;
    for (int i = 0; i < 4; i++) {
        line[i] = 1.03 - 0.02 * sizes[i];
        constant[i] = 0.9;
    }
    struct as_law_choice choice = as_law_choose(sizes, line, 4);
    assert_int_equal(choice.law.kind, AS_LAW_LINEAR);
    assert_near(choice.law.f, -0.02, 1e-9);
    assert_near(as_law_predict(&choice, 16).value, 0.71, 1e-9);
    /* The line ends at 51.5. Another law goes on, within an interval that has the line. */
    const struct as_law_range beyond = as_law_predict(&choice, 64);
    assert_int_not_equal(beyond.used, AS_LAW_LINEAR);
    assert_true(beyond.value > 0.1 && beyond.low <= -0.2499 && beyond.has_rival);
    choice = as_law_choose(sizes, constant, 4);
    assert_int_equal(choice.law.kind, AS_LAW_CONSTANT);
    assert_near(as_law_predict(&choice, 1000).low, 0.9, 1e-9);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/*
 * A line by hand: means 2.5 and 2, sums of squares 5 and 3, f = 0.6, a = 0.5. Residuals -0.1, 0.3,
 * -0.3, 0.1: the variance is 0.2 / 2. At 6 it is times 1 + 1/4 + 3.5^2 / 5 = 3.7. t (2) is
 * 4.30265.
 */
static void test_prediction_interval(void **state)
{
    static const double x[] = {1, 2, 3, 4}, y[] = {1, 2, 2, 3};
    (void)state;
    const struct as_law law = as_law_fit(AS_LAW_LINEAR, x, y, 4);
    assert_near(law.f, 0.6, 1e-12);
    assert_near(law.a, 0.5, 1e-12);
    assert_near(as_law_error_at(&law, 6, 4), 4.30265 * sqrt(0.37), 1e-4);
    const struct as_law two = as_law_fit(AS_LAW_LINEAR, x, y, 2);
    assert_true(isinf(as_law_error_at(&two, 6, 2)));
}

/* Without 1 the mean is 2.5, without 2 it is 2, without 3 it is 1.5. */
static void test_validation(void **state)
{
    static const double x[] = {1, 2, 3}, y[] = {1, 2, 3};
    (void)state;
    assert_near(as_law_validate(AS_LAW_CONSTANT, x, y, 3), sqrt(1.5), 1e-12);
    assert_near(as_law_validate(AS_LAW_LINEAR, x, y, 3), 0, 1e-12);
    assert_true(isinf(as_law_validate(AS_LAW_LINEAR, x, y, 2)));
}

/* The derivatives of the interval, against differences: a law of known variance. */
static void test_curved_interval(void **state)
{
    static const double y[] = {0.99, 0.955, 0.91, 0.82, 0.68};
    (void)state;
    for (unsigned kind = AS_LAW_AMDAHL; kind <= AS_LAW_PIPELINE; kind++) {
        const struct as_law law = as_law_fit(kind, sizes, y, 5);
        double aa = 0, af = 0, ff = 0, by_a = 0, by_f = 0;
        for (int i = 0; i < 6; i++) {
            const double size = i < 5 ? sizes[i] : 32, step = 1e-6;
            struct as_law a = law, f = law;
            a.a += step;
            f.f += step;
            by_a = (as_law_at(&a, size) - as_law_at(&law, size)) / step;
            by_f = (as_law_at(&f, size) - as_law_at(&law, size)) / step;
            if (i < 5) {
                aa += by_a * by_a;
                af += by_a * by_f;
                ff += by_f * by_f;
            }
        }
        const double spread =
            (by_a * by_a * ff - 2 * by_a * by_f * af + by_f * by_f * aa) / (aa * ff - af * af);
        const double want = 3.18245 * sqrt(law.variance * (1 + spread));
        assert_near(as_law_error_at(&law, 32, 5), want, 2e-3 * want);
    }
}

/* ---- Noise ----------------------------------------------------------------------------------- */

static uint64_t seed = 7;

/* Uniform, -1 to 1. */
static double drawn(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 33) / (double)(UINT64_C(1) << 30) - 1;
}

/* The fit never saw the size that is twice the largest. */
static void test_held_out(void **state)
{
    int inside_n = 0, near_n = 0;
    (void)state;
    for (int draw = 0; draw < 200; draw++) {
        const double f = 0.93 + 0.05 * fabs(drawn());
        double y[5];
        for (int i = 0; i < 5; i++)
            y[i] = (1 + 0.005 * drawn()) * 0.99 / (f + (1 - f) * sizes[i]);
        const double truth = 0.99 / (f + (1 - f) * 32);
        const struct as_law_choice choice = as_law_choose(sizes, y, 5);
        const struct as_law_range range = as_law_predict(&choice, 32);
        inside_n += range.low <= truth && truth <= range.high;
        near_n += fabs(range.value - truth) < 0.1 * truth;
    }
    assert_in_range(inside_n, 180, 200);
    assert_in_range(near_n, 180, 200);
}

/* Three points nearly on a line: the law beyond them is open. */
static void test_rival(void **state)
{
    static const double y[] = {1, 0.983, 0.95};
    (void)state;
    const struct as_law_choice choice = as_law_choose(sizes, y, 3);
    const struct as_law_range range = as_law_predict(&choice, 64);
    assert_true(range.has_rival);
    assert_true(range.low <= range.rival_value && range.rival_value <= range.high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_amdahl),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_line_and_constant),
        cmocka_unit_test(test_prediction_interval),
        cmocka_unit_test(test_validation),
        cmocka_unit_test(test_curved_interval),
        cmocka_unit_test(test_held_out),
        cmocka_unit_test(test_rival),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
