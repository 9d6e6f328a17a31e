/* SPDX-License-Identifier: Apache-2.0 */
/* The model of caches against a plain one that shares no code with it, and against closed forms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "cache/cache.h"

/* ---- A plain model: every line that a level has, with the time of its last use --------------- */

enum { SLOW_LINES = 4096 };

struct slow_level {
    uint64_t sets, ways;
    enum as_cache_kind kind;
    struct {
        bool is_there, changed;
        uint64_t used;
    } line[SLOW_LINES];
};
struct slow_model {
    struct slow_level level[3];
    unsigned n;
    uint64_t now, miss[3], written[3], clean[3];
};

static void slow_give(struct slow_model *m, unsigned k, uint64_t line, bool changed);
static void slow_back(struct slow_model *m, unsigned k, uint64_t line, bool changed);

static void slow_leave(struct slow_model *m, unsigned k, uint64_t line)
{
    bool changed = m->level[k].line[line].changed;
    m->level[k].line[line].is_there = m->level[k].line[line].changed = false;
    for (unsigned j = 0; m->level[k].kind == AS_CACHE_INCLUSIVE && j < k; j++) {
        changed |= m->level[j].line[line].is_there && m->level[j].line[line].changed;
        m->level[j].line[line].is_there = false;
    }
    m->written[k] += changed;
    const bool feeds = k + 1 < m->n && m->level[k + 1].kind == AS_CACHE_VICTIM;
    m->clean[k] += feeds && !changed;
    if (k + 1 < m->n && (changed || feeds))
        slow_back(m, k + 1, line, changed);
}

/* The line comes into level k, whether it was there or not. */
static void slow_give(struct slow_model *m, unsigned k, uint64_t line, bool changed)
{
    struct slow_level *l = &m->level[k];
    uint64_t n = 0, oldest = UINT64_MAX;
    m->now++;
    if (!l->line[line].is_there) {
        l->line[line].changed = false;
        for (uint64_t i = line % l->sets; i < SLOW_LINES; i += l->sets) {
            n += l->line[i].is_there;
            if (l->line[i].is_there &&
                (oldest == UINT64_MAX || l->line[i].used < l->line[oldest].used))
                oldest = i;
        }
    }
    l->line[line].is_there = true;
    l->line[line].changed |= changed;
    l->line[line].used = m->now;
    if (n == l->ways)
        slow_leave(m, k, oldest);
}

/* The line comes back from the level before. */
static void slow_back(struct slow_model *m, unsigned k, uint64_t line, bool changed)
{
    if (m->level[k].line[line].is_there)
        m->level[k].line[line].changed |= changed;
    else if (m->level[k].kind != AS_CACHE_PLAIN)
        slow_give(m, k, line, changed);
    else {
        m->written[k]++;
        if (k + 1 < m->n)
            slow_back(m, k + 1, line, changed);
    }
}

static bool slow_fetch(struct slow_model *m, unsigned k, uint64_t line)
{
    if (k == m->n)
        return false;
    struct slow_level *l = &m->level[k];
    if (l->line[line].is_there && l->kind == AS_CACHE_VICTIM) {
        l->line[line].is_there = false;
        return l->line[line].changed;
    }
    if (l->line[line].is_there) {
        l->line[line].used = ++m->now;
        return false;
    }
    m->miss[k]++;
    const bool changed = slow_fetch(m, k + 1, line);
    if (l->kind == AS_CACHE_VICTIM)
        return changed;
    slow_give(m, k, line, changed);
    return false;
}

static void slow_access(struct slow_model *m, uint64_t line, enum as_cache_access access)
{
    if (access == AS_CACHE_STREAM) {
        for (unsigned k = 0; k < m->n; k++)
            m->level[k].line[line].is_there = false;
        return;
    }
    bool changed = access == AS_CACHE_WRITE;
    if (!m->level[0].line[line].is_there) {
        m->miss[0]++;
        changed |= slow_fetch(m, 1, line);
    }
    slow_give(m, 0, line, changed);
}

/* ---- Streams -------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* Lines that come in clusters, walk, and jump: many hits and misses in each level. */
static uint64_t next_line(uint64_t *state, uint64_t step)
{
    static uint64_t at;
    const uint64_t r = next_random(state);
    if (step == 0)
        at = 0;
    at = r % 8 == 0 ? r / 8 % SLOW_LINES : r % 8 < 4 ? (at + 1) % SLOW_LINES : at;
    return r % 8 == 7 ? r / 8 % 64 : at;
}

