/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of what-ifs on numbers that can be worked out by hand. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advise.h"

#define near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

struct answer {
    double alone[8], cumulative[8];
    size_t order[8];
    struct as_bounded_value total;
};

static struct answer ask(const struct as_thread_time *thread, size_t thread_n,
                         const struct as_saving *saving, size_t saving_n, size_t object_n)
{
    const struct as_run_time alone = {0};
    struct answer it = {0};
    struct as_error err;

    assert_int_equal(as_what_if_gains(thread, thread_n, &alone, saving, saving_n, object_n,
                                      it.alone, it.order, it.cumulative, &it.total, &err),
                     0);
    return it;
}

/* One thread of 10 s: Amdahl's law. */
static void test_one_thread(void **state)
{
    const struct as_thread_time thread[] = {{10, 0, 5000, 0, 0}};
    const struct as_saving saving[] = {{0, 0, 1, 1, 1, 500}, {1, 0, 4, 4, 4, 2000}};
    const struct answer it = ask(thread, 1, saving, 2, 2);

    (void)state;
    near(it.alone[0], 1);
    near(it.alone[1], 4);
    assert_int_equal(it.order[0], 1); /* most first */
    assert_int_equal(it.order[1], 0);
    near(it.cumulative[0], 4);
    near(it.cumulative[1], 5);
    near(it.total.value, 5);
    assert_int_equal(it.total.n, 2500);
    assert_int_equal(it.total.origin, AS_ORIGIN_DERIVED);
    /* 2500 samples: +-1.96/50 of it */
    near(it.total.low, 5 * (1 - 1.96 / 50));
    near(it.total.high, 5 * (1 + 1.96 / 50));
}

/* Two threads one after the other: the run gains the savings of both. Side by side it gains those
 * of the longest. Unequal work counts in the phases that threads share. */
static void test_phases(void **state)
{
    const struct as_thread_time thread[] = {{6, 5, 600, 0, 0}, {4, 0, 400, 0, 0}};
    const struct as_saving saving[] = {{0, 0, 3, 3, 3, 300}, {0, 1, 2, 2, 2, 200}};
    const double in_turn[] = {1, 0, 0, 1}, together[] = {1, 0, 1, 0};
    struct as_run_time run = {.has_phases = true, .phase_n = 2, .part = in_turn};
    double alone[1], cumulative[1];
    size_t order[1];
    struct as_bounded_value total;
    struct as_error err;

    (void)state;
    assert_int_equal(
        as_what_if_gains(thread, 2, &run, saving, 2, 1, alone, order, cumulative, &total, &err), 0);
    near(total.value, 5);
    run.part = together;
    assert_int_equal(
        as_what_if_gains(thread, 2, &run, saving, 2, 1, alone, order, cumulative, &total, &err), 0);
    near(total.value, 3);
    run.uneven_s = 1; /* 5 of 6 and 4: less than the mean of all */
    near(as_what_if_parallel(thread, 2, &run, false).value, 5);
    near(as_what_if_parallel(thread, 2, &run, true).value, 6);
}

/* Savings in the longest thread count until another thread is the longest. */
static void test_the_longest_thread_decides(void **state)
{
    const struct as_thread_time thread[] = {{10, 0, 100, 0, 0}, {6, 0, 60, 0, 0}};
    const struct as_saving saving[] = {
        {0, 0, 5.5, 5.5, 5.5, 55}, /* 4.5 left, but the other one takes 6 */
        {1, 1, 2, 2, 2, 20},       /* alone it gives nothing */
        {2, 0, 1, 1, 1, 10},
        {2, 1, 1, 1, 1, 10},
    };
    const struct answer it = ask(thread, 2, saving, 4, 3);

    (void)state;
    near(it.alone[0], 4);
    near(it.alone[1], 0);
    near(it.alone[2], 1);
    assert_int_equal(it.order[0], 0);
    assert_int_equal(it.order[1], 2);
    assert_int_equal(it.order[2], 1);
    near(it.cumulative[0], 4);   /* longest: 6 */
    near(it.cumulative[1], 5);   /* 3.5 and 5 */
    near(it.cumulative[2], 6.5); /* 3.5 and 3: the first again is the longest, 10 - 3.5 */
    near(it.total.value, 6.5);
}

