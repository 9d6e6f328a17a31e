/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knees of curves recorded on a busy Zen 5 (cycles per iteration over the instructions behind each
 * load). Also made-up curves, and the resulting lines of a table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "measure/knee.h"
#include "measure/parameters.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

struct curve {
    double x[96], y[96];
    size_t n;
};

static void add_points(struct curve *c, double from, double apart, const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        c->x[c->n] = from + apart * (double)i;
        c->y[c->n++] = y[i];
    }
}

/* Nops: 448 entries, filled in groups of eight. The fine points stand behind the coarse ones. */
static struct curve window_of_nops(void)
{
    static const double coarse[] = {474, 439, 447, 455, 466, 498, 569, 944, 905, 879,
                                    902, 948, 680, 928, 935, 941, 927, 944, 943, 992};
    static const double fine[] = {481, 472, 480, 469, 483, 464, 486, 482, 499, 543, 562, 626, 845,
                                  706, 768, 876, 906, 858, 866, 873, 873, 873, 871, 853, 856, 864};
    struct curve c = {.n = 0};
    add_points(&c, 200, 40, coarse, LENGTH(coarse));
    add_points(&c, 430, 1, fine, LENGTH(fine));
    return c;
}

static struct curve stores(void)
{
    static const double coarse[] = {436, 448, 442, 458, 453, 488, 466, 500,
                                    924, 876, 903, 899, 910, 878, 920};
    static const double fine[] = {495, 468, 476, 474, 477, 598, 506, 571,
                                  660, 714, 913, 853, 870, 856, 870, 878};
    struct curve c = {.n = 0};
    add_points(&c, 40, 8, coarse, LENGTH(coarse));
    add_points(&c, 94, 1, fine, LENGTH(fine));
    return c;
}

/* Loads that have ended leave their queue: nothing fills before the window does. */
static struct curve loads_without_knee(void)
{
    static const double y[] = {429, 443, 433, 424, 449, 430, 433, 514, 476,
                               478, 521, 509, 542, 535, 549, 569, 607};
    struct curve c = {.n = 0};
    add_points(&c, 60, 20, y, LENGTH(y));
    return c;
}

/* Integer registers while others used the core: points far above the lower level. */
static struct curve noisy_registers(void)
{
    static const double y[] = {476, 496, 440, 857, 445, 454, 477, 870, 912,
                               914, 878, 877, 903, 861, 889, 455, 886, 887};
    struct curve c = {.n = 0};
    add_points(&c, 140, 10, y, LENGTH(y));
    return c;
}

static struct as_parameter judge(struct curve c, double beyond, double more)
{
    struct as_parameter p = {.name = "rob", .unit = "entries", .spread = -1};
    as_window_judge(&p, c.x, c.y, c.n, beyond, more);
    return p;
}

static void expect_size(const struct as_parameter *p, double least, double most)
{
    if (*p->missing_why)
        fail_msg("not seen: %s", p->missing_why);
    if (p->value < least || p->value > most)
        fail_msg("%f is not in %f to %f", p->value, least, most);
}

static void recorded_windows_have_their_size(void **state)
{
    (void)state;
    const struct as_parameter rob = judge(window_of_nops(), 0, 1);
    expect_size(&rob, 442, 449);
    assert_true(rob.spread > 0 && rob.spread < 0.03);
    const struct as_parameter queue = judge(stores(), 443, 0);
    expect_size(&queue, 102, 105);
}

static void one_stray_point_is_none(void **state)
{
    (void)state;
    const struct as_parameter p = judge(noisy_registers(), 0, 0);
    expect_size(&p, 205, 215);
    struct curve c = noisy_registers();
    for (size_t i = 0; i < c.n; i += 2) /* the neighbour was there all the time */
        c.y[i] = 900;
    assert_true(*judge(c, 0, 0).missing_why);
}

static void without_a_knee_nothing_is_seen(void **state)
{
    struct curve c = loads_without_knee();

    (void)state;
    assert_string_equal(judge(c, 443, 2).missing_why, "no clear knee up to 380 instructions");
    /* A slope from one level to twice it, as of what competes for ports. */
    for (size_t i = 0; i < c.n; i++)
        c.y[i] = 450 * (1 + (double)i / (double)c.n);
    assert_true(*judge(c, 0, 0).missing_why);
    /* A ramp of a third of its end between two levels: not a size. */
    for (size_t i = 0; i < c.n; i++)
        c.y[i] = i < 6 ? 450 : i > 11 ? 900 : 450 + 75 * ((double)i - 5);
    assert_true(*judge(c, 0, 0).missing_why);
    c.n = 5;
    assert_true(*judge(c, 0, 0).missing_why);
    c.n = 0;
    assert_true(*judge(c, 0, 0).missing_why);
}

/* Vector registers: the window fills before they do. */
static void what_fills_first_is_said(void **state)
{
    (void)state;
    const struct as_parameter p = judge(window_of_nops(), 443, 0);
    assert_string_equal(p.missing_why, "what holds all of them fills first, at 443");
}

static void pairs_share_a_slot_or_not(void **state)
{
    struct as_parameter p = {.name = "fuse.cmp"};

    (void)state;
    as_fusion_judge(&p, 0.939, 1.064, 0.934); /* recorded */
    assert_true(p.value == 1 && !*p.missing_why);
    as_fusion_judge(&p, 0.939, 1.064, 1.07);
    assert_true(p.value == 2 && !*p.missing_why);
    as_fusion_judge(&p, 0.939, 1.064, 1.0); /* between: disturbed, or bound by something else */
    assert_true(*p.missing_why);
    p = (struct as_parameter){.name = "fuse.cmp"};
    as_fusion_judge(&p, 1.0, 1.01, 1.0); /* a core with a front end narrower than its rename */
    assert_true(*p.missing_why);
    p = (struct as_parameter){.name = "fuse.cmp"};
    as_fusion_judge(&p, 0, 1, 1);
    assert_true(*p.missing_why);
}

static void parameters_become_lines(void **state)
{
    struct as_parameter_list list = {.n = 0};
    struct as_str lines = {0};

    (void)state;
    struct as_parameter *p = as_parameter_add(&list, "rob", "entries");
    p->value = 443, p->spread = 0.0068;
    p = as_parameter_add(&list, "regs_fp", "entries");
    strcpy(p->missing_why, "hidden");
    p = as_parameter_add(&list, "fuse.cmp", "slots"); /* a figure, no parameter of tables */
    p = as_parameter_add(&list, "sched_fp", "entries");
    p->value = 115, p->is_noisy = true;
    as_parameters_append(&lines, &list, true);
    assert_string_equal(as_str_z(&lines), "set\trob\t443\tm1 0.7%\n"
                                          "# regs_fp: not seen: hidden\nset\tregs_fp\t-\tm1\n"
                                          "# noisy: set\tsched_fp\t115\tnoisy\n");
    as_str_fini(&lines);
    as_parameters_append(&lines, &list, false); /* better than nothing */
    assert_non_null(strstr(as_str_z(&lines), "\nset\tsched_fp\t115\tnoisy\n"));
    as_str_fini(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_windows_have_their_size),
        cmocka_unit_test(one_stray_point_is_none),
        cmocka_unit_test(without_a_knee_nothing_is_seen),
        cmocka_unit_test(what_fills_first_is_said),
        cmocka_unit_test(pairs_share_a_slot_or_not),
        cmocka_unit_test(parameters_become_lines),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
