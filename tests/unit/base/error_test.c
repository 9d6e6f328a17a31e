/* SPDX-License-Identifier: Apache-2.0 */
/* The error object: the code list, the sentence, truncation, foreign bytes, forwarding. */
#include "unit.h"

#include "base/utf8.h"

static void test_every_code(void **state)
{
    (void)state;
    static const int codes[] = {
#define CODE(name, code, status, summary) AS_ERR_##name,
        AS_ERROR_LIST(CODE)
#undef CODE
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        assert_int_equal(codes[i], -(int)i - 1); /* dense: no code used twice */
        int status = as_error_exit_status(codes[i]);
        assert_true(status == 1 || status == 2);
        assert_string_not_equal(as_error_summary(codes[i]), "unknown error");
    }
    assert_int_equal(as_error_exit_status(AS_OK), 0);
    assert_int_equal(as_error_exit_status(AS_ERR_USAGE), 2);
    assert_int_equal(as_error_exit_status(AS_ERR_NOT_ELF), 2);
    assert_int_equal(as_error_exit_status(AS_ERR_NOMEM), 1);
    assert_int_equal(as_error_exit_status(-999), 1);
    assert_string_equal(as_error_summary(-999), "unknown error");
    assert_string_equal(as_error_summary(AS_ERR_CORRUPT), "corrupted file");
}

static void test_sentence(void **state)
{
    (void)state;
    struct as_error err = {0};
    assert_int_equal(as_error_set(&err, AS_ERR_IO, "%s: %d", "x", 7), AS_ERR_IO);
    assert_int_equal(err.code, AS_ERR_IO);
    assert_string_equal(err.text, "x: 7");
    assert_int_equal(as_error_set(NULL, AS_ERR_IO, "unseen"), AS_ERR_IO);
    assert_int_equal(as_error_nomem(&err, "symbols"), AS_ERR_NOMEM);
    assert_true(strncmp(err.text, "symbols: out of memory", 22) == 0);
    assert_int_equal(as_error_nomem(NULL, "x"), AS_ERR_NOMEM);
}

static void test_wraps_its_own_text(void **state)
{
    (void)state;
    struct as_error err = {0};
    as_error_set(&err, AS_ERR_IO, "inner");
    as_error_set(&err, AS_ERR_IO, "outer: %s", err.text);
    assert_string_equal(err.text, "outer: inner");
}

static void test_truncation(void **state)
{
    (void)state;
    struct as_error err = {0};
    char text[2 * AS_ERROR_TEXT_B];
    memset(text, 'a', sizeof text);
    /* One byte that fits, then the first that does not. */
    text[AS_ERROR_TEXT_B - 1] = '\0';
    as_error_set(&err, AS_ERR_IO, "%s", text);
    assert_string_equal(err.text, text);
    text[AS_ERROR_TEXT_B - 1] = 'a';
    text[AS_ERROR_TEXT_B] = '\0';
    as_error_set(&err, AS_ERR_IO, "%s", text);
    assert_int_equal(strlen(err.text), AS_ERROR_TEXT_B - 1);
    assert_string_equal(err.text + AS_ERROR_TEXT_B - 5, "a...");
    /* Three-byte characters at every phase: none is left in half. */
    for (size_t phase = 0; phase < 3; phase++) {
        memset(text, 'b', sizeof text);
        for (size_t i = phase; i + 3 < sizeof text; i += 3)
            memcpy(text + i, "\xe2\x82\xac", 3);
        text[sizeof text - 1] = '\0';
        as_error_set(&err, AS_ERR_IO, "%s", text);
        size_t n = strlen(err.text);
        assert_string_equal(err.text + n - 3, "...");
        for (size_t i = 0; i < n;) {
            uint32_t c;
            int used = as_utf8_next(err.text + i, n - i, &c);
            assert_true(used > 0);
            i += (size_t)used;
        }
    }
}

static void test_foreign_bytes(void **state)
{
    (void)state;
    struct as_error err = {0};
    as_error_set(&err, AS_ERR_IO, "a\nb\033[31m\x7f \xc3\xa9");
    assert_string_equal(err.text, "a?b?[31m? \xc3\xa9");
}

static int fails(struct as_error *err)
{
    return as_error_set(err, AS_ERR_LIMIT, "first");
}

static int forwards(struct as_error *err, bool *after)
{
    AS_TRY(0);
    AS_TRY(3);
    AS_TRY(fails(err));
    *after = true;
    return 0;
}

static void test_try(void **state)
{
    (void)state;
    struct as_error err = {0};
    bool after = false;
    assert_int_equal(forwards(&err, &after), AS_ERR_LIMIT);
    assert_false(after);
    assert_string_equal(err.text, "first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code),         cmocka_unit_test(test_sentence),
        cmocka_unit_test(test_wraps_its_own_text), cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_foreign_bytes),      cmocka_unit_test(test_try),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
