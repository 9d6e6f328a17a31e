/* SPDX-License-Identifier: Apache-2.0 */
/* Judgements of loops with made-up times: each verdict, and the facts that prevent it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "decan/verdict.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void set_cycles(struct as_decan_measure *m, enum as_variant_kind kind, double cycles)
{
    m->timing[kind] = (struct as_decan_timing){.n = 31,
                                               .median = cycles,
                                               .least = cycles * 0.99,
                                               .low = cycles * 0.995,
                                               .high = cycles * 1.005,
                                               .instance = cycles * 1000};
}

/* Ten cycles per iteration; ORIG, REF, FP, LS, DL1, FES as given. A machine of round numbers: 32
 * KiB, 1 MiB, 16 MiB; 64, 32, 16, 8 bytes a cycle; 4, 16, 64, 256 cycles. */
static struct as_decan_measure loop_of(double fp, double ls, double dl1, double fes)
{
    struct as_decan_measure m;
    as_decan_measure_init(&m);
    set_cycles(&m, AS_VARIANT_ORIG, 10);
    set_cycles(&m, AS_VARIANT_REF, 10);
    set_cycles(&m, AS_VARIANT_FP, fp);
    set_cycles(&m, AS_VARIANT_LS, ls);
    set_cycles(&m, AS_VARIANT_DL1, dl1);
    set_cycles(&m, AS_VARIANT_FES, fes);
    for (unsigned l = 0; l < AS_PREDICT_LEVELS; l++) {
        m.level[l].read_b = m.level[l].write_b = 64 >> l;
        m.level[l].latency = 4 << 2 * l;
    }
    m.level[AS_PREDICT_L1].size_b = 32 << 10;
    m.level[AS_PREDICT_L2].size_b = 1 << 20;
    m.level[AS_PREDICT_L3].size_b = 16 << 20;
    m.load_b = m.read_b = 64;
    m.store_b = m.written_b = 0;
    m.footprint_b = 8 << 10;
    m.model = (struct as_decan_model){.cycles = 5,
                                      .fp_alone = 1,
                                      .arithmetic = 6,
                                      .divide = 0,
                                      .load = 1,
                                      .store = 0.5,
                                      .chain = 1};
    return m;
}

static struct as_decan_judgement judge(const struct as_decan_measure *m)
{
    struct as_decan_judgement j;
    as_decan_judge(m, &j);
    return j;
}

static void expect(const struct as_decan_measure *m, enum as_decan_verdict verdict)
{
    assert_string_equal(as_decan_verdict_word(judge(m).verdict), as_decan_verdict_word(verdict));
}

/* ---- What the core does ---------------------------------------------------------------------- */

/* Stores keep the core as busy as the level that holds the data is: either may be what is short. */
static void test_level_as_busy(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(4, 9.8, 9.9, 5);
    m.load_b = m.read_b = 0;
    m.store_b = m.written_b = 250;
    m.model.store = 9;
    expect(&m, AS_DECAN_STORE);
    assert_int_equal(judge(&m).confidence, AS_DECAN_HIGH);
    m.footprint_b = 2 << 20; /* 250 bytes take 15.6 cycles from L3, and 7.8 from L2 */
    expect(&m, AS_DECAN_STORE);
    assert_int_equal(judge(&m).confidence, AS_DECAN_LOW);
    assert_non_null(strstr(judge(&m).doubt, "as busy"));
    m.written_b = 25;
    assert_int_equal(judge(&m).confidence, AS_DECAN_HIGH);
}

/* Nops take as long as the loop, but arithmetic keeps its ports busy for longer than the model's
 * front end: a neighbour has a part of the front end. */
static void test_shared_front_end(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(9.8, 5, 9.9, 9.9);
    m.model.arithmetic = 8;
    expect(&m, AS_DECAN_FRONT_END); /* the model knows no front end */
    m.model.front_end = 4;
    expect(&m, AS_DECAN_COMPUTE);
    assert_int_equal(judge(&m).confidence, AS_DECAN_MEDIUM);
    m.model.front_end = 7;
    expect(&m, AS_DECAN_FRONT_END);
    m = loop_of(5, 9.8, 9.9, 9.9);
    m.model.front_end = 2;
    m.model.load = 6;
    expect(&m, AS_DECAN_L1);
}

/* Nops and arithmetic take as long as the loop. The front end is certain only if the model says so
 * too: a checksum waits for its chain. */
