/* SPDX-License-Identifier: Apache-2.0 */
/* The cursor: values, the exact end, LEB128 edges; exactly sized heap blocks catch overreads. */
#include "unit.h"

#include "base/read.h"

static void test_fixed(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
                                          0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0xff,
                                          0xfe, 0xff, 0xfd, 0xff, 0xff, 0xff};
    struct as_read r = as_read_of(bytes, sizeof bytes);
    assert_int_equal(as_read_u8(&r), 0x01);
    assert_int_equal(as_read_u16(&r), 0x0302);
    assert_int_equal(as_read_u32(&r), 0x07060504);
    assert_true(as_read_u64(&r) == 0x0f0e0d0c0b0a0908u);
    assert_int_equal(as_read_offset(&r), 15);
    assert_int_equal(as_read_i8(&r), -1);
    assert_int_equal(as_read_i16(&r), -2);
    assert_int_equal(as_read_i32(&r), -3);
    assert_int_equal(as_read_left(&r), 0);
    assert_false(r.bad);
    as_read_seek(&r, 7);
    assert_int_equal(as_read_uint(&r, 3), 0x0a0908);
    assert_int_equal(as_read_uint(&r, 0), 0);
    assert_false(r.bad);
    assert_int_equal(as_read_uint(&r, 9), 0);
    assert_true(r.bad);
}

static void test_end_is_sticky(void **state)
{
    (void)state;
    /* Volatile: seeing the sizes, gcc 12 warns of the very overread that the cursor prevents. */
    for (volatile size_t n = 0; n < 8; n++) {
        unsigned char *block = malloc(n ? n : 1);
        memset(block, 0x7f, n ? n : 1);
        struct as_read r = as_read_of(block, n);
        assert_true(as_read_u64(&r) == 0);
        assert_true(r.bad);
        assert_int_equal(as_read_left(&r), 0);
        assert_int_equal(as_read_u8(&r), 0);
        assert_int_equal(as_read_uleb(&r), 0);
        assert_int_equal(as_read_sleb(&r), 0);
        assert_int_equal(as_read_string(&r).n, 0);
        assert_null(as_read_bytes(&r, 0));
        as_read_seek(&r, 0); /* no way back */
        assert_int_equal(as_read_left(&r), 0);
        free(block);
    }
    struct as_read none = as_read_of(NULL, 0);
    assert_int_equal(as_read_left(&none), 0);
    assert_int_equal(as_read_u16(&none), 0);
    assert_true(none.bad);
}

static void test_ranges(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {1, 2, 3, 4, 5};
    struct as_read r = as_read_of(bytes, 5);
    as_read_skip(&r, 1);
    struct as_read sub = as_read_sub(&r, 2);
    assert_int_equal(as_read_offset(&r), 3);
    assert_int_equal(as_read_u8(&sub), 2);
    assert_int_equal(as_read_u8(&sub), 3);
    assert_int_equal(as_read_u8(&sub), 0);
    assert_true(sub.bad);
    assert_false(r.bad);
    as_read_seek(&r, 5);
    assert_false(r.bad);
    sub = as_read_sub(&r, 0);
    assert_false(sub.bad);
    as_read_seek(&r, 0);
    sub = as_read_sub(&r, UINT64_MAX);
    assert_true(sub.bad && r.bad);
    r = as_read_of(bytes, 5);
    as_read_seek(&r, 6);
    assert_true(r.bad);
    r = as_read_of(bytes, 5);
    as_read_skip(&r, UINT64_MAX);
    assert_true(r.bad);
}

static void test_strings(void **state)
{
    (void)state;
    char *block = malloc(8);
    memcpy(block, "ab\0\0cdef", 8);
    struct as_read r = as_read_of(block, 8);
    struct as_view s = as_read_string(&r);
    assert_true(as_view_equal(s, as_view_of("ab")));
    s = as_read_string(&r);
    assert_int_equal(s.n, 0);
    assert_false(r.bad);
    s = as_read_string(&r); /* no zero any more */
    assert_string_equal(s.p, "");
    assert_true(r.bad);
    free(block);
}