static void test_bounds_of_savings(void **state)
{
    const struct as_thread_time thread[] = {{8, 0, 0, 0, 0}};
    const struct as_saving saving[] = {{0, 0, 2, 0, 4, 40000}};
    const struct answer it = ask(thread, 1, saving, 1, 1);

    (void)state;
    near(it.total.low, 0);
    near(it.total.high, 4 * (1 + 1.96 / 200));
}

static void test_nothing(void **state)
{
    const struct as_thread_time thread[] = {{3, 0, 10, 0, 0}};
    const struct answer it = ask(thread, 1, NULL, 0, 0), none = ask(NULL, 0, NULL, 0, 0);

    (void)state;
    near(it.total.value, 0);
    near(none.total.value, 0);
    assert_int_equal(as_what_if_reach(NULL, 0, 0.8), 0);
    assert_int_equal(as_what_if_reach((const double[]){0, 0}, 2, 0.8), 0);
}

static void test_reach(void **state)
{
    const double cumulative[] = {5, 8, 9.5, 10};

    (void)state;
    assert_int_equal(as_what_if_reach(cumulative, 4, 0.8), 2); /* 8 of 10 is reached */
    assert_int_equal(as_what_if_reach(cumulative, 4, 0.81), 3);
    assert_int_equal(as_what_if_reach(cumulative, 4, 0.5), 1);
}

static void test_parallel(void **state)
{
    const struct as_thread_time thread[] = {
        {6, 1, 700, 0, 0}, {4, 4, 800, 0, 0}, {2, 5, 700, 0, 0}};
    const struct as_run_time alone = {0};
    struct as_bounded_value it = as_what_if_parallel(thread, 3, &alone, false);

    (void)state;
    near(it.value, 2); /* 8 - 6 */
    assert_int_equal(it.n, 800);
    assert_true(it.low < 2 && it.low > 1 && it.high > 2 && it.high < 3);
    it = as_what_if_parallel(thread, 3, &alone, true);
    near(it.value, 4); /* 8 - mean of 6, 4, 2 */
    it = as_what_if_parallel(thread, 0, &alone, true);
    near(it.value, 0);
}

/* Eight ranks of 0.435 s of work on two CPUs took 2.89 s. At least 1.74 s are left whatever MPI
 * does, on a quiet host and on a busy one. */
static void test_no_gain_below_the_work_by_the_processors(void **state)
{
    struct as_thread_time thread[8];
    struct as_run_time run = {.wall_s = 2.89, .processors = 2, .work_s = 8 * 0.435, .others_s = 0};
    const struct as_saving saving[] = {{0, 0, 0.4, 0.4, 0.4, 40}};
    struct as_bounded_value it, total;
    struct as_error err;
    double alone[1], cumulative[1];
    size_t order[1];

    (void)state;
    for (int i = 0; i < 8; i++)
        thread[i] = (struct as_thread_time){0.435, 2.3, 250, 1.7, 0};
    it = as_what_if_parallel(thread, 8, &run, false);
    near(it.value, 2.89 - 1.74);
    assert_true(it.high <= 2.89 - 1.74 + 1e-9);
    it = as_what_if_parallel(thread, 8, &run, true);
    near(it.value, 2.89 - 1.74);
    run.others_s = 1.5; /* of 1.7 s that each queued, and the others waited for it */
    it = as_what_if_parallel(thread, 8, &run, false);
    near(it.value, 2.3 - 1.5);
    assert_true(it.high <= 2.89 - 1.74 + 1e-9);
    run.others_s = -1;
    it = as_what_if_parallel(thread, 8, &run, false);
    near(it.value, 2.3 - 1.7);
    /* Three threads of 2, 1 and 1 s on two CPUs that were never idle: savings of one in its second
     * half do not help the others. */
    run = (struct as_run_time){.wall_s = 2, .processors = 2, .work_s = 4};
    thread[0] = (struct as_thread_time){2, 0, 200, 0, 0};
    thread[1] = thread[2] = (struct as_thread_time){1, 0, 100, 0, 0};
    assert_int_equal(
        as_what_if_gains(thread, 3, &run, saving, 1, 1, alone, order, cumulative, &total, &err), 0);
    near(alone[0], 0.2); /* not 0.4 */
    near(cumulative[0], 0.2);
    near(total.value, 0.2);
}

