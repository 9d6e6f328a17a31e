/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times at which the kernel's account is read again. Reading costs little CPU time. A reading that
 * took long because other threads had the CPU does not delay the next.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/clock.h"
#include "profile/task_account.h"

#define SECOND INT64_C(1000000000)

static void test_long_look(void **state)
{
    struct as_ledger ledger;
    const int64_t now_ns = as_monotonic_ns();
    (void)state;
    as_ledger_begin(&ledger, getpid(), false, now_ns - 10 * SECOND);
    as_ledger_look(&ledger, now_ns - 5 * SECOND); /* it took five seconds to come to its end */
    assert_int_equal(ledger.process.n, 1);
    assert_int_equal(ledger.process.at[0].pid, getpid());
    /* By the time of the wall it would be a thousand seconds. */
    assert_true(ledger.due_ns > now_ns);
    assert_true(ledger.due_ns < as_monotonic_ns() + 500 * SECOND);
    as_ledger_end(&ledger);
}

static void test_pages(void **state)
{
    struct as_process_pages it = {0};
    (void)state;
    assert_true(as_process_pages_parse("00400000-7ffc000 ---p 0 00:00 0  [rollup]\n"
                                       "Rss:            9999 kB\n"
                                       "Pss_Anon:       5000 kB\n"
                                       "Anonymous:      6000 kB\n"
                                       "AnonHugePages:  2048 kB\n"
                                       "Private_Hugetlb:   4096 kB\n",
                                       &it));
    assert_int_equal(it.memory_b, 1024 * (6000 + 4096));
    assert_int_equal(it.huge_b, 1024 * (2048 + 4096));
    assert_true(as_process_pages_parse("Anonymous: 1 kB", &it)); /* adds; the last line is cut */
    assert_int_equal(it.memory_b, 1024 * (6000 + 4096 + 1));
    assert_false(as_process_pages_parse("", &it));
    assert_false(as_process_pages_parse("Anonymous", &it));
    assert_false(as_process_pages_add(UINT32_MAX, &it));
}

static void test_not_due(void **state)
{
    struct as_ledger ledger;
    const int64_t now_ns = as_monotonic_ns();
    (void)state;
    as_ledger_begin(&ledger, getpid(), false, now_ns);
    const int64_t due_ns = ledger.due_ns;
    as_ledger_look(&ledger, due_ns - 1);
    assert_int_equal(ledger.process.n, 0);
    assert_int_equal(ledger.due_ns, due_ns);
    as_ledger_look(&ledger, due_ns);
    assert_int_equal(ledger.process.n, 1);
    as_ledger_end(&ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_look),
        cmocka_unit_test(test_not_due),
        cmocka_unit_test(test_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
