/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of the memory of a process, blocks of its heap, and registers that are drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sample/data_maps.h"
#include "sample/draws.h"

static char zeroed[1 << 20];
static int filled[1 << 12] = {1};

static const struct as_data_range *range_of(const as_data_ranges *ranges, const void *address)
{
    const uint64_t at = (uint64_t)(uintptr_t)address;

    for (size_t i = 0; i < ranges->n; i++)
        if (ranges->at[i].start <= at && at < ranges->at[i].end)
            return &ranges->at[i];
    return NULL;
}

static void release(as_data_ranges *ranges)
{
    as_vec_foreach (ranges, range)
        as_free(range->path);
    as_vec_fini(ranges);
}

static void test_parse(void **state)
{
    char text[] = "00400000-00401000 r--p 00000000 08:01 7   /opt/a program\n"
                  "00401000-00402000 r-xp 00001000 08:01 7   /opt/a program\n"
                  "00403000-00404000 rw-p 00003000 08:01 7   /opt/a program\n"
                  "00404000-00500000 rw-p 00000000 00:00 0 \n"
                  "00600000-00700000 rw-p 00000000 00:00 0   [heap]\n"
                  "7f0000000000-7f0000100000 rw-p 00000000 00:00 0 \n"
                  "7f0000100000-7f0000101000 ---p 00000000 00:00 0 \n"
                  "7f0000200000-7f0000201000 rw-s 00000000 00:05 9   /dev/shm/x (deleted)\n"
                  "nonsense\n"
                  "7ffe00000000-7ffe00021000 rw-p 00000000 00:00 0   [stack]\n"
                  "7ffe00080000-7ffe00082000 r--p 00000000 00:00 0   [vvar]";
    static const struct {
        uint64_t start, base, offset;
        unsigned kind;
        const char *path;
    } want[] = {{0x400000, 0x400000, 0, AS_DATA_FILE, "/opt/a program"},
                {0x403000, 0x403000, 0x3000, AS_DATA_FILE, "/opt/a program"},
                {0x404000, 0x403000, 0x3000, AS_DATA_ZEROED, "/opt/a program"},
                {0x600000, 0x600000, 0, AS_DATA_HEAP, NULL},
                {0x7f0000000000, 0x7f0000000000, 0, AS_DATA_MAPPING, NULL},
                {0x7f0000200000, 0x7f0000200000, 0, AS_DATA_SHARED, NULL},
                {0x7ffe00000000, 0x7ffe00000000, 0, AS_DATA_STACK, NULL}};
    as_data_ranges ranges = {0};

    (void)state;
    assert_int_equal(as_data_maps_parse(text, &ranges), 0);
    assert_int_equal(ranges.n, sizeof want / sizeof *want);
    for (size_t i = 0; i < ranges.n; i++) {
        const struct as_data_range *range = &ranges.at[i];
        assert_int_equal(range->start, want[i].start);
        assert_int_equal(range->base, want[i].base);
        assert_int_equal(range->offset, want[i].offset);
        assert_int_equal(range->kind, want[i].kind);
        assert_true(range->path ? want[i].path && strcmp(range->path, want[i].path) == 0
                                : !want[i].path);
    }
    release(&ranges);
}

/* The part of memory in huge pages. Lines of code are left out. */
static void test_pages(void **state)
{
    char text[] = "7f0000000000-7f0000100000 rw-p 00000000 00:00 0 \n"
                  "Size:               1024 kB\n"
                  "Rss:                1000 kB\n"
                  "Referenced:         1000 kB\n"
                  "Anonymous:          1000 kB\n"
                  "AnonHugePages:       400 kB\n"
                  "VmFlags: rd wr mr mw me ac hg\n"
                  "7f0000200000-7f0000300000 r-xp 00000000 08:01 7   /opt/a program\n"
                  "Rss:                1000 kB\n"
                  "AnonHugePages:      1000 kB\n"
                  "7f0000400000-7f0000800000 rw-p 00000000 00:0f 0   /anon_hugepage (deleted)\n"
                  "Rss:                   0 kB\n"
                  "Private_Hugetlb:    4096 kB\n"
                  "7f0000900000-7f0000a00000 rw-p 00000000 00:00 0 \n"
                  "Rss:                   0 kB\n"
                  "AnonHugePages:         0 kB";
    static const int want[] = {40, 100, -1};
    as_data_ranges ranges = {0};

    (void)state;
    assert_int_equal(as_data_maps_parse(text, &ranges), 0);
    assert_int_equal(ranges.n, sizeof want / sizeof *want);
    for (size_t i = 0; i < ranges.n; i++)
        assert_int_equal(ranges.at[i].huge_pct, want[i]);
    release(&ranges);
}