/* Two ranks beside two busy loops on two CPUs. Each waited half of the time for a CPU while the
 * other polled. MPI caused none of it. */
static void test_polling_for_one_without_processor(void **state)
{
    const struct as_thread_time thread[] = {{3, 7, 1000, 10, 7}, {3, 8, 1100, 9, 8}};
    const struct as_run_time run = {.wall_s = 21, .processors = 2, .work_s = 6, .others_s = 21};
    const struct as_bounded_value it = as_what_if_parallel(thread, 2, &run, false);

    (void)state;
    near(it.value, 0);
    assert_true(it.high > 8 && it.high <= 11 + 1e-9); /* unknown */
}

/* Cumulative gains never fall, end at the whole, and no gain exceeds the longest thread. */
/* Eight threads of 1 s of work spin for a lock on two CPUs: 16 s. Each ran 4 s and was without a
 * CPU for 12 s. Three quarters of these went to spinning threads. 4 s are left. */
static void test_spinning_keeps_processors(void **state)
{
    struct as_thread_time thread[8];
    struct as_run_time run = {.wall_s = 16, .processors = 2, .work_s = 8};
    struct as_bounded_value it;

    (void)state;
    for (int i = 0; i < 8; i++)
        thread[i] = (struct as_thread_time){1, 3, 2000, 12, 3};
    it = as_what_if_parallel(thread, 8, &run, false);
    near(it.value, 12);
    assert_true(it.low > 2.7 && it.low < 3); /* none of the queueing */
    near(it.high, 12);
    run.others_s = 12; /* they may have had all of what these queued for, or nothing of it */
    it = as_what_if_parallel(thread, 8, &run, false);
    near(it.value, 0);
    near(it.high, 12);
    run.others_s = -1;
    it = as_what_if_parallel(thread, 8, &run, false);
    near(it.value, 0);
    near(it.high, 12);
    /* Threads that sleep at a lock use no CPU: their run-queue wait was for work. */
    run = (struct as_run_time){.wall_s = 7, .processors = 2, .work_s = 8};
    for (int i = 0; i < 8; i++)
        thread[i] = (struct as_thread_time){1, 3, 2000, 3, 0};
    it = as_what_if_parallel(thread, 8, &run, false);
    near(it.value, 3);
    assert_true(it.high < 3.2);
}

/* ---- Queueing ------------------------------------------------------------------------------ */

static struct as_bounded_value gain_of(const struct as_thread_time *thread, size_t thread_n,
                                       const struct as_run_time *run,
                                       const struct as_saving *saving, size_t saving_n)
{
    double alone[1], cumulative[1];
    size_t order[1];
    struct as_bounded_value total;
    struct as_error err;

    assert_int_equal(as_what_if_gains(thread, thread_n, run, saving, saving_n, 1, alone, order,
                                      cumulative, &total, &err),
                     0);
    near(alone[0], total.value);
    near(cumulative[0], total.value);
    return total;
}

/* One thread ran 3.46 s of 10.58 s and queued the rest: what halves the running halves the run. */
static void test_less_running_queues_less(void **state)
{
    const struct as_thread_time thread = {3.46, 0, 3460, 7.12, 0};
    const struct as_run_time run = {
        .wall_s = 10.58, .processors = 2, .work_s = 3.46, .others_s = 17};
    const struct as_saving saving = {0, 0, 1.73, 0, 2.44, 1000000};
    const struct as_bounded_value it = gain_of(&thread, 1, &run, &saving, 1);
    const struct as_saving_factor stretch = as_what_if_factor(&thread, 1, &run);

    (void)state;
    near(it.value, 10.58 / 2);
    near(it.low, 0);
    near(it.high, 10.58 * 2.44 / 3.46 * (1 + 1.96 / 1000));
    near(stretch.value, 10.58 / 3.46);
    near(stretch.most, 10.58 / 3.46);
}

