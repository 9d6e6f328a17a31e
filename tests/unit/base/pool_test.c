/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool with many numbers of jobs. Each index runs once, and worker numbers are in range.
 * Results and errors are equal for any number of threads. Also nesting, several callers, out of
 * memory.
 */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/pool.h"

static const unsigned job_counts[] = {1, 2, 3, 4, 7, 16, 33};
#define JOB_COUNTS (sizeof job_counts / sizeof *job_counts)

struct cover {
    atomic_uchar *hits;
    size_t grain, n;
    unsigned jobs;
    atomic_int wrong;
};

static int cover_fn(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    struct cover *cover = ctx;
    if (!err || from >= to || to > cover->n || worker >= cover->jobs ||
        (cover->grain && (to - from > cover->grain || from % cover->grain)))
        atomic_fetch_add(&cover->wrong, 1);
    for (size_t i = from; i < to; i++)
        atomic_fetch_add(&cover->hits[i], 1);
    return 0;
}

static void test_each_index_once(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 5, 64, 1000, 4099};
    static const size_t grains[] = {0, 1, 7, 64, 5000, SIZE_MAX};
    for (size_t j = 0; j < JOB_COUNTS; j++) {
        struct as_pool *pool;
        assert_int_equal(as_pool_new(&pool, job_counts[j], NULL), 0);
        assert_int_equal(as_pool_jobs(pool), job_counts[j]);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (size_t g = 0; g < sizeof grains / sizeof *grains; g++) {
                struct cover cover = {.grain = grains[g], .n = counts[c]};
                cover.jobs = job_counts[j];
                cover.hits = calloc(counts[c] + 1, 1);
                assert_int_equal(as_pool_for(pool, counts[c], grains[g], cover_fn, &cover, NULL),
                                 0);
                assert_int_equal(atomic_load(&cover.wrong), 0);
                for (size_t i = 0; i < counts[c]; i++)
                    assert_int_equal(cover.hits[i], 1);
                free(cover.hits);
            }
        }
        as_pool_free(&pool);
        assert_null(pool);
    }
}

static int fail_fn(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    (void)worker;
    atomic_uchar *hits = ctx;
    for (size_t i = from; i < to; i++) {
        atomic_fetch_add(&hits[i], 1);
        /* Three failing places; the highest comes by far the soonest. */
        if (i == 300)
            for (int spin = 0; spin < 20; spin++)
                sched_yield();
        if (i == 300 || i == 301 || i == 310)
            return as_error_set(err, i == 300 ? AS_ERR_CORRUPT : AS_ERR_LIMIT, "at %zu", i);
    }
    return 0;
}

static void test_lowest_failure_wins(void **state)
{
    (void)state;
    for (size_t j = 0; j < JOB_COUNTS; j++) {
        struct as_pool *pool;
        assert_int_equal(as_pool_new(&pool, job_counts[j], NULL), 0);
        for (int round = 0; round < 20; round++) {
            atomic_uchar *hits = calloc(2000, 1);
            struct as_error err = {0};
            assert_int_equal(as_pool_for(pool, 2000, 1, fail_fn, hits, &err), AS_ERR_CORRUPT);
            assert_int_equal(err.code, AS_ERR_CORRUPT);
            assert_string_equal(err.text, "at 300");
            for (size_t i = 0; i <= 300; i++)
                assert_int_equal(hits[i], 1);
            free(hits);
        }
        /* The pool is usable after a failure, and NULL takes the error's place. */
        atomic_uchar *hits = calloc(2000, 1);
        assert_int_equal(as_pool_for(pool, 300, 1, fail_fn, hits, NULL), 0);
        assert_int_equal(as_pool_for(pool, 2000, 9, fail_fn, hits, NULL), AS_ERR_CORRUPT);
        free(hits);
        as_pool_free(&pool);
    }
}

static int square_fn(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    (void)worker;
    (void)err;
    for (size_t i = from; i < to; i++)
        ((uint64_t *)ctx)[i] = (uint64_t)i * i + 1;
    return 0;
}

struct nest {
    struct as_pool *pool;
    uint64_t (*rows)[100];
};

static int nest_fn(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    (void)worker;
    struct nest *nest = ctx;
    for (size_t i = from; i < to; i++)
        AS_TRY(as_pool_for(nest->pool, 100, 3, square_fn, nest->rows[i], err));
    return 0;
}

