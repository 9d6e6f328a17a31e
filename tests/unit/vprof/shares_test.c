/* SPDX-License-Identifier: Apache-2.0 */
/* Balance of a loop over threads and processes, by totals computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "vprof/shares.h"

struct given {
    uint32_t pid;
    uint64_t instances, ticks; /* of the second of two loops */
};

static struct as_shares shares_of(const struct given *given, size_t n)
{
    const struct as_patch_plan plan = {.loop = {.n = 2}};
    struct as_instances all = {.plan = &plan};
    struct as_shares out;
    for (size_t i = 0; i < n; i++) {
        const struct as_instance_thread thread = {.pid = given[i].pid, .tid = 100 - (uint32_t)i};
        const struct as_patch_total other = {.instances = 1, .ticks = 1000 * i},
                                    own = {.instances = given[i].instances,
                                           .ticks = given[i].ticks};
        assert_int_equal(as_vec_push(&all.thread, thread), 0);
        assert_int_equal(as_vec_push(&all.total, other), 0);
        assert_int_equal(as_vec_push(&all.total, own), 0);
    }
    assert_int_equal(as_shares_find(&all, 1, &out, NULL), 0);
    as_vec_fini(&all.thread);
    as_vec_fini(&all.total);
    return out;
}

/* Two ranks that work as long, one of which shares unevenly; one thread was never there. */
static void test_within(void **state)
{
    (void)state;
    const struct given given[] = {{7, 4, 10}, {9, 4, 20}, {7, 4, 30}, {9, 4, 20}, {9, 0, 500}};
    const struct as_shares it = shares_of(given, 5);
    assert_int_equal(it.threads, 4);
    assert_int_equal(it.processes, 2);
    assert_true(fabs(it.by_thread - 1.5) < 1e-12);
    assert_true(fabs(it.by_process - 1) < 1e-12);
    assert_true(fabs(it.within - 1.5) < 1e-12);
}

/* One rank works three times as long. */
static void test_between(void **state)
{
    (void)state;
    const struct given given[] = {{7, 1, 10}, {7, 1, 10}, {9, 1, 60}};
    const struct as_shares it = shares_of(given, 3);
    assert_int_equal(it.processes, 2);
    assert_true(fabs(it.by_thread - 2.25) < 1e-12);
    assert_true(fabs(it.by_process - 1.5) < 1e-12);
    assert_true(fabs(it.within - 1) < 1e-12);
}

static void test_none(void **state)
{
    (void)state;
    const struct given given[] = {{7, 0, 0}};
    const struct as_shares it = shares_of(given, 1);
    assert_int_equal(it.threads, 0);
    assert_true(it.by_thread == 1 && it.by_process == 1 && it.within == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_within),
                                       cmocka_unit_test(test_between), cmocka_unit_test(test_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
