/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what is open against a plain list, with rows of two sizes. */
#include "unit.h"

#include "base/id_table.h"

struct small_row {
    struct as_numbered id;
    uint32_t value;
};

struct large_row {
    struct as_numbered id;
    uint64_t value[9];
};

static struct small_row *find_small(const struct as_numbered_table *table, uint32_t process,
                                    int64_t number)
{
    return as_numbered_find(table, sizeof(struct small_row), process, number);
}

static void test_few(void **state)
{
    (void)state;
    struct as_numbered_table table = {0};
    struct small_row row = {.id = {3, 1, -7}, .value = 10};
    assert_null(find_small(&table, 3, -7));
    assert_int_equal(as_numbered_put(&table, sizeof row, &row), 0);
    row.id.process = 4; /* another process's of the same number */
    row.value = 20;
    assert_int_equal(as_numbered_put(&table, sizeof row, &row), 0);
    assert_int_equal(table.n, 2);
    assert_int_equal(find_small(&table, 3, -7)->value, 10);
    assert_int_equal(find_small(&table, 4, -7)->value, 20);
    assert_null(find_small(&table, 4, 7));
    row.id.kind = 2; /* in its place */
    row.value = 30;
    assert_int_equal(as_numbered_put(&table, sizeof row, &row), 0);
    assert_int_equal(table.n, 2);
    assert_int_equal(find_small(&table, 4, -7)->value, 30);
    assert_int_equal(find_small(&table, 4, -7)->id.kind, 2);
    as_numbered_drop(&table, sizeof row, find_small(&table, 4, -7));
    assert_null(find_small(&table, 4, -7));
    assert_int_equal(find_small(&table, 3, -7)->value, 10);
    as_numbered_drop(&table, sizeof row, find_small(&table, 3, -7));
    assert_null(find_small(&table, 3, -7));
    assert_int_equal(table.n, 0);
    as_numbered_fini(&table);
    assert_null(table.at);
}

/* Numbers of a few processes come and go at random; the list says which are there. Half full, the
 * table has clusters that go around its end. */
enum { PROCESSES = 5, NUMBERS = 3000, STEPS = 200000 };
static uint32_t is_there[PROCESSES][NUMBERS]; /* the value; 0: it is not */

static void check_all(const struct as_numbered_table *table)
{
    size_t n = 0;
    for (uint32_t p = 0; p < PROCESSES; p++)
        for (int64_t i = 0; i < NUMBERS; i++) {
            const struct large_row *row = as_numbered_find(table, sizeof *row, p, i);
            n += is_there[p][i] != 0;
            assert_int_equal(row != NULL, is_there[p][i] != 0);
            if (row) {
                assert_int_equal(row->id.process, p);
                assert_int_equal(row->id.number, i);
                assert_int_equal(row->value[0], is_there[p][i]);
                assert_int_equal(row->value[8], ~(uint64_t)is_there[p][i]);
            }
        }
    assert_int_equal(table->n, n);
    for (size_t i = 0; i < table->place_n; i++)
        n -= ((const struct large_row *)as_numbered_at(table, sizeof(struct large_row), i))
                 ->id.kind != 0;
    assert_int_equal(n, 0);
}

static void step_once(struct as_numbered_table *table, uint64_t random, uint32_t value,
                      uint32_t numbers)
{
    const uint32_t p = (uint32_t)(random % PROCESSES), i = (uint32_t)(random >> 8) % numbers;
    struct large_row *row = as_numbered_find(table, sizeof *row, p, i);
    if (row && random >> 63) {
        as_numbered_drop(table, sizeof *row, row);
        is_there[p][i] = 0;
    } else {
        const struct large_row put = {.id = {p, (uint8_t)(1 + i % 3), i},
                                      .value = {value, [8] = ~(uint64_t)value}};
        assert_int_equal(as_numbered_put(table, sizeof put, &put), 0);
        is_there[p][i] = value;
    }
}

static void test_many(void **state)
{
    (void)state;
    struct as_numbered_table table = {0};
    uint64_t random = 1;
    for (uint32_t step = 1; step <= STEPS; step++) {
        random = as_hash_mix(random, step);
        step_once(&table, random, step, step < STEPS / 2 ? 12 : NUMBERS);
        if (step % (STEPS / 20) == 0)
            check_all(&table);
    }
    assert_in_range(table.place_n, 2 * table.n, 8 * table.n);
    for (uint32_t p = 0; p < PROCESSES; p++)
        for (int64_t i = 0; i < NUMBERS; i++) {
            struct large_row *row = as_numbered_find(&table, sizeof *row, p, i);
            if (row)
                as_numbered_drop(&table, sizeof *row, row);
            is_there[p][i] = 0;
        }
    check_all(&table);
    as_numbered_fini(&table);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct as_numbered_table table = {0};
    const struct small_row first = {.id = {0, 1, 0}, .value = 1};
    struct small_row row = first;
    as_alloc_fail_after(0);
    assert_int_equal(as_numbered_put(&table, sizeof row, &row), AS_ERR_NOMEM);
    assert_null(table.at);
    as_alloc_fail_after(1); /* the first table is made, a larger one is not */
    for (; as_numbered_put(&table, sizeof row, &row) == 0; row.id.number++)
        assert_true(row.id.number < 1000);
    as_alloc_fail_after(-1);
    assert_int_equal(table.n, row.id.number); /* nothing was lost */
    for (int64_t i = 0; i < row.id.number; i++)
        assert_non_null(find_small(&table, 0, i));
    as_numbered_fini(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_few), cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
