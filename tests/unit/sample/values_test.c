/* SPDX-License-Identifier: Apache-2.0 */
/* Values that registers hold in many samples, and what is written of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sample/values.h"

static void take(struct as_register_values *held, uint64_t rax, uint64_t r9)
{
    uint64_t regs[AS_VALUES_REGISTERS];

    for (unsigned reg = 0; reg < AS_VALUES_REGISTERS; reg++)
        regs[reg] = 1000 * reg + held->sample_n; /* another one in each sample */
    regs[0] = rax;
    regs[7] = 0x7fff0000; /* the stack pointer */
    regs[9] = r9;
    as_values_add(held, regs);
}

static void test_one(void **state)
{
    struct as_register_values held = {0};
    char text[AS_VALUES_TEXT_B];
    (void)state;

    for (unsigned i = 0; i < 10; i++)
        take(&held, 0xabc, i < 4 ? i : 16384);
    assert_true(as_values_text(&held, text) >= 2);
    assert_int_equal(strncmp(text, "10 0:abc:10 ", 12), 0);
    assert_non_null(strstr(text, " 9:4000:5")); /* 6, of which one went against another value */
    assert_null(strstr(text, " 7:"));
}

/* Three strides in turn have their third each. */
static void test_three(void **state)
{
    struct as_register_values held = {0};
    char text[AS_VALUES_TEXT_B];
    (void)state;

    for (unsigned i = 0; i < 30; i++)
        take(&held, 8000 - 4 * (i % 3), 5);
    assert_int_equal(as_values_text(&held, text), 4);
    assert_non_null(strstr(text, ":1f40:10"));
    assert_non_null(strstr(text, ":1f3c:10"));
    assert_non_null(strstr(text, ":1f38:10"));
    assert_non_null(strstr(text, " 9:5:30"));
}

/* A register that always differs has no value. */
static void test_none(void **state)
{
    struct as_register_values held = {0};
    char text[AS_VALUES_TEXT_B];
    (void)state;

    for (unsigned i = 0; i < 100; i++)
        take(&held, 3 * i, 7 * i);
    assert_int_equal(as_values_text(&held, text), 0);
    assert_string_equal(text, "100");
}

/* All registers full make the longest text. */
static void test_room(void **state)
{
    struct as_register_values held = {.sample_n = UINT32_MAX};
    char text[AS_VALUES_TEXT_B];
    (void)state;

    memset(held.value, 0xff, sizeof held.value);
    memset(held.n, 0xff, sizeof held.n);
    assert_int_equal(as_values_text(&held, text), (AS_VALUES_REGISTERS - 1) * AS_VALUES_MOST);
    assert_true(strlen(text) < AS_VALUES_TEXT_B - 1);
    assert_string_equal(strrchr(text, ' '), " 15:ffffffffffffffff:4294967295");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one), cmocka_unit_test(test_three),
                                       cmocka_unit_test(test_none), cmocka_unit_test(test_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