static void test_front_end_against_model(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(9.8, 5, 9.9, 9.9);
    m.model.front_end = 9.5;
    expect(&m, AS_DECAN_FRONT_END);
    assert_int_equal(judge(&m).confidence, AS_DECAN_HIGH);
    m.model.front_end = 4;
    m.model.arithmetic = 4;
    expect(&m, AS_DECAN_FRONT_END);
    assert_int_equal(judge(&m).confidence, AS_DECAN_LOW);
    m = loop_of(7, 5, 9.9, 9.9);
    m.model.front_end = 4;
    expect(&m, AS_DECAN_FRONT_END);
    assert_int_equal(judge(&m).confidence, AS_DECAN_MEDIUM);
}

/* A gather has no DL1. Accesses that explain the loop may be those of L1 or of data beyond. */
static void test_gather_without_l1(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(4, 9.8, 9.9, 5);
    m.model.cycles = 8;
    m.indirect_n = 1;
    m.reach_b = 8 << 10;
    m.timing[AS_VARIANT_DL1] = (struct as_decan_timing){0};
    m.timing[AS_VARIANT_DL1].median = (double)NAN;
    expect(&m, AS_DECAN_L1);
    assert_int_equal(judge(&m).confidence, AS_DECAN_HIGH);
    m.reach_b = 8 << 20;
    expect(&m, AS_DECAN_L1);
    assert_int_equal(judge(&m).confidence, AS_DECAN_LOW);
    m.reach_b = (double)NAN;
    assert_int_equal(judge(&m).confidence, AS_DECAN_LOW);
}

/* A chain of 7 of 10 cycles where no port has more than 1; not where one has 6.5. */
static void test_mostly_chain(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(9.8, 4, 9.9, 5);
    m.model.arithmetic = 1;
    m.model.chain = 7;
    expect(&m, AS_DECAN_CHAIN);
    assert_int_equal(judge(&m).confidence, AS_DECAN_MEDIUM);
    m.model.arithmetic = 6.5;
    expect(&m, AS_DECAN_COMPUTE);
    m.model.arithmetic = 1;
    m.model.chain = 5.9;
    expect(&m, AS_DECAN_COMPUTE);
}

/* Stores past the caches take longer with their data in L1: the variant proves nothing. */
static void test_slower_in_L1(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(4, 9.8, 14, 5);
    m.model.store = 2;
    expect(&m, AS_DECAN_STORE);
    assert_int_equal(judge(&m).confidence, AS_DECAN_LOW);
}

/* The start of the nops is a part of a short instance. */
static void test_short_front_end(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(4, 5, 9.9, 9.9);
    m.timing[AS_VARIANT_FES].instance = 1100;
    expect(&m, AS_DECAN_FRONT_END);
    assert_int_equal(judge(&m).confidence, AS_DECAN_HIGH);
    m.timing[AS_VARIANT_FES].instance = 900;
    expect(&m, AS_DECAN_FRONT_END);
    assert_int_equal(judge(&m).confidence, AS_DECAN_LOW);
}

static void doubted(const struct as_decan_measure *m, enum as_decan_verdict verdict,
                    enum as_decan_confidence confidence, const char *doubt)
{
    const struct as_decan_judgement j = judge(m);
    assert_string_equal(as_decan_verdict_word(j.verdict), as_decan_verdict_word(verdict));
    assert_int_equal(j.confidence, confidence);
    assert_non_null(j.doubt);
    assert_non_null(strstr(j.doubt, doubt));
}

/* Verdicts that the model or another variant contradicts. */
static void test_contradicted(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(9.8, 4, 9.9, 5);
    m.model.arithmetic = 5.9; /* idioms that the renamer executes, or a chain that it misses */
    doubted(&m, AS_DECAN_COMPUTE, AS_DECAN_LOW, "idle");
    m.model.arithmetic = 6.1;
    assert_int_equal(judge(&m).confidence, AS_DECAN_HIGH);
    m = loop_of(4, 5, 9.9, 9.9);
    set_cycles(&m, AS_VARIANT_NORED, 8);
    doubted(&m, AS_DECAN_FRONT_END, AS_DECAN_LOW, "reductions");
    set_cycles(&m, AS_VARIANT_NORED, 9);
    assert_int_equal(judge(&m).confidence, AS_DECAN_HIGH);
    /* 8 MiB fit in the L3 that a hypervisor claims; the time is that of memory. */
    m = loop_of(2, 9.8, 2, 2);
    m.footprint_b = 2 << 20;
    m.reach_b = 8 << 20;
    m.level[AS_PREDICT_L3].is_claimed = true;
    doubted(&m, AS_DECAN_RAM, AS_DECAN_LOW, "fit in L3");
    m.reach_b = 64 << 20;
    assert_int_not_equal(judge(&m).confidence, AS_DECAN_LOW);
    m.footprint_b = m.reach_b;
    assert_int_equal(judge(&m).confidence, AS_DECAN_HIGH);
    m.timing[AS_VARIANT_ORIG].least = 8; /* the level follows from ORIG */
    doubted(&m, AS_DECAN_RAM, AS_DECAN_MEDIUM, "instances differ");
}

