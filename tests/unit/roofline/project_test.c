/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Projections of a published table, by both readings of its inputs. It has one code on three
 * machines. Other loops are computed by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "roofline/project.h"

#define GB 1e9

static void assert_near(double value, double want, double part)
{
    if (!(fabs(value - want) <= part * want))
        fail_msg("%.9g is not near %.9g", value, want);
}

static struct as_ceilings machine_of(unsigned core_n, double node, double domain)
{
    struct as_ceilings it = {.core_n = core_n};
    as_ceilings_add(&it, "bandwidth.triad.memory.all", node * GB);
    as_ceilings_add(&it, "bandwidth.triad.memory.numa0", domain * GB);
    return it;
}

/* A group that moves bytes of memory, so many seconds on so many cores. */
static struct as_roof_point group_of(double wall_s, double core_n)
{
    struct as_roof_point it = {.kind = AS_OBJECT_FUNCTION,
                               .name = "group",
                               .time_s = wall_s * core_n,
                               .core_n = core_n,
                               .intensity = (double)NAN};
    for (unsigned level = 0; level < AS_ROOF_LEVELS; level++)
        it.level_b[level] = (double)NAN;
    it.level_b[AS_ROOF_MEMORY] = wall_s * 10 * GB;
    return it;
}

/* The wall time of the study's code: three threaded groups and a serial one, 84.6 % of the time. */
static double study_time(double serial_s, const struct as_ceilings *reference,
                         const struct as_ceilings *target, enum as_project_rest rest)
{
    const double wall_s[] = {997.6, 757.8, 31.1, serial_s};
    const double core_n[] = {32, 32, 32, 1};
    struct as_projected part[4];
    struct as_projection all = {.part = part, .part_n = 4, .rest = rest};
    for (size_t i = 0; i < 4; i++) {
        const struct as_roof_point group = group_of(wall_s[i], core_n[i]);
        assert_true(as_project_part(reference, target, NULL, &group, &part[i]));
        assert_string_equal(part[i].limit, "memory");
        assert_string_equal(part[i].target_limit, "memory");
        all.time_s += wall_s[i] / 0.846;
    }
    as_project_sum(&all);
    assert_true(all.low_s <= all.target_s && all.target_s <= all.high_s);
    return all.target_s;
}

static void test_study(void **state)
{
    static const struct {
        unsigned core_n;
        double node, domain, fitted, printed, as_printed;
    } target[] = {{20, 93.5, 46.7, 1715.3, 1633.6, 1599.2},
                  {24, 112.3, 56.2, 1427.7, 1359.7, 1331.1},
                  {28, 125.1, 62.5, 1282.0, 1220.9, 1195.2}};
    const struct as_ceilings fitted = machine_of(32, 62.58, 15.65);
    const struct as_ceilings printed = machine_of(32, 59.6, 14.9);
    (void)state;
    for (size_t i = 0; i < sizeof target / sizeof *target; i++) {
        const struct as_ceilings there =
            machine_of(target[i].core_n, target[i].node, target[i].domain);
        /* The bandwidth that the published results follow from. */
        assert_near(study_time(762.5, &fitted, &there, AS_REST_SCALES), target[i].fitted, 3e-4);
        /* The printed bandwidth, with the serial time of the printed share, and as printed. */
        assert_near(study_time(762.5, &printed, &there, AS_REST_SCALES), target[i].printed, 2e-4);
        assert_near(study_time(671.3, &printed, &there, AS_REST_SCALES), target[i].as_printed,
                    2e-4);
    }
}

/* The rest, 464 s of 3013 s, takes as long there. */
static void test_rest_stays(void **state)
{
    const struct as_ceilings here = machine_of(32, 50, 50), there = machine_of(32, 100, 100);
    const double covered = 997.6 + 757.8 + 31.1 + 762.5;
    (void)state;
    assert_near(study_time(762.5, &here, &there, AS_REST_SCALES), covered / 0.846 / 2, 1e-9);
    assert_near(study_time(762.5, &here, &there, AS_REST_STAYS),
                covered / 2 + covered / 0.846 - covered, 1e-9);
}

