/* SPDX-License-Identifier: Apache-2.0 */
/* Words as a shell reads them, there and back. */
#include "unit.h"

#include <string.h>

#include "base/shell.h"

/* `want`: the words, a '|' behind each. */
static void splits(const char *text, const char *want)
{
    struct as_str words = {0}, got = {0};
    const int n = as_shell_split(text, &words, NULL);
    const char *at = words.p;
    for (int i = 0; i < n; i++, at += strlen(at) + 1)
        as_str_appendf(&got, "%s|", at);
    assert_string_equal(as_str_z(&got), want);
    as_str_fini(&words);
    as_str_fini(&got);
}

static void refuses(const char *text, const char *want)
{
    struct as_str words = {0};
    struct as_error err = {0};
    assert_int_equal(as_shell_split(text, &words, &err), AS_ERR_USAGE);
    assert_non_null(strstr(err.text, want));
    as_str_fini(&words);
}

static void test_words(void **state)
{
    (void)state;
    splits("", "");
    splits("  ./a  b\t c ", "./a|b|c|");
    splits("./a 'b c' \"d e\" f\\ g", "./a|b c|d e|f g|");
    splits("a'b'\"c\"d ''", "abcd||");
    splits("\"a\\\"b\\n\" '\\'", "a\"b\\n|\\|");
    splits("'a|b;c' \"*\"", "a|b;c|*|");
    refuses("a 'b", "not closed");
    refuses("a | b", "needs a shell");
    refuses("a >b", "needs a shell");
    refuses("$HOME/a", "needs a shell");
    refuses("a *.c", "needs a shell");
}

static void test_there_and_back(void **state)
{
    static const char *const words[] = {"", "a b", "it's", "$x", "\"", "a\\b", "-n", "~"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct as_str quoted = {0}, read = {0};
        as_shell_word(&quoted, words[i]);
        assert_int_equal(as_shell_split(as_str_z(&quoted), &read, NULL), 1);
        assert_string_equal(as_str_z(&read), words[i]);
        as_str_fini(&quoted);
        as_str_fini(&read);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_there_and_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
