/* SPDX-License-Identifier: Apache-2.0 */
/* Ceilings by number of cores and mix, and what is said of points: computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "roofline/ceilings.h"

#define GB         1e9
#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-6 * fabs(b) + 1e-12)

static const struct {
    const char *name;
    double value;
} figures[] = {{"bandwidth.read.L1.core", 200},       {"bandwidth.triad.L1.core", 300},
               {"bandwidth.read.memory.core", 20},    {"bandwidth.triad.memory.core", 30},
               {"bandwidth.write.memory.core", 15},   {"bandwidth.triad.memory.all", 60},
               {"bandwidth.triad.memory.cores2", 50}, {"peak.fma.f64.avx2.core", 48},
               {"peak.add.f64.scalar.core", 6},       {"peak.fma.f32.avx2.core", 96},
               {"peak.add.f32.scalar.core", 6},       {"peak.fma.f64.avx2.all", 180}};

static struct as_ceilings four_cores(void)
{
    struct as_ceilings it = {.core_n = 4};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        as_ceilings_add(&it, figures[i].name, figures[i].value * GB);
    return it;
}

static void test_names(void **state)
{
    static const char *const other[] = {
        "latency.L1.huge",           "bandwidth.triad-nt.memory.core", "bandwidth.triad.L4.core",
        "bandwidth.triad.memory",    "peak.mul.f64.avx2.core",         "peak.fma.i64.avx2.core",
        "peak.fma.f64.avx2.numa1",   "bandwidth.read.L1.cores0",       "bandwidth.read.L1.coresx",
        "bandwidth.read.L1.core.x.y"};
    struct as_ceilings it = four_cores();
    const struct as_ceilings before = it;
    (void)state;
    assert_int_equal(it.scope_n, 3);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        as_ceilings_add(&it, other[i], 9e12);
    as_ceilings_add(&it, "bandwidth.read.L1.core", (double)NAN);
    as_ceilings_add(&it, "bandwidth.read.L1.core", -1);
    assert_memory_equal(it.scope, before.scope, 3 * sizeof *it.scope);
    as_ceilings_add(&it, "bandwidth.read.L1.core", 1); /* the highest counts */
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_L1, 0, 1), 200 * GB);
}

static void test_mixes(void **state)
{
    const struct as_ceilings it = four_cores();
    (void)state;
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, 0, 1), 20 * GB);
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, 1. / 3, 1), 30 * GB);
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, 0.5, 1), 30 * GB); /* copy: not measured */
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, 1, 1), 15 * GB);
    NEAR(as_ceilings_fastest(&it, AS_ROOF_MEMORY, 1), 30 * GB);
    assert_true(as_ceilings_bandwidth(&it, AS_ROOF_L2, 0, 1) == 0);
}

static void test_numbers_of_cores(void **state)
{
    struct as_ceilings it = four_cores();
    const double triad = 1. / 3;
    (void)state;
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, triad, 2), 50 * GB);
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, triad, 1.5), 45 * GB); /* 1.5 x one core */
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, triad, 3), 60 * GB);   /* as all */
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, triad, 4), 60 * GB);
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_L1, triad, 4), 1200 * GB);
    /* A busy machine: more cores reach what one does. */
    as_ceilings_add(&it, "bandwidth.write.memory.all", 10 * GB);
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, 1, 4), 15 * GB);
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, 1, 3), 15 * GB);
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, 1, 1), 15 * GB);
    /* A node stands for a core of which nothing is known. */
    as_ceilings_add(&it, "bandwidth.triad.L3.numa0", 70 * GB);
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_L3, triad, 1), 70 * GB);
}

