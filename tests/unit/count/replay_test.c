/* SPDX-License-Identifier: Apache-2.0 */
/* Records replayed by lines against each access through the same caches; damaged buffers; texts of
 * caches. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "code/code.h"
#include "count/traffic.h"
#include "isa/isa.h"

static const struct as_cache_level levels[] = {{32768, 8, AS_CACHE_PLAIN},
                                               {262144, 8, AS_CACHE_PLAIN}};

/* A plan of one record. */
struct made {
    struct as_address_plan plan;
    struct as_level_replay replay;
    struct as_level_replay_thread thread;
};

static void make(struct made *m, const struct as_address_operand *operand, uint32_t n,
                 uint32_t words, bool walks, uint64_t full_n)
{
    *m = (struct made){.plan = {.missed = {.n = 0}}};
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(as_vec_push(&m->plan.operand, operand[i]), 0);
    const struct as_address_record record = {
        .loop = 3, .words = words, .operands = n, .walks = walks};
    assert_int_equal(as_vec_push(&m->plan.record, record), 0);
    assert_int_equal(as_level_replay_init(&m->replay, &m->plan, levels, 2, full_n, NULL), 0);
    assert_int_equal(as_level_replay_thread_init(&m->replay, &m->thread, NULL), 0);
}

static void unmake(struct made *m)
{
    as_level_replay_thread_fini(&m->thread);
    as_level_replay_fini(&m->replay);
    as_address_plan_fini(&m->plan);
}

static struct as_address_operand at(uint16_t word, int64_t offset, int64_t step, uint32_t width_b,
                                    uint8_t access)
{
    return (struct as_address_operand){.word = word,
                                       .times = AS_ADDRESS_NONE,
                                       .offset = offset,
                                       .step = step,
                                       .width_b = width_b,
                                       .access = access};
}

/* Misses and write-backs of both levels are those of each access in order. */
static void check_walk(const struct as_address_operand *operand, uint32_t n, const uint64_t *word,
                       uint64_t iterations)
{
    struct made m;
    struct as_cache *cache;
    struct as_cache_counts truth = {0};
    uint64_t buffer[16] = {0, iterations, word[0], word[1]};
    make(&m, operand, n, 2, true, UINT64_MAX);
    assert_int_equal(as_cache_new(levels, 2, 64, &cache, NULL), 0);
    for (int entry = 0; entry < 3; entry++) {
        assert_int_equal(as_level_replay_words(&m.replay, &m.thread, buffer, 4), 4);
        for (uint64_t i = 0; i < iterations; i++)
            for (uint32_t k = 0; k < n; k++) {
                const uint64_t a = word[operand[k].word] + (uint64_t)operand[k].offset +
                                   i * (uint64_t)operand[k].step;
                for (uint64_t line = a / 64; line <= (a + operand[k].width_b - 1) / 64; line++)
                    as_cache_line(cache, line,
                                  operand[k].access & AS_ACCESS_WRITE ? AS_CACHE_WRITE
                                                                      : AS_CACHE_READ,
                                  0, 1, &truth);
            }
    }
    const struct as_cache_counts *got = &m.replay.group.at[0].counts;
    for (unsigned k = 0; k < 2; k++) {
        assert_true(got->level[k].miss_n >= 0.99 * truth.level[k].miss_n);
        assert_true(got->level[k].miss_n <= 1.01 * truth.level[k].miss_n);
        assert_true(got->level[k].written_n >= 0.99 * truth.level[k].written_n - 8);
        assert_true(got->level[k].written_n <= 1.01 * truth.level[k].written_n + 8);
    }
    assert_true(truth.level[0].miss_n > 100);
    assert_true(m.replay.group.at[0].replayed_n == 3.0 * (double)iterations * n);
    assert_true(m.replay.runs[0] == 3.0 * (double)iterations);
    as_cache_free(&cache);
    unmake(&m);
}

