/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: every code point there and back, what is ill-formed, widths of known characters. */
#include "unit.h"

#include "base/utf8.h"

static int encode(uint32_t c, char *p)
{
    if (c < 0x80) {
        p[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        p[0] = (char)(0xc0 | c >> 6);
        p[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        p[0] = (char)(0xe0 | c >> 12);
        p[1] = (char)(0x80 | (c >> 6 & 0x3f));
        p[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    p[0] = (char)(0xf0 | c >> 18);
    p[1] = (char)(0x80 | (c >> 12 & 0x3f));
    p[2] = (char)(0x80 | (c >> 6 & 0x3f));
    p[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

static void test_every_code_point(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x110800; c++) {
        char p[4];
        int n = encode(c, p);
        uint32_t got;
        int used = as_utf8_next(p, (size_t)n, &got);
        bool valid = c < 0x110000 && (c < 0xd800 || c > 0xdfff);
        if (valid ? used != n || got != c : used >= 0 || got != AS_UTF8_REPLACEMENT)
            fail_msg("U+%04X: %d bytes, U+%04X", c, used, got);
        /* Cut short: never read past the end, all of it one replacement. */
        for (int k = 1; valid && k < n; k++)
            if (as_utf8_next(p, (size_t)k, &got) != -k)
                fail_msg("U+%04X cut to %d", c, k);
    }
}

static void test_ill_formed(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        int skip;
    } cases[] = {
        {"\x80", 1},         {"\xff", 1},     {"\xc0\x80", 1},         {"\xc1\xbf", 1},
        {"\xe0\x80\x80", 1}, {"\xed\xa0", 1}, {"\xf4\x90\x80\x80", 1}, {"\xf0\x8f\xbf\xbf", 1},
        {"\xe2\x82x", 2},    {"\xc3x", 1},    {"\xf0\x9f\x98x", 3},    {"\xf5\x80\x80\x80", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t c;
        assert_int_equal(as_utf8_next(cases[i].bytes, strlen(cases[i].bytes), &c), -cases[i].skip);
        assert_int_equal(c, AS_UTF8_REPLACEMENT);
    }
}

static void test_widths(void **state)
{
    (void)state;
    assert_int_equal(as_utf8_columns('a'), 1);
    assert_int_equal(as_utf8_columns(0xe9), 1);
    assert_int_equal(as_utf8_columns(0x301), 0);   /* combining acute */
    assert_int_equal(as_utf8_columns(0x200b), 0);  /* zero width space */
    assert_int_equal(as_utf8_columns(0x4e2d), 2);  /* CJK */
    assert_int_equal(as_utf8_columns(0xac00), 2);  /* Hangul */
    assert_int_equal(as_utf8_columns(0x1f600), 2); /* emoji */
    assert_int_equal(as_utf8_columns(0x2026), 1);  /* ellipsis */
    assert_int_equal(as_utf8_columns(0xff21), 2);  /* fullwidth A */
    assert_int_equal(as_utf8_columns(0x20000), 2); /* CJK extension B */
    assert_int_equal(as_utf8_width(as_view_of("e\xcc\x81t\xc3\xa9 \xe4\xb8\xad\xff")), 7);
    assert_int_equal(as_utf8_width(as_view_of(NULL)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_point),
        cmocka_unit_test(test_ill_formed),
        cmocka_unit_test(test_widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