static void test_core(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(9.8, 4, 9.9, 5);
    expect(&m, AS_DECAN_COMPUTE);
    NEAR(judge(&m).gain, 2.5);
    assert_int_equal(judge(&m).confidence, AS_DECAN_HIGH);
    m = loop_of(4, 9.8, 9.9, 5);
    expect(&m, AS_DECAN_L1);
    m.model.store = 2;
    expect(&m, AS_DECAN_STORE);
    m.model.store = (double)NAN;
    expect(&m, AS_DECAN_L1);
    m.store_b = 128;
    expect(&m, AS_DECAN_STORE);
    m = loop_of(4, 5, 9.9, 9.9);
    expect(&m, AS_DECAN_FRONT_END);
    NEAR(judge(&m).gain, 2);
    m = loop_of(9.8, 5, 9.9, 9.9); /* arithmetic, too, is as slow: nops alone are */
    expect(&m, AS_DECAN_FRONT_END);
    m = loop_of(9.8, 9.6, 9.9, 9.9); /* the model has not nearly as much for either to do */
    m.model.arithmetic = 1;
    expect(&m, AS_DECAN_FRONT_END);
    m.model.load = 8;
    expect(&m, AS_DECAN_BALANCED_STARVED);
    m = loop_of(9.8, 9.6, 9.9, 6);
    expect(&m, AS_DECAN_BALANCED_FED);
    m = loop_of(9.8, 14, 9.9, 6); /* without arithmetic it is slower: accesses are what counts */
    expect(&m, AS_DECAN_L1);
    m = loop_of(4, 7, 9.9, 5); /* none of them explains it: the longest */
    expect(&m, AS_DECAN_L1);
    assert_int_equal(judge(&m).confidence, AS_DECAN_MEDIUM);
    m = loop_of(7, 4, 9.9, 5);
    expect(&m, AS_DECAN_COMPUTE);
    m = loop_of(7, 7.5, 9.9, 5);
    expect(&m, AS_DECAN_BALANCED_FED);
    m = loop_of(4, 5, 9.9, 5.5);
    expect(&m, AS_DECAN_UNKNOWN);
    assert_string_equal(judge(&m).doubt, "no variant takes as long as the loop");
}

static void test_divide_and_chain(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(9.8, 4, 9.9, 5);
    set_cycles(&m, AS_VARIANT_NODIV, 5);
    expect(&m, AS_DECAN_DIVIDE);
    NEAR(judge(&m).gain, 2);
    set_cycles(&m, AS_VARIANT_NODIV, 9);
    expect(&m, AS_DECAN_COMPUTE);
    m.model.chain = 9.5;
    expect(&m, AS_DECAN_CHAIN);
    set_cycles(&m, AS_VARIANT_NORED, 9.9); /* without reductions it is as slow */
    expect(&m, AS_DECAN_COMPUTE);
    set_cycles(&m, AS_VARIANT_NORED, 3);
    expect(&m, AS_DECAN_CHAIN);
    m.model.arithmetic = 9.5; /* ports as busy as the chain is long */
    expect(&m, AS_DECAN_COMPUTE);
    m = loop_of(4, 5, 3, 5); /* through memory: variants break it */
    m.model.chain = 9.5;
    m.indirect_n = 0;
    expect(&m, AS_DECAN_CHAIN);
}

/* ---- Data ------------------------------------------------------------------------------------ */