static void run_both(const struct as_cache_level *level, unsigned n)
{
    static struct slow_model slow;
    struct as_cache *fast;
    struct as_cache_counts counts = {0};
    uint64_t state = 88172645463325252u + n;
    memset(&slow, 0, sizeof slow);
    slow.n = n;
    for (unsigned k = 0; k < n; k++) {
        slow.level[k].ways = level[k].ways ? level[k].ways : level[k].size_b / 64;
        slow.level[k].sets = level[k].size_b / 64 / slow.level[k].ways;
        slow.level[k].kind = level[k].kind;
    }
    assert_int_equal(as_cache_new(level, n, 64, &fast, NULL), 0);
    for (uint64_t i = 0; i < 200000; i++) {
        const uint64_t line = next_line(&state, i);
        const uint64_t what = next_random(&state) % 16;
        const enum as_cache_access access = what == 0  ? AS_CACHE_STREAM
                                            : what < 6 ? AS_CACHE_WRITE
                                                       : AS_CACHE_READ;
        as_cache_line(fast, line, access, 64, 1, &counts);
        slow_access(&slow, line, access);
        for (unsigned k = 0; k < n; k++) {
            assert_true(counts.level[k].miss_n == (double)slow.miss[k]);
            assert_true(counts.level[k].written_n == (double)slow.written[k]);
            assert_true(counts.level[k].clean_n == (double)slow.clean[k]);
        }
    }
    assert_true(counts.line_n == 200000);
    assert_true(slow.miss[n - 1] > 1000 && slow.written[n - 1] > 100);
    assert_true(slow.miss[0] > slow.miss[n - 1]);
    as_cache_free(&fast);
}

static void test_plain(void **state)
{
    (void)state;
    run_both((const struct as_cache_level[]){{4096, 4, AS_CACHE_PLAIN}, {32768, 8, AS_CACHE_PLAIN}},
             2);
    run_both((const struct as_cache_level[]){{4096, 0, AS_CACHE_PLAIN},
                                             {16384, 16, AS_CACHE_ALLOCATING},
                                             {3 * 20480, 12, AS_CACHE_PLAIN}},
             3);
}

static void test_inclusive(void **state)
{
    (void)state;
    run_both((const struct as_cache_level[]){{4096, 8, AS_CACHE_PLAIN},
                                             {16384, 4, AS_CACHE_INCLUSIVE},
                                             {65536, 8, AS_CACHE_INCLUSIVE}},
             3);
}

static void test_victim(void **state)
{
    (void)state;
    run_both((const struct as_cache_level[]){{4096, 8, AS_CACHE_PLAIN},
                                             {16384, 8, AS_CACHE_INCLUSIVE},
                                             {65536, 16, AS_CACHE_VICTIM}},
             3);
}

/* Levels of one set, which are found by a hash table. */
static void test_full(void **state)
{
    (void)state;
    run_both((const struct as_cache_level[]){{4096, 0, AS_CACHE_PLAIN},
                                             {16384, 0, AS_CACHE_INCLUSIVE},
                                             {65536, 0, AS_CACHE_VICTIM}},
             3);
    run_both(
        (const struct as_cache_level[]){{6400, 0, AS_CACHE_PLAIN}, {32768, 0, AS_CACHE_ALLOCATING}},
        2);
}

/* ---- Closed forms --------------------------------------------------------------------------- */

static const struct as_cache_level two[] = {{32768, 8, AS_CACHE_PLAIN},
                                            {262144, 8, AS_CACHE_PLAIN}};

static void touch(struct as_cache *cache, uint64_t address, bool write,
                  struct as_cache_counts *counts)
{
    as_cache_line(cache, address / 64, write ? AS_CACHE_WRITE : AS_CACHE_READ, 8, 1, counts);
}

/* a[i] = b[i] + c[i]: 3 lines in and one out for 8 elements in each level that cannot hold them. */
static void test_triad(void **state)
{
    enum { N = 1 << 17, SWEEPS = 4 };
    struct as_cache *cache;
    struct as_cache_counts counts = {0};
    (void)state;
    assert_int_equal(as_cache_new(two, 2, 64, &cache, NULL), 0);
    for (int s = 0; s < SWEEPS; s++)
        for (uint64_t i = 0; i < N; i++) {
            touch(cache, 0x10000000 + 8 * i, false, &counts);
            touch(cache, 0x20000040 + 8 * i, false, &counts);
            touch(cache, 0x30000080 + 8 * i, true, &counts);
        }
    const double lines = (double)SWEEPS * N / 8;
    for (unsigned k = 0; k < 2; k++) {
        assert_true(counts.level[k].miss_n == 3 * lines);
        const double left =
            (double)two[k].size_b / 64 * 3 / 8; /* changed lines that are still there */
        assert_true(counts.level[k].written_n <= lines);
        assert_true(counts.level[k].written_n >= lines - left - 64);
    }
    const double bytes = as_cache_memory_b(&counts, 2, 64);
    assert_true(fabs(bytes - 4 * 64 * lines) < 0.01 * bytes);
    as_cache_free(&cache);
}

