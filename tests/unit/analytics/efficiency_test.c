/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of time, worked out by hand, where several threads of a rank call MPI, or one sleeps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analytics/state/walking.h"

#define S INT64_C(1000000000)

/* Seconds of a thread of a rank from `begin_s` on, in states one after the other. */
struct made_up_thread {
    int64_t rank, begin_s, useful_s, mpi_s, threads_s, asleep_s;
};

static struct as_efficiency efficiency_of(const struct made_up_thread *thread, size_t n)
{
    struct as_analysis a = {.interest = AS_INTEREST_ALL};
    uint32_t process = 0, place = 0;
    for (size_t i = 0; i < n; i++) {
        const struct made_up_thread *t = &thread[i];
        process += i > 0 && thread[i - 1].rank != t->rank;
        place = i > 0 && thread[i - 1].rank == t->rank ? place + 1 : 0;
        struct as_location location = {
            .process = process,
            .thread = place,
            .rank = t->rank,
            .span = {t->begin_s * S,
                     (t->begin_s + t->useful_s + t->mpi_s + t->threads_s + t->asleep_s) * S,
                     AS_WAIT_UNKNOWN}};
        location.activity_ns[AS_ACTIVITY_COMPUTING] = t->useful_s * S;
        location.activity_ns[AS_ACTIVITY_MPI] = t->mpi_s * S;
        location.activity_ns[AS_ACTIVITY_THREADS] = t->threads_s * S;
        location.activity_ns[AS_ACTIVITY_SLEEPING] = t->asleep_s * S;
        memcpy(location.interest_ns, location.activity_ns, sizeof location.interest_ns);
        assert_int_equal(as_vec_push(&a.location, location), 0);
    }
    as_efficiency_of(&a);
    as_vec_fini(&a.location);
    return a.efficiency;
}

static void assert_share(double got, double want)
{
    assert_false(isnan(got)); /* a NaN would be equal to all */
    assert_float_equal(got, want, 1e-12);
}

/* The main threads wait for workers, which call MPI: rank 0 has 6 s of useful work and 12 s in MPI,
 * rank 1 3 s and 15 s. Of 10 s they are outside MPI for 10/3 and 10/6. */
static void test_many_threads_call_mpi(void **state)
{
    (void)state;
    const struct made_up_thread thread[] = {{0, 0, 1, 1, 8, 0}, {0, 1, 2, 6, 0, 0},
                                            {0, 1, 3, 5, 0, 0}, {1, 0, 1, 1, 8, 0},
                                            {1, 1, 1, 7, 0, 0}, {1, 1, 1, 7, 0, 0}};
    const struct as_efficiency e = efficiency_of(thread, 6);
    assert_share(e.parallel, 9.0 / 6 / 10);
    assert_share(e.mpi_parallel, (10.0 / 3 + 10.0 / 6) / 2 / 10);
    assert_share(e.mpi_balance, 0.75);
    assert_share(e.mpi_communication, 1.0 / 3);
    assert_share(e.openmp_parallel, 0.6);
}

/* Workers that never call MPI do not count for it. */
static void test_one_thread_calls_mpi(void **state)
{
    (void)state;
    const struct made_up_thread thread[] = {
        {0, 0, 6, 4, 0, 0}, {0, 0, 5, 0, 5, 0}, {1, 0, 8, 2, 0, 0}, {1, 0, 5, 0, 5, 0}};
    const struct as_efficiency e = efficiency_of(thread, 4);
    assert_share(e.parallel, 24.0 / 4 / 10);
    assert_share(e.mpi_parallel, 0.7);
    assert_share(e.mpi_balance, 7.0 / 8);
}

/* Sleep is neither useful nor in MPI. */
static void test_asleep(void **state)
{
    (void)state;
    const struct made_up_thread thread[] = {{0, 0, 2, 2, 0, 6}, {1, 0, 7, 3, 0, 0}};
    const struct as_efficiency e = efficiency_of(thread, 2);
    assert_share(e.parallel, 0.45);
    assert_share(e.balance, 4.5 / 7);
    assert_share(e.mpi_parallel, 0.75);
    assert_share(e.openmp_parallel, 0.6);
    const struct made_up_thread alone = {-1, 0, 1, 0, 0, 9};
    assert_share(efficiency_of(&alone, 1).parallel, 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_threads_call_mpi),
        cmocka_unit_test(test_one_thread_calls_mpi),
        cmocka_unit_test(test_asleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