static void test_types(void **state)
{
    const struct as_ceilings it = four_cores();
    (void)state;
    NEAR(as_ceilings_peak(&it, AS_ROOF_FMA, AS_ROOF_WIDTH_AVX2, 0, 1), 48 * GB);
    NEAR(as_ceilings_peak(&it, AS_ROOF_FMA, AS_ROOF_WIDTH_AVX2, 1, 1), 96 * GB);
    /* Half of the flops at each rate: the harmonic mean. */
    NEAR(as_ceilings_peak(&it, AS_ROOF_FMA, AS_ROOF_WIDTH_AVX2, 0.5, 1), 64 * GB);
    assert_true(as_ceilings_peak(&it, AS_ROOF_FMA, AS_ROOF_WIDTH_SSE, 0, 1) == 0);
}

/* ---- Points -------------------------------------------------------------------------------- */

/* Bytes as of triad; `gflop_s` with so many flops a byte. */
static struct as_roof_point point_of(double intensity, double gflop_s)
{
    struct as_roof_point it = {.kind = AS_OBJECT_LOOP,
                               .core_n = 1,
                               .flops = intensity * 24 * GB,
                               .load_b = 16 * GB,
                               .store_b = 8 * GB,
                               .intensity = intensity,
                               .flop_s = gflop_s * GB,
                               .flop_s_high = INFINITY,
                               .byte_s = gflop_s * GB / intensity,
                               .vector = AS_ROOF_FULL};
    for (unsigned level = 0; level < AS_ROOF_LEVELS; level++)
        it.level_b[level] = (double)NAN;
    it.level_b[AS_ROOF_L1] = 24 * GB;
    return it;
}

/* Small pages: triad of memory 20 where huge ones give 30; read 16 for 20. */
static void test_pages(void **state)
{
    struct as_ceilings it = four_cores();
    struct as_roof_point point = point_of(1. / 12, 1.5);
    struct as_roof roof[AS_ROOFS_MAX];
    (void)state;
    as_ceilings_add(&it, "bandwidth.triad-small.memory.core", 20 * GB);
    as_ceilings_add(&it, "bandwidth.read-small.memory.core", 16 * GB);
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, 1. / 3, 1), 30 * GB); /* not known: huge */
    it.has_pages = true;
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, 1. / 3, 1), 20 * GB);
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, 0, 1), 16 * GB);
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, 1, 1), 10 * GB); /* write: as triad */
    NEAR(as_ceilings_huge_x(&it, AS_ROOF_MEMORY, 1. / 3, 1), 1.5);
    as_ceilings_judge(&it, &point); /* 20 / 12 */
    assert_string_equal(point.roof.name, "memory");
    NEAR(point.roof_share, 0.9);
    NEAR(point.huge_x, 1.5);
    assert_int_equal(as_ceilings_roofs(&it, 1, roof), 2 + 1 + 4);
    assert_string_equal(roof[2].name, "memory on huge pages");
    assert_true(roof[2].is_huge && roof[2].is_bandwidth && !roof[1].is_huge);
    NEAR(roof[1].value, 20 * GB);
    NEAR(roof[2].value, 30 * GB);
    /* Half of the bytes on each: 1 / (0.5 / 30 + 0.5 / 20). */
    it.huge_share = 0.5;
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, 1. / 3, 1), 24 * GB);
    it.huge_share = 1;
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_MEMORY, 1. / 3, 1), 30 * GB);
    assert_true(as_ceilings_huge_x(&it, AS_ROOF_MEMORY, 1. / 3, 1) == 1);
    assert_int_equal(as_ceilings_roofs(&it, 1, roof), 2 + 4);
    NEAR(as_ceilings_bandwidth(&it, AS_ROOF_L1, 0, 1), 200 * GB); /* L1: one figure */
}

