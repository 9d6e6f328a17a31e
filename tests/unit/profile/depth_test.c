/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of the copy of the stack. The larger is used at first and for deep stacks. The smaller
 * is used if it suffices, or if the larger does not help.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/depth.h"

struct course {
    struct as_depth depth;
    struct as_stack_counts counts;
    int64_t now_ns;
    unsigned turned;
};

static struct course begin(void)
{
    struct course c = {.now_ns = 1000000000};
    as_depth_begin(&c.depth);
    assert_true(c.depth.is_deep);
    return c;
}

/* Simulates a second: ten looks with 100 samples each. So many samples are cut by the smaller copy
 * and by the larger. */
static void pass(struct course *c, unsigned small, unsigned large)
{
    for (unsigned i = 0; i < 10; i++) {
        const bool deep = c->depth.is_deep;
        c->counts.copied += 100;
        c->counts.cut += deep ? large : small;
        c->counts.deep += small;
        c->now_ns += 100000000;
        c->turned += as_depth_look(&c->depth, &c->counts, c->now_ns);
    }
}

static void test_short(void **state)
{
    (void)state;
    struct course c = begin();
    pass(&c, 0, 0);
    assert_false(c.depth.is_deep);
    for (unsigned i = 0; i < 10; i++)
        pass(&c, 1, 0); /* one of a hundred is not enough */
    assert_false(c.depth.is_deep);
    assert_int_equal(c.turned, 1);
}

static void test_few(void **state)
{
    (void)state;
    struct course c = begin();
    c.counts.copied = 255;
    assert_false(as_depth_look(&c.depth, &c.counts, c.now_ns));
    assert_true(c.depth.is_deep);
}

static void test_deep(void **state)
{
    (void)state;
    struct course c = begin();
    for (unsigned i = 0; i < 10; i++)
        pass(&c, 75, 0);
    assert_true(c.depth.is_deep);
    assert_int_equal(c.turned, 0);
}

/* A program that reads its input for a while and then computes with large frames. */
static void test_later(void **state)
{
    (void)state;
    struct course c = begin();
    pass(&c, 0, 0);
    assert_false(c.depth.is_deep);
    pass(&c, 2, 0);
    assert_true(c.depth.is_deep);
    pass(&c, 0, 0);
    assert_false(c.depth.is_deep);
    assert_int_equal(c.turned, 3);
}

static void test_in_vain(void **state)
{
    (void)state;
    struct course c = begin();
    pass(&c, 60, 58);
    assert_false(c.depth.is_deep);
    for (unsigned i = 0; i < 10; i++)
        pass(&c, 60, 58);
    assert_int_equal(c.turned, 1);
}

/* Samples from before a change are handed out after it, and carry no information on the new
 * copy. */
static void test_late_samples(void **state)
{
    (void)state;
    struct course c = begin();
    pass(&c, 0, 0);
    assert_false(c.depth.is_deep);
    pass(&c, 50, 0);
    assert_true(c.depth.is_deep);
    c = begin();
    c.counts.copied = 300;
    assert_true(as_depth_look(&c.depth, &c.counts, c.now_ns));
    c.counts.copied += 300;
    c.counts.cut = c.counts.deep = 300;
    assert_false(as_depth_look(&c.depth, &c.counts, c.now_ns + 100000000));
    c.counts.copied += 300;
    assert_false(as_depth_look(&c.depth, &c.counts, c.now_ns + 400000000));
    assert_false(c.depth.is_deep);
}

/* It does not turn for ever. */
static void test_restless(void **state)
{
    (void)state;
    struct course c = begin();
    for (unsigned i = 0; i < 100; i++)
        pass(&c, i % 2 ? 50 : 0, 0);
    assert_true(c.depth.is_deep);
    assert_in_range(c.turned, 8, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short),    cmocka_unit_test(test_few),
        cmocka_unit_test(test_deep),     cmocka_unit_test(test_later),
        cmocka_unit_test(test_in_vain),  cmocka_unit_test(test_late_samples),
        cmocka_unit_test(test_restless),
    };
    return cmocka_run_group_tests_name("profile/depth", tests, NULL, NULL);
}
