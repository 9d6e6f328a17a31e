/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records by time, in memory, in runs and in the file without a name: all of them, in order, those
 * of one time as they were added. And records that lie packed one behind the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "exchange/lane.h"
#include "exchange/ordered.h"
#include "exchange/prv_states.h"
#include "trace/numbers.h"

struct timed {
    int64_t ns;
    uint64_t number;
    char rest[112]; /* so that few are more than is kept in memory */
};

static uint64_t seed;
static uint64_t any(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed >> 33;
}

/* A number of any length. */
static uint64_t sized(void)
{
    const uint64_t value = any();
    return value >> any() % 31;
}

/* Nearly in order, as they are found: some much too late, many at one time. */
static int64_t time_of(uint64_t i)
{
    const int64_t late = any() % 50 == 0 ? (int64_t)(any() % 300000) : (int64_t)(any() % 40);
    return (int64_t)i / 4 - late;
}

static int fill_store(struct as_ordered_store *store, uint64_t n, struct as_error *err)
{
    struct timed record = {0};
    int rc = 0;
    seed = n;
    for (uint64_t i = 0; rc == 0 && i < n; i++) {
        record.ns = time_of(i);
        record.number = i;
        record.rest[i % sizeof record.rest] = (char)i;
        rc = as_ordered_add(store, &record, err);
        record.rest[i % sizeof record.rest] = 0;
    }
    return rc;
}

static void check_store(uint64_t n)
{
    struct as_ordered_store *store;
    struct as_error err;
    const void *record;
    uint64_t got = 0, numbers = 0;
    struct timed before = {.ns = INT64_MIN};
    assert_int_equal(as_ordered_new(&store, sizeof(struct timed)), 0);
    assert_int_equal(fill_store(store, n, &err), 0);
    assert_int_equal(as_ordered_begin(store, &err), 0);
    for (;; got++) {
        assert_int_equal(as_ordered_next(store, &record, &err), 0);
        if (!record)
            break;
        const struct timed *it = record;
        assert_true(it->ns > before.ns || (it->ns == before.ns && it->number > before.number));
        assert_int_equal(it->rest[it->number % sizeof it->rest], (char)it->number);
        numbers += it->number * it->number;
        before = *it;
    }
    for (uint64_t i = 0; i < n; i++)
        numbers -= i * i;
    assert_int_equal(got, n);
    assert_int_equal(numbers, 0);
    as_ordered_free(&store);
}

/* One chunk, the edges of it, runs in memory, and more than is kept there. */
static void test_order(void **state)
{
    (void)state;
    const uint64_t chunk = 1 << 16;
    const uint64_t n[] = {
        0, 1, 2, 1000, chunk, chunk + 1, 3 * chunk, 5 * chunk + 77, 12 * chunk + 5};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        check_store(n[i]);
}

static int count_one(void *context, const void *record)
{
    (void)record;
    ++*(uint64_t *)context;
    return 0;
}

static void test_no_memory(void **state)
{
    (void)state;
    for (int64_t after = 0; after < 100; after += after < 4 ? 1 : 3) {
        struct as_ordered_store *store = NULL;
        struct as_error err;
        uint64_t n = 0;
        as_alloc_fail_after(after);
        int rc = as_ordered_new(&store, sizeof(struct timed));
        if (rc == 0)
            rc = fill_store(store, 600000, &err);
        if (rc == 0)
            rc = as_ordered_read(store, count_one, &n, &err);
        as_alloc_fail_after(-1);
        as_ordered_free(&store);
        if (rc == 0) {
            assert_int_equal(n, 600000);
            assert_true(after > 5);
            return;
        }
        assert_int_equal(rc, AS_ERR_NOMEM);
    }
    fail_msg("it never has enough");
}

/* Records of all lengths; `n` of them. */
static void check_lane(uint64_t n)
{
    struct as_lane lane;
    struct as_error err;
    uint8_t *to = NULL;
    const uint8_t *at;
    assert_int_equal(as_lane_init(&lane), 0);
    seed = 3;
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(as_lane_room(&lane, &to, &err), 0);
        to = as_numbers_encode(to, i);
        to = as_numbers_encode(to, sized());
        to = as_numbers_encode(to, as_numbers_zigzag(i % 3 ? (int64_t)i : INT64_MIN + (int64_t)i));
        as_lane_commit(&lane, to);
    }
    assert_int_equal(as_lane_begin(&lane, &err), 0);
    seed = 3;
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(as_lane_next(&lane, &at, &err), 0);
        const uint8_t *end = at + AS_LANE_MOST_B;
        assert_true(as_numbers_next(&at, end) == i);
        assert_true(as_numbers_next(&at, end) == sized());
        assert_true(as_numbers_unzigzag(as_numbers_next(&at, end)) ==
                    (i % 3 ? (int64_t)i : INT64_MIN + (int64_t)i));
        as_lane_pass(&lane, at);
    }
    assert_int_equal(as_lane_next(&lane, &at, &err), 0);
    assert_null(at);
    as_lane_fini(&lane);
}

