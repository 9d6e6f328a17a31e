/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lengths of calls of a loop, and the results from the cycles of these calls. The numbers can be
 * computed by hand.
 */
#include "unit.h"

#include <math.h>

#include "validate/suite.h"

static void expect_lengths(const long *got, const long *want)
{
    for (unsigned i = 0; i < AS_SUITE_LENGTHS; i++)
        if (got[i] != want[i])
            fail_msg("length %u is %ld instead of %ld", i, got[i], want[i]);
}

/* 64 elements are 64 iterations: all lengths are ones of which no end is foreseen. */
static void long_loops_end_unforeseen(void **state)
{
    const long want[] = {256, 448, 640, 832, 1024};
    long got[AS_SUITE_LENGTHS];
    (void)state;
    as_suite_lengths(1024, 1, 1, got);
    expect_lengths(got, want);
}

/* 64 elements are 16 iterations: up to 5 times 16 of 88 branches. */
static void short_loops_end_foreseen(void **state)
{
    const long want[] = {64, 128, 192, 256, 320};
    long got[AS_SUITE_LENGTHS];
    (void)state;
    as_suite_lengths(1024, 0.25, 0.25, got);
    expect_lengths(got, want);
}

/* 64 elements are 8 iterations of two branches: the same lengths, by their branches. */
static void branches_within_count(void **state)
{
    const long want[] = {64, 128, 192, 256, 320}, alone[] = {64, 192, 384, 512, 704};
    long got[AS_SUITE_LENGTHS];
    (void)state;
    as_suite_lengths(1024, 0.125, 0.25, got);
    expect_lengths(got, want);
    as_suite_lengths(1024, 0.125, 0.125, got);
    expect_lengths(got, alone);
}

static void no_length_is_there_twice(void **state)
{
    long got[AS_SUITE_LENGTHS];
    (void)state;
    for (long most = 64; most <= 4096; most += 64)
        for (double iterations = 1. / 64; iterations <= 1; iterations *= 2) {
            as_suite_lengths(most, iterations, iterations, got);
            for (unsigned i = 1; i < AS_SUITE_LENGTHS; i++)
                assert_true(got[i] > got[i - 1] && got[0] > 0 && got[i] % 64 == 0);
        }
}

/* 2 cycles an iteration and one jump of 96: the difference of the ends would say 2.5. */
static void a_jump_between_two_lengths_does_not_count(void **state)
{
    const long length[] = {64, 112, 160, 208, 256};
    const double step[AS_SUITE_PLACES][AS_SUITE_LENGTHS - 1] = {
        {2, 2, 2, 4}, {2, 2, 2, 4}, {4, 2, 2, 2}};
    double spread;
    (void)state;
    assert_true(fabs(as_suite_estimate(length, step, &spread) - 2) < 1e-9);
    assert_true(fabs(spread) < 1e-9);
}

static void places_that_differ_are_told(void **state)
{
    const long length[] = {64, 128, 192, 256, 320};
    const double step[AS_SUITE_PLACES][AS_SUITE_LENGTHS - 1] = {
        {2, 2, 2, 2}, {3, 3, 3, 3}, {2.5, 2.5, 2.5, 2.5}};
    double spread;
    (void)state;
    assert_true(fabs(as_suite_estimate(length, step, &spread) - 2.5) < 1e-9);
    assert_true(fabs(spread - 0.4) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_loops_end_unforeseen),
        cmocka_unit_test(short_loops_end_foreseen),
        cmocka_unit_test(branches_within_count),
        cmocka_unit_test(no_length_is_there_twice),
        cmocka_unit_test(a_jump_between_two_lengths_does_not_count),
        cmocka_unit_test(places_that_differ_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