static void test_levels(void **state)
{
    (void)state;
    /* 64 bytes in 10 cycles are 0.8 of what memory, 0.4 of what L3 gives. */
    struct as_decan_measure m = loop_of(2, 9.8, 2, 2);
    m.footprint_b = 64 << 20;
    expect(&m, AS_DECAN_RAM);
    NEAR(judge(&m).gain, 5);
    m.footprint_b = 2 << 20; /* an instance would fit in L3, which is faster */
    expect(&m, AS_DECAN_RAM);
    m.reach_b = 8 << 20; /* and so would all: slower than streams of it were seen to be */
    expect(&m, AS_DECAN_L3);
    assert_int_equal(judge(&m).confidence, AS_DECAN_LOW);
    m.read_b = m.load_b = 128;
    expect(&m, AS_DECAN_L3);
    m.reach_b = (double)NAN; /* memory is not that fast */
    expect(&m, AS_DECAN_L3);
    assert_int_equal(judge(&m).farthest, AS_PREDICT_L3);
    m.read_b = m.load_b = 300;
    m.footprint_b = 512 << 10;
    expect(&m, AS_DECAN_L2);
    m.level[AS_PREDICT_L2].moving = 2; /* known better than by bandwidths: not full */
    expect(&m, AS_DECAN_L2);
    assert_int_equal(judge(&m).confidence, AS_DECAN_LOW);
}

/* Both levels explain it: which it is, is not said. */
static void test_bounds(void **state)
{
    (void)state;
    char text[512];
    struct as_decan_measure m = loop_of(2, 9.8, 2, 2);
    m.footprint_b = 2 << 20;
    m.level[AS_PREDICT_L3].read_b = 8.5;
    const struct as_decan_judgement j = judge(&m);
    assert_string_equal(as_decan_verdict_word(j.verdict), "beyond_L1");
    assert_int_equal(j.nearest, AS_PREDICT_L3);
    assert_int_equal(j.farthest, AS_PREDICT_RAM);
    assert_int_equal(j.confidence, AS_DECAN_MEDIUM);
    as_decan_explain(&m, &j, text, sizeof text);
    assert_non_null(strstr(text, "the data come from L3 or RAM"));
    m.level[AS_PREDICT_L3].read_b = 10; /* far enough from what memory has */
    expect(&m, AS_DECAN_RAM);
    m.level[AS_PREDICT_L3].is_doubtful = true;
    expect(&m, AS_DECAN_BEYOND_L1);
}

/* Two MiB, gone through twice: L3 holds them, and the second time they are as fast, or faster. */
static void test_again(void **state)
{
    (void)state;
    char text[512];
    struct as_decan_measure m = loop_of(2, 9.8, 2, 2);
    m.footprint_b = 2 << 20;
    m.level[AS_PREDICT_L3].read_b = 8.5;
    set_cycles(&m, AS_VARIANT_AGAIN, 8);
    m.timing[AS_VARIANT_AGAIN].instance = 8 * 32768;
    expect(&m, AS_DECAN_RAM);
    const struct as_decan_judgement j = judge(&m);
    NEAR(j.ratio.orig_again, 1.25);
    as_decan_explain(&m, &j, text, sizeof text);
    assert_non_null(strstr(text, "over the same data, the loop is 1.25 times as fast"));
    m.timing[AS_VARIANT_AGAIN].high = 9.5; /* or not */
    expect(&m, AS_DECAN_BEYOND_L1);
    set_cycles(&m, AS_VARIANT_AGAIN, 9.9);
    m.timing[AS_VARIANT_AGAIN].instance = 9.9 * 32768;
    expect(&m, AS_DECAN_L3);
    m.level[AS_PREDICT_L3].is_claimed = true; /* they may never have been there */
    expect(&m, AS_DECAN_BEYOND_L1);
    m.level[AS_PREDICT_L3].is_claimed = false;
    m.level[AS_PREDICT_L3].size_b = 3 << 20; /* nor may they stay there */
    expect(&m, AS_DECAN_BEYOND_L1);
    set_cycles(&m, AS_VARIANT_AGAIN, 9); /* neither: nothing follows */
    m.timing[AS_VARIANT_AGAIN].instance = 9 * 32768;
    expect(&m, AS_DECAN_BEYOND_L1);
}

