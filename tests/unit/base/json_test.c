/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer: exact text, and everything read back by jansson; misuse stops. */
#include "unit.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/json.h"

struct doc {
    struct as_str str;
    struct as_out out;
    struct as_json json;
};

static void doc_begin(struct doc *doc, unsigned indent)
{
    doc->str = (struct as_str){0};
    as_out_init_str(&doc->out, &doc->str);
    as_json_init(&doc->json, &doc->out, indent);
}

static void doc_expect(struct doc *doc, const char *want)
{
    as_json_finish(&doc->json);
    expect_text(&doc->out, &doc->str, want);
}

static void write_sample(struct as_json *j)
{
    as_json_object_begin(j);
    as_json_key_u64(j, "schema", 1);
    as_json_key(j, "empty");
    as_json_array_begin(j);
    as_json_array_end(j);
    as_json_key(j, "none");
    as_json_object_begin(j);
    as_json_object_end(j);
    as_json_key(j, "list");
    as_json_array_begin(j);
    as_json_i64(j, -1);
    as_json_bool(j, true);
    as_json_null(j);
    as_json_object_begin(j);
    as_json_key_hex(j, "at", 0x1f40);
    as_json_key_double(j, "cy", 2.25);
    as_json_object_end(j);
    as_json_array_end(j);
    as_json_key_string(j, "end", "x");
    as_json_object_end(j);
}

static void test_compact(void **state)
{
    (void)state;
    struct doc d;
    doc_begin(&d, 0);
    write_sample(&d.json);
    doc_expect(&d, "{\"schema\":1,\"empty\":[],\"none\":{},\"list\":[-1,true,null,"
                   "{\"at\":\"0x1f40\",\"cy\":2.25}],\"end\":\"x\"}\n");
}

static void test_indented(void **state)
{
    (void)state;
    struct doc d;
    doc_begin(&d, 2);
    write_sample(&d.json);
    doc_expect(&d, "{\n  \"schema\": 1,\n  \"empty\": [],\n  \"none\": {},\n  \"list\": [\n"
                   "    -1,\n    true,\n    null,\n    {\n      \"at\": \"0x1f40\",\n"
                   "      \"cy\": 2.25\n    }\n  ],\n  \"end\": \"x\"\n}\n");
}

static void test_one_document_after_another(void **state)
{
    (void)state;
    struct doc d;
    doc_begin(&d, 0);
    as_json_u64(&d.json, 7);
    as_json_finish(&d.json);
    as_json_string(&d.json, NULL);
    doc_expect(&d, "7\nnull\n");
}