/* The ranges of this process. */
static void test_self(void **state)
{
    struct as_data_maps maps = {0};
    const uint32_t pid = (uint32_t)getpid();
    char *large = malloc(3 << 20), *small = malloc(100);
    int local = 0;

    (void)state;
    assert_true(large && small);
    assert_int_equal(as_data_maps_see(&maps, pid, (uintptr_t)large, (uintptr_t)&local), 0);
    const as_data_ranges *ranges = as_data_maps_of(&maps, pid);
    assert_non_null(ranges);
    assert_int_equal(range_of(ranges, &local)->kind, AS_DATA_STACK);
    assert_int_equal(range_of(ranges, small)->kind, AS_DATA_HEAP);
    assert_int_equal(range_of(ranges, &filled[10])->kind, AS_DATA_FILE);
    assert_int_equal(range_of(ranges, &zeroed[1 << 19])->kind, AS_DATA_ZEROED);
    assert_string_equal(range_of(ranges, &filled[10])->path,
                        range_of(ranges, &zeroed[1 << 19])->path);
    for (size_t i = 1; i < ranges->n; i++)
        assert_true(ranges->at[i - 1].end <= ranges->at[i].start);
    as_data_maps_exec(&maps, pid);
    assert_int_equal(as_data_maps_of(&maps, pid)->n, 0);
    as_data_maps_fini(&maps);
    free(large);
    free(small);
}

/* Pages are read after a while, and stay known when the ranges are read without them. */
static void test_self_pages(void **state)
{
    struct as_data_maps maps = {0};
    const uint32_t pid = (uint32_t)getpid();
    char *large = malloc(3 << 20);
    int local = 0;

    (void)state;
    assert_non_null(large);
    memset(large, 1, 3 << 20);
    assert_int_equal(as_data_maps_see(&maps, pid, (uintptr_t)large, (uintptr_t)&local), 0);
    assert_int_equal(range_of(as_data_maps_of(&maps, pid), large)->huge_pct, -1);
    usleep(250000);
    assert_int_equal(as_data_maps_see(&maps, pid, (uintptr_t)large, (uintptr_t)&local), 0);
    assert_in_range(range_of(as_data_maps_of(&maps, pid), large)->huge_pct, 0, 100);
    usleep(20000);
    assert_int_equal(as_data_maps_see(&maps, pid, 1, (uintptr_t)&local), 0); /* is nowhere */
    assert_in_range(range_of(as_data_maps_of(&maps, pid), large)->huge_pct, 0, 100);
    as_data_maps_fini(&maps);
    free(large);
}

/* A recording of another machine has no processes here. */
static void test_imported(void **state)
{
    struct as_data_maps maps = {.imported = true};
    int local = 0;

    (void)state;
    assert_int_equal(as_data_maps_see(&maps, (uint32_t)getpid(), 0, (uintptr_t)&local), 0);
    assert_null(as_data_maps_of(&maps, (uint32_t)getpid()));
    as_data_maps_fini(&maps);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)

/* Sizes in memory that is else zero. */
struct written {
    uint64_t at, word;
};

static bool peek(void *context, uint64_t address, void *out, size_t n)
{
    memset(out, 0, n);
    for (const struct written *w = context; w->at; w++)
        if (w->at >= address && w->at + sizeof w->word <= address + n)
            memcpy((char *)out + (w->at - address), &w->word, sizeof w->word);
    return true;
}

static bool peek_not(void *context, uint64_t address, void *out, size_t n)
{
    (void)context, (void)address, (void)out, (void)n;
    return false;
}

static void assert_range(const struct as_data_range *range, uint64_t start, uint64_t end,
                         unsigned kind)
{
    assert_int_equal(range->start, start);
    assert_int_equal(range->end, end);
    assert_int_equal(range->kind, kind);
}

static void find(as_data_ranges *ranges, uint64_t start, uint64_t end, unsigned kind, as_peek *how,
                 struct written *written)
{
    const struct as_data_range range = {.start = start, .end = end, .kind = (uint8_t)kind};

    assert_int_equal(as_vec_push(ranges, range), 0);
    assert_int_equal(as_data_blocks_find(ranges, how, written), 0);
}

