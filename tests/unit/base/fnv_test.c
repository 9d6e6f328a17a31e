/* SPDX-License-Identifier: Apache-2.0 */
/* The hash against values that its authors publish. */
#include "unit.h"

#include "base/fnv.h"

static uint64_t hash_of(const char *text)
{
    return as_fnv_mix(AS_FNV_BASIS, text, strlen(text));
}

static void test_published_values(void **state)
{
    (void)state;
    assert_true(hash_of("") == UINT64_C(0xcbf29ce484222325));
    assert_true(hash_of("a") == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(hash_of("foobar") == UINT64_C(0x85944171f73967e8));
}

/* A hash goes on where it stopped, and a number is its eight bytes. */
static void test_parts(void **state)
{
    const unsigned char bytes[] = {0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x81};
    (void)state;
    assert_true(as_fnv_mix(hash_of("foo"), "bar", 3) == hash_of("foobar"));
    assert_true(as_fnv_mix_number(AS_FNV_BASIS, UINT64_C(0x8102030405060708)) ==
                as_fnv_mix(AS_FNV_BASIS, bytes, sizeof bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_published_values),
                                       cmocka_unit_test(test_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
