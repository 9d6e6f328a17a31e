/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of JSON, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/json_read.h"

/* Returns the tokens as letters: { } [ ] k s n w, "." at the end, "!" for a syntax error. */
static const char *tokens_of(const char *json)
{
    static const char letters[] = ".{}[]ksnw!";
    static char out[1024];
    struct as_json_read r;
    enum as_json_token token;
    size_t n = 0;

    as_json_read_init(&r, json, strlen(json));
    do {
        token = as_json_next(&r);
        out[n++] = letters[token];
    } while (token != AS_JSON_END && token != AS_JSON_BAD && n < sizeof out - 1);
    out[n] = '\0';
    as_json_read_fini(&r);
    return out;
}

static void test_tokens(void **state)
{
    (void)state;
    assert_string_equal(tokens_of("{\"a\": [1, -2.5e+3, true], \"b\": {}, \"c\": []}"),
                        "{k[nnw]k{}k[]}.");
    assert_string_equal(tokens_of(" \"x\" "), "s.");
    assert_string_equal(tokens_of("null"), "w.");
    assert_string_equal(tokens_of("[[],[[]]]"), "[[][[]]].");
}

static void test_no_json(void **state)
{
    static const char *const bad[][2] = {
        {"", "!"},           {"[1 2]", "[n!"},
        {"[1,]", "[n!"},     {"{\"a\" 1}", "{!"},
        {"{\"a\":}", "{k!"}, {"{1:2}", "{!"},
        {"[}", "[!"},        {"{\"a\":1]", "{kn!"},
        {"\"x", "!"},        {"\"\\q\"", "!"},
        {"\"\\u12\"", "!"},  {"1 1", "n!"},
        {"nul", "!"},        {"{\"a\":1,,\"b\":2}", "{kn!"},
        {"]", "!"},          {",1", "!"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_string_equal(tokens_of(bad[i][0]), bad[i][1]);
}

static void test_text(void **state)
{
    struct as_json_read r;
    static const char json[] = "[\"a\\n\\\"\\\\\\/\\u0041\\u00e9\\u20AC\\ud83d\", \"\"]";

    (void)state;
    as_json_read_init(&r, json, sizeof json - 1);
    assert_int_equal(as_json_next(&r), AS_JSON_ARRAY);
    assert_int_equal(as_json_next(&r), AS_JSON_STRING);
    assert_string_equal(as_str_z(&r.text), "a\n\"\\/A\xc3\xa9\xe2\x82\xac\xef\xbf\xbd");
    assert_int_equal(as_json_next(&r), AS_JSON_STRING);
    assert_string_equal(as_str_z(&r.text), "");
    assert_int_equal(as_json_next(&r), AS_JSON_ARRAY_END);
    assert_int_equal(as_json_next(&r), AS_JSON_END);
    as_json_read_fini(&r);
}

static void test_skip(void **state)
{
    struct as_json_read r;
    static const char json[] = "{\"a\": [1, {\"b\": [[2]]}], \"c\": 3}";

    (void)state;
    as_json_read_init(&r, json, sizeof json - 1);
    as_json_next(&r);
    as_json_next(&r);
    as_json_skip(&r, as_json_next(&r));
    assert_int_equal(as_json_next(&r), AS_JSON_KEY);
    assert_string_equal(as_str_z(&r.text), "c");
    as_json_skip(&r, as_json_next(&r));
    assert_int_equal(as_json_next(&r), AS_JSON_OBJECT_END);
    as_json_read_fini(&r);
}

/* No deeper than is said, and no further when memory is short. */
static void test_limits(void **state)
{
    char deep[2 * AS_JSON_DEEP_MOST + 2];
    struct as_json_read r;

    (void)state;
    memset(deep, '[', sizeof deep);
    as_json_read_init(&r, deep, sizeof deep);
    for (unsigned i = 0; i < AS_JSON_DEEP_MOST; i++)
        assert_int_equal(as_json_next(&r), AS_JSON_ARRAY);
    assert_int_equal(as_json_next(&r), AS_JSON_BAD);
    assert_int_equal(as_json_next(&r), AS_JSON_BAD);
    as_json_read_fini(&r);
    as_json_read_init(&r, "\"abc\"", 5);
    as_alloc_fail_after(0);
    assert_int_equal(as_json_next(&r), AS_JSON_BAD);
    as_alloc_fail_after(-1);
    assert_true(r.text.failed);
    as_json_read_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens), cmocka_unit_test(test_no_json), cmocka_unit_test(test_text),
        cmocka_unit_test(test_skip),   cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
