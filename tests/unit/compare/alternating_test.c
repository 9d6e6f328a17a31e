/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two commands in turns, on hosts that are calm, drift, wander, jump or are disturbed now and then:
 * equal ones are not told apart more often than is promised, though every series is looked at again
 * and again; the same hosts make a difference of what ran one after the other.
 */
#include "synthetic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/paired.h"
#include "compare/statistics.h"

enum weather { CALM, DRIFT, CURVE, WANDER, JUMP, HEAVY, WEATHER_N };

static const char *const weather_name[WEATHER_N] = {"calm",      "drifting", "warming up",
                                                    "wandering", "jumping",  "disturbed"};

#define PAIRS 11
#define TURNS (2 * PAIRS)

/* Returns the disturbance of the host in run i of a series, as a share of its time. Runs also
 * differ by 1 %. */
static double weather_at(enum weather weather, size_t i, double *wander, struct noise *noise)
{
    const double part = (double)i / TURNS;

    switch (weather) {
    case DRIFT:
        return 0.06 * part;
    case CURVE:
        return 0.08 * exp(-4 * part);
    case WANDER:
        return *wander += 0.006 * noise_normal(noise);
    case JUMP:
        return part > 0.6 ? 0.05 : 0;
    case HEAVY:
        return noise_uniform(noise) < 0.15 ? 0.3 * noise_uniform(noise) : 0;
    default:
        return 0;
    }
}

/* Runs A B A B ...; B takes `ratio` times as long. */
static void draw_series(struct noise *noise, enum weather weather, double ratio,
                        struct as_turn *turn)
{
    double wander = 0;
    for (size_t i = 0; i < TURNS; i++) {
        const double slow = weather_at(weather, i, &wander, noise);
        const bool is_b = i % 2;
        turn[i] = (struct as_turn){
            (double)i, 5.4 * (1 + slow) * (1 + 0.01 * noise_normal(noise)) * (is_b ? ratio : 1),
            is_b};
    }
}

/* As `assay repeat --against` looks at it: -1, 0, 1 for B faster, no verdict, slower. */
static int judge(const struct as_turn *turn, size_t *pairs)
{
    for (size_t n = 1; n <= PAIRS; n++) {
        struct as_paired it;
        struct as_interval ratio;
        double p;
        bool is_look;
        (void)as_look_number(n, &is_look);
        if (!is_look && n < PAIRS)
            continue;
        *pairs = n;
        assert_int_equal(as_paired_of(turn, 2 * n, &it), 0);
        as_paired_interval(&it, as_look_alpha_of(0.05, n, PAIRS), &ratio, &p);
        if (ratio.low > 1 || ratio.high < 1)
            return ratio.low > 1 ? 1 : -1;
    }
    return 0;
}

/* The same runs as if all of A had come before all of B. */
static bool differs_in_sequence(enum weather weather, struct noise *noise)
{
    double x[2][PAIRS], wander = 0;
    for (size_t i = 0; i < TURNS; i++)
        x[i / PAIRS][i % PAIRS] =
            5.4 * (1 + weather_at(weather, i, &wander, noise) + 0.01 * noise_normal(noise));
    const struct as_estimate a = as_estimate_runs(x[0], PAIRS, 0),
                             b = as_estimate_runs(x[1], PAIRS, 0);
    return as_difference_of(&a, &b).p <= 0.05;
}

static void test_equal_is_equal(void **state)
{
    const unsigned draws = 4000;
    (void)state;
    for (enum weather weather = 0; weather < WEATHER_N; weather++) {
        struct noise noise;
        struct as_turn turn[TURNS];
        unsigned alternating = 0, sequence = 0;
        size_t pairs;
        noise_seed(&noise, 40 + weather);
        for (unsigned d = 0; d < draws; d++) {
            draw_series(&noise, weather, 1, turn);
            alternating += judge(turn, &pairs) != 0;
            sequence += differs_in_sequence(weather, &noise);
        }
        printf("# equal on a %s host: told apart %.1f %% in turns, %.1f %% one after the other\n",
               weather_name[weather], 100.0 * alternating / draws, 100.0 * sequence / draws);
        assert_true(alternating <= 0.05 * draws);
        if (weather == DRIFT || weather == CURVE || weather == WANDER || weather == JUMP)
            assert_true(sequence > 0.25 * draws);
    }
}

static void test_differences_are_found(void **state)
{
    static const double ratios[] = {0.6, 0.97, 1.03, 1.2};
    (void)state;
    for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
        struct noise noise;
        struct as_turn turn[TURNS];
        unsigned found = 0, wrong = 0;
        size_t pairs, sum = 0;
        noise_seed(&noise, 60 + r);
        for (unsigned d = 0; d < 1000; d++) {
            draw_series(&noise, DRIFT, ratios[r], turn);
            const int verdict = judge(turn, &pairs);
            found += verdict == (ratios[r] > 1 ? 1 : -1);
            wrong += verdict == (ratios[r] > 1 ? -1 : 1);
            sum += pairs;
        }
        printf("# B %.2f of A: found %.1f %%, after %.1f pairs of %d\n", ratios[r], found / 10.0,
               (double)sum / 1000, PAIRS);
        assert_true(found >= 990);
        assert_int_equal(wrong, 0);
    }
}