static void test_walks(void **state)
{
    const uint64_t word[] = {0x100000, 0x900028};
    const struct as_address_operand stencil[] = {
        at(0, 8, 8, 8, AS_ACCESS_READ),    at(0, -8, 8, 8, AS_ACCESS_READ),
        at(0, 8000, 8, 8, AS_ACCESS_READ), at(0, -8000, 8, 8, AS_ACCESS_READ),
        at(1, 0, 8, 8, AS_ACCESS_WRITE),   at(1, 0x10000, 0, 8, AS_ACCESS_READ)};
    const struct as_address_operand mixed[] = {at(0, 0, -24, 16, AS_ACCESS_READ),
                                               at(0, 40, 4096, 8, AS_ACCESS_WRITE),
                                               at(1, 1, 32, 32, AS_ACCESS_READ | AS_ACCESS_WRITE)};
    (void)state;
    check_walk(stencil, 6, word, 5000);
    check_walk(stencil, 6, word, 200000);
    check_walk(mixed, 3, word, 3000);
}

/* Ten arrays in one set of eight ways: each access misses, not one of eight. */
static void test_conflicts(void **state)
{
    const uint64_t word[] = {0x100000, 0};
    struct as_address_operand arrays[10];
    (void)state;
    for (unsigned i = 0; i < 10; i++)
        arrays[i] = at(0, 0x100000 * (int64_t)i, 8, 8, AS_ACCESS_READ);
    check_walk(arrays, 10, word, 4000);
}

/* Half of the sets, and fewer, stand for all. */
static void test_sampled(void **state)
{
    struct made m;
    const struct as_address_operand triad[] = {at(0, 0, 8, 8, AS_ACCESS_READ),
                                               at(1, 0, 8, 8, AS_ACCESS_WRITE)};
    const uint64_t n = 1 << 20;
    uint64_t buffer[] = {0, n, 0x1000000, 0x8000000};
    (void)state;
    make(&m, triad, 2, 2, true, 8000);
    as_level_replay_words(&m.replay, &m.thread, buffer, 4);
    const struct as_cache_counts *got = &m.replay.group.at[0].counts;
    assert_true(as_level_replay_share(&m.replay) == 1.0 / 16);
    assert_true(got->level[1].miss_n > 0.98 * (double)n / 4);
    assert_true(got->level[1].miss_n < 1.02 * (double)n / 4);
    unmake(&m);
}

/* Replays records of one access of 8 bytes, at a random multiple of `align_b` in 16 MiB. */
static void replay_random(struct made *m, uint64_t n, uint64_t align_b)
{
    uint64_t state = 88172645463325252u, buffer[2] = {0, 0};
    for (uint64_t i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        buffer[1] = 0x1000000 + state % (16 << 20) / align_b * align_b;
        const uint64_t mask = as_level_replay_mask(&m->replay, false);
        if (mask >> (buffer[1] / 64 % 64) & 1) /* what the program does */
            as_level_replay_words(&m->replay, &m->thread, buffer, 2);
    }
}

/* Records of sampled lines stand for all. Objects of two lines that use one of them need more than
 * one class of lines. */
static void test_sampled_records(void **state)
{
    struct made m;
    const struct as_address_operand one = at(0, 0, 0, 8, AS_ACCESS_READ);
    (void)state;
    for (uint64_t align_b = 64; align_b <= 128; align_b *= 2) {
        make(&m, &one, 1, 1, false, 1 << 20);
        m.plan.record.at[0].is_sampled = m.replay.is_sampled = true;
        as_level_replay_thread_fini(&m.thread);
        assert_int_equal(as_level_replay_thread_init(&m.replay, &m.thread, NULL), 0);
        replay_random(&m, 300000, align_b);
        assert_true(as_level_replay_share(&m.replay) == 1.0 / 16);
        as_level_replay_hurry(&m.replay);
        assert_true(as_level_replay_share(&m.replay) == (align_b == 64 ? 1.0 / 64 : 1.0 / 16));
        assert_true(as_level_replay_mask(&m.replay, true) & as_level_replay_mask(&m.replay, false));
        replay_random(&m, 1000000, align_b);
        /* 512 of 2^18 or 2^17 lines are in L1. */
        const double missed = m.replay.group.at[0].counts.level[0].miss_n / 1300000;
        assert_true(missed > 0.96 && missed < 1.04);
        /* 2^15 lines hold a part of them. */
        const struct as_reuse_curve *curve = m.replay.group.at[0].curve;
        const double share = as_reuse_miss_share(curve, 32768),
                     lines = (double)((16u << 20) / align_b);
        assert_true(curve && fabs(share - (1 - 32768 / lines)) < 0.06);
        unmake(&m);
    }
}

