/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of ports from rates: of cores with published ports and the rates that kernels would reach.
 * Also numbers that no core can have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "measure/ports.h"
#include "measure/timing.h"

/* Golden Cove, by Intel's manual (248966): ports 0, 1, 5, 6, 10 as bits 0 to 4. */
enum { P0 = 1, P1 = 2, P5 = 4, P6 = 8, P10 = 16 };
static const uint64_t golden_cove[] = {
    P0 | P1 | P5 | P6 | P10, /* additions */
    P0 | P6,                 /* shifts */
    P1,                      /* multiplications of integers */
    P0,                      /* vector to general register */
    P0 | P1,                 /* multiplications of vectors */
    P1 | P5,                 /* additions of vectors */
    P0 | P1 | P5,            /* logic of vectors */
    P5,                      /* permutations */
    P0 | P5                  /* of 64 bytes */
};
enum { SETS = sizeof golden_cove / sizeof *golden_cove };

/* Returns the rates of pairs of sets on a core with `most` slots per cycle. A share of `lost` is
 * not reached. */
static struct as_port_sets made_sets(const uint64_t *truth, unsigned n, double most, double lost)
{
    struct as_port_sets sets = {.n = n, .most = most};

    for (unsigned i = 0; i < n; i++) {
        sets.set[i].ports = (unsigned)__builtin_popcountll(truth[i]);
        for (unsigned j = i + 1; j < n; j++)
            sets.together[i][j] =
                fmin(__builtin_popcountll(truth[i] | truth[j]), most) * (1 - lost);
    }
    return sets;
}

/* The same but for the names of ports: all sets and all pairs are as large. */
static void expect_like(const uint64_t *found, const uint64_t *truth, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            assert_int_equal(__builtin_popcountll(found[i] & found[j]),
                             __builtin_popcountll(truth[i] & truth[j]));
}

static void published_ports_are_found(void **state)
{
    uint64_t found[AS_SETS_MOST];
    struct as_port_sets sets = made_sets(golden_cove, SETS, 5.6, 0);

    (void)state;
    assert_true(as_port_sets_find(&sets, found));
    expect_like(found, golden_cove, SETS);
    /* Kernels lose some per cent to ports that are chosen before they are free. */
    sets = made_sets(golden_cove, SETS, 5.6, 0.06);
    assert_true(as_port_sets_find(&sets, found));
    expect_like(found, golden_cove, SETS);
}

/* Pairs of kernels as recorded on a Granite Rapids (the ports of the core are those above). Some
 * rates are lower than possible, some were not measured: pipes of 64 bytes beside shorter ones. */
static void recorded_pairs_have_published_ports(void **state)
{
    enum { N = 12 };
    static const uint64_t truth[N] = {P0 | P1 | P5 | P6 | P10,
                                      P0 | P6,
                                      P1,
                                      P0,
                                      P0 | P1,
                                      P1 | P5,
                                      P0 | P1 | P5,
                                      P5,
                                      P0 | P5,
                                      P0 | P5,
                                      P0 | P5,
                                      P5};
    static const double pairs[N][N] = {
        {0, 5.04, 4.17, 4.07, 5.04, 5.02, 5.03, 5.04, 5.02, 5.03, 4.57, 5.05},
        {0, 0, 3.02, 1.98, 3.02, 4.02, 4.03, 3.02, 3.02, 3.02, 3.02, 3.01},
        {0, 0, 0, 2.01, 2.01, 2.01, 3.02, 2.01, 3.01, 3.02, 3.02, 2.01},
        {0, 0, 0, 0, 2.01, 3.02, 3.02, 2.01, 2.01, 2.01, 2.01, 2.01},
        {0, 0, 0, 0, 0, 3.01, 3.02, 3.01, 0, 0, 0, 0},
        {0, 0, 0, 0, 0, 0, 3.02, 2.01, 0, 0, 0, 0},
        {0, 0, 0, 0, 0, 0, 0, 3.01, 3, 3, 3, 3},
        {0},
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 2.01, 2.01, 2.01},
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2.01, 2.01},
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2.01}};
    uint64_t found[AS_SETS_MOST];
    struct as_port_sets sets = {.n = N, .most = 5.6};

    (void)state;
    for (unsigned i = 0; i < N; i++) {
        sets.set[i].ports = (unsigned)__builtin_popcountll(truth[i]);
        for (unsigned j = 0; j < N; j++)
            sets.together[i][j] = pairs[i][j];
    }
    assert_true(as_port_sets_find(&sets, found));
    expect_like(found, truth, N);
    /* With the names that a table has for some of them. */
    for (unsigned i = 0; i < N; i += i == 3 ? 1 : 3)
        sets.set[i].known = i < 8 ? truth[i] : 0;
    sets.set[5].known = truth[5];
    assert_true(as_port_sets_find(&sets, found));
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(found[i], truth[i]);
}

