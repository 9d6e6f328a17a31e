/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bad conditions end in findings beside the figures, and the findings go when the conditions do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "measure/rig.h"

static struct as_rig rig;
static struct as_topology topology;

static int begin(void **state)
{
    struct as_error err;

    (void)state;
    memset(&rig, 0, sizeof rig);
    topology = (struct as_topology){.cpu_n = 4, .usable_cpu_n = 4};
    rig.topology = &topology;
    rig.core_n = 2;
    return as_figures_new(NULL, &rig.figures, &err);
}

static int end(void **state)
{
    (void)state;
    as_figures_free(&rig.figures);
    return 0;
}

static const char *finding_of(const char *name)
{
    for (size_t i = 0; i < rig.figures->finding_n; i++)
        if (strcmp(rig.figures->finding[i].name, name) == 0)
            return rig.figures->finding[i].text;
    return NULL;
}

static void say(double quota_cpu_n)
{
    struct as_error err;
    assert_int_equal(as_rig_report_cpus(&rig, quota_cpu_n, &err), 0);
}

static void a_mask_of_processors_is_said(void **state)
{
    (void)state;
    say(-1);
    assert_int_equal(rig.figures->finding_n, 0);
    topology.usable_cpu_n = 1;
    rig.core_n = 1;
    say(-1);
    assert_string_equal(finding_of("processors"),
                        "CPUs: only 1 of 4 may be used (affinity or cpuset): 'all' means "
                        "1 cores");
    topology.usable_cpu_n = 4;
    say(-1);
    assert_null(finding_of("processors"));
}

static void a_quota_is_said(void **state)
{
    (void)state;
    say(1.5);
    assert_string_equal(finding_of("quota"),
                        "quota: the control group grants 1.5 CPUs of 4: figures of all cores "
                        "are those of the quota, not of the machine");
    say(4); /* as many as there are */
    assert_null(finding_of("quota"));
    say(1.5);
    say(-1);
    assert_null(finding_of("quota"));
}

static void small_pages_are_said(void **state)
{
    struct as_error err;

    (void)state;
    assert_int_equal(as_rig_report_afterwards(&rig, "memory", &err), 0);
    assert_null(finding_of("huge_pages"));
    rig.small_only = true;
    assert_int_equal(as_rig_report_afterwards(&rig, "memory", &err), 0);
    assert_non_null(strstr(finding_of("huge_pages"), "the kernel gave none"));
}

/* A neighbour: the figure is kept, of low trust, with a finding that goes with it. */
static void a_neighbour_is_said(void **state)
{
    const struct as_trials calm = {.best_s = 1, .spread = 0.01, .sample_n = 40, .is_calm = true},
                           noisy = {.best_s = 1, .spread = 0.01, .sample_n = 40};
    struct as_error err;

    (void)state;
    assert_int_equal(as_rig_keep(&rig, "a", 1, "B/s", &calm, &err), 0);
    assert_int_equal(as_rig_keep(&rig, "b", 2, "B/s", &noisy, &err), 0);
    assert_int_equal(as_rig_report_afterwards(&rig, "peaks", &err), 0);
    assert_string_equal(as_figure_confidence(as_figures_find(rig.figures, "a")), "high");
    assert_string_equal(as_figure_confidence(as_figures_find(rig.figures, "b")), "low");
    assert_non_null(
        strstr(finding_of("noise.peaks"), "1 of 2 figures were measured under external load"));
    assert_int_equal(as_rig_keep(&rig, "b", 2, "B/s", &calm, &err), 0);
    assert_int_equal(as_rig_report_afterwards(&rig, "peaks", &err), 0);
    assert_null(finding_of("noise.peaks"));
}

/* Measured in rounds: the better one stays, and its spread says how far the next is. */
static void rounds_confirm_each_other(void **state)
{
    const struct as_trials calm = {.best_s = 1, .spread = 0.01, .sample_n = 40, .is_calm = true},
                           noisy = {.best_s = 1, .spread = 0.01, .sample_n = 40};
    struct as_error err;

    (void)state;
    static const struct {
        double value, best, spread;
    } round[] = {{180, 180, 0.01}, {240, 240, 0.25}, {170, 240, 0.25}, {236, 240, 4. / 240}};
    for (size_t i = 0; i < sizeof round / sizeof *round; i++) {
        assert_int_equal(as_rig_keep(&rig, "a", round[i].value, "B/s", &calm, &err), 0);
        const struct as_figure *a = as_figures_find(rig.figures, "a");
        assert_true(a->value == round[i].best);
        assert_true(fabs(a->spread - round[i].spread) < 1e-9);
    }
    assert_int_equal(as_rig_keep(&rig, "a", 300, "B/s", &noisy, &err), 0);
    assert_true(as_figures_find(rig.figures, "a")->value == 240);
    assert_int_equal(as_rig_keep(&rig, "b", 4, "ns", &calm, &err), 0);
    assert_int_equal(as_rig_keep(&rig, "b", 5, "ns", &calm, &err), 0);
    assert_true(as_figures_find(rig.figures, "b")->value == 4);
    assert_string_equal(as_figure_confidence(as_figures_find(rig.figures, "b")), "low");
    assert_int_equal(as_rig_keep(&rig, "b", 4.01, "ns", &calm, &err), 0);
    assert_string_equal(as_figure_confidence(as_figures_find(rig.figures, "b")), "high");
}