static void test_strings(void **state)
{
    (void)state;
    static const struct {
        const char *p;
        size_t n;
        const char *want;
    } cases[] = {
        {"plain/name<int>", 15, "\"plain/name<int>\""},
        {"", 0, "\"\""},
        {"\"\\", 2, "\"\\\"\\\\\""},
        {"\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\""},
        {"a\0b\x1f\x7f", 5, "\"a\\u0000b\\u001f\\u007f\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xff|\xc3|\xe2\x82", 6, "\"\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\""},
        {"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct doc d;
        doc_begin(&d, 0);
        as_json_view(&d.json, (struct as_view){.p = cases[i].p, .n = cases[i].n});
        as_json_finish(&d.json);
        assert_int_equal(as_out_flush(&d.out, NULL), 0);
        assert_int_equal(d.str.n, strlen(cases[i].want) + 1);
        assert_memory_equal(d.str.p, cases[i].want, d.str.n - 1);
        json_t *back = json_loadb(d.str.p, d.str.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        assert_non_null(back);
        json_decref(back);
        as_out_fini(&d.out);
        as_str_fini(&d.str);
    }
}

/* Any bytes whatever must come out as JSON that another reader takes. */
static void test_random_bytes_are_readable(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 2000; i++) {
        char bytes[64];
        for (size_t k = 0; k < sizeof bytes; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            bytes[k] = (char)(random >> 56);
        }
        struct doc d;
        doc_begin(&d, i % 3);
        as_json_array_begin(&d.json);
        as_json_view(&d.json, (struct as_view){.p = bytes, .n = (size_t)i % 64});
        as_json_array_end(&d.json);
        as_json_finish(&d.json);
        assert_int_equal(as_out_flush(&d.out, NULL), 0);
        json_error_t error;
        json_t *back = json_loadb(d.str.p, d.str.n, JSON_ALLOW_NUL, &error);
        if (!back)
            fail_msg("%s in %s", error.text, d.str.p);
        assert_int_equal(json_array_size(back), 1);
        json_decref(back);
        as_out_fini(&d.out);
        as_str_fini(&d.str);
    }
}

static void test_numbers_read_back(void **state)
{
    (void)state;
    struct doc d;
    doc_begin(&d, 1);
    as_json_array_begin(&d.json);
    as_json_i64(&d.json, INT64_MIN);
    as_json_u64(&d.json, INT64_MAX);
    as_json_double(&d.json, 0.1);
    as_json_double(&d.json, 6.02214076e23);
    as_json_double(&d.json, -1e-300);
    as_json_double(&d.json, NAN);
    as_json_double(&d.json, -INFINITY);
    as_json_array_end(&d.json);
    as_json_finish(&d.json);
    assert_int_equal(as_out_flush(&d.out, NULL), 0);
    json_t *a = json_loads(as_str_z(&d.str), 0, NULL);
    assert_int_equal(json_array_size(a), 7);
    assert_true(json_integer_value(json_array_get(a, 0)) == INT64_MIN);
    assert_true(json_integer_value(json_array_get(a, 1)) == INT64_MAX);
    assert_true(json_real_value(json_array_get(a, 2)) == 0.1);
    assert_true(json_real_value(json_array_get(a, 3)) == 6.02214076e23);
    assert_true(json_real_value(json_array_get(a, 4)) == -1e-300);
    assert_true(json_is_null(json_array_get(a, 5)));
    assert_true(json_is_null(json_array_get(a, 6)));
    json_decref(a);
    as_out_fini(&d.out);
    as_str_fini(&d.str);
}

static void test_full_depth(void **state)
{
    (void)state;
    struct doc d;
    doc_begin(&d, 0);
    for (int i = 0; i < AS_JSON_DEPTH; i++) {
        if (i % 2) {
            as_json_object_begin(&d.json);
            as_json_key(&d.json, "k");
        } else {
            as_json_array_begin(&d.json);
        }
    }
    as_json_u64(&d.json, 1);
    for (int i = AS_JSON_DEPTH - 1; i >= 0; i--) {
        if (i % 2)
            as_json_object_end(&d.json);
        else
            as_json_array_end(&d.json);
    }
    as_json_finish(&d.json);
    assert_int_equal(as_out_flush(&d.out, NULL), 0);
    json_t *back = json_loads(as_str_z(&d.str), 0, NULL);
    assert_non_null(back);
    json_decref(back);
    as_out_fini(&d.out);
    as_str_fini(&d.str);
}

/* For a page: control characters are text that can be seen, ends of lines stay. */
static void clean_texts(void **state)
{
    struct as_str text = {0};
    struct as_out out;
    struct as_json json;

    (void)state;
    as_out_init_str(&out, &text);
    as_json_init(&json, &out, 0);
    json.clean = true;
    as_json_string(&json, "a\x1b[31m\xe2\x80\xae\xc2\x9b\n\t\"\\b\x7f\xff");
    as_json_finish(&json);
    assert_int_equal(as_out_flush(&out, NULL), 0);
    assert_string_equal(text.p, "\"a\\\\x1b[31m\\\\u202e\\\\u009b\\n\\t\\\"\\\\b\\\\x7f"
                                "\xef\xbf\xbd\"\n");
    as_out_fini(&out);
    as_str_fini(&text);
}

static void no_key(struct as_json *j)
{
    as_json_object_begin(j);
    as_json_u64(j, 1);
}

static void key_in_array(struct as_json *j)
{
    as_json_array_begin(j);
    as_json_key(j, "k");
}

static void wrong_end(struct as_json *j)
{
    as_json_array_begin(j);
    as_json_object_end(j);
}

static void key_without_value(struct as_json *j)
{
    as_json_object_begin(j);
    as_json_key(j, "k");
    as_json_object_end(j);
}

static void two_values(struct as_json *j)
{
    as_json_u64(j, 1);
    as_json_u64(j, 2);
}

static void incomplete(struct as_json *j)
{
    as_json_array_begin(j);
    as_json_finish(j);
}

static void end_too_many(struct as_json *j)
{
    as_json_array_end(j);
}

static void too_deep(struct as_json *j)
{
    for (int i = 0; i <= AS_JSON_DEPTH; i++)
        as_json_array_begin(j);
}

static void test_misuse_stops(void **state)
{
    (void)state;
#ifdef NDEBUG
    skip();
#endif
    static void (*const misuses[])(struct as_json *) = {
        no_key,     key_in_array, wrong_end,    key_without_value,
        two_values, incomplete,   end_too_many, too_deep};
    for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            close(STDERR_FILENO); /* the assert's message is wanted here */
            signal(SIGABRT, SIG_DFL);
            struct doc d;
            doc_begin(&d, 0);
            misuses[i](&d.json);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
            fail_msg("misuse %zu went through", i);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    int refused = 0;
    for (int after = 0; after < 12; after++) {
        struct doc d;
        doc_begin(&d, 2);
        as_alloc_fail_after(after);
        as_json_array_begin(&d.json);
        for (int i = 0; i < 50; i++)
            write_sample(&d.json);
        as_json_array_end(&d.json);
        as_json_finish(&d.json);
        struct as_error err = {0};
        int rc = as_out_flush(&d.out, &err);
        as_alloc_fail_after(-1);
        assert_true(rc == 0 || rc == AS_ERR_NOMEM);
        refused += rc != 0;
        as_out_fini(&d.out);
        as_str_fini(&d.str);
    }
    assert_in_range(refused, 3, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_texts),
        cmocka_unit_test(test_compact),
        cmocka_unit_test(test_indented),
        cmocka_unit_test(test_one_document_after_another),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_random_bytes_are_readable),
        cmocka_unit_test(test_numbers_read_back),
        cmocka_unit_test(test_full_depth),
        cmocka_unit_test(test_misuse_stops),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