/* A thread that hardly ran and waited for the worker says nothing of the worker's loops. */
static void test_stretch_of_busy_threads(void **state)
{
    const struct as_thread_time thread[] = {{0.06, 0, 32, 0.17, 0}, {2.32, 0, 1157, 4.01, 0}};
    const struct as_run_time run = {
        .wall_s = 7.06, .processors = 2, .work_s = 2.38, .others_s = 11};
    const struct as_saving_factor stretch = as_what_if_factor(thread, 2, &run);

    (void)state;
    near(stretch.value, (2.32 + 4.01) / 2.32);
    near(stretch.most, 1 + (4.01 + 0.17) / 2.32);
}

/* It is not known how long it queued: at most all that it did not run. */
static void test_queueing_not_known(void **state)
{
    const struct as_thread_time thread = {2, 0, 2000, -1, 0};
    const struct as_run_time run = {.wall_s = 10, .processors = 2, .work_s = 2, .others_s = -1};
    const struct as_saving saving = {0, 0, 1, 0, 1, 1000000};
    const struct as_bounded_value it = gain_of(&thread, 1, &run, &saving, 1);

    (void)state;
    near(it.value, 1);
    near(it.high, 5 * (1 + 1.96 / 1000));
}

/* Six threads on two CPUs run 1 s, queue 2 s and wait 3 s for those that queue. */
static void test_waiting_for_those_that_queue(void **state)
{
    const struct as_run_time run = {.wall_s = 6, .processors = 2, .work_s = 6, .others_s = 6};
    struct as_thread_time thread[6];
    struct as_saving saving[6];
    struct as_bounded_value it;

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        thread[i] = (struct as_thread_time){1, 3, 1000, 2, 0};
        saving[i] = (struct as_saving){0, i, 0.75, 0, 0.75, 1000000};
    }
    it = gain_of(thread, 6, &run, saving, 6);
    near(it.value, 0.75 * 3); /* what the waiting was for is not sure */
    near(it.high, 0.75 * 6 * (1 + 1.96 / 1000));
}

/* Two threads of 5 s on one CPU: without the work of one the other does not queue. */
static void test_queueing_for_the_other(void **state)
{
    const struct as_thread_time thread[] = {{5, 0, 5000, 5, 0}, {5, 0, 5000, 5, 0}};
    const struct as_run_time run = {.wall_s = 10, .processors = 1, .work_s = 10, .others_s = 0};
    const struct as_saving saving = {0, 0, 5, 0, 5, 1000000};
    const struct as_bounded_value it = gain_of(thread, 2, &run, &saving, 1);

    (void)state;
    near(it.value, 0);
    assert_true(it.high >= 5);
}

struct crowd {
    size_t thread_n;
    int phase_n;
    double processors, load; /* processes beside it that always run */
    double work_s[6], weight[4];
    double part[6]; /* of the work of each thread that may be saved */
};

/* Fair shares of the CPUs, all threads waiting for the last one after each phase. `keep`: of
 * what may be saved, the part that is left. Returns the wall time. */
static double run_crowd(const struct crowd *c, double keep, struct as_thread_time *thread)
{
    double wall_s = 0;

    memset(thread, 0, c->thread_n * sizeof *thread);
    for (int p = 0; p < c->phase_n; p++) {
        double left[6], end_s[6] = {0}, now_s = 0;
        size_t active = c->thread_n;

        for (size_t i = 0; i < c->thread_n; i++)
            left[i] = c->work_s[i] * c->weight[p] * (1 - c->part[i] * (1 - keep));
        while (active) {
            const double rate = fmin(1, c->processors / ((double)active + c->load));
            double step = INFINITY;

            for (size_t i = 0; i < c->thread_n; i++)
                if (end_s[i] == 0)
                    step = fmin(step, left[i]);
            now_s += step / rate;
            for (size_t i = 0; i < c->thread_n; i++) {
                if (end_s[i] > 0)
                    continue;
                thread[i].compute_s += step;
                thread[i].queued_s += step / rate - step;
                left[i] -= step;
                if (left[i] <= 1e-12) {
                    end_s[i] = now_s;
                    active--;
                }
            }
        }
        for (size_t i = 0; i < c->thread_n; i++)
            thread[i].parallel_s += now_s - end_s[i];
        wall_s += now_s;
    }
    return wall_s;
}

