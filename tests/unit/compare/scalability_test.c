/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalings and stabilities of experiments made by hand; figures are computed on paper.
 */
#include "synthetic.h"

#include <math.h>

static void near(double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%.9g instead of %.9g", got, want);
}

static void add_scale(struct synthetic *s, int64_t processes, int64_t threads, double wall_s,
                      const int64_t *sample_n, size_t thread_n, bool weak)
{
    char label[64];
    const struct as_scale_setting setting = {
        .nodes = 1, .processes = processes, .threads = threads, .weak = weak};
    snprintf(label, sizeof label, "%dx%d", (int)processes, (int)threads);
    synthetic_add(s, &(struct synthetic_run){.kind = "scale",
                                             .label = label,
                                             .wall_s = wall_s,
                                             .thread_n = thread_n,
                                             .sample_n = sample_n,
                                             .setting = &setting,
                                             .cpu_n = 2});
}

static const struct as_scale_row *row_of(const struct as_scalability *it, enum as_object_kind kind,
                                         const char *name)
{
    for (size_t i = 0; i < it->row_n; i++)
        if (it->row[i].object.kind == kind && strcmp(it->row[i].object.name, name) == 0)
            return &it->row[i];
    fail_msg("no row of %s", name);
    return NULL;
}

/*
 * Loop 0 is shared by the threads and keeps its work; loop 1 is serial; loop 2 does its work in
 * every thread again.
 */
static void fill_strong(struct synthetic *s)
{
    static const int64_t one[] = {4000, 1000, 500};
    static const int64_t two[] = {2000, 1000, 500, 2000, 0, 500};
    static const int64_t four[] = {1000, 1000, 500, 1000, 0, 500, 1000, 0, 500, 1000, 0, 500};
    add_scale(s, 1, 4, 5.0, four, 4, false);
    add_scale(s, 1, 1, 11.0, one, 1, false);
    add_scale(s, 1, 2, 7.0, two, 2, false);
}

static void test_strong(void **state)
{
    const struct place *place = *state;
    struct as_scalability *it;
    struct synthetic s;
    synthetic_open(&s, place->exp, 3, &(struct synthetic_code){.changed = -1});
    fill_strong(&s);
    fine(as_compare_scalability(s.experiment, NULL, &it, err));
    assert_non_null(it);
    assert_int_equal(it->point_n, 3);
    assert_int_equal(it->reference, 0);
    assert_string_equal(it->point[0].label, "1x1");
    assert_string_equal(it->point[2].label, "1x4");
    /* The application, from the wall times alone. */
    near(it->point[1].speedup.value, 11.0 / 7, 1e-12);
    near(it->point[1].efficiency.value, 11.0 / 7 / 2, 1e-12);
    near(it->point[2].efficiency.value, 11.0 / 5 / 4, 1e-12);
    near(it->point[0].efficiency.value, 1, 0);
    assert_true(isinf(it->point[1].wall_s.high)); /* one run tells nothing of its spread */
    assert_false(it->point[1].oversubscribed);
    assert_true(it->point[2].oversubscribed); /* four threads, two CPUs */
    /* The loops. */
    const struct as_scale_row *shared = row_of(it, AS_OBJECT_LOOP, "kernel_0");
    near(shared->time_s[0].value, 8, 1e-9);
    near(shared->thread_s[2].value, 2, 1e-9);
    near(shared->efficiency[2].value, 1, 1e-9);
    near(shared->cpu_efficiency[2].value, 1, 1e-9);
    near(shared->speedup[2].value, 4, 1e-9);
    assert_true(shared->efficiency[2].low < 0.97 && shared->efficiency[2].low > 0.85);
    const struct as_scale_row *serial = row_of(it, AS_OBJECT_FUNCTION, "kernel_1");
    near(serial->efficiency[2].value, 0.25, 1e-9);
    near(serial->cpu_efficiency[2].value, 1, 1e-9);
    const struct as_scale_row *again = row_of(it, AS_OBJECT_LOOP, "kernel_2");
    near(again->efficiency[2].value, 0.25, 1e-9);
    near(again->cpu_efficiency[2].value, 0.25, 1e-9);
    /* The category is the sum: thread 0 has 2500 of 5500 samples left. */
    const struct as_scale_row *all = row_of(it, AS_OBJECT_CATEGORY, "Application");
    near(all->efficiency[2].value, 5500.0 / 2500 / 4, 1e-9);
    assert_int_equal(it->row[0].object.kind, AS_OBJECT_CATEGORY);
    assert_string_equal(row_of(it, AS_OBJECT_LOOP, "kernel_1")->object.where, "program.c:12-15");
    as_scalability_free(&it);
    assert_null(it);
    fine(as_experiment_close(&s.experiment, err));
}

