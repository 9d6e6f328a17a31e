/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates for data of further levels, by bandwidths and streams that are made up: bytes and
 * seconds can be computed by hand; and beside what was measured and recorded.
 */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/code.h"
#include "machine/machine.h"
#include "predict/predict.h"

static void expect_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-6 * (1 + want)))
        fail_msg("%g instead of %g", got, want);
}

static struct as_memory_stream unit(uint32_t array, unsigned access, int64_t stride_b,
                                    int64_t offset_b)
{
    return (struct as_memory_stream){.array = array,
                                     .access = (uint8_t)access,
                                     .stride = AS_STRIDE_UNIT,
                                     .stride_b = stride_b,
                                     .offset_b = offset_b,
                                     .width_b = 32,
                                     .element_b = 8};
}

static struct as_traffic traffic_of(struct as_memory_stream *at, size_t n)
{
    const struct as_streams streams = {.at = at, .n = n};
    struct as_traffic out;
    as_traffic_of(&streams, 64, &out);
    return out;
}

static void an_array_moves_once(void **state)
{
    /* a[i] = b[i - 1] + b[i] + b[i + 1]; c[i] += 1: three loads of b, one array */
    struct as_memory_stream at[] = {
        unit(0, AS_ACCESS_READ, 32, 0),  unit(0, AS_ACCESS_READ, 32, 8),
        unit(0, AS_ACCESS_READ, 32, 16), unit(1, AS_ACCESS_WRITE, 32, 0),
        unit(2, AS_ACCESS_READ, -32, 0), unit(2, AS_ACCESS_WRITE, -32, 0)};
    (void)state;
    const struct as_traffic t = traffic_of(at, 6);
    expect_near(t.read_b, 32);
    expect_near(t.written_b, 64);
    assert_int_equal(t.unknown_n, 0);
}

static void holes_are_lines_of_their_own(void **state)
{
    /* two fields of a record of 256 bytes, in one line, and one in another */
    struct as_memory_stream at[] = {unit(0, AS_ACCESS_READ, 256, 0),
                                    unit(0, AS_ACCESS_READ, 256, 8),
                                    unit(0, AS_ACCESS_READ, 256, 128)};
    (void)state;
    at[0].stride = at[1].stride = at[2].stride = AS_STRIDE_CONSTANT;
    expect_near(traffic_of(at, 3).read_b, 128);
    at[0].stride_b = at[1].stride_b = at[2].stride_b = 24; /* closer than a line: all of it */
    at[2].offset_b = 16;
    expect_near(traffic_of(at, 3).read_b, 24);
}

static void the_rest_is_told_apart(void **state)
{
    struct as_memory_stream at[] = {unit(0, AS_ACCESS_READ, 32, 0), unit(1, AS_ACCESS_READ, 0, 0),
                                    unit(2, AS_ACCESS_READ, 0, 0), unit(3, AS_ACCESS_READ, 32, 0),
                                    unit(4, AS_ACCESS_READ, 0, 0)};
    (void)state;
    at[1].stride = AS_STRIDE_ZERO;
    at[2].stride = AS_STRIDE_INDIRECT;
    at[3].stack = true;
    at[4].stride = AS_STRIDE_UNKNOWN;
    const struct as_traffic t = traffic_of(at, 5);
    expect_near(t.read_b, 32);
    expect_near(t.written_b, 0);
    expect_near(t.gathered_n, 4);
    assert_true(t.gathers);
    assert_int_equal(t.unknown_n, 1);
}

static void put(struct as_figures *figures, const char *name, double value)
{
    const struct as_figure figure = {.name = name, .unit = "B/s", .value = value, .spread = 0};
    struct as_error err;
    assert_int_equal(as_figures_set(figures, &figure, &err), 0);
}

