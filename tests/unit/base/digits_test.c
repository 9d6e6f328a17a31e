/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal text of whole numbers, against that of the C library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/digits.h"

static void check_number(int64_t value)
{
    char own[AS_DIGITS_MOST + AS_DIGITS_SPARE], wanted[32];
    *as_digits_signed(own, value) = 0;
    snprintf(wanted, sizeof wanted, "%lld", (long long)value);
    assert_string_equal(own, wanted);
    *as_digits_print(own, (uint64_t)value) = 0;
    snprintf(wanted, sizeof wanted, "%llu", (unsigned long long)value);
    assert_string_equal(own, wanted);
}

/* All of up to five digits, and those around each power of ten and of two. */
static void test_edges(void **state)
{
    (void)state;
    for (int64_t value = 0; value <= 100000; value++)
        check_number(value);
    for (uint64_t power = 1; power <= UINT64_C(1000000000000000000); power *= 10)
        for (int64_t off = -2; off <= 2; off++) {
            check_number((int64_t)power + off);
            check_number(-(int64_t)power + off);
        }
    for (unsigned bit = 0; bit < 64; bit++)
        for (uint64_t off = 0; off < 3; off++)
            check_number((int64_t)((UINT64_C(1) << bit) - 1 + off));
}

static void test_random(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        check_number((int64_t)(seed >> (i & 63)));
    }
}

static void test_rest(void **state)
{
    char text[16];
    (void)state;
    for (uint32_t value = 0; value < AS_DIGITS_EIGHT; value += 9973) {
        char wanted[16];
        *as_digits_rest(text, value) = 0;
        snprintf(wanted, sizeof wanted, "%08u", value);
        assert_string_equal(text, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_edges), cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_rest)};
    return cmocka_run_group_tests_name("base/digits", tests, NULL, NULL);
}