/* Lines of a 5-point stencil that come into the first level, per line of its grid. */
static double stencil_misses(uint64_t n)
{
    enum { ROWS = 40 };
    struct as_cache *cache;
    struct as_cache_counts counts = {0};
    const struct as_cache_level one = {32768, 0, AS_CACHE_PLAIN};
    const uint64_t in = 1 << 24, out = 1 << 28;
    assert_int_equal(as_cache_new(&one, 1, 64, &cache, NULL), 0);
    for (uint64_t j = 1; j + 1 < ROWS; j++)
        for (uint64_t i = 1; i + 1 < n; i++) {
            const uint64_t at = in + 8 * (j * n + i);
            touch(cache, at - 8 * n, false, &counts);
            touch(cache, at - 8, false, &counts);
            touch(cache, at, false, &counts);
            touch(cache, at + 8, false, &counts);
            touch(cache, at + 8 * n, false, &counts);
            touch(cache, out + 8 * (j * n + i), true, &counts);
        }
    as_cache_free(&cache);
    return counts.level[0].miss_n / ((double)n * (ROWS - 2) / 8);
}

/* Rows fit: a line of the input comes once, and one of the output; else the input comes three
 * times. Three rows of input and one of output pass between uses: 4 * 8 * n bytes. */
static void test_layer_condition(void **state)
{
    (void)state;
    assert_true(fabs(stencil_misses(512) - 2) < 0.1);
    assert_true(fabs(stencil_misses(960) - 2) < 0.1);
    assert_true(fabs(stencil_misses(2048) - 4) < 0.1);
    assert_true(fabs(stencil_misses(4096) - 4) < 0.1);
}

/* c += a * b in blocks, of which five fit: those of a triple, and the two that it takes over. */
static void test_blocked_product(void **state)
{
    enum { N = 96, B = 24 };
    const uint64_t a = 1 << 20, b = 1 << 24, c = 1 << 26;
    const struct as_cache_level one = {5 * B * B * 8, 0, AS_CACHE_PLAIN};
    struct as_cache *cache;
    struct as_cache_counts counts = {0};
    (void)state;
    assert_int_equal(as_cache_new(&one, 1, 64, &cache, NULL), 0);
    for (uint64_t i = 0; i < N; i += B)
        for (uint64_t j = 0; j < N; j += B)
            for (uint64_t k = 0; k < N; k += B)
                for (uint64_t x = i; x < i + B; x++)
                    for (uint64_t z = k; z < k + B; z++)
                        for (uint64_t y = j; y < j + B; y++) {
                            touch(cache, a + 8 * (x * N + z), false, &counts);
                            touch(cache, b + 8 * (z * N + y), false, &counts);
                            touch(cache, c + 8 * (x * N + y), true, &counts);
                        }
    /* (N/B)^3 triples bring a block of a and one of b; (N/B)^2 one of c: B * B * 8 / 64 lines. */
    const double blocks = N / B, lines = B * B * 8 / 64;
    const double expected = (2 * blocks * blocks * blocks + blocks * blocks) * lines;
    assert_true(counts.level[0].miss_n == expected);
    as_cache_free(&cache);
}

static void test_streams(void **state)
{
    struct as_cache *cache;
    struct as_cache_counts counts = {0};
    (void)state;
    assert_int_equal(as_cache_new(two, 2, 64, &cache, NULL), 0);
    as_cache_line(cache, 7, AS_CACHE_READ, 0, 1, &counts);
    for (int i = 0; i < 2; i++)
        as_cache_line(cache, 7, AS_CACHE_STREAM, 32, 2, &counts);
    as_cache_line(cache, 7, AS_CACHE_READ, 0, 1, &counts); /* the stores threw it out */
    assert_true(counts.level[0].miss_n == 2 && counts.level[1].miss_n == 2);
    assert_true(counts.stream_b == 128 && counts.line_n == 6);
    assert_true(as_cache_memory_b(&counts, 2, 64) == 2 * 64 + 128);
    assert_true(as_cache_traffic_b(&counts, 0, 64) == 2 * 64);
    as_cache_free(&cache);
}

static void test_errors(void **state)
{
    struct as_cache *cache;
    struct as_error err = {0};
    (void)state;
    assert_int_equal(as_cache_new(two, 0, 64, &cache, &err), AS_ERR_USAGE);
    assert_int_equal(as_cache_new(two, 2, 48, &cache, &err), AS_ERR_USAGE);
    const struct as_cache_level small = {64, 8, AS_CACHE_PLAIN};
    assert_int_equal(as_cache_new(&small, 1, 64, &cache, &err), AS_ERR_USAGE);
    assert_null(cache);
    for (int i = 0; i < 3; i++) {
        as_alloc_fail_after(i);
        assert_int_equal(as_cache_new(two, 2, 64, &cache, &err), AS_ERR_NOMEM);
        as_alloc_fail_after(-1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain),
                                       cmocka_unit_test(test_inclusive),
                                       cmocka_unit_test(test_full),
                                       cmocka_unit_test(test_victim),
                                       cmocka_unit_test(test_triad),
                                       cmocka_unit_test(test_streams),
                                       cmocka_unit_test(test_layer_condition),
                                       cmocka_unit_test(test_blocked_product),
                                       cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