static void the_greater_of_computing_and_moving(void **state)
{
    struct as_figures *figures;
    struct as_error err;
    const char *lacking = NULL;
    double cycles;
    (void)state;
    assert_int_equal(as_figures_new(NULL, &figures, &err), 0);
    struct as_traffic t = {.read_b = 64, .written_b = 32};
    assert_false(as_predict_at(&t, figures, AS_PREDICT_L2, 3, &cycles, &lacking));
    assert_string_equal(lacking, "frequency");
    put(figures, "frequency.add.f64.scalar.core", 2e9);
    assert_false(as_predict_at(&t, figures, AS_PREDICT_L2, 3, &cycles, &lacking));
    assert_true(strncmp(lacking, "bandwidth.", 10) == 0);
    put(figures, "bandwidth.read.L2.core", 64e9);
    put(figures, "bandwidth.triad.L2.core", 48e9);
    put(figures, "bandwidth.copy.L2.core", 32e9);
    put(figures, "bandwidth.write.L2.core", 16e9);
    /* a third is written, as triad: 96 bytes at 48e9, 2 ns, 4 cycles */
    assert_true(as_predict_at(&t, figures, AS_PREDICT_L2, 3, &cycles, &lacking));
    expect_near(cycles, 4);
    assert_true(as_predict_at(&t, figures, AS_PREDICT_L2, 7, &cycles, &lacking));
    expect_near(cycles, 7);
    assert_true(as_predict_at(&t, figures, AS_PREDICT_L1, 3, &cycles, &lacking));
    expect_near(cycles, 3);
    assert_true(as_predict_at(&t, NULL, AS_PREDICT_L1, 3, &cycles, NULL));
    expect_near(cycles, 3);
    t = (struct as_traffic){.read_b = 64}; /* 1 ns */
    assert_true(as_predict_at(&t, figures, AS_PREDICT_L2, 1, &cycles, &lacking));
    expect_near(cycles, 2);
    t = (struct as_traffic){.written_b = 64}; /* 4 ns */
    assert_true(as_predict_at(&t, figures, AS_PREDICT_L2, 1, &cycles, &lacking));
    expect_near(cycles, 8);
    /* three quarters written: halfway between a copy and a write, (1/32 + 1/16) / 2 ns a byte */
    t = (struct as_traffic){.read_b = 16, .written_b = 48};
    assert_true(as_predict_at(&t, figures, AS_PREDICT_L2, 1, &cycles, &lacking));
    expect_near(cycles, 64 * (1. / 32 + 1. / 16) / 2 * 2);
    /* gathers beside it: 16 of 0.5 ns take longer */
    t.gathered_n = 16;
    assert_false(as_predict_at(&t, figures, AS_PREDICT_L2, 1, &cycles, &lacking));
    assert_string_equal(lacking, "gather.scalar.L2.core");
    put(figures, "gather.scalar.L2.core", 0.5);
    assert_true(as_predict_at(&t, figures, AS_PREDICT_L2, 1, &cycles, &lacking));
    expect_near(cycles, 16);
    t.gathered_n = 4;
    assert_true(as_predict_at(&t, figures, AS_PREDICT_L2, 1, &cycles, &lacking));
    expect_near(cycles, 6);
    as_figures_free(&figures);
}

/* ---- Recorded ----------------------------------------------------------------------------------
 *
 * levels.txt has figures of a machine, and the time and traffic of an iteration of each loop. It
 * also has measured cycles per element (tests/bench/levels.py). Estimates lie within 20 % of these.
 * Exceptions are listed there as misses with their ratio, which may not get worse.
 */

enum { LOOPS_MOST = 8 };

struct recorded_loop {
    char name[16];
    double cycles, elements;
    struct as_traffic traffic;
};

struct recording {
    struct as_figures *figures;
    struct recorded_loop loop[LOOPS_MOST];
    size_t loop_n;
    unsigned judged_n, within_n, missed_n;
};