static void test_roof_above(void **state)
{
    const struct as_ceilings it = four_cores();
    struct as_roof_point point = point_of(1. / 12, 2);
    (void)state;
    /* Memory allows 30 / 12 = 2.5; L1 300 / 12 = 25 Gflop/s, less than the peak. */
    as_ceilings_judge(&it, &point);
    assert_string_equal(point.roof.name, "memory");
    NEAR(point.roof_at, 2.5 * GB);
    NEAR(point.roof_share, 0.8);
    NEAR(point.attainable, 25 * GB);
    NEAR(point.headroom_x, 12.5);
    assert_int_equal(point.marks, 0);
    /* Above the roof of memory the next one is L1, and for scalar code the scalar addition. */
    point = point_of(1. / 12, 4);
    as_ceilings_judge(&it, &point);
    assert_string_equal(point.roof.name, "L1");
    NEAR(point.roof_share, 0.16);
    point.vector = AS_ROOF_SCALAR;
    as_ceilings_judge(&it, &point);
    assert_string_equal(point.roof.name, "add scalar");
    NEAR(point.roof_at, 6 * GB);
    /* Many flops a byte: the peak. */
    point = point_of(100, 36);
    as_ceilings_judge(&it, &point);
    assert_string_equal(point.roof.name, "FMA avx2");
    NEAR(point.roof_share, 0.75);
    NEAR(point.headroom_x, 48. / 36);
}

static void test_above_all(void **state)
{
    const struct as_ceilings it = four_cores();
    struct as_roof_point point = point_of(1. / 12, 25.1);
    (void)state;
    as_ceilings_judge(&it, &point);
    assert_int_equal(point.marks, AS_ROOF_ABOVE);
    assert_true(point.headroom_x == 1);
    point = point_of(100, 48.1);
    as_ceilings_judge(&it, &point);
    assert_int_equal(point.marks, AS_ROOF_ABOVE);
    assert_string_equal(point.roof.name, "FMA avx2");
}

static void test_levels(void **state)
{
    const struct as_ceilings it = four_cores();
    struct as_roof_point point = point_of(1. / 12, 2);
    (void)state;
    /* 12 GB pass to memory, of a stream that moves 30 GB/s, and 10 more that stores read: 40 x 2 /
     * 12 Gflop/s. */
    point.level_b[AS_ROOF_MEMORY] = 12 * GB;
    as_ceilings_judge(&it, &point);
    assert_string_equal(point.roof.name, "memory");
    NEAR(point.roof_at, 40. / 6 * GB);
    NEAR(point.roof_share, 0.3);
    NEAR(point.headroom_x, 1 / 0.3);
    /* None do: L1 limits. */
    point.level_b[AS_ROOF_MEMORY] = 0;
    as_ceilings_judge(&it, &point);
    assert_string_equal(point.roof.name, "L1");
    NEAR(point.attainable, 25 * GB);
    /* More from memory than it gives in that time. */
    point.level_b[AS_ROOF_MEMORY] = 64 * GB;
    as_ceilings_judge(&it, &point);
    assert_int_equal(point.marks, AS_ROOF_ABOVE);
}

static void test_without_flops(void **state)
{
    const struct as_ceilings it = four_cores();
    struct as_roof_point point = point_of(1, 1);
    (void)state;
    point.flops = point.intensity = point.flop_s = 0;
    point.byte_s = 24 * GB;
    point.vector = AS_ROOF_NO_FLOPS;
    as_ceilings_judge(&it, &point);
    assert_string_equal(point.roof.name, "memory");
    NEAR(point.roof_share, 0.8); /* of 30 GB/s */
    NEAR(point.headroom_x, 12.5);
    /* Without bytes there is no bandwidth to hold it to. */
    point = point_of(1, 1);
    point.level_b[AS_ROOF_L1] = point.load_b = point.store_b = 0;
    point.intensity = (double)NAN;
    as_ceilings_judge(&it, &point);
    assert_string_equal(point.roof.name, "FMA avx2");
}

static void test_no_ceilings(void **state)
{
    const struct as_ceilings none = {.core_n = 4};
    struct as_roof_point point = point_of(1, 1);
    struct as_roof roof[AS_ROOFS_MAX];
    (void)state;
    as_ceilings_judge(&none, &point);
    assert_true(point.roof.value == 0 && isnan(point.headroom_x) && point.marks == 0);
    assert_int_equal(as_ceilings_roofs(&none, 4, roof), 0);
}