static void test_unknown_steps(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(2, 9.8, 2, 2);
    m.read_b = (double)NAN;
    m.footprint_b = 64 << 20;
    expect(&m, AS_DECAN_RAM);
    m.footprint_b = (double)NAN;
    expect(&m, AS_DECAN_BEYOND_L1);
    m = loop_of(2, 9.8, 2, 2);
    m.footprint_b = 2 << 20;
    for (unsigned l = 0; l < AS_PREDICT_LEVELS; l++) /* a machine that was not measured */
        m.level[l].read_b = m.level[l].write_b = (double)NAN;
    expect(&m, AS_DECAN_BEYOND_L1);
    assert_int_equal(judge(&m).nearest, AS_PREDICT_L3);
}

static void test_latency(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(1, 9.8, 1, 1);
    m.read_b = 0;
    m.indirect_n = 1;
    m.footprint_b = (double)NAN;
    for (unsigned l = 0; l < AS_PREDICT_LEVELS; l++) {
        const double each = 4 << 2 * l;
        for (unsigned k = 0; k < AS_VARIANT_KINDS; k++)
            if (m.timing[k].n)
                set_cycles(&m, k, (k == AS_VARIANT_FP || k == AS_VARIANT_DL1 ? 0.1 : 1.1) * each);
        const struct as_decan_judgement j = judge(&m);
        assert_string_equal(as_decan_verdict_word(j.verdict), "latency");
        assert_int_equal(j.level, l);
        NEAR(j.ratio.in_flight[l], 1 / 1.1);
    }
    /* Eight lines at once from memory, a quarter of its bandwidth: 32 cycles. */
    m = loop_of(1, 9.8, 1, 1);
    m.indirect_n = 0.3125;
    m.read_b = 0;
    m.footprint_b = 64 << 20;
    expect(&m, AS_DECAN_LATENCY);
    m.indirect_n = 1.25; /* as many as streams move: no prefetcher knows the next all the same */
    expect(&m, AS_DECAN_LATENCY);
    m.footprint_b = m.reach_b = 64 << 10; /* from L2: 32 bytes a cycle, as wide as its ports */
    m.indirect_n = 4.5;
    expect(&m, AS_DECAN_L2);
    m.indirect_n = 4;
    expect(&m, AS_DECAN_LATENCY);
}

/* Accesses without a stride are assumed to move at most a line each. */
static void test_scattered(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(1, 9.8, 1, 1);
    m.read_b = m.footprint_b = (double)NAN;
    m.unstepped_n = 1; /* 8 of 10 cycles from memory, were each a line of its own */
    expect(&m, AS_DECAN_LATENCY);
    m.unstepped_n = 2; /* so many may be streams */
    expect(&m, AS_DECAN_BEYOND_L1);
    m.unstepped_n = (double)NAN;
    expect(&m, AS_DECAN_BEYOND_L1);
}

/* The size of a shared cache that a hypervisor reports bounds nothing; the speed of data does. */
static void test_claimed(void **state)
{
    (void)state;
    char text[512];
    struct as_decan_measure m = loop_of(2, 9.8, 2, 2);
    m.footprint_b = 2 << 20;
    m.reach_b = 12 << 20;
    expect(&m, AS_DECAN_L3); /* has all of it, though it is not full */
    m.level[AS_PREDICT_L3].is_claimed = true;
    expect(&m, AS_DECAN_RAM);
    m.read_b = m.load_b = 128; /* memory is not that fast */
    expect(&m, AS_DECAN_L3);
    for (unsigned l = 0; l < AS_PREDICT_LEVELS; l++)
        m.level[l].read_b = m.level[l].write_b = (double)NAN;
    struct as_decan_judgement j = judge(&m);
    assert_string_equal(as_decan_verdict_word(j.verdict), "beyond_L1");
    assert_int_equal(j.confidence, AS_DECAN_MEDIUM);
    as_decan_explain(&m, &j, text, sizeof text);
    assert_non_null(strstr(text, "from L3 or RAM, by the cache sizes that the CPU claims: "
                                 "the machine was not measured"));
    m.level[AS_PREDICT_L3].is_claimed = false;
    j = judge(&m);
    assert_string_equal(as_decan_verdict_word(j.verdict), "L3");
    as_decan_explain(&m, &j, text, sizeof text);
    assert_non_null(strstr(text, "from L3, by the cache sizes that the CPU reports"));
    assert_int_equal(j.confidence, AS_DECAN_MEDIUM);
}

