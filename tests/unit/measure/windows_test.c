/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes of windows on a made-up core, with a neighbour on its other hardware thread. The neighbour
 * takes a part of every queue, and no gate notices. The sizes must be those of the core, or be
 * marked as doubtful.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "measure/parameters.h"

/* Cycles of an iteration are those of one miss while both loads fit, else of two. */
static const struct {
    const char *name;
    unsigned entries;
} made_core[] = {{"rob", 441},        {"regs_int", 206}, {"regs_fp", 300},  {"store_queue", 104},
                 {"load_queue", 160}, {"sched_int", 86}, {"sched_mem", 61}, {"sched_fp", 170}};

struct made_rig {
    unsigned asked_n;
    unsigned from, to; /* measurements of points beside which the neighbour runs */
    bool is_seen;      /* by the gate */
};

static unsigned entries_of(const char *name)
{
    for (size_t i = 0; i < sizeof made_core / sizeof *made_core; i++)
        if (strcmp(made_core[i].name, name) == 0)
            return made_core[i].entries;
    fail_msg("the core has no %s", name);
    return 0;
}

static void made_cycles(void *context, const char *name, unsigned n, struct as_cycles *out)
{
    struct made_rig *rig = context;
    const bool is_shared = rig->asked_n >= rig->from && rig->asked_n < rig->to;
    const unsigned entries = is_shared ? entries_of(name) * 2 / 3 : entries_of(name);
    const double jitter = 1 + 0.01 * (rig->asked_n++ * 7 % 5);

    *out = (struct as_cycles){.status = is_shared && rig->is_seen ? AS_METER_NOISY : AS_METER_OK,
                              .cycles = (n < entries ? 450 : 890) * jitter,
                              .sample_n = 40};
}

static struct as_parameter_list list;

/* Measurements that it took. */
static unsigned measure_all(unsigned from, unsigned to, bool is_seen)
{
    struct made_rig rig = {.from = from, .to = to, .is_seen = is_seen};
    struct as_parameter_work work = {.list = &list, .made_up = made_cycles, .context = &rig};
    struct as_error err;

    memset(&list, 0, sizeof list);
    assert_int_equal(as_measure_windows(&work, &err), 0);
    return rig.asked_n;
}

static const struct as_parameter *expect_entries(const char *name, double least, double most)
{
    const struct as_parameter *p = as_parameter_find(&list, name);

    if (!p) {
        print_message("# skipped: without AVX %s is not measured\n", name);
        skip();
    }
    if (*p->missing_why)
        fail_msg("%s: not seen: %s", name, p->missing_why);
    if (p->value < least || p->value > most)
        fail_msg("%s: %g is not in %g to %g", name, p->value, least, most);
    return p;
}

static void a_calm_core_is_measured_twice(void **state)
{
    (void)state;
    measure_all(0, 0, false);
    const struct as_parameter *p = expect_entries("sched_int", 84, 89);
    assert_false(p->is_noisy);
    assert_string_equal(p->doubt, "");
    expect_entries("store_queue", 102, 107);
    p = expect_entries("sched_fp", 167, 175);
    assert_false(p->is_noisy);
    for (size_t i = 0; i < list.n; i++) /* once in the list, however often measured */
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(list.at[i].name, list.at[k].name);
}

/* Wherever a neighbour comes and goes within a third of the time: what is kept is the core's, or
 * doubted; never his part as if it were all. */
static void a_neighbour_for_a_while_is_found(void **state)
{
    (void)state;
    const unsigned all = measure_all(0, 0, false), step = all / 23;
    for (unsigned from = 0; from + step < all; from += step)
        for (unsigned is_seen = 0; is_seen < 2; is_seen++) {
            measure_all(from, from + all / 3, is_seen);
            for (size_t i = 0; i < list.n; i++) {
                const struct as_parameter *p = &list.at[i];
                const double own = entries_of(p->name);
                if (!*p->missing_why && p->value < 0.9 * own && !p->is_noisy)
                    fail_msg("%s: %g entries of %g, from measurement %u on", p->name, p->value, own,
                             from);
            }
        }
}

/* In the first pass alone: the two others agree. */
static void a_third_pass_decides(void **state)
{
    (void)state;
    const unsigned all = measure_all(0, 0, false);
    assert_true(measure_all(0, all / 2, false) > all);
    const struct as_parameter *p = expect_entries("sched_int", 84, 89);
    assert_false(p->is_noisy);
}

static struct as_parameter seen(double value)
{
    return (struct as_parameter){.name = "sched_fp", .unit = "entries", .value = value};
}