static void test_reference(void **state)
{
    const struct place *place = *state;
    struct as_scale_setting wanted = {.processes = 1, .threads = 2};
    struct as_scalability *it;
    struct synthetic s;
    synthetic_open(&s, place->exp, 3, &(struct synthetic_code){.changed = -1});
    fine(as_compare_scalability(s.experiment, NULL, &it, err));
    assert_null(it); /* no such runs, no error */
    fill_strong(&s);
    fine(as_compare_scalability(s.experiment, &wanted, &it, err));
    assert_int_equal(it->reference, 1);
    near(it->point[0].efficiency.value, 7.0 / 11 * 2, 1e-12);
    near(it->point[2].efficiency.value, 7.0 / 5 / 2, 1e-12);
    as_scalability_free(&it);
    wanted.threads = 8;
    refused(as_compare_scalability(s.experiment, &wanted, &it, err), USAGE,
            "no run has 1 processes and 8 threads");
    assert_null(it);
    fine(as_experiment_close(&s.experiment, err));
}

static void test_weak(void **state)
{
    static const int64_t one[] = {1000, 100}, two[] = {1000, 100, 1000, 100};
    const struct place *place = *state;
    struct as_scalability *it;
    struct synthetic s;
    synthetic_open(&s, place->exp, 2, &(struct synthetic_code){.changed = -1});
    add_scale(&s, 1, 1, 2.2, one, 1, true);
    add_scale(&s, 2, 1, 2.5, two, 2, true);
    fine(as_compare_scalability(s.experiment, NULL, &it, err));
    assert_true(it->weak);
    near(it->point[1].efficiency.value, 2.2 / 2.5, 1e-12);
    assert_int_equal(it->point[1].speedup.origin, 0);
    const struct as_scale_row *row = row_of(it, AS_OBJECT_LOOP, "kernel_0");
    near(row->efficiency[1].value, 1, 1e-9);
    near(row->cpu_efficiency[1].value, 1, 1e-9);
    as_scalability_free(&it);
    fine(as_experiment_close(&s.experiment, err));
}

/* Repetitions: means, and intervals by Student's t. */
static void test_repeats(void **state)
{
    static const int64_t one[] = {1000}, two[] = {500, 500};
    const double wall[] = {10, 11, 12};
    const struct place *place = *state;
    struct as_scalability *it;
    struct synthetic s;
    synthetic_open(&s, place->exp, 1, &(struct synthetic_code){.changed = -1});
    for (int i = 0; i < 3; i++) {
        add_scale(&s, 1, 1, wall[i], one, 1, false);
        add_scale(&s, 1, 2, wall[i] / 2, two, 2, false);
    }
    const struct as_scale_setting setting = {.nodes = 1, .processes = 1, .threads = 2};
    synthetic_add(&s, &(struct synthetic_run){.kind = "scale",
                                              .label = "1x2",
                                              .wall_s = 0.1,
                                              .exit_code = 3,
                                              .thread_n = 1,
                                              .sample_n = one,
                                              .setting = &setting});
    fine(as_compare_scalability(s.experiment, NULL, &it, err));
    assert_int_equal(it->point[1].repeat_n, 3);
    assert_int_equal(it->point[1].failed_n, 1);
    near(it->point[0].wall_s.value, 11, 1e-12);
    /* t(0.975, 2) = 4.3027, deviation 1, of the mean 1 / sqrt(3). */
    near(it->point[0].wall_s.high, 11 + 4.30265 / sqrt(3), 1e-4);
    near(it->point[1].efficiency.value, 1, 1e-12);
    near(it->point[1].speedup.value, 2, 1e-12);
    assert_true(it->point[1].speedup.low > 1 && it->point[1].speedup.high < 4);
    assert_int_equal(it->note_n, 1); /* the failed one */
    /* Equal counts are known to a sample, not exactly. */
    const struct as_scale_row *row = row_of(it, AS_OBJECT_LOOP, "kernel_0");
    assert_true(row->time_s[0].low < 2 && row->time_s[0].high > 2);
    as_scalability_free(&it);
    fine(as_experiment_close(&s.experiment, err));
}

/* All runs of the reference failed: the next one takes its place, and that is said. */
static void test_lost_reference(void **state)
{
    static const int64_t one[] = {1000};
    const struct place *place = *state;
    struct as_scale_setting setting = {
        .nodes = 1, .processes = 1, .threads = 1, .is_reference = true};
    struct as_scalability *it;
    struct synthetic s;
    synthetic_open(&s, place->exp, 1, &(struct synthetic_code){.changed = -1});
    struct synthetic_run run = {.kind = "scale",
                                .label = "1x1",
                                .wall_s = 1,
                                .exit_code = 1,
                                .thread_n = 1,
                                .sample_n = one,
                                .setting = &setting};
    synthetic_add(&s, &run);
    fine(as_compare_scalability(s.experiment, NULL, &it, err));
    assert_int_equal(it->point[0].wall_s.origin, 0);
    assert_int_equal(it->point[0].efficiency.origin, 0);
    as_scalability_free(&it);
    setting.is_reference = false;
    setting.threads = 2;
    run.exit_code = 0;
    run.label = "1x2";
    synthetic_add(&s, &run);
    fine(as_compare_scalability(s.experiment, NULL, &it, err));
    assert_int_equal(it->reference, 1);
    assert_true(has(it->note[0], "failed"));
    assert_int_equal(it->point[0].efficiency.origin, 0);
    as_scalability_free(&it);
    fine(as_experiment_close(&s.experiment, err));
}

