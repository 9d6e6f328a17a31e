/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are found by the word that they begin with. */
#include "unit.h"

#include "base/index.h"

struct word_row {
    uint64_t word;
    uint32_t value;
};

static void test_words(void **state)
{
    (void)state;
    enum { N = 10000 };
    static struct word_row rows[N];
    struct as_index index = {0};
    assert_int_equal(as_index_of_word(&index, rows, sizeof *rows, 0), AS_INDEX_NONE);
    for (uint32_t i = 0; i < N; i++) {
        rows[i] = (struct word_row){i % 3 ? (uint64_t)i << 32 : ~(uint64_t)i, i};
        assert_int_equal(as_index_of_word(&index, rows, sizeof *rows, rows[i].word), AS_INDEX_NONE);
        assert_int_equal(as_index_add_word(&index, rows[i].word, i), 0);
    }
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(as_index_of_word(&index, rows, sizeof *rows, rows[i].word), i);
    assert_int_equal(as_index_of_word(&index, rows, sizeof *rows, 1), AS_INDEX_NONE);
    assert_int_equal(as_index_of_word(&index, rows, sizeof *rows, UINT64_C(3) << 32),
                     AS_INDEX_NONE);
    as_index_fini(&index);
}

static void test_text(void **state)
{
    (void)state;
    assert_int_equal(as_hash_text(5, ""), 5);
    assert_int_equal(as_hash_text(as_hash_text(5, "ab"), "c"), as_hash_text(5, "abc"));
    assert_true(as_hash_text(5, "ab") != as_hash_text(5, "ba"));
    assert_true(as_hash_text(5, "ab") != as_hash_text(6, "ab"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