/* Ends of intervals are those that their medians allow at most; of few instances there are none. */
static void test_intervals(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(8, 4, 5, 2);
    struct as_decan_judgement j = judge(&m);
    NEAR(j.low.orig_dl1, 9.95 / 5.025);
    NEAR(j.high.orig_dl1, 10.05 / 4.975);
    NEAR(j.low.fp_ls, 7.96 / 4.02);
    NEAR(j.high.saturation, 5.025 / 9.95);
    NEAR(j.low.ref_fes, 9.95 / 2.01);
    NEAR(j.low.dl1_model, 4.975 / 5);
    NEAR(j.low.read[AS_PREDICT_RAM].bw, 64 / 10.05);
    NEAR(j.high.read[AS_PREDICT_RAM].sat, 64 / 9.95 / 8);
    assert_true(isnan(j.low.ref_nodiv) && isnan(j.high.ref_nodiv));
    m.timing[AS_VARIANT_DL1].low = m.timing[AS_VARIANT_DL1].high = (double)NAN;
    j = judge(&m);
    NEAR(j.low.orig_dl1, 0);
    assert_true(isinf(j.high.orig_dl1));
    NEAR(j.ratio.orig_dl1, 2);
    m = loop_of(9.8, 4, 9.9, 5);
    j = judge(&m);
    NEAR(j.gain_low, 9.95 / 4.02);
    NEAR(j.gain_high, 10.05 / 3.98);
    m = loop_of(9.8, 9.6, 9.9, 6);
    NEAR(judge(&m).gain_high, 1); /* balanced: neither alone brings anything */
}

/* Nops with the loads that branches depend on say nothing of the front end. */
static void test_decided(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(9.8, 9.6, 9.9, 9.9);
    m.model.load = 8;
    expect(&m, AS_DECAN_BALANCED_STARVED);
    m.bits[AS_VARIANT_FES] = AS_VARIANT_DECIDES;
    expect(&m, AS_DECAN_UNKNOWN);
    assert_non_null(strstr(judge(&m).doubt, "the code for its branches"));
    set_cycles(&m, AS_VARIANT_FES, 5);
    expect(&m, AS_DECAN_BALANCED_FED);
}

/* A search through a list: one line an iteration at 256 cycles each, of which the model has 4. */
static void test_walk_that_decides(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(9.8, 9.8, 9.9, 9.9);
    m.bits[AS_VARIANT_FES] = AS_VARIANT_DECIDES;
    m.read_b = m.load_b = 0;
    m.footprint_b = (double)NAN;
    m.indirect_n = 2;
    m.model.cycles = m.model.chain = 4;
    m.model.path_n = 1;
    for (unsigned kind = 0; kind < AS_VARIANT_KINDS; kind++)
        if (m.timing[kind].n)
            set_cycles(&m, (enum as_variant_kind)kind, 250);
    expect(&m, AS_DECAN_LATENCY);
    assert_int_equal(judge(&m).level, AS_PREDICT_RAM);
    assert_int_equal(judge(&m).confidence, AS_DECAN_MEDIUM);
    assert_true(isnan(judge(&m).gain));
    m.model.path_n = 2; /* wrong guesses may take it as well */
    expect(&m, AS_DECAN_UNKNOWN);
    m.model.path_n = 1;
    m.model.cycles = 200;
    expect(&m, AS_DECAN_UNKNOWN);
    m.model.cycles = 4;
    m.level[AS_PREDICT_L1].latency = (double)NAN; /* as where the machine was not measured */
    expect(&m, AS_DECAN_LATENCY);
    m.model.chain = 1; /* no load leads to the next */
    expect(&m, AS_DECAN_UNKNOWN);
}

/* A gather: no variant has its data in L1, and its accesses take far longer than the model has. */
static void test_without_l1(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(0.1, 9.8, 0, 0.1);
    m.timing[AS_VARIANT_DL1].n = 0;
    m.read_b = m.load_b = 0;
    m.indirect_n = 1;
    m.footprint_b = (double)NAN;
    m.model.cycles = 0.5;
    expect(&m, AS_DECAN_LATENCY);
    assert_int_equal(judge(&m).confidence, AS_DECAN_MEDIUM);
    assert_true(isnan(judge(&m).gain));
    m.model.cycles = 9; /* the model explains it by the accesses of L1 */
    expect(&m, AS_DECAN_L1);
}