static void expect_uleb(const char *bytes, size_t n, bool good, uint64_t want, size_t used)
{
    unsigned char *block = malloc(n);
    memcpy(block, bytes, n);
    struct as_read r = as_read_of(block, n);
    uint64_t v = as_read_uleb(&r);
    assert_int_equal(r.bad, !good);
    assert_true(v == (good ? want : 0));
    if (good)
        assert_int_equal(as_read_offset(&r), used);
    free(block);
}

static void expect_sleb(const char *bytes, size_t n, bool good, int64_t want, size_t used)
{
    unsigned char *block = malloc(n);
    memcpy(block, bytes, n);
    struct as_read r = as_read_of(block, n);
    int64_t v = as_read_sleb(&r);
    assert_int_equal(r.bad, !good);
    assert_true(v == (good ? want : 0));
    if (good)
        assert_int_equal(as_read_offset(&r), used);
    free(block);
}

static void test_leb128(void **state)
{
    (void)state;
    /* The examples of DWARF 5, tables 7.7 and 7.8. */
    expect_uleb("\x02", 1, true, 2, 1);
    expect_uleb("\x7f", 1, true, 127, 1);
    expect_uleb("\x80\x01", 2, true, 128, 2);
    expect_uleb("\x81\x01", 2, true, 129, 2);
    expect_uleb("\xb9\x64", 2, true, 12857, 2);
    expect_sleb("\x02", 1, true, 2, 1);
    expect_sleb("\x7e", 1, true, -2, 1);
    expect_sleb("\xff\x00", 2, true, 127, 2);
    expect_sleb("\x81\x7f", 2, true, -127, 2);
    expect_sleb("\x80\x01", 2, true, 128, 2);
    expect_sleb("\x80\x7f", 2, true, -128, 2);
    expect_sleb("\xff\x7e", 2, true, -129, 2);
    /* The widest that fit, and the first that do not. */
    expect_uleb("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, true, UINT64_MAX, 10);
    expect_uleb("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, false, 0, 0);
    expect_uleb("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11, false, 0, 0);
    expect_sleb("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10, true, INT64_MAX, 10);
    expect_sleb("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10, true, INT64_MIN, 10);
    expect_sleb("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10, false, 0, 0);
    expect_sleb("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7e", 10, false, 0, 0);
    /* Padding, as linkers write it, of any length. */
    expect_uleb("\x85\x80\x80\x00", 4, true, 5, 4);
    expect_uleb("\x85\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 13, true, 5, 13);
    expect_sleb("\x85\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 13, true, 5, 13);
    expect_sleb("\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 12, true, -2, 12);
    expect_sleb("\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 12, false, 0, 0);
    /* The end inside a number. */
    expect_uleb("\x80", 1, false, 0, 0);
    expect_uleb("\xff\xff\xff", 3, false, 0, 0);
    expect_sleb("\x80\xff", 2, false, 0, 0);
}

static void test_leb128_round_trip(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        for (int delta = -1; delta <= 1; delta++) {
            uint64_t v = ((uint64_t)1 << bit) + (uint64_t)(int64_t)delta;
            unsigned char block[10];
            size_t n = 0;
            for (uint64_t rest = v; n == 0 || rest; rest >>= 7)
                block[n++] = (unsigned char)((rest & 0x7f) | (rest >> 7 ? 0x80 : 0));
            struct as_read r = as_read_of(block, n);
            assert_true(as_read_uleb(&r) == v && !r.bad);
            int64_t s = (int64_t)v;
            n = 0;
            for (;;) {
                unsigned char low = (unsigned char)(s & 0x7f);
                s >>= 7;
                bool last = (s == 0 && !(low & 0x40)) || (s == -1 && (low & 0x40));
                block[n++] = (unsigned char)(low | (last ? 0 : 0x80));
                if (last)
                    break;
            }
            r = as_read_of(block, n);
            assert_true(as_read_sleb(&r) == (int64_t)v && !r.bad);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed),  cmocka_unit_test(test_end_is_sticky),
        cmocka_unit_test(test_ranges), cmocka_unit_test(test_strings),
        cmocka_unit_test(test_leb128), cmocka_unit_test(test_leb128_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
