/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign text made visible, whole and through a sink that gets it in pieces. */
#include "base/clean.h"

#include <string.h>

#include "base/out.h"
#include "unit.h"

static const struct {
    const char *in, *out;
    size_t width;
} text[] = {
    {"plain", "plain", 5},
    {"a\033[31mb", "a\\x1b[31mb", 10},
    {"\r\a\b\x7f", "\\x0d\\x07\\x08\\x7f", 16},
    {"\xc2\x9b"
     "2J",
     "\\u009b2J", 8},
    {"\xe2\x80\xaegpj.c", "\\u202egpj.c", 11},
    {"\xe2\x81\xa6x\xe2\x81\xa9", "\\u2066x\\u2069", 13},
    {"\xd8\x9c", "\\u061c", 6},
    {"gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2", "gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2", 7},
    {"\xff\xc3", "\\xff\\xc3", 8},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80", 12},
    {"\xe2\x82", "\\xe2\\x82", 8},
    {"\xe2\x82x", "\\xe2\\x82x", 9},
};

static void test_append(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct as_str to = {0};

        assert_int_equal(as_clean_append(&to, as_view_of(text[i].in)), text[i].width);
        assert_string_equal(as_str_z(&to), text[i].out);
        as_str_fini(&to);
    }
}

static void test_lines_become_blanks(void **state)
{
    struct as_str to = {0};

    (void)state;
    assert_int_equal(as_clean_append(&to, as_view_of("a\nb\tc")), 5);
    assert_string_equal(as_str_z(&to), "a b c");
    as_str_fini(&to);
}

/* All texts in one row, cut into pieces of `piece` bytes. */
static void expect_through_sink(size_t piece)
{
    struct as_str in = {0}, want = {0}, got = {0};
    struct as_out out;

    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        as_str_appendf(&in, "%s\n\t", text[i].in);
        as_str_appendf(&want, "%s\n\t", text[i].out);
    }
    as_out_init_str(&out, &got);
    out.clean = true;
    for (size_t at = 0; at < in.n; at += piece)
        as_out_write(&out, in.p + at, in.n - at < piece ? in.n - at : piece);
    assert_int_equal(as_out_flush(&out, NULL), 0);
    assert_string_equal(as_str_z(&got), as_str_z(&want));
    as_out_fini(&out);
    as_str_fini(&in);
    as_str_fini(&want);
    as_str_fini(&got);
}

static void test_sink(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 40; piece++)
        expect_through_sink(piece);
}

static void test_sink_end_and_style(void **state)
{
    struct as_str got = {0};
    struct as_out out;

    (void)state;
    as_out_init_str(&out, &got);
    out.clean = true;
    as_out_style(&out, AS_STYLE_BOLD);
    as_out_z(&out, "\033[2J\xc3"); /* the character never ends */
    as_out_style(&out, AS_STYLE_PLAIN);
    as_out_z(&out, "\xe2\x82");
    assert_int_equal(as_out_flush(&out, NULL), 0);
    assert_string_equal(as_str_z(&got), "\033[1m\\x1b[2J\\xc3\033[0m\\xe2\\x82");
    as_out_fini(&out);
    as_str_fini(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_lines_become_blanks),
        cmocka_unit_test(test_sink),
        cmocka_unit_test(test_sink_end_and_style),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