/* REF and LS found colder lines than the program: most goes with the data all the same. */
static void test_colder(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(1, 8, 1, 1);
    set_cycles(&m, AS_VARIANT_REF, 20);
    m.footprint_b = 64 << 20;
    expect(&m, AS_DECAN_RAM);
    assert_int_equal(judge(&m).confidence, AS_DECAN_LOW);
    assert_int_equal(judge(&m).base, AS_VARIANT_ORIG); /* REF was slowed */
    set_cycles(&m, AS_VARIANT_DL1, 6);
    expect(&m, AS_DECAN_RAM);
    set_cycles(&m, AS_VARIANT_LS, 5);
    expect(&m, AS_DECAN_UNKNOWN);
}

/* Level two measures no accesses alone: that the loop waits for data is seen all the same. */
static void test_without_accesses(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(2, 9.8, 2, 2);
    m.footprint_b = 64 << 20;
    m.timing[AS_VARIANT_FP].n = m.timing[AS_VARIANT_LS].n = m.timing[AS_VARIANT_FES].n = 0;
    expect(&m, AS_DECAN_RAM);
    assert_int_equal(judge(&m).confidence, AS_DECAN_LOW);
    set_cycles(&m, AS_VARIANT_DL1, 9.9);
    expect(&m, AS_DECAN_UNKNOWN);
}

/* REF finds in the cache what putting back brought there; ORIG tells. */
static void test_warmed(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(2, 3, 2, 2);
    set_cycles(&m, AS_VARIANT_REF, 4);
    m.footprint_b = 64 << 20;
    expect(&m, AS_DECAN_RAM);
    NEAR(judge(&m).ratio.orig_dl1, 5);
    NEAR(judge(&m).ratio.orig_ref, 2.5);
}

static void test_overlap(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(3, 7, 4, 2);
    m.footprint_b = 64 << 20;
    const struct as_decan_judgement j = judge(&m);
    assert_string_equal(as_decan_verdict_word(j.verdict), "RAM");
    assert_int_equal(j.confidence, AS_DECAN_LOW);
    assert_non_null(j.doubt);
}

/* ---- Ratios, confidence, words --------------------------------------------------------------- */

static void test_ratios(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(4, 8, 5, 2);
    set_cycles(&m, AS_VARIANT_ORIG, 11);
    m.flops = 22;
    m.flop_peak = 8;
    m.store_b = m.written_b = 32;
    const struct as_decan_ratios r = judge(&m).ratio;
    NEAR(r.orig_dl1, 2.2);
    NEAR(r.fp_ls, 0.5);
    NEAR(r.saturation, 0.8);
    NEAR(r.orig_ref, 1.1);
    NEAR(r.ref_fes, 5);
    assert_true(isnan(r.ref_nodiv) && isnan(r.ref_nored));
    NEAR(r.fp_model, 4);
    NEAR(r.dl1_model, 1);
    NEAR(r.flops_per_cycle, 2);
    NEAR(r.fp.sat, 0.25);
    NEAR(r.read[AS_PREDICT_L3].bw, 64 / 11.0);
    NEAR(r.read[AS_PREDICT_L3].sat, 4 / 11.0);
    NEAR(r.write[AS_PREDICT_RAM].cap, 8);
    NEAR(r.level_sat[AS_PREDICT_RAM], 12 / 11.0);
    NEAR(r.in_flight[AS_PREDICT_RAM], 1.5 * 256 / 11.0);
}

static void test_confidence(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(9.8, 4, 9.9, 5);
    m.timing[AS_VARIANT_REF].instance = 249;
    assert_int_equal(judge(&m).confidence, AS_DECAN_LOW);
    assert_int_equal(as_decan_reliability_of(&m.timing[AS_VARIANT_REF]), AS_DECAN_UNRELIABLE);
    m.timing[AS_VARIANT_REF].instance = 499;
    assert_int_equal(judge(&m).confidence, AS_DECAN_MEDIUM);
    m.timing[AS_VARIANT_REF].instance = 500;
    assert_int_equal(judge(&m).confidence, AS_DECAN_HIGH);
    m.timing[AS_VARIANT_FP].n = 14;
    assert_int_equal(judge(&m).confidence, AS_DECAN_MEDIUM);
    m.timing[AS_VARIANT_FP].n = 4;
    assert_int_equal(judge(&m).confidence, AS_DECAN_LOW);
    m = loop_of(8.7, 4, 9.9, 5);
    assert_int_equal(judge(&m).confidence, AS_DECAN_MEDIUM);
    m.timing[AS_VARIANT_FP].low = 8.2;
    assert_int_equal(judge(&m).confidence, AS_DECAN_LOW);
    m = loop_of(9.8, 4, 9.9, 5);
    m.timing[AS_VARIANT_REF].least = 8;
    assert_int_equal(judge(&m).confidence, AS_DECAN_MEDIUM);
    NEAR(as_decan_stability(&m.timing[AS_VARIANT_REF]), 0.25);
}