/* ---- One loop ------------------------------------------------------------------------------ */

static struct as_ceilings cores_of_machine(double memory, double l1, double fma)
{
    struct as_ceilings it = {.core_n = 4};
    as_ceilings_add(&it, "bandwidth.triad.memory.core", memory * GB);
    as_ceilings_add(&it, "bandwidth.triad.L1.core", l1 * GB);
    as_ceilings_add(&it, "peak.fma.f64.avx2.core", fma * GB);
    return it;
}

/* 10 Gflop in 2 s; 20 GB from L1, `memory_gb` from memory. */
static struct as_roof_point loop_of(double memory_gb)
{
    struct as_roof_point it = {.kind = AS_OBJECT_LOOP,
                               .name = "loop",
                               .time_s = 2,
                               .core_n = 1,
                               .sample_n = 100,
                               .flops = 10 * GB,
                               .load_b = 20 * GB,
                               .intensity = 0.5,
                               .vector = AS_ROOF_FULL};
    for (unsigned level = 0; level < AS_ROOF_LEVELS; level++)
        it.level_b[level] = (double)NAN;
    it.level_b[AS_ROOF_L1] = 20 * GB;
    it.level_b[AS_ROOF_MEMORY] = memory_gb * GB;
    return it;
}

static void test_limit_changes(void **state)
{
    const struct as_ceilings here = cores_of_machine(10, 100, 20);
    const struct as_ceilings there = cores_of_machine(100, 100, 20);
    const struct as_roof_point loop = loop_of(16);
    struct as_projected out;
    (void)state;
    /* Triad moves 4/3 of the bytes that it counts. Here: memory 1.2 s, L1 0.2 s, FMA 0.5 s of 2 s.
     * There: 0.12, 0.2, 0.5 s. */
    assert_true(as_project_part(&here, &there, NULL, &loop, &out));
    assert_true(out.by_levels);
    assert_near(out.efficiency, 0.6, 1e-9);
    assert_string_equal(out.limit, "memory");
    assert_string_equal(out.target_limit, "peak");
    assert_near(out.target_s, 0.5 / 0.6, 1e-9);
    /* Without overlap 1.9 s become 0.82 s; 100 samples are 19.6 %. */
    assert_near(out.low_s, 0.5 / 0.6 * (1 - 0.196), 1e-9);
    assert_near(out.high_s, 2 * 0.82 / 1.9 * 1.196, 1e-9);
}

/* Memory brings 16 GB into 32 MiB, 8 GB into 64 MiB and all 32 GB into 16 MiB. */
static void test_caches(void **state)
{
    const struct as_ceilings machine = cores_of_machine(10, 100, 20);
    struct as_project_caches caches = {{32 << 10, 1 << 20, 32 << 20},
                                       {32 << 10, 1 << 20, 64 << 20}};
    struct as_roof_point loop = loop_of(16);
    struct as_projected out;
    (void)state;
    for (unsigned i = 0; i < AS_ROOF_CURVE; i++)
        loop.curve_b[i] = (i < 11 ? 32 : i == 11 ? 16 : 8) * GB;
    /* Memory 1.2 s of 2 s here, 0.6 s there: still the longest. */
    assert_true(as_project_part(&machine, &machine, &caches, &loop, &out));
    assert_true(out.by_caches);
    assert_string_equal(out.target_limit, "memory");
    assert_near(out.target_s, 1, 1e-9);
    caches.there_b[2] = 16 << 20;
    assert_true(as_project_part(&machine, &machine, &caches, &loop, &out));
    assert_near(out.target_s, 4, 1e-9);
    caches.there_b[2] = 0; /* memory is behind L2 there */
    assert_true(as_project_part(&machine, &machine, &caches, &loop, &out));
    assert_near(out.target_s, 4, 1e-9);
    caches.there_b[2] = 48 << 20; /* 16 - 8 * log2(48 / 32) */
    assert_true(as_project_part(&machine, &machine, &caches, &loop, &out));
    assert_near(out.target_s, 2 * (16 - 8 * 0.5849625007211562) / 16, 1e-9);
    caches.there_b[2] = (uint64_t)1 << 40; /* behind the end of the curve: its last value */
    assert_true(as_project_part(&machine, &machine, &caches, &loop, &out));
    assert_near(out.target_s, 1, 1e-9);
    /* Two threads share the last cache on both: 16 MiB and 32 MiB each. */
    caches.there_b[2] = 64 << 20;
    loop.core_n = 2;
    assert_true(as_project_part(&machine, &machine, &caches, &loop, &out));
    assert_near(out.target_s, 0.5, 1e-9);
    loop.curve_b[0] = (double)NAN;
    assert_true(as_project_part(&machine, &machine, &caches, &loop, &out));
    assert_false(out.by_caches);
}