static void test_nesting(void **state)
{
    (void)state;
    for (size_t j = 0; j < JOB_COUNTS; j++) {
        struct nest nest = {.rows = calloc(50, sizeof *nest.rows)};
        assert_int_equal(as_pool_new(&nest.pool, job_counts[j], NULL), 0);
        assert_int_equal(as_pool_for(nest.pool, 50, 1, nest_fn, &nest, NULL), 0);
        for (size_t i = 0; i < 50; i++)
            for (size_t k = 0; k < 100; k++)
                assert_int_equal(nest.rows[i][k], k * k + 1);
        as_pool_free(&nest.pool);
        free(nest.rows);
    }
}

static void *call_many(void *arg)
{
    struct as_pool *pool = arg;
    uint64_t *squares = calloc(500, sizeof *squares);
    intptr_t wrong = 0;
    for (int round = 0; round < 50; round++) {
        memset(squares, 0, 500 * sizeof *squares);
        wrong += as_pool_for(pool, 500, 11, square_fn, squares, NULL) != 0;
        for (size_t i = 0; i < 500; i++)
            wrong += squares[i] != (uint64_t)i * i + 1;
    }
    free(squares);
    return (void *)wrong;
}

static void test_several_callers(void **state)
{
    (void)state;
    struct as_pool *pool;
    assert_int_equal(as_pool_new(&pool, 3, NULL), 0);
    pthread_t callers[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, call_many, pool), 0);
    for (int i = 0; i < 3; i++) {
        void *wrong;
        pthread_join(callers[i], &wrong);
        assert_null(wrong);
    }
    as_pool_free(&pool);
}

static void test_counts(void **state)
{
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    struct as_pool *pool;
    assert_int_equal(as_pool_new(&pool, 0, NULL), 0);
    assert_int_equal(as_pool_jobs(pool), CPU_COUNT(&before));
    as_pool_free(&pool);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(as_pool_processors(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(as_pool_jobs(NULL), 1);
    uint64_t squares[10];
    assert_int_equal(as_pool_for(NULL, 10, 0, square_fn, squares, NULL), 0);
    assert_int_equal(squares[9], 82);
    pool = NULL;
    as_pool_free(&pool);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct as_pool *pool = NULL;
    struct as_error err = {0};
    as_alloc_fail_after(0);
    assert_int_equal(as_pool_new(&pool, 4, &err), AS_ERR_NOMEM);
    as_alloc_fail_after(-1);
    assert_null(pool);
    assert_true(has(err.text, "thread pool: out of memory"));
    /* Running needs none. */
    uint64_t squares[64] = {0};
    assert_int_equal(as_pool_new(&pool, 4, &err), 0);
    as_alloc_fail_after(0);
    assert_int_equal(as_pool_for(pool, 64, 1, square_fn, squares, &err), 0);
    as_alloc_fail_after(-1);
    assert_int_equal(squares[63], 63 * 63 + 1);
    as_pool_free(&pool);
}

/* Uses two milliseconds of CPU time for each index. */
static int spin_fn(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    (void)ctx;
    (void)worker;
    (void)err;
    const int64_t until_ns = as_clock_ns(CLOCK_THREAD_CPUTIME_ID) + (int64_t)(to - from) * 2000000;
    while (as_clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
        ;
    return 0;
}

/* By construction: eight indices are 16 ms, of which one of two threads takes half or more. */
static void test_times(void **state)
{
    (void)state;
    struct as_pool *pool;
    assert_int_equal(as_pool_new(&pool, 2, NULL), 0);
    const struct as_pool_times before = as_pool_times();
    assert_int_equal(as_pool_for(pool, 8, 1, spin_fn, NULL, NULL), 0);
    const struct as_pool_times after = as_pool_times();
    assert_true(after.shared_ns - before.shared_ns >= 16000000);
    assert_true(after.longest_ns - before.longest_ns >= 8000000);
    assert_true(after.longest_ns - before.longest_ns <= after.shared_ns - before.shared_ns);
    /* Work done inline is not shared. */
    assert_int_equal(as_pool_for(pool, 1, 1, spin_fn, NULL, NULL), 0);
    assert_int_equal(as_pool_times().shared_ns, after.shared_ns);
    as_pool_free(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_index_once), cmocka_unit_test(test_lowest_failure_wins),
        cmocka_unit_test(test_nesting),         cmocka_unit_test(test_several_callers),
        cmocka_unit_test(test_counts),          cmocka_unit_test(test_times),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
