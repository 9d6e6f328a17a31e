/* SPDX-License-Identifier: Apache-2.0 */
/* Views and the string builder. */
#include "unit.h"

static struct as_view view(const char *z)
{
    return as_view_of(z);
}

static void test_views(void **state)
{
    (void)state;
    assert_int_equal(view(NULL).n, 0);
    assert_int_equal(view("abc").n, 3);
    assert_true(as_view_equal(view("abc"), view("abc")));
    assert_false(as_view_equal(view("abc"), view("abd")));
    assert_false(as_view_equal(view("abc"), view("ab")));
    assert_true(as_view_equal(view(NULL), view("")));
    assert_true(as_view_starts(view("prefix"), "pre"));
    assert_true(as_view_starts(view(NULL), ""));
    assert_false(as_view_starts(view("pr"), "pre"));
    assert_true(as_view_ends(view("a.so"), ".so"));
    assert_false(as_view_ends(view("so"), ".so"));
    assert_true(as_view_equal(as_view_trim(view(" \t a b\n")), view("a b")));
    assert_int_equal(as_view_trim(view(" \n ")).n, 0);
    assert_int_equal(as_view_trim(view(NULL)).n, 0);
}

static void test_split(void **state)
{
    (void)state;
    struct as_view rest = view("a,,bc,"), part;
    static const char *const want[] = {"a", "", "bc", ""};
    for (size_t i = 0; i < 4; i++) {
        assert_true(as_view_split(&rest, ',', &part));
        assert_true(as_view_equal(part, view(want[i])));
    }
    assert_null(rest.p);
    assert_false(as_view_split(&rest, ',', &part));
    rest = view("");
    assert_true(as_view_split(&rest, ',', &part));
    assert_int_equal(part.n, 0);
    assert_false(as_view_split(&rest, ',', &part));
    rest = view(NULL);
    assert_false(as_view_split(&rest, ',', &part));
}

static void test_builder(void **state)
{
    (void)state;
    struct as_str s = {0};
    assert_string_equal(as_str_z(&s), "");
    as_str_append(&s, "a\0b", 3);
    assert_int_equal(s.n, 3);
    assert_memory_equal(s.p, "a\0b", 4);
    as_str_clear(&s);
    assert_string_equal(as_str_z(&s), "");
    as_str_append(&s, NULL, 0);
    as_str_appendz(&s, "x=");
    as_str_appendf(&s, "%d,%s", -5, "end");
    assert_string_equal(as_str_z(&s), "x=-5,end");
    /* Formatted text right at, below and above what is free. */
    for (int n = 1; n < 200; n++) {
        as_str_clear(&s);
        as_str_appendf(&s, "%0*d", n, 0);
        as_str_appendf(&s, "%0*d|", n, 0);
        assert_int_equal(s.n, 2 * n + 1);
        assert_int_equal(strlen(s.p), s.n);
        assert_int_equal(s.p[s.n - 1], '|');
    }
    as_str_fini(&s);
    assert_null(s.p);
}

static void test_builder_no_memory(void **state)
{
    (void)state;
    for (int after = 0; after < 6; after++) {
        struct as_str s = {0};
        as_alloc_fail_after(after);
        size_t whole = 0;
        for (int i = 0; i < 2000 && !s.failed; i++) {
            as_str_appendf(&s, "%d", i % 10);
            whole += !s.failed;
        }
        assert_true(s.failed);
        as_str_appendz(&s, "dropped");
        as_alloc_fail_after(-1);
        as_str_appendz(&s, "dropped too");
        assert_int_equal(s.n, whole);
        assert_int_equal(strlen(as_str_z(&s)), whole);
        as_str_clear(&s);
        assert_false(s.failed);
        as_str_appendz(&s, "again");
        assert_string_equal(as_str_z(&s), "again");
        as_str_fini(&s);
    }
    struct as_str s = {0};
    as_str_append(&s, "", SIZE_MAX); /* overflow is noticed before any byte is read */
    assert_true(s.failed);
    as_str_fini(&s);
}

static void test_hex(void **state)
{
    char to[2 * 4 + 1];
    (void)state;
    assert_int_equal(as_hex_encode(to, "\x00\x7f\xa5\xff", 4), 8);
    assert_string_equal(to, "007fa5ff");
    assert_int_equal(as_hex_encode(to, "", 0), 0);
    assert_string_equal(to, "");
    memset(to, 1, sizeof to);
    assert_int_equal(as_hex_get("007fA5fF", to, 4), 4);
    assert_memory_equal(to, "\x00\x7f\xa5\xff\x01", 5);
    assert_int_equal(as_hex_get("007f", to, 1), 1);
    assert_int_equal(as_hex_get("90c", to, 4), 1);
    assert_int_equal(as_hex_get("90 c3", to, 4), 1);
    assert_int_equal(as_hex_get("90g0", to, 4), 1);
    assert_int_equal(as_hex_get("@0`0", to, 4), 0);
    assert_int_equal(as_hex_get("", to, 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hex),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_builder),
        cmocka_unit_test(test_builder_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
