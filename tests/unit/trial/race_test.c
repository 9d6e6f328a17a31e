/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries on drawn times. Variants without an effect have no gain, harmful ones are found, and the
 * best wins. Two gains that do not add up are shown as they are. The time limit is kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* Order matters: cmocka uses the types above without including them. */
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "synthetic.h"

#include "base/ranks.h"
#include "trial/race.h"

enum climate { CLIMATE_CALM, CLIMATE_DRIFT, CLIMATE_WANDER, CLIMATE_HEAVY, CLIMATE_N };

static const char *const climate_name[] = {"calm", "drifting", "wandering", "disturbed"};

struct host {
    struct noise noise;
    enum climate climate;
    double spread, wander, outlier; /* outlier 0: 0.3 */
    size_t run_n;
};

static double time_of(struct host *host, double ratio)
{
    double slow = 0;
    host->run_n++;
    if (host->climate == CLIMATE_DRIFT)
        slow = 0.0008 * (double)host->run_n;
    if (host->climate == CLIMATE_WANDER)
        slow = host->wander += 0.4 * host->spread * noise_normal(&host->noise);
    if (host->climate == CLIMATE_HEAVY && noise_uniform(&host->noise) < 0.15)
        slow = log1p((host->outlier > 0 ? host->outlier : 0.3) * noise_uniform(&host->noise));
    return 5.4 * ratio * exp(slow) * exp(host->spread * noise_normal(&host->noise));
}

/* Variants with these ratios to base, in `budget_s`; returns what was used of it. */
static double run_race(struct as_race *race, struct host *host, const double *ratio, size_t n,
                       double budget_s)
{
    double used = 0;
    size_t who;
    for (size_t i = 0; i < n; i++)
        assert_int_equal(as_race_join(race), i);
    while ((who = as_race_next(race, budget_s - used)) != AS_RACE_END) {
        const double x = time_of(host, who == AS_RACE_BASE ? 1 : ratio[who]);
        used += x + 0.1;
        assert_int_equal(as_race_add_run(race, who, x, x + 0.1), 0);
    }
    assert_int_equal(as_race_judge(race), 0);
    return used;
}

static unsigned count_verdict(const struct as_race *race, enum as_trial_verdict verdict)
{
    unsigned n = 0;
    as_vec_foreach (&race->racer, it)
        n += it->verdict == verdict;
    return n;
}

#define CAMPAIGNS 400

static void test_null_is_no_gain(void **state)
{
    double ratio[20];
    (void)state;
    for (size_t i = 0; i < 20; i++)
        ratio[i] = 1;
    for (enum climate climate = 0; climate < CLIMATE_N; climate++) {
        unsigned gains = 0, harms = 0;
        struct host host = {.climate = climate, .spread = 0.01};
        noise_seed(&host.noise, 7 + climate);
        for (unsigned c = 0; c < CAMPAIGNS; c++) {
            struct as_race race;
            host.wander = 0;
            host.run_n = 0;
            as_race_init(&race, 23);
            const double budget = c % 2 ? 300 : 3000,
                         used = run_race(&race, &host, ratio, 20, budget);
            assert_true(used <= 1.1 * budget);
            gains += count_verdict(&race, AS_TRIAL_GAIN) > 0;
            harms += count_verdict(&race, AS_TRIAL_HARM) > 0;
            as_race_fini(&race);
        }
        printf(
            "# 20 null variants on a %s host: a gain in %.1f %% of campaigns, a harm in %.1f %%\n",
            climate_name[climate], 100.0 * gains / CAMPAIGNS, 100.0 * harms / CAMPAIGNS);
        assert_true(gains <= 0.05 * CAMPAIGNS);
        assert_true(gains + harms <= 0.05 * CAMPAIGNS);
    }
}

/* One gains, one harms much, the others do nothing. */
static void test_the_right_one_wins(void **state)
{
    double ratio[20];
    unsigned right = 0, harm = 0, covered = 0, wrong = 0;
    struct host host = {.climate = CLIMATE_DRIFT, .spread = 0.01};
    double used = 0;
    (void)state;
    noise_seed(&host.noise, 30);
    for (size_t i = 0; i < 20; i++)
        ratio[i] = 1;
    ratio[13] = 0.8;
    ratio[4] = 1.4;
    for (unsigned c = 0; c < CAMPAIGNS; c++) {
        struct as_race race;
        host.run_n = 0;
        as_race_init(&race, 23);
        used += run_race(&race, &host, ratio, 20, 3000);
        const struct as_racer *best = &race.racer.at[13];
        right += as_race_best(&race) == 13;
        covered += best->interval.low <= 0.8 && 0.8 <= best->interval.high;
        harm += race.racer.at[4].verdict == AS_TRIAL_HARM;
        wrong += race.racer.at[4].verdict == AS_TRIAL_GAIN;
        as_race_fini(&race);
    }
    printf("# the right one of 20 wins in %u of %u, the harmful one is found in %u; %.0f s each\n",
           right, CAMPAIGNS, harm, used / CAMPAIGNS);
    assert_true(right == CAMPAIGNS);
    assert_true(covered >= 0.95 * CAMPAIGNS);
    assert_true(harm == CAMPAIGNS);
    assert_int_equal(wrong, 0);
}

/* In so short a time that not all can be run four times. */
static void test_short_time(void **state)
{
    double ratio[20];
    unsigned right = 0;
    struct host host = {.climate = CLIMATE_CALM, .spread = 0.01};
    (void)state;
    noise_seed(&host.noise, 31);
    for (size_t i = 0; i < 20; i++)
        ratio[i] = 1;
    ratio[7] = 0.7;
    for (unsigned c = 0; c < CAMPAIGNS; c++) {
        struct as_race race;
        host.run_n = 0;
        as_race_init(&race, 23);
        const double used = run_race(&race, &host, ratio, 20, 300);
        assert_true(used <= 330);
        right += as_race_best(&race) == 7;
        as_race_fini(&race);
    }
    printf("# in 300 s the right one of 20 wins in %u of %u\n", right, CAMPAIGNS);
    assert_true(right >= 0.95 * CAMPAIGNS);
}