/* The coverage of the interval at the end of a series without earlier looks. */
static void test_interval_covers(void **state)
{
    struct noise noise;
    struct as_turn turn[TURNS];
    unsigned covered = 0;
    (void)state;
    noise_seed(&noise, 80);
    for (unsigned d = 0; d < 4000; d++) {
        struct as_paired it;
        struct as_interval ratio;
        double p;
        draw_series(&noise, WANDER, 1.1, turn);
        assert_int_equal(as_paired_of(turn, TURNS, &it), 0);
        as_paired_interval(&it, 0.05, &ratio, &p);
        covered += ratio.low <= 1.1 && 1.1 <= ratio.high;
    }
    printf("# interval covered in %.1f %%\n", covered / 40.0);
    assert_true(covered >= 0.945 * 4000);
}

static void test_by_hand(void **state)
{
    const struct as_turn even[] = {{0, 1, false}, {1, 2, true}, {2, 1, false}, {3, 2, true}};
    const struct as_turn alone[] = {{0, 1, false}, {1, 1, false}, {2, 1, false}};
    const double drift = 1.1; /* a turn: 1, 1.1, 1.21, ... times 1 or 3 */
    struct as_turn drifting[6];
    struct as_paired it;
    struct as_interval ratio;
    double p;
    (void)state;
    assert_int_equal(as_paired_of(even, 4, &it), 0);
    assert_true(fabs(it.difference - log(2)) < 1e-12 && it.variance < 1e-24);
    assert_int_equal(as_paired_of(alone, 3, &it), 0);
    assert_true(isinf(it.variance));
    as_paired_interval(&it, 0.05, &ratio, &p);
    assert_true(ratio.low <= 0 && isinf(ratio.high) && p >= 1);
    for (size_t i = 0; i < 6; i++)
        drifting[i] = (struct as_turn){(double)i, pow(drift, (double)i) * (i % 2 ? 3 : 1), i % 2};
    assert_int_equal(as_paired_of(drifting, 6, &it), 0);
    assert_true(fabs(it.difference - log(3)) < 1e-12);
}

static void test_looks(void **state)
{
    static const size_t at[] = {4, 6, 9, 13, 19, 28};
    bool is_look;
    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        assert_int_equal(as_look_number(at[i], &is_look), i + 1);
        assert_true(is_look);
        (void)as_look_number(at[i] + 1, &is_look);
        assert_false(is_look);
    }
    /* However many, they spend no more than all. */
    double sum = 0;
    for (unsigned i = 1; i < 100; i++)
        sum += as_look_alpha(0.05, i);
    assert_true(sum < 0.05);
    for (size_t planned = 3; planned < 60; planned++) {
        sum = 0;
        for (size_t n = 1; n <= planned; n++) {
            (void)as_look_number(n, &is_look);
            sum += is_look || n == planned ? as_look_alpha_of(0.05, n, planned) : 0;
        }
        assert_true(fabs(sum - 0.05) < 1e-12);
    }
}

/* ---- Of an experiment ---------------------------------------------------------------------- */

/* Runs of A and B in turns with these wall times; 0 s: it failed. */
static void add_turns(struct synthetic *s, const double *wall_s, size_t n, size_t planned)
{
    char text[32];
    snprintf(text, sizeof text, "%zu", planned);
    for (size_t i = 0; i < n; i++) {
        const int64_t samples = 1000;
        const bool failed = !(wall_s[i] > 0);
        const struct synthetic_run run = {.kind = i % 2 ? AS_AGAINST : "repeat",
                                          .label = i % 2 ? "B" : "A",
                                          .wall_s = failed ? 1 : wall_s[i],
                                          .exit_code = failed,
                                          .thread_n = 1,
                                          .sample_n = &samples};
        const int64_t id = synthetic_add(s, &run);
        const struct as_row_run_setting setting = {
            .run_id = id, .name = AS_ALTERNATION_RUNS, .value = text};
        assert_int_equal(as_experiment_add_run_setting(s->experiment, &setting, NULL), 0);
    }
}

static void test_experiment(void **state)
{
    static const double slower[] = {1, 1.5, 1.1, 1.6, 1.2, 1.7, 1.3, 1.8};
    static const double failed[] = {1, 1.5, 1.1, 0, 1.2, 1.7, 1.3, 1.8};
    const struct synthetic_code code = {.changed = -1};
    struct synthetic *s = calloc(1, sizeof *s);
    struct as_alternation *it;
    const struct place *place = *state;
    assert_non_null(s);
    synthetic_open(s, place->exp, 1, &code);
    assert_int_equal(as_compare_alternation(s->experiment, &it, NULL), 0);
    assert_null(it);
    add_turns(s, slower, 8, 11);
    assert_int_equal(as_compare_alternation(s->experiment, &it, NULL), 0);
    assert_int_equal(it->verdict, AS_ALTERNATION_SLOWER);
    assert_true(it->is_look && it->pair_n == 4 && it->planned_n == 11 && it->run_n == 8);
    assert_true(fabs(it->side[0].wall_s.value - 1.15) < 1e-9);
    assert_true(it->difference_pct.low > 0 && it->difference_pct.value > 35 &&
                it->difference_pct.value < 50);
    as_alternation_free(&it);
    add_turns(s, failed, 8, 11);
    assert_int_equal(as_compare_alternation(s->experiment, &it, NULL), 0);
    assert_int_equal(it->side[1].failed_n, 1);
    assert_int_equal(it->side[1].repeat_n, 7);
    assert_int_equal(it->pair_n, 8);
    as_alternation_free(&it);
    assert_int_equal(as_experiment_close(&s->experiment, NULL), 0);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_is_equal),
        cmocka_unit_test(test_differences_are_found),
        cmocka_unit_test(test_interval_covers),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_looks),
        cmocka_unit_test_setup_teardown(test_experiment, place_set_up, place_tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
