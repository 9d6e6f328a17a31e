/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV writer: quoting after RFC 4180, numbers, empty fields. */
#include "unit.h"

#include <math.h>

#include "base/csv.h"

static void expect_field(const char *p, size_t n, const char *want)
{
    struct as_str str = {0};
    struct as_out out;
    struct as_csv csv;
    as_out_init_str(&out, &str);
    as_csv_init(&csv, &out);
    as_csv_view(&csv, (struct as_view){.p = p, .n = n});
    expect_text(&out, &str, want);
}

static void test_quoting(void **state)
{
    (void)state;
    expect_field("plain", 5, "plain");
    expect_field("a b;c'd", 7, "a b;c'd");
    expect_field("std::map<int, int>", 18, "\"std::map<int, int>\"");
    expect_field("\"", 1, "\"\"\"\"");
    expect_field("say \"x\"", 7, "\"say \"\"x\"\"\"");
    expect_field("a\nb", 3, "\"a\nb\"");
    expect_field("a\r", 2, "\"a\r\"");
    expect_field(" lead", 5, "\" lead\"");
    expect_field("trail ", 6, "\"trail \"");
    expect_field(NULL, 0, "");
    expect_field("", 0, "");
}

static void test_rows(void **state)
{
    (void)state;
    struct as_str str = {0};
    struct as_out out;
    struct as_csv csv;
    as_out_init_str(&out, &str);
    as_csv_init(&csv, &out);
    static const char *const names[] = {"name", "at", "size_b", "delta", "share", "note"};
    as_csv_header(&csv, names, 6);
    as_csv_string(&csv, "f(a,b)");
    as_csv_hex(&csv, 0x1000);
    as_csv_u64(&csv, UINT64_MAX);
    as_csv_i64(&csv, -5);
    as_csv_double(&csv, 0.125);
    as_csv_string(&csv, NULL);
    as_csv_row_end(&csv);
    as_csv_string(&csv, NULL);
    as_csv_hex(&csv, 0);
    as_csv_u64(&csv, 0);
    as_csv_i64(&csv, 0);
    as_csv_double(&csv, NAN);
    as_csv_string(&csv, "x");
    as_csv_row_end(&csv);
    expect_text(&out, &str,
                "name,at,size_b,delta,share,note\n"
                "\"f(a,b)\",0x1000,18446744073709551615,-5,0.125,\n"
                ",0x0,0,0,,x\n");
}

static void test_lone_empty_field_keeps_its_row(void **state)
{
    (void)state;
    struct as_str str = {0};
    struct as_out out;
    struct as_csv csv;
    as_out_init_str(&out, &str);
    as_csv_init(&csv, &out);
    static const char *const names[] = {"name"};
    as_csv_header(&csv, names, 1);
    as_csv_string(&csv, "");
    as_csv_row_end(&csv);
    expect_text(&out, &str, "name\n\"\"\n");
}

static void test_safe(void **state)
{
    static const struct {
        const char *in, *out;
    } text[] = {
        {"=1+1", "'=1+1"},
        {"+1-2", "'+1-2"},
        {"-2+3", "'-2+3"},
        {"@SUM(A1)", "'@SUM(A1)"},
        {"\t=1", "' =1"},
        {"\r=1", "'\\x0d=1"},
        {"=\"a\",b", "\"'=\"\"a\"\",b\""},
        {"-", "'-"},
        {"-e5", "'-e5"},
        {"-1e", "'-1e"},
        {"-1.", "'-1."},
        {"-0x10", "'-0x10"},
        {"-inf", "'-inf"},
        {"-5", "-5"},
        {"+5", "+5"},
        {"-1.25e-300", "-1.25e-300"},
        {"a=b", "a=b"},
        {"operator-", "operator-"},
        {"\033[2J", "\\x1b[2J"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct as_str str = {0}, want = {0};
        struct as_out out;
        struct as_csv csv;
        as_out_init_str(&out, &str);
        as_csv_init(&csv, &out);
        csv.safe = true;
        as_csv_string(&csv, text[i].in);
        as_csv_i64(&csv, -7);
        as_csv_row_end(&csv);
        as_str_appendf(&want, "%s,-7\n", text[i].out);
        expect_text(&out, &str, want.p);
        as_str_fini(&want);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    for (int after = 0; after < 3; after++) {
        struct as_str str = {0};
        struct as_out out;
        struct as_csv csv;
        as_out_init_str(&out, &str);
        as_csv_init(&csv, &out);
        as_alloc_fail_after(after);
        for (int i = 0; i < 1000; i++) {
            as_csv_string(&csv, "a,b");
            as_csv_u64(&csv, 7);
            as_csv_row_end(&csv);
        }
        assert_int_equal(as_out_flush(&out, NULL), AS_ERR_NOMEM);
        as_alloc_fail_after(-1);
        as_out_fini(&out);
        as_str_fini(&str);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quoting),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_lone_empty_field_keeps_its_row),
        cmocka_unit_test(test_safe),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