static void test_lane(void **state)
{
    (void)state;
    check_lane(0);
    check_lane(1000);
    check_lane(8000000); /* more than is kept in memory */
}

/* ---- States ---------------------------------------------------------------------------------- */

/* Some do not begin where the one before ended, some are long, some numbers have grown much. */
static void make_states(struct as_prv_interval *all, size_t n, uint32_t rows_n)
{
    int64_t *end_ns = as_calloc(rows_n, sizeof *end_ns);
    uint64_t events_n = 0;
    assert_non_null(end_ns);
    for (size_t i = 0; i < n; i++) {
        const uint32_t row = (uint32_t)(any() % rows_n);
        const int64_t gap_ns = any() % 3 == 0 ? (int64_t)(any() % 100) : 0;
        const int64_t long_ns = any() % 50 == 0 ? INT64_C(1) << 33 : 0;
        events_n += any() % 1000 == 0 ? 1 << 21 : 1 + any() % 5;
        all[i] = (struct as_prv_interval){.ns = end_ns[row] + gap_ns,
                                          .number = events_n << AS_PRV_FOUND_BITS | any() % 300,
                                          .end_ns = end_ns[row] + gap_ns + 1 +
                                                    (int64_t)(any() % 1000) + long_ns,
                                          .location = row,
                                          .state = (uint32_t)(any() % 70)};
        end_ns[row] = all[i].end_ns;
    }
    as_free(end_ns);
}

static int compare_states(const void *a, const void *b)
{
    const struct as_prv_interval *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void check_states(size_t n, uint32_t rows_n)
{
    struct as_prv_interval *all = as_calloc(n + 1, sizeof *all);
    const struct as_prv_interval *it;
    struct as_prv_states *states;
    struct as_error err;
    assert_non_null(all);
    seed = n;
    make_states(all, n, rows_n);
    assert_int_equal(as_prv_states_new(&states, rows_n), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(as_prv_states_add(states, &all[i], &err), 0);
    qsort(all, n, sizeof *all, compare_states);
    assert_int_equal(as_prv_states_begin(states, &err), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(as_prv_states_next(states, &it, &err), 0);
        assert_non_null(it);
        assert_true(it->ns == all[i].ns && it->end_ns == all[i].end_ns &&
                    it->number == all[i].number && it->location == all[i].location &&
                    it->state == all[i].state);
    }
    assert_int_equal(as_prv_states_next(states, &it, &err), 0);
    assert_null(it);
    as_prv_states_free(&states);
    as_free(all);
}

static void test_states(void **state)
{
    (void)state;
    check_states(0, 1);
    check_states(0, 3);
    check_states(1000, 1);
    check_states(100000, 7);
    check_states(3000000, 1000); /* more than is kept in memory */
}

static void test_states_no_memory(void **state)
{
    (void)state;
    for (int64_t after = 0; after < 100; after++) {
        struct as_prv_states *states = NULL;
        const struct as_prv_interval *it = NULL;
        struct as_error err;
        as_alloc_fail_after(after);
        int rc = as_prv_states_new(&states, 2);
        for (int64_t i = 0; rc == 0 && i < 1000; i++)
            rc = as_prv_states_add(
                states,
                &(struct as_prv_interval){
                    .ns = i, .end_ns = i + 1, .location = (uint32_t)(i % 2), .state = 1},
                &err);
        if (rc == 0)
            rc = as_prv_states_begin(states, &err);
        if (rc == 0)
            rc = as_prv_states_next(states, &it, &err);
        as_alloc_fail_after(-1);
        as_prv_states_free(&states);
        if (rc == 0) {
            assert_true(after > 3);
            return;
        }
        assert_int_equal(rc, AS_ERR_NOMEM);
    }
    fail_msg("it never has enough");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order), cmocka_unit_test(test_no_memory), cmocka_unit_test(test_lane),
        cmocka_unit_test(test_states), cmocka_unit_test(test_states_no_memory)};
    return cmocka_run_group_tests_name("exchange/ordered", tests, NULL, NULL);
}
