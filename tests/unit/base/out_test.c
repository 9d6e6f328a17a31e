/* SPDX-License-Identifier: Apache-2.0 */
/* The byte sink: number writers against printf, buffering, and every way writing fails. */
#include "unit.h"

#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>

static void test_integers(void **state)
{
    (void)state;
    struct as_str str = {0};
    struct as_out out;
    as_out_init_str(&out, &str);
    as_out_u64(&out, 0);
    for (uint64_t v = 1; v <= UINT64_MAX / 10; v *= 10) {
        char want[128];
        struct as_str one = {0};
        struct as_out o;
        as_out_init_str(&o, &one);
        as_out_u64(&o, v - 1);
        as_out_c(&o, ' ');
        as_out_i64(&o, -(int64_t)(v / 2));
        as_out_c(&o, ' ');
        as_out_hex(&o, v, 1);
        as_out_c(&o, ' ');
        as_out_hex(&o, v, 12);
        snprintf(want, sizeof want, "%ju %jd %jx %012jx", (uintmax_t)(v - 1), -(intmax_t)(v / 2),
                 (uintmax_t)v, (uintmax_t)v);
        expect_text(&o, &one, want);
    }
    as_out_c(&out, ' ');
    as_out_u64(&out, UINT64_MAX);
    as_out_c(&out, ' ');
    as_out_i64(&out, INT64_MIN);
    as_out_c(&out, ' ');
    as_out_hex(&out, UINT64_MAX, 99);
    as_out_c(&out, ' ');
    as_out_hex(&out, 0, 0);
    expect_text(&out, &str, "0 18446744073709551615 -9223372036854775808 ffffffffffffffff 0");
}

static void expect_double(double v, const char *want)
{
    struct as_str str = {0};
    struct as_out out;
    as_out_init_str(&out, &str);
    as_out_double(&out, v);
    expect_text(&out, &str, want);
}

static void test_doubles(void **state)
{
    (void)state;
    expect_double(0, "0");
    expect_double(-0.0, "-0");
    expect_double(1, "1");
    expect_double(-2.5, "-2.5");
    expect_double(0.1, "0.1");
    expect_double(0.1 + 0.2, "0.30000000000000004");
    expect_double(1.0 / 3, "0.3333333333333333");
    expect_double(123456.789, "123456.789");
    expect_double(0.000125, "0.000125");
    expect_double(1e22, "1e+22");
    expect_double(1e-7, "1e-07");
    expect_double(999999999, "999999999");
    expect_double(DBL_MAX, "1.7976931348623157e+308");
    expect_double(DBL_MIN, "2.2250738585072014e-308");
    expect_double(4.9406564584124654e-324, "5e-324");
    expect_double(1.5e-310, "1.5e-310");
    expect_double(NAN, "nan");
    expect_double(INFINITY, "inf");
    expect_double(-INFINITY, "-inf");
}

/* Digits without sign, point, exponent and outer zeros. */
static size_t digits_of(const char *z)
{
    char kept[64];
    size_t n = 0;
    for (; *z && *z != 'e'; z++)
        if (*z >= '0' && *z <= '9' && (n || *z != '0'))
            kept[n++] = *z;
    while (n && kept[n - 1] == '0')
        n--;
    return n;
}

static void test_doubles_read_back_and_are_short(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        double v;
        if (i % 2)
            memcpy(&v, &random, sizeof v);
        else
            v = (double)(int64_t)(random % 2000000000) / (i % 4 ? 1000 : 1000000);
        if (!isfinite(v))
            continue;
        struct as_str str = {0};
        struct as_out out;
        as_out_init_str(&out, &str);
        as_out_double(&out, v);
        assert_int_equal(as_out_flush(&out, NULL), 0);
        double back = strtod(as_str_z(&str), NULL);
        assert_memory_equal(&back, &v, sizeof v);
        char shortest[64];
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(shortest, sizeof shortest, "%.*e", digits - 1, v);
            if (strtod(shortest, NULL) == v)
                break;
        }
        assert_int_equal(digits_of(as_str_z(&str)), digits_of(shortest));
        as_out_fini(&out);
        as_str_fini(&str);
    }
}