/* Nothing more is run when all is known; a variant that leaves is not asked again. */
static void test_early_end(void **state)
{
    const double ratio[] = {0.5, 1.8, 1};
    struct as_race race;
    struct host host = {.climate = CLIMATE_CALM, .spread = 0.0005};
    size_t who, asked = 0;
    (void)state;
    noise_seed(&host.noise, 32);
    as_race_init(&race, 6);
    const double used = run_race(&race, &host, ratio, 3, 1e6);
    assert_true(used < 200);
    assert_int_equal(race.racer.at[0].verdict, AS_TRIAL_GAIN);
    assert_int_equal(race.racer.at[0].run_n, 4);
    assert_int_equal(race.racer.at[1].verdict, AS_TRIAL_HARM);
    assert_int_equal(race.racer.at[2].verdict, AS_TRIAL_NONE);
    assert_true(race.racer.at[2].interval.high - race.racer.at[2].interval.low < 0.02);
    /* A candidate that joins now runs against base again; two that do not add up are shown as they
     * are. */
    assert_int_equal(as_race_join(&race), 3);
    assert_int_equal(as_race_join(&race), 4);
    while ((who = as_race_next(&race, 1e6)) != AS_RACE_END) {
        assert_true(who == AS_RACE_BASE || who == 3 || who == 4);
        asked += who == 4;
        if (who == 4) {
            as_race_leave(&race, 4);
            continue;
        }
        const double x = time_of(&host, who == 3 ? 0.55 : 1);
        assert_int_equal(as_race_add_run(&race, who, x, x), 0);
    }
    assert_int_equal(asked, 1);
    assert_int_equal(race.racer.at[3].verdict, AS_TRIAL_GAIN);
    assert_int_equal(as_race_best(&race), 0);
    assert_int_equal(race.racer.at[4].verdict, AS_TRIAL_OPEN);
    as_race_fini(&race);
}

/* A host that disturbs some runs much hides no gain that all the others show. */
static void test_disturbed_host(void **state)
{
    const double ratio[] = {1, 0.7, 1, 1};
    unsigned right = 0;
    struct host host = {.climate = CLIMATE_HEAVY, .spread = 0.02};
    (void)state;
    noise_seed(&host.noise, 33);
    for (unsigned c = 0; c < CAMPAIGNS; c++) {
        struct as_race race;
        as_race_init(&race, 23);
        host.outlier = 8;
        run_race(&race, &host, ratio, 4, 3000);
        right += as_race_best(&race) == 1;
        as_race_fini(&race);
    }
    printf("# on a host that makes one run in seven up to 9 times as long it wins in %u of %u\n",
           right, CAMPAIGNS);
    assert_true(right >= 0.6 * CAMPAIGNS);
}

/* Wilcoxon's table: of 5 and 6 values, U <= 3 has a probability of 2.5 % at most, of 10 and 10
 * U <= 23; of 3 and 3 none has. */
static void test_ranks(void **state)
{
    const double a[] = {0, 0.1, 0.2, 0.3, 9}, b[] = {1, 1.1, 1.2, 1.3, 1.4, 1.5};
    double work[30];
    struct as_interval interval;
    (void)state;
    assert_int_equal(as_ranks_cut(5, 6, 0.025), 3);
    assert_int_equal(as_ranks_cut(10, 10, 0.025), 23);
    assert_int_equal(as_ranks_cut(3, 3, 0.025), -1);
    assert_int_equal(as_ranks_cut(3, 3, 0.05), 0);
    assert_true(labs(as_ranks_cut(30, 30, 0.025) - 317) <= 1);
    const double shift = as_ranks_shift(a, 5, b, 6, 0.05, work, &interval);
    assert_true(shift > 0.9 && shift < 1.3);
    assert_true(interval.low < -7 && interval.high <= 1.5 && interval.high > 1.2);
}

/* A few runs that differ by a factor of ten: their interval would reach numbers of thirty digits.
 * The result is unknown. A certain slowdown keeps its own interval. */
static void test_nothing_known(void **state)
{
    static const double tried[][3] = {{0.4, 5, 1.2}, {90, 110, 95}};
    struct as_race race;

    (void)state;
    as_race_init(&race, 10);
    for (int i = 0; i < 2; i++)
        assert_int_equal(as_race_join(&race), i);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(as_race_add_run(&race, AS_RACE_BASE, 1 + 0.01 * round, 1), 0);
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(as_race_add_run(&race, i, tried[i][round], 5), 0);
    }
    assert_int_equal(as_race_add_run(&race, AS_RACE_BASE, 1, 1), 0);
    assert_int_equal(as_race_judge(&race), 0);
    assert_true(isinf(race.racer.at[0].interval.high));
    assert_true(race.racer.at[0].ratio > 0.4 && race.racer.at[0].ratio < 5);
    assert_int_equal(race.racer.at[0].verdict, AS_TRIAL_OPEN);
    assert_true(race.racer.at[1].interval.low > 1 && !isinf(race.racer.at[1].interval.high));
    as_race_fini(&race);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_is_no_gain), cmocka_unit_test(test_the_right_one_wins),
        cmocka_unit_test(test_short_time),      cmocka_unit_test(test_early_end),
        cmocka_unit_test(test_disturbed_host),  cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_nothing_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