/* ---- The drawing --------------------------------------------------------------------------- */

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
        n++;
    return n;
}

static void test_drawing(void **state)
{
    const struct as_ceilings ceilings = four_cores();
    struct as_roof_point point[] = {point_of(0.1, 2), point_of(1, 3), point_of(1, 1)};
    struct as_roofline it = {.title = "a <b> & c", .core_n = 4, .point = point, .point_n = 3};
    struct as_str out = {0};
    (void)state;
    point[0].name = "first";
    point[1].name = "x<T>\xc3\xa9";
    point[1].vector = AS_ROOF_SCALAR;
    point[2].name = "no flops";
    point[2].flops = 0;
    it.one_n = as_ceilings_roofs(&ceilings, 1, it.one);
    it.all_n = as_ceilings_roofs(&ceilings, 4, it.all);
    assert_int_equal(as_roofline_svg(&it, NULL, &out), 0);
    assert_false(out.failed);
    assert_non_null(strstr(out.p, "a &lt;b&gt; &amp; c"));
    assert_non_null(strstr(out.p, "x&lt;T&gt;\xc3\xa9: 3 GFLOP/s, 1 flop/B"));
    assert_null(strstr(out.p, "no flops"));
    assert_non_null(strstr(out.p, "<circle class=\"scalar\""));
    assert_int_equal(count_of(out.p, "<svg"), 1);
    assert_int_equal(count_of(out.p, "nan"), 0);
    assert_int_equal(count_of(out.p, "inf"), 0);
    as_str_fini(&out);
}

/* Arrows lead from the points of an older run to those of the same kind and name. */
static void test_arrows(void **state)
{
    struct as_roof_point now[] = {point_of(0.1, 2), point_of(1, 3), point_of(1, 1)};
    struct as_roof_point old[] = {point_of(0.001, 1), point_of(1, 2), point_of(2, 2),
                                  point_of(3, 3)};
    struct as_roofline it = {.title = "new", .point = now, .point_n = 3};
    const struct as_roofline before = {.title = "old & slow", .point = old, .point_n = 4};
    struct as_str out = {0};
    (void)state;
    now[0].name = old[0].name = "first";
    now[1].name = old[1].name = old[2].name = "twice";
    now[2].name = "new";
    old[3].name = "gone";
    assert_int_equal(as_roofline_svg(&it, &before, &out), 1);
    assert_false(out.failed);
    assert_int_equal(count_of(out.p, "<g class=\"before\">"), 1);
    assert_int_equal(count_of(out.p, "before: 1 GFLOP/s, 0.001 flop/B"), 1);
    assert_non_null(strstr(out.p, "old &amp; slow"));
    assert_int_equal(count_of(out.p, "nan"), 0);
    /* The chart reaches from the lowest intensity of both, which is left of all points. */
    double x = 0, y = 0, first_x = 0;
    const char *start = strstr(out.p, "<circle class=\"arrow\"");
    const char *point = strstr(out.p, "<circle class=\"full\"");
    assert_true(start &&
                sscanf(start, "<circle class=\"arrow\" cx=\"%lf\" cy=\"%lf\"", &x, &y) == 2);
    assert_true(point && sscanf(point, "<circle class=\"full\" cx=\"%lf\"", &first_x) == 1);
    assert_true(x >= 70 && x < first_x && y > 50 && y < 560);
    as_str_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),         cmocka_unit_test(test_mixes),
        cmocka_unit_test(test_types),         cmocka_unit_test(test_numbers_of_cores),
        cmocka_unit_test(test_pages),         cmocka_unit_test(test_roof_above),
        cmocka_unit_test(test_above_all),     cmocka_unit_test(test_levels),
        cmocka_unit_test(test_without_flops), cmocka_unit_test(test_drawing),
        cmocka_unit_test(test_arrows),        cmocka_unit_test(test_no_ceilings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
