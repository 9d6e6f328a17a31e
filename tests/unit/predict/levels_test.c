/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates for data of further levels, by bandwidths and streams that are made up: bytes and
 * seconds can be computed by hand.
 */
#include "unit.h"

#include <math.h>
#include <string.h>

#include <assay/code.h>
#include <assay/machine.h>
#include <assay/predict.h>

static void expect_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-6 * (1 + want)))
        fail_msg("%g instead of %g", got, want);
}

static struct assay_memory_stream unit(uint32_t array, unsigned access, int64_t stride_b,
                                       int64_t offset_b)
{
    return (struct assay_memory_stream){.array = array,
                                        .access = (uint8_t)access,
                                        .stride = ASSAY_STRIDE_UNIT,
                                        .stride_b = stride_b,
                                        .offset_b = offset_b,
                                        .width_b = 32,
                                        .element_b = 8};
}

static struct assay_traffic traffic_of(struct assay_memory_stream *at, size_t n)
{
    const struct assay_streams streams = {.at = at, .n = n};
    struct assay_traffic out;
    assay_traffic_of(&streams, 64, &out);
    return out;
}

static void an_array_moves_once(void **state)
{
    /* a[i] = b[i - 1] + b[i] + b[i + 1]; c[i] += 1: three loads of b, one array */
    struct assay_memory_stream at[] = {
        unit(0, ASSAY_ACCESS_READ, 32, 0),  unit(0, ASSAY_ACCESS_READ, 32, 8),
        unit(0, ASSAY_ACCESS_READ, 32, 16), unit(1, ASSAY_ACCESS_WRITE, 32, 0),
        unit(2, ASSAY_ACCESS_READ, -32, 0), unit(2, ASSAY_ACCESS_WRITE, -32, 0)};
    (void)state;
    const struct assay_traffic t = traffic_of(at, 6);
    expect_near(t.read_b, 32);
    expect_near(t.written_b, 64);
    assert_int_equal(t.unknown_n, 0);
}

static void holes_are_lines_of_their_own(void **state)
{
    /* two fields of a record of 256 bytes, in one line, and one in another */
    struct assay_memory_stream at[] = {unit(0, ASSAY_ACCESS_READ, 256, 0),
                                       unit(0, ASSAY_ACCESS_READ, 256, 8),
                                       unit(0, ASSAY_ACCESS_READ, 256, 128)};
    (void)state;
    at[0].stride = at[1].stride = at[2].stride = ASSAY_STRIDE_CONSTANT;
    expect_near(traffic_of(at, 3).read_b, 128);
    at[0].stride_b = at[1].stride_b = at[2].stride_b = 24; /* closer than a line: all of it */
    at[2].offset_b = 16;
    expect_near(traffic_of(at, 3).read_b, 24);
}

static void the_rest_is_told_apart(void **state)
{
    struct assay_memory_stream at[] = {
        unit(0, ASSAY_ACCESS_READ, 32, 0), unit(1, ASSAY_ACCESS_READ, 0, 0),
        unit(2, ASSAY_ACCESS_READ, 0, 0), unit(3, ASSAY_ACCESS_READ, 32, 0),
        unit(4, ASSAY_ACCESS_READ, 0, 0)};
    (void)state;
    at[1].stride = ASSAY_STRIDE_ZERO;
    at[2].stride = ASSAY_STRIDE_INDIRECT;
    at[3].stack = true;
    at[4].stride = ASSAY_STRIDE_UNKNOWN;
    const struct assay_traffic t = traffic_of(at, 5);
    expect_near(t.read_b, 32);
    expect_near(t.written_b, 0);
    expect_near(t.gathered_n, 4);
    assert_true(t.gathers);
    assert_int_equal(t.unknown_n, 1);
}

static void put(struct assay_figures *figures, const char *name, double value)
{
    const struct assay_figure figure = {.name = name, .unit = "B/s", .value = value, .spread = 0};
    struct assay_error err;
    assert_int_equal(assay_figures_set(figures, &figure, &err), 0);
}

static void the_greater_of_computing_and_moving(void **state)
{
    struct assay_figures *figures;
    struct assay_error err;
    const char *lacking = NULL;
    double cycles;
    (void)state;
    assert_int_equal(assay_figures_new(NULL, &figures, &err), 0);
    struct assay_traffic t = {.read_b = 64, .written_b = 32};
    assert_false(assay_predict_at(&t, figures, ASSAY_PREDICT_L2, 3, &cycles, &lacking));
    assert_string_equal(lacking, "frequency");
    put(figures, "frequency.add.f64.scalar.core", 2e9);
    assert_false(assay_predict_at(&t, figures, ASSAY_PREDICT_L2, 3, &cycles, &lacking));
    assert_true(strncmp(lacking, "bandwidth.", 10) == 0);
    put(figures, "bandwidth.read.L2.core", 64e9);
    put(figures, "bandwidth.triad.L2.core", 48e9);
    put(figures, "bandwidth.copy.L2.core", 32e9);
    put(figures, "bandwidth.write.L2.core", 16e9);
    /* a third is written, as triad: 96 bytes at 48e9, 2 ns, 4 cycles */
    assert_true(assay_predict_at(&t, figures, ASSAY_PREDICT_L2, 3, &cycles, &lacking));
    expect_near(cycles, 4);
    assert_true(assay_predict_at(&t, figures, ASSAY_PREDICT_L2, 7, &cycles, &lacking));
    expect_near(cycles, 7);
    assert_true(assay_predict_at(&t, figures, ASSAY_PREDICT_L1, 3, &cycles, &lacking));
    expect_near(cycles, 3);
    assert_true(assay_predict_at(&t, NULL, ASSAY_PREDICT_L1, 3, &cycles, NULL));
    expect_near(cycles, 3);
    t = (struct assay_traffic){.read_b = 64}; /* 1 ns */
    assert_true(assay_predict_at(&t, figures, ASSAY_PREDICT_L2, 1, &cycles, &lacking));
    expect_near(cycles, 2);
    t = (struct assay_traffic){.written_b = 64}; /* 4 ns */
    assert_true(assay_predict_at(&t, figures, ASSAY_PREDICT_L2, 1, &cycles, &lacking));
    expect_near(cycles, 8);
    /* three quarters written: halfway between a copy and a write, (1/32 + 1/16) / 2 ns a byte */
    t = (struct assay_traffic){.read_b = 16, .written_b = 48};
    assert_true(assay_predict_at(&t, figures, ASSAY_PREDICT_L2, 1, &cycles, &lacking));
    expect_near(cycles, 64 * (1. / 32 + 1. / 16) / 2 * 2);
    /* gathers beside it: 16 of 0.5 ns take longer */
    t.gathered_n = 16;
    assert_false(assay_predict_at(&t, figures, ASSAY_PREDICT_L2, 1, &cycles, &lacking));
    assert_string_equal(lacking, "gather.scalar.L2.core");
    put(figures, "gather.scalar.L2.core", 0.5);
    assert_true(assay_predict_at(&t, figures, ASSAY_PREDICT_L2, 1, &cycles, &lacking));
    expect_near(cycles, 16);
    t.gathered_n = 4;
    assert_true(assay_predict_at(&t, figures, ASSAY_PREDICT_L2, 1, &cycles, &lacking));
    expect_near(cycles, 6);
    assay_figures_free(&figures);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_moves_once),
        cmocka_unit_test(holes_are_lines_of_their_own),
        cmocka_unit_test(the_rest_is_told_apart),
        cmocka_unit_test(the_greater_of_computing_and_moving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