static void test_without_levels(void **state)
{
    const struct as_ceilings here = cores_of_machine(16, 100, 20);
    const struct as_ceilings there = cores_of_machine(32, 100, 80);
    struct as_roof_point loop = loop_of((double)NAN);
    struct as_projected out;
    (void)state;
    /* By memory alone its 20 GB take 1.25 s of 2 s: the roof above it. L1 stays, FMA is 4 times. */
    assert_true(as_project_part(&here, &there, NULL, &loop, &out));
    assert_false(out.by_levels);
    assert_string_equal(out.limit, "memory");
    assert_near(out.target_s, 1, 1e-9);
    assert_near(out.low_s, 2. / 4 * (1 - 0.196), 1e-9);
    assert_near(out.high_s, 2. * 1.196, 1e-9);
    /* Faster than memory allows: only L1 (0.2 s) and FMA (0.5 s) can limit it. */
    loop.time_s = 1;
    assert_true(as_project_part(&here, &there, NULL, &loop, &out));
    assert_string_equal(out.limit, "FMA avx2");
    assert_near(out.target_s, 0.25, 1e-9);
    /* Faster than all of them: no roof is above it. */
    loop.time_s = 0.1;
    assert_false(as_project_part(&here, &there, NULL, &loop, &out));
    assert_string_equal(out.limit, "");
}

static void test_cores(void **state)
{
    struct as_ceilings here = cores_of_machine(10, 100, 20);
    struct as_ceilings there = cores_of_machine(10, 100, 20);
    struct as_roof_point loop = loop_of(16);
    struct as_projected out;
    (void)state;
    there.core_n = 8;
    as_ceilings_add(&here, "bandwidth.triad.memory.all", 20 * GB);
    as_ceilings_add(&there, "bandwidth.triad.memory.all", 40 * GB);
    loop.core_n = 4; /* all of them: all there, too */
    loop.time_s = 8;
    assert_true(as_project_part(&here, &there, NULL, &loop, &out));
    assert_near(out.target_core_n, 8, 1e-9);
    assert_near(out.target_s, 1, 1e-9);
    loop.core_n = 2; /* two of four: two there, at most twice one core's */
    assert_true(as_project_part(&here, &there, NULL, &loop, &out));
    assert_near(out.target_core_n, 2, 1e-9);
    assert_near(out.target_s, 4, 1e-9);
}

static void test_nothing_in_common(void **state)
{
    const struct as_ceilings here = cores_of_machine(10, 100, 20), there = {.core_n = 4};
    const struct as_roof_point loop = loop_of(16);
    struct as_projected out;
    struct as_projection all = {.part = &out, .part_n = 1, .time_s = 2};
    (void)state;
    assert_false(as_project_part(&here, &there, NULL, &loop, &out));
    as_project_sum(&all);
    assert_near(all.target_s, 2, 1e-9); /* nothing is known: it stays */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_study),
                                       cmocka_unit_test(test_rest_stays),
                                       cmocka_unit_test(test_limit_changes),
                                       cmocka_unit_test(test_caches),
                                       cmocka_unit_test(test_without_levels),
                                       cmocka_unit_test(test_cores),
                                       cmocka_unit_test(test_nothing_in_common)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