static void measurements_agree_or_not(void **state)
{
    struct as_parameter pass[3] = {seen(115), seen(170), seen(0)}, out;

    (void)state;
    assert_false(as_window_agree(pass, 1, &out)); /* alone nothing is confirmed */
    assert_false(as_window_agree(pass, 2, &out));
    assert_true(out.value == 170);
    pass[2] = seen(114); /* he was there twice */
    assert_false(as_window_agree(pass, 3, &out));
    assert_true(out.value == 170);
    pass[2] = seen(167);
    assert_true(as_window_agree(pass, 3, &out));
    assert_true(out.value == 170 && !out.is_noisy);
    pass[1].spread = 0.06, pass[2].spread = 0.03; /* the curve of more points knows better */
    assert_true(as_window_agree(pass, 3, &out) && out.value == 167);
    pass[1].spread = 0.03;
    pass[1].is_noisy = true; /* one of both was calm */
    assert_true(as_window_agree(pass, 3, &out) && !out.is_noisy);
    pass[2].is_noisy = true;
    assert_true(as_window_agree(pass, 3, &out) && out.is_noisy);
    strcpy(pass[0].missing_why, "no knee");
    strcpy(pass[1].missing_why, "no knee");
    assert_true(as_window_agree(pass, 2, &out) && *out.missing_why);
}

/* All the time: only what is known of this core tells. */
static void a_neighbour_who_stays_is_doubted(void **state)
{
    static struct as_uarch known;
    struct as_str lines = {0};

    (void)state;
    known.set[AS_UARCH_sched_int] = 88;
    known.set[AS_UARCH_sched_fp] = 210;
    measure_all(0, UINT32_MAX, false);
    as_parameters_compare(&list, &known);
    const struct as_parameter *p = expect_entries("sched_int", 55, 59);
    assert_true(p->is_noisy);
    assert_non_null(strstr(p->doubt, " entries of 88: the other hardware thread is in use"));
    as_parameters_append(&lines, &list, true); /* the table's stays */
    assert_non_null(strstr(as_str_z(&lines), "# noisy: set\tsched_int\t"));
    as_str_fini(&lines);
    measure_all(0, 0, false);
    as_parameters_compare(&list, &known); /* 170 of 210 is what one sees of it */
    for (size_t i = 0; i < list.n; i++)
        assert_false(list.at[i].is_noisy);
}

static void what_is_doubted_is_a_finding(void **state)
{
    struct as_figures *figures;
    struct as_error err;

    (void)state;
    memset(&list, 0, sizeof list);
    struct as_parameter *p = as_parameter_add(&list, "sched_fp", "entries");
    p->value = 170, p->is_noisy = true;
    strcpy(p->doubt, "measured 2 times, with 115 and 170 entries seen");
    assert_int_equal(as_figures_new(NULL, &figures, &err), 0);
    assert_int_equal(as_parameters_keep(&list, figures, &err), 0);
    assert_string_equal(as_figure_confidence(as_figures_find(figures, "core.sched_fp")), "low");
    assert_int_equal(figures->finding_n, 1);
    assert_string_equal(figures->finding[0].text, "core.sched_fp: of little trust: measured 2 "
                                                  "times, with 115 and 170 entries seen");
    p = as_parameter_add(&list, "sched_fp", "entries"); /* again, and calm */
    p->value = 170;
    assert_int_equal(list.n, 1);
    assert_int_equal(as_parameters_keep(&list, figures, &err), 0);
    assert_int_equal(figures->finding_n, 0);
    as_figures_free(&figures);
}

static void cycles_are_whole_where_they_may_be(void **state)
{
    (void)state;
    assert_true(as_cycles_whole(0.511, 0.01) == 0.5); /* 65 of them, of which one is slower */
    assert_true(as_cycles_whole(1.02, 0) == 1);
    assert_true(as_cycles_whole(2.02, 0) == 2);
    assert_true(as_cycles_whole(0.338, 0.02) == 1 / 3.);
    assert_true(as_cycles_whole(0.56, 0.01) == 0.56);
    assert_true(as_cycles_whole(0.56, 0.5) == 0.56); /* a spread like that means nothing */
    assert_true(as_cycles_whole(1.374, 0.01) == 1.37);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_calm_core_is_measured_twice),
        cmocka_unit_test(a_neighbour_for_a_while_is_found),
        cmocka_unit_test(a_third_pass_decides),
        cmocka_unit_test(measurements_agree_or_not),
        cmocka_unit_test(a_neighbour_who_stays_is_doubted),
        cmocka_unit_test(what_is_doubted_is_a_finding),
        cmocka_unit_test(cycles_are_whole_where_they_may_be),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