static void test_text(void **state)
{
    (void)state;
    struct as_str str = {0};
    struct as_out out;
    as_out_init_str(&out, &str);
    as_out_write(&out, NULL, 0);
    as_out_view(&out, (struct as_view){0});
    as_out_z(&out, "a");
    as_out_fill(&out, '-', 130);
    as_out_f(&out, "%d|%300d", 5, 6);
    as_out_view(&out, (struct as_view){.p = "bcd", .n = 2});
    assert_int_equal(as_out_flush(&out, NULL), 0);
    assert_int_equal(str.n, 1 + 130 + 2 + 300 + 2);
    assert_int_equal(str.p[0], 'a');
    assert_int_equal(strspn(str.p + 1, "-"), 130);
    assert_string_equal(str.p + str.n - 4, " 6bc");
    as_out_fini(&out);
    as_str_fini(&str);
}

/* Every piece size around the buffer's, through a real descriptor. */
static void test_descriptor_keeps_order(void **state)
{
    (void)state;
    int fd = memfd_create("out", 0);
    assert_true(fd >= 0);
    static char big[200000];
    for (size_t i = 0; i < sizeof big; i++)
        big[i] = (char)('a' + i % 26);
    static const size_t sizes[] = {1, 65535, 1, 65536, 7, 65537, 131072, 3, 200000, 65530, 6, 1};
    struct as_out out;
    as_out_init_fd(&out, fd, "file");
    size_t total = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        as_out_write(&out, big, sizes[i]);
        total += sizes[i];
    }
    assert_int_equal(as_out_flush(&out, NULL), 0);
    as_out_fini(&out);
    char *back = malloc(total + 1);
    assert_int_equal(pread(fd, back, total + 1, 0), total);
    const char *at = back;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; at += sizes[i], i++)
        assert_memory_equal(at, big, sizes[i]);
    free(back);
    close(fd);
}

static void test_full_disk(void **state)
{
    (void)state;
    int fd = open("/dev/full", O_WRONLY);
    assert_true(fd >= 0);
    struct as_out out;
    as_out_init_fd(&out, fd, "result.json");
    as_out_z(&out, "waits in the buffer");
    assert_int_equal(out.failed, 0);
    struct as_error err = {0};
    assert_int_equal(as_out_flush(&out, &err), AS_ERR_IO);
    assert_int_equal(out.failed, ENOSPC);
    assert_string_equal(err.text, "result.json: cannot write: No space left on device; "
                                  "free some space or use another place");
    /* It sticks: another descriptor would take the bytes, this sink does not try. */
    out.fd = STDERR_FILENO;
    as_out_fill(&out, 'x', 100000);
    assert_int_equal(as_out_flush(&out, NULL), AS_ERR_IO);
    assert_false(as_out_reader_gone(&out));
    as_out_fini(&out);
    close(fd);
}

static void test_reader_gone_and_closed(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    struct as_out out;
    as_out_init_fd(&out, ends[1], "standard output");
    as_out_fill(&out, 'x', 200000);
    struct as_error err = {0};
    assert_int_equal(as_out_flush(&out, &err), AS_ERR_IO);
    assert_true(as_out_reader_gone(&out));
    as_out_fini(&out);
    signal(SIGPIPE, before);
    close(ends[1]);

    as_out_init_fd(&out, ends[1], "standard output");
    as_out_z(&out, "x");
    assert_int_equal(as_out_flush(&out, &err), AS_ERR_IO);
    assert_true(has(err.text, "standard output: cannot write: Bad file descriptor"));
    as_out_fini(&out);
}

static void test_no_memory(void **state)
{
    (void)state;
    /* A descriptor needs none. */
    int fd = open("/dev/null", O_WRONLY);
    struct as_out out;
    as_alloc_fail_after(0);
    as_out_init_fd(&out, fd, "null");
    as_out_fill(&out, 'x', 5000);
    assert_int_equal(as_out_flush(&out, NULL), 0);
    as_out_f(&out, "%400d", 1); /* longer than what formats without the heap */
    struct as_error err = {0};
    assert_int_equal(as_out_flush(&out, &err), AS_ERR_IO);
    assert_true(has(err.text, "Cannot allocate memory"));
    as_out_fini(&out);
    close(fd);
    for (int after = 0; after < 4; after++) {
        struct as_str str = {0};
        as_out_init_str(&out, &str);
        as_alloc_fail_after(after);
        for (int i = 0; i < 40; i++)
            as_out_fill(&out, 'y', 200);
        assert_int_equal(as_out_flush(&out, &err), AS_ERR_NOMEM);
        as_alloc_fail_after(-1);
        assert_int_equal(err.code, AS_ERR_NOMEM);
        assert_true(str.failed);
        as_out_fini(&out);
        as_str_fini(&str);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_doubles_read_back_and_are_short),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_descriptor_keeps_order),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_reader_gone_and_closed),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