/* Other settings: speed-up over the one reference, efficiency over the same settings. */
static void test_settings(void **state)
{
    static const struct {
        const char *size;
        int64_t threads;
        double wall_s;
    } runs[] = {{"big", 1, 8}, {"big", 4, 4}, {"small", 1, 2}, {"small", 2, 1.6}};
    static const int64_t n[] = {100, 100, 100, 100};
    const struct place *place = *state;
    struct as_scalability *it;
    struct synthetic s;
    synthetic_open(&s, place->exp, 1, &(struct synthetic_code){.changed = -1});
    for (size_t i = 0; i < 4; i++) {
        const struct as_row_run_setting row = {
            .run_id = (int64_t)i + 1, .name = "size", .value = runs[i].size};
        add_scale(&s, 1, runs[i].threads, runs[i].wall_s, n, (size_t)runs[i].threads, false);
        fine(as_experiment_add_run_setting(s.experiment, &row, err));
    }
    fine(as_compare_scalability(s.experiment, NULL, &it, err));
    assert_int_equal(it->point_n, 4);
    assert_int_equal(it->varied_n, 1);
    assert_string_equal(it->varied[0], "size");
    assert_string_equal(it->point[1].setting[0], "big");
    assert_string_equal(it->point[2].setting[0], "small");
    assert_false(it->is_flat);
    assert_int_equal(it->reference, 0);
    assert_int_equal(it->point[1].base, 0);
    assert_int_equal(it->point[3].base, 2);
    near(it->point[1].efficiency.value, 8.0 / 4 / 4, 1e-12);
    near(it->point[2].efficiency.value, 1, 0);
    near(it->point[3].efficiency.value, 2 / 1.6 / 2, 1e-12);
    near(it->point[3].speedup.value, 8 / 1.6, 1e-12);
    const struct as_scale_row *row = row_of(it, AS_OBJECT_LOOP, "kernel_0");
    near(row->efficiency[3].value, 0.5, 1e-9); /* as much in each of two threads */
    near(row->speedup[3].value, 1, 1e-9);
    as_scalability_free(&it);
    fine(as_experiment_close(&s.experiment, err));
}

/* ---- Stability ----------------------------------------------------------------------------- */

static void test_stability(void **state)
{
    const double wall[] = {1.00, 1.02, 0.98, 1.01, 0.99, 1.03, 0.97, 2.00};
    const struct place *place = *state;
    struct as_stability *it;
    struct synthetic s;
    synthetic_open(&s, place->exp, 2, &(struct synthetic_code){.changed = -1});
    fine(as_compare_stability(s.experiment, &it, err));
    assert_null(it);
    const int64_t warm[] = {9000, 0};
    synthetic_add(&s, &(struct synthetic_run){
                          .kind = "warm-up", .wall_s = 9, .thread_n = 1, .sample_n = warm});
    for (int i = 0; i < 8; i++) {
        const int64_t n[] = {400 + 10 * i, 100};
        synthetic_add(&s, &(struct synthetic_run){
                              .kind = "repeat", .wall_s = wall[i], .thread_n = 1, .sample_n = n});
    }
    synthetic_add(
        &s, &(struct synthetic_run){
                .kind = "repeat", .wall_s = 0.01, .exit_code = 1, .thread_n = 1, .sample_n = warm});
    fine(as_compare_stability(s.experiment, &it, err));
    assert_int_equal(it->repeat_n, 8);
    assert_int_equal(it->failed_n, 1);
    assert_int_equal(it->warm_up_n, 1);
    near(it->wall_s.median.value, 1.005, 1e-9);
    near(it->wall_s.median.low, 0.97, 1e-9); /* eight values: the extremes, 2 / 256 outside */
    near(it->wall_s.median.high, 2.00, 1e-9);
    near(it->wall_s.min, 0.97, 1e-9);
    assert_int_equal(it->outlier_n, 1);
    assert_int_equal(it->outlier[0].run_id, 9);
    assert_true(it->drift_p > 0.05);
    assert_false(it->two_levels);
    /* The loop that grows by ten samples a run. */
    const struct as_stability_row *row = &it->row[it->row_n - 2];
    assert_string_equal(row->object.name, "kernel_0");
    near(row->time_s.min, 0.8, 1e-9);
    near(row->time_s.max, 0.94, 1e-9);
    near(row->time_s.median.value, 0.87, 1e-9);
    near(row->deviation_pct, 100 * 0.02 * sqrt(6) / 0.87, 1e-6);
    as_stability_free(&it);
    fine(as_experiment_close(&s.experiment, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_strong),   place_test(test_reference),      place_test(test_weak),
        place_test(test_repeats),  place_test(test_lost_reference), place_test(test_stability),
        place_test(test_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