/* Repeated instructions, absolute addresses and non-temporal stores. */
static void test_parts(void **state)
{
    struct made m;
    struct as_address_operand part[] = {at(0, 0, 0, 8, AS_ACCESS_WRITE),
                                        at(AS_ADDRESS_NONE, 0x4000, 0, 4, AS_ACCESS_READ),
                                        at(0, 1 << 20, 0, 16, AS_ACCESS_WRITE)};
    uint64_t buffer[] = {0, 0x100000, 64};
    (void)state;
    part[0].times = 1;
    part[2].streams = true;
    make(&m, part, 3, 2, false, UINT64_MAX);
    assert_int_equal(as_level_replay_words(&m.replay, &m.thread, buffer, 3), 3);
    const struct as_cache_counts *got = &m.replay.group.at[0].counts;
    assert_true(got->level[0].miss_n == 64 * 8 / 64 + 1);
    assert_true(got->stream_b == 16);
    unmake(&m);
}

static void test_damage(void **state)
{
    struct made m;
    const struct as_address_operand one = at(0, 0, 8, 8, AS_ACCESS_READ);
    uint64_t good[] = {0, 10, 4096}, runs[] = {0, 10, 4096, 0, AS_ADDRESS_RUNS, 4096};
    uint64_t bad[] = {0, 10, 4096, 7, 10, 4096}, vast[] = {0, UINT64_MAX - 1, 4096};
    (void)state;
    make(&m, &one, 1, 1, true, UINT64_MAX);
    assert_int_equal(as_level_replay_words(&m.replay, &m.thread, good, 3), 3);
    assert_int_equal(as_level_replay_words(&m.replay, &m.thread, runs, 6),
                     3); /* waits for its end */
    assert_true(m.replay.damaged == 0 && m.replay.runs[0] == 20);
    assert_int_equal(as_level_replay_words(&m.replay, &m.thread, bad, 6), 6);
    assert_true(m.replay.damaged == 1 && m.replay.runs[0] == 30);
    assert_int_equal(as_level_replay_words(&m.replay, &m.thread, good, 2), 2); /* cut off */
    assert_int_equal(as_level_replay_words(&m.replay, &m.thread, vast, 3), 3);
    assert_true(m.replay.damaged == 2 && m.replay.runs[0] == 30);
    unmake(&m);
}

static void test_texts(void **state)
{
    struct as_cache_level level[AS_COUNT_LEVELS];
    struct as_error err = {0};
    unsigned n;
    static const char *const bad[] = {"",
                                      "32K",
                                      "32K:",
                                      "32K:8,",
                                      "x:8",
                                      "32K:8:sideways",
                                      "-1:8",
                                      "32K:8,1M:8,2M:8,4M:8",
                                      "64:8",
                                      "32K:8 ",
                                      "99999999M:8",
                                      "32K:8,129M:0"};
    (void)state;
    assert_int_equal(
        as_level_traffic_parse("48K:12,2M:16:allocating,256K:0:victim", level, &n, &err), 0);
    assert_int_equal(n, 3);
    assert_true(level[0].size_b == 49152 && level[0].ways == 12);
    assert_true(level[1].size_b == 2 << 20 && level[1].kind == AS_CACHE_ALLOCATING);
    assert_true(level[2].ways == 0 && level[2].kind == AS_CACHE_VICTIM);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(as_level_traffic_parse(bad[i], level, &n, &err), AS_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walks),   cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_sampled), cmocka_unit_test(test_sampled_records),
        cmocka_unit_test(test_parts),   cmocka_unit_test(test_damage),
        cmocka_unit_test(test_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