/* Loops in it vary with it: which of them decides is unknown. */
static void test_nests(void **state)
{
    struct as_decan_measure m = loop_of(10, 4, 10, 5);
    char text[1024];
    (void)state;
    assert_int_equal(judge(&m).confidence, AS_DECAN_HIGH);
    m.bits[AS_VARIANT_REF] = AS_VARIANT_NESTS;
    const struct as_decan_judgement j = judge(&m);
    assert_int_equal(j.verdict, AS_DECAN_COMPUTE);
    assert_int_equal(j.confidence, AS_DECAN_MEDIUM);
    as_decan_explain(&m, &j, text, sizeof text);
    assert_non_null(strstr(text, "10.00 cycles per iteration with the loops in it"));
}

static void test_lacking(void **state)
{
    (void)state;
    struct as_decan_measure m;
    as_decan_measure_init(&m);
    expect(&m, AS_DECAN_UNKNOWN);
    assert_string_equal(judge(&m).doubt, "no instance was timed");
    m = loop_of(9.8, 4, 9.9, 5);
    m.timing[AS_VARIANT_LS].n = 0;
    m.timing[AS_VARIANT_FP].n = 0;
    expect(&m, AS_DECAN_UNKNOWN);
    assert_string_equal(judge(&m).doubt, "the decisive variants could not run");
    assert_int_equal(judge(&m).confidence, AS_DECAN_LOW);
    m = loop_of(9.8, 4, 9.9, 5); /* stores under a mask: no REF, but ORIG */
    m.timing[AS_VARIANT_REF].n = 0;
    assert_int_equal(judge(&m).base, AS_VARIANT_ORIG);
}

static void test_words(void **state)
{
    (void)state;
    struct as_decan_measure m = loop_of(9.8, 4, 9.9, 5);
    struct as_decan_judgement j = judge(&m);
    char text[512], little[8];
    const int n = as_decan_explain(&m, &j, text, sizeof text);
    assert_string_equal(text,
                        "Compute bound, 10.00 cycles per iteration: its arithmetic alone takes "
                        "9.80 cycles, its accesses alone 4.00. At most 2.50 times faster "
                        "without that (2.48 to 2.53).");
    assert_int_equal(n, strlen(text));
    assert_int_equal(as_decan_explain(&m, &j, little, sizeof little), n);
    assert_string_equal(little, "Compute");
    m = loop_of(2, 9.8, 2, 2);
    m.footprint_b = 64 << 20;
    j = judge(&m);
    as_decan_explain(&m, &j, text, sizeof text);
    assert_string_equal(text, "RAM bound, 10.00 cycles per iteration: with its data in L1 an "
                              "iteration takes 2.00 cycles, its accesses alone 9.80; moving them "
                              "from RAM alone takes 80 % of the time. At most 5.00 times faster "
                              "without that (4.95 to 5.05).");
    j.verdict = AS_DECAN_VERDICTS_N;
    assert_string_equal(as_decan_verdict_title(j.verdict), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_level_as_busy),
        cmocka_unit_test(test_short_front_end),
        cmocka_unit_test(test_shared_front_end),
        cmocka_unit_test(test_front_end_against_model),
        cmocka_unit_test(test_gather_without_l1),
        cmocka_unit_test(test_mostly_chain),
        cmocka_unit_test(test_slower_in_L1),
        cmocka_unit_test(test_contradicted),
        cmocka_unit_test(test_core),
        cmocka_unit_test(test_divide_and_chain),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_unknown_steps),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_warmed),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_ratios),
        cmocka_unit_test(test_confidence),
        cmocka_unit_test(test_nests),
        cmocka_unit_test(test_lacking),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_scattered),
        cmocka_unit_test(test_claimed),
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_without_accesses),
        cmocka_unit_test(test_decided),
        cmocka_unit_test(test_walk_that_decides),
        cmocka_unit_test(test_without_l1),
        cmocka_unit_test(test_colder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