static const struct recorded_loop *loop_named(const struct recording *r, const char *name)
{
    for (size_t i = 0; i < r->loop_n; i++)
        if (strcmp(r->loop[i].name, name) == 0)
            return &r->loop[i];
    fail_msg("no loop is named %s", name);
    return NULL;
}

static void read_loop(struct recording *r, char *const column[8])
{
    assert_true(r->loop_n < LOOPS_MOST);
    struct recorded_loop *loop = &r->loop[r->loop_n++];
    *loop = (struct recorded_loop){.cycles = atof(column[2]), .elements = atof(column[3])};
    snprintf(loop->name, sizeof loop->name, "%s", column[1]);
    loop->traffic.read_b = atof(column[4]);
    loop->traffic.written_b = atof(column[5]);
    loop->traffic.gathered_n = atof(column[6]);
    loop->traffic.gathers = loop->traffic.gathered_n > 0;
}

/* Estimate over what was measured. */
static double ratio_of(const struct recording *r, char *const column[8])
{
    const struct recorded_loop *loop = loop_named(r, column[1]);
    double cycles;

    for (unsigned level = AS_PREDICT_L2; level < AS_PREDICT_LEVELS; level++) {
        if (strcmp(as_predict_level_name((enum as_predict_level)level), column[2]) != 0)
            continue;
        const char *lacking = "nothing";
        if (!as_predict_at(&loop->traffic, r->figures, (enum as_predict_level)level, loop->cycles,
                           &cycles, &lacking))
            fail_msg("%s is lacking", lacking);
        return cycles / loop->elements / atof(column[3]);
    }
    fail_msg("no level is named %s", column[2]);
    return 0;
}

static void judge_line(struct recording *r, char *const column[8])
{
    const double ratio = ratio_of(r, column);
    const bool is_within = ratio >= 0.8 && ratio <= 1.2;

    r->judged_n++;
    r->within_n += is_within;
    if (strcmp(column[0], "missed") != 0) {
        if (!is_within)
            fail_msg("%s out of %s: %.2f times what was measured", column[1], column[2], ratio);
        return;
    }
    r->missed_n++;
    const double was = atof(column[4]);
    if (is_within)
        fail_msg("%s out of %s is no miss any more (%.2f): say so", column[1], column[2], ratio);
    if (fabs(log(ratio)) > fabs(log(was)) + 0.02)
        fail_msg("%s out of %s got worse: %.2f, was %.2f", column[1], column[2], ratio, was);
}

static void read_line(struct recording *r, char *line)
{
    char *column[8] = {"", "", "", "", "", "", "", ""}, *rest = NULL;
    size_t n = 0;

    line[strcspn(line, "\n")] = 0;
    for (char *word = strtok_r(line, "\t", &rest); word && n < 8;
         word = strtok_r(NULL, "\t", &rest))
        column[n++] = word;
    if (n == 0 || *column[0] == '#')
        return;
    if (strcmp(column[0], "figure") == 0)
        put(r->figures, column[1], atof(column[2]));
    else if (strcmp(column[0], "loop") == 0)
        read_loop(r, column);
    else
        judge_line(r, column);
}

static void estimates_are_near_what_was_measured(void **state)
{
    struct recording r = {.loop_n = 0};
    struct as_error err;
    char line[256];
    FILE *f = fopen(LEVELS, "r");

    (void)state;
    assert_non_null(f);
    assert_int_equal(as_figures_new(NULL, &r.figures, &err), 0);
    while (fgets(line, sizeof line, f))
        read_line(&r, line);
    fclose(f);
    as_figures_free(&r.figures);
    assert_int_equal(r.judged_n, 15); /* five loops, three levels */
    assert_int_equal(r.within_n + r.missed_n, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_moves_once),
        cmocka_unit_test(holes_are_lines_of_their_own),
        cmocka_unit_test(the_rest_is_told_apart),
        cmocka_unit_test(the_greater_of_computing_and_moving),
        cmocka_unit_test(estimates_are_near_what_was_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