/* A neighbour of another core than the first, where no gate stands. */
static void cores_of_their_own_add_up(void **state)
{
    const struct as_trials calm = {.best_s = 1, .spread = 0.01, .sample_n = 40, .is_calm = true};
    struct as_error err;

    (void)state;
    rig.sharers[1] = 1;
    rig.sharers[3] = 2;
    assert_int_equal(as_rig_keep(&rig, "bandwidth.read.L1.core", 490, "B/s", &calm, &err), 0);
    assert_int_equal(as_rig_keep(&rig, "bandwidth.read.L1.all", 482, "B/s", &calm, &err), 0);
    assert_int_equal(as_rig_keep(&rig, "bandwidth.copy.L1.core", 490, "B/s", &calm, &err), 0);
    assert_int_equal(as_rig_keep(&rig, "bandwidth.copy.L1.all", 690, "B/s", &calm, &err), 0);
    assert_int_equal(as_rig_keep(&rig, "bandwidth.read.L3.core", 100, "B/s", &calm, &err), 0);
    assert_int_equal(as_rig_keep(&rig, "bandwidth.read.L3.all", 101, "B/s", &calm, &err), 0);
    assert_int_equal(as_rig_report_private(&rig, &err), 0);
    assert_int_equal(rig.figures->finding_n, 1);
    assert_string_equal(finding_of("bandwidth.read.L1.all"),
                        "bandwidth.read.L1.all: 0.98 times that of one core on 2 cores that do not "
                        "share this cache: external load used one of them");
    assert_string_equal(as_figure_confidence(as_figures_find(rig.figures, "bandwidth.read.L1.all")),
                        "low");
    assert_string_equal(as_figure_confidence(as_figures_find(rig.figures, "bandwidth.copy.L1.all")),
                        "high");
    assert_int_equal(as_rig_keep(&rig, "bandwidth.read.L1.all", 975, "B/s", &calm, &err), 0);
    assert_int_equal(as_rig_report_private(&rig, &err), 0);
    assert_int_equal(rig.figures->finding_n, 0);
}

/* A part of a cache that is no more than the caches below it: no figure, and why. */
static void a_cache_without_room_is_said(void **state)
{
    const int cpu[] = {0, 1};
    const struct as_scope all = {.name = "all", .cpu = cpu, .n = 2};
    struct as_error err;

    (void)state;
    rig.cache_b[1] = 48 << 10;
    rig.cache_b[2] = 1 << 20;
    rig.cache_b[3] = 32 << 20;
    rig.sharers[1] = rig.sharers[2] = 1;
    rig.sharers[3] = 2;
    assert_int_equal(as_rig_report_small_cache(&rig, 3, &all, &err), 0);
    assert_int_equal(rig.figures->finding_n, 0);
    rig.seen_b[3] = 4 << 20;
    const struct as_job job = {.level = 3, .scope = all};
    assert_int_equal(as_job_stream(&rig, &job, &err), 0);
    assert_int_equal(rig.figures->figure_n, 0);
    assert_string_equal(finding_of("bandwidth.L3.all"),
                        "bandwidth.L3.all: not measured: this machine has 4096 KiB of this cache, "
                        "too little to miss the caches below it on 2 cores");
    rig.seen_b[3] = 0;
    assert_int_equal(as_rig_report_small_cache(&rig, 3, &all, &err), 0);
    assert_int_equal(rig.figures->finding_n, 0);
}

/* Trials that came to no end make no figure. */
static void nothing_is_no_figure(void **state)
{
    const struct as_trials none = {.best_s = 0};
    struct as_error err;

    (void)state;
    assert_int_equal(as_rig_keep(&rig, "a", 1 / none.best_s, "B/s", &none, &err), 0);
    assert_int_equal(as_rig_keep(&rig, "a", -1, "B/s", &none, &err), 0);
    assert_null(as_figures_find(rig.figures, "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_mask_of_processors_is_said, begin, end),
        cmocka_unit_test_setup_teardown(a_quota_is_said, begin, end),
        cmocka_unit_test_setup_teardown(small_pages_are_said, begin, end),
        cmocka_unit_test_setup_teardown(a_neighbour_is_said, begin, end),
        cmocka_unit_test_setup_teardown(rounds_confirm_each_other, begin, end),
        cmocka_unit_test_setup_teardown(cores_of_their_own_add_up, begin, end),
        cmocka_unit_test_setup_teardown(a_cache_without_room_is_said, begin, end),
        cmocka_unit_test_setup_teardown(nothing_is_no_figure, begin, end),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