/* Zen 5: pipes of vectors differ from ALUs, pipes that add from those that multiply. */
static void ports_of_their_own_are_found(void **state)
{
    static const uint64_t zen5[] = {0x3f, 0x7, 0x3c0, 0xc0, 0x300, 0x300};
    uint64_t found[AS_SETS_MOST];
    const struct as_port_sets sets = made_sets(zen5, 6, 7.6, 0.02);

    (void)state;
    assert_true(as_port_sets_find(&sets, found));
    expect_like(found, zen5, 6);
}

static void what_is_known_stays(void **state)
{
    uint64_t found[AS_SETS_MOST];
    struct as_port_sets sets = made_sets(golden_cove, SETS, 5.6, 0.03);

    (void)state;
    for (unsigned i = 0; i < SETS - 1; i++)
        sets.set[i].known = golden_cove[i];
    assert_true(as_port_sets_find(&sets, found));
    for (unsigned i = 0; i < SETS; i++)
        assert_int_equal(found[i], golden_cove[i]); /* also the last, which was unknown */
    /* A table that contradicts the measurement: shifts cannot be neighbours of permutations. */
    sets.set[1].known = P5 | P6;
    assert_false(as_port_sets_find(&sets, found));
    sets.set[1].known = P6; /* one of two */
    assert_false(as_port_sets_find(&sets, found));
}

static void what_cannot_be_is_nothing(void **state)
{
    uint64_t found[AS_SETS_MOST];
    struct as_port_sets sets = {.n = 2, .most = 8, .set = {{.ports = 2}, {.ports = 3}}};

    (void)state;
    sets.together[0][1] = 1.2; /* far fewer than one of them has */
    assert_false(as_port_sets_find(&sets, found));
    sets.together[0][1] = 7; /* more than both have */
    assert_false(as_port_sets_find(&sets, found));
    sets.together[0][1] = 4.1;
    assert_true(as_port_sets_find(&sets, found));
    assert_int_equal(__builtin_popcountll(found[0] & found[1]), 1);
    sets.set[0].ports = 0;
    assert_false(as_port_sets_find(&sets, found));
}

static void a_width_that_others_share_is_none(void **state)
{
    struct as_probe_rates rates = {0};

    (void)state;
    assert_false(as_probe_width_is_seen(&rates, 0));
    rates.cycles[AS_PROBE_SLOTS] = 56 / 6.;
    assert_true(as_probe_width_is_seen(&rates, 6));
    rates.cycles[AS_PROBE_SLOTS] = 56 / 5.67; /* of nops of three bytes on Granite Rapids */
    assert_true(as_probe_width_is_seen(&rates, 6));
    rates.cycles[AS_PROBE_SLOTS] = 56 / 5.33; /* six slots, with some lost to external load */
    assert_false(as_probe_width_is_seen(&rates, 0));
    rates.cycles[AS_PROBE_SLOTS] = 56 / 5.;
    assert_true(as_probe_width_is_seen(&rates, 0));
    assert_false(as_probe_width_is_seen(&rates, 5.35)); /* increments of a canary */
}

/* Zen 4: 12 nops a cycle, of which two share a slot, and six zero idioms. */
static void nops_that_share_slots_count_none(void **state)
{
    struct as_probe_rates rates = {0};

    (void)state;
    as_probe_slots_note(&rates, false, 56 / 12.);
    assert_int_equal(as_probe_ports(&rates, AS_PROBE_SLOTS), 12);
    as_probe_slots_note(&rates, true, 56 / 5.4);
    as_probe_slots_note(&rates, true, 56 / 6.);
    as_probe_slots_note(&rates, true, 56 / 5.9);
    assert_true(rates.nops_fuse);
    assert_int_equal(as_probe_ports(&rates, AS_PROBE_SLOTS), 6);

    rates = (struct as_probe_rates){0};
    as_probe_slots_note(&rates, true, 56 / 3.); /* Nehalem */
    as_probe_slots_note(&rates, false, 56 / 4.);
    assert_false(rates.nops_fuse);
    assert_int_equal(as_probe_ports(&rates, AS_PROBE_SLOTS), 4);
    /* Idioms that were disturbed at first, as all of a round may be. */
    as_probe_slots_note(&rates, true, 56 / 3.9);
    assert_false(rates.nops_fuse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_ports_are_found),
        cmocka_unit_test(recorded_pairs_have_published_ports),
        cmocka_unit_test(ports_of_their_own_are_found),
        cmocka_unit_test(what_is_known_stays),
        cmocka_unit_test(what_cannot_be_is_nothing),
        cmocka_unit_test(a_width_that_others_share_is_none),
        cmocka_unit_test(nops_that_share_slots_count_none),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