/* The upper bound holds in such runs, whatever their threads, CPUs and other load. */
static void test_bounds_hold_under_queueing(void **state)
{
    double tightest = 0;

    (void)state;
    srand(11);
    for (int round = 0; round < 3000; round++) {
        struct crowd c = {.thread_n = 1 + (size_t)rand() % 6,
                          .phase_n = 1 + rand() % 4,
                          .processors = 1 + rand() % 3,
                          .load = rand() % 5};
        struct as_thread_time thread[6], after[6];
        struct as_saving saving[6];
        struct as_run_time run = {.processors = c.processors, .others_s = -1};

        for (size_t i = 0; i < c.thread_n; i++) {
            c.work_s[i] = 1 + rand() % 100 / 50.0;
            c.part[i] = rand() % 100 / 100.0;
        }
        for (int p = 0; p < c.phase_n; p++)
            c.weight[p] = 1 + rand() % 10;
        run.wall_s = run_crowd(&c, 1, thread);
        const double gain_s = run.wall_s - run_crowd(&c, 0, after);
        for (size_t i = 0; i < c.thread_n; i++) {
            const double saved_s = thread[i].compute_s - after[i].compute_s;

            saving[i] = (struct as_saving){0, i, saved_s, 0, saved_s, 1000000};
            run.work_s += thread[i].compute_s;
        }
        const struct as_bounded_value it = gain_of(thread, c.thread_n, &run, saving, c.thread_n);
        assert_true(it.high >= gain_s - 1e-9);
        tightest = fmax(tightest, gain_s / it.high);
    }
    assert_true(tightest > 0.99); /* nor is it far above in all of them */
}

/* ---- Whatever the numbers ------------------------------------------------------------------ */

static void test_whatever_the_numbers(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 2000; round++) {
        struct as_thread_time thread[5];
        struct as_saving saving[40];
        double left[5], most = 0, rest = 0;
        size_t n = 0;

        for (size_t t = 0; t < 5; t++) {
            thread[t] = (struct as_thread_time){rand() % 100, 0, 10, 0, 0};
            left[t] = thread[t].compute_s;
            most = fmax(most, thread[t].compute_s);
        }
        for (size_t o = 0; o < 8; o++) {
            for (size_t t = 0; t < 5; t++) {
                const double part = left[t] * (rand() % 100) / 400;

                saving[n++] = (struct as_saving){o, t, part, part, part, 5};
                left[t] -= part;
            }
        }
        const struct answer it = ask(thread, 5, saving, n, 8);
        for (size_t t = 0; t < 5; t++)
            rest = fmax(rest, left[t]);
        near(it.total.value, most - rest);
        for (size_t k = 0; k < 8; k++) {
            assert_true(k == 0 || it.cumulative[k] >= it.cumulative[k - 1] - 1e-12);
            assert_true(it.alone[k] >= 0 && it.alone[k] <= it.total.value + 1e-12);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_thread),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_the_longest_thread_decides),
        cmocka_unit_test(test_bounds_of_savings),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_parallel),
        cmocka_unit_test(test_no_gain_below_the_work_by_the_processors),
        cmocka_unit_test(test_polling_for_one_without_processor),
        cmocka_unit_test(test_spinning_keeps_processors),
        cmocka_unit_test(test_less_running_queues_less),
        cmocka_unit_test(test_stretch_of_busy_threads),
        cmocka_unit_test(test_queueing_not_known),
        cmocka_unit_test(test_waiting_for_those_that_queue),
        cmocka_unit_test(test_queueing_for_the_other),
        cmocka_unit_test(test_bounds_hold_under_queueing),
        cmocka_unit_test(test_whatever_the_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