/* Two blocks with mappings of their own, then something else. */
static void test_mappings(void **state)
{
    const uint64_t at = 0x7f0000000000;
    struct written written[] = {
        {at + 8, (1 * MIB) | 2}, {at + MIB + 8, (2 * MIB) | 2}, {at + 3 * MIB + 8, 77}, {0, 0}};
    as_data_ranges ranges = {0};

    (void)state;
    find(&ranges, at, at + 4 * MIB, AS_DATA_MAPPING, peek, written);
    assert_int_equal(ranges.n, 3);
    assert_range(&ranges.at[0], at, at + MIB, AS_DATA_BLOCK);
    assert_range(&ranges.at[1], at + MIB, at + 3 * MIB, AS_DATA_BLOCK);
    assert_range(&ranges.at[2], at + 3 * MIB, at + 4 * MIB, AS_DATA_MAPPING);
    as_vec_fini(&ranges);
    written[0].word = (9 * MIB) | 2; /* longer than the mapping */
    find(&ranges, at, at + 4 * MIB, AS_DATA_MAPPING, peek, written);
    assert_int_equal(ranges.n, 1);
    assert_range(&ranges.at[0], at, at + 4 * MIB, AS_DATA_HEAP); /* it begins as one of a thread */
    as_vec_fini(&ranges);
    find(&ranges, at + 4096, at + 4 * MIB, AS_DATA_MAPPING, peek_not, NULL);
    assert_int_equal(ranges.n, 1);
    assert_range(&ranges.at[0], at + 4096, at + 4 * MIB, AS_DATA_MAPPING);
    as_vec_fini(&ranges);
}

/* A large block between small ones, and the part at the end that is not in use. */
static void test_heap(void **state)
{
    const uint64_t at = 0x600000;
    struct written written[] = {{at + 8, 656 | 1},
                                {at + 656 + 8, (200 * KIB) | 1},
                                {at + 656 + 200 * KIB + 8, 32 | 1},
                                {at + 656 + 200 * KIB + 32 + 8, (MIB - 656 - 200 * KIB - 32) | 1},
                                {0, 0}};
    as_data_ranges ranges = {0};

    (void)state;
    find(&ranges, at, at + MIB, AS_DATA_HEAP, peek, written);
    assert_int_equal(ranges.n, 3);
    assert_range(&ranges.at[0], at, at + 656, AS_DATA_HEAP);
    assert_range(&ranges.at[1], at + 656, at + 656 + 200 * KIB, AS_DATA_BLOCK);
    assert_range(&ranges.at[2], at + 656 + 200 * KIB, at + MIB, AS_DATA_HEAP);
    as_vec_fini(&ranges);
    find(&ranges, at, at + MIB, AS_DATA_HEAP, peek_not, NULL);
    assert_int_equal(ranges.n, 1);
    as_vec_fini(&ranges);
}

/* ---- Draws ----------------------------------------------------------------------------------- */

static void take(struct as_register_draws *draws, uint64_t *random, uint64_t first)
{
    uint64_t regs[AS_DRAW_REGISTERS] = {first, 2, UINT64_MAX};

    const struct as_sample_record sample = {.tid = 77, .time_ns = 0x5000, .regs = regs};

    assert_int_equal(as_draws_add(draws, random, &sample), 0);
}

static void test_draws(void **state)
{
    struct as_register_draws draws = {0};
    char text[AS_DRAWS_TEXT_B];
    uint64_t random = 1, late = 0;

    (void)state;
    take(&draws, &random, 0xabc);
    as_draws_text(&draws, 0, text);
    assert_string_equal(text, "4d@5000:abc,2,ffffffffffffffff,0,0,0,0,0,0,0,0,0,0,0,0,0");
    for (uint64_t i = 1; i < 100000; i++)
        take(&draws, &random, i);
    assert_int_equal(draws.sample_n, 100000);
    assert_int_equal(draws.at.n, AS_DRAWS_MOST);
    for (size_t i = 0; i < draws.at.n; i++)
        late += draws.at.at[i].reg[0] >= 50000;
    assert_in_range(late, AS_DRAWS_MOST / 4, 3 * AS_DRAWS_MOST / 4); /* the sequence is fixed */
    as_draws_text(&draws, AS_DRAWS_MOST - 1, text);
    assert_null(strchr(text, ' '));
    as_draws_text(&draws, AS_DRAWS_MOST, text);
    assert_string_equal(text, "");
    as_vec_fini(&draws.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),      cmocka_unit_test(test_pages),
        cmocka_unit_test(test_self_pages), cmocka_unit_test(test_self),
        cmocka_unit_test(test_imported),   cmocka_unit_test(test_mappings),
        cmocka_unit_test(test_heap),       cmocka_unit_test(test_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
