/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of memory over time: which was where and when, and what is written of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sample/block_lives.h"

#define KIB (UINT64_C(1) << 10)

static void allocate(struct as_block_lives *lives, uint32_t pid, uint64_t at, uint64_t size_b,
                     uint64_t time_ns)
{
    const uint64_t chain[] = {0x1000 + at, 0x2000};
    const struct as_sample_record record = {.kind = AS_SAMPLE_ALLOCATE,
                                            .pid = pid,
                                            .time_ns = time_ns,
                                            .address = at,
                                            .size_b = size_b,
                                            .site = at,
                                            .chain = chain,
                                            .chain_n = 2};

    assert_int_equal(as_block_lives_add(lives, &record), 0);
}

static void release(struct as_block_lives *lives, uint32_t pid, uint64_t at, uint64_t time_ns)
{
    const struct as_sample_record record = {
        .kind = AS_SAMPLE_RELEASE, .pid = pid, .time_ns = time_ns, .address = at};

    assert_int_equal(as_block_lives_add(lives, &record), 0);
}

static void inherit(struct as_block_lives *lives, uint32_t pid, uint32_t parent, uint64_t time_ns)
{
    const struct as_sample_record record = {
        .kind = AS_SAMPLE_INHERIT, .pid = pid, .parent_pid = parent, .time_ns = time_ns};

    assert_int_equal(as_block_lives_add(lives, &record), 0);
}

/* The facts `name` of process `pid` that are written, each with a newline. */
static void written(struct as_block_lives *lives, const struct as_draw_time *time, size_t n,
                    const char *name, uint32_t pid, char *out, size_t out_b)
{
    char directory[] = "/tmp/assay-lives-XXXXXX", path[64];
    struct as_draw_time copy[8];
    const as_draw_times times = {.at = copy, .n = n};
    const struct as_spaces spaces = {0};
    struct as_writer *writer;
    struct as_stream *stream;
    struct as_stream_record record;
    size_t thread_n;

    memcpy(copy, time, n * sizeof *time);
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/s", directory);
    assert_int_equal(as_writer_new(path, &writer, NULL), 0);
    assert_int_equal(as_block_lives_write(lives, &times, &spaces, writer), 0);
    assert_int_equal(as_writer_finish(&writer, NULL), 0);
    assert_int_equal(as_stream_open(path, &stream, NULL), 0);
    *out = 0;
    while (as_stream_next(stream, &record, NULL) > 0) {
        if (record.kind != AS_STREAM_PROCESS || strcmp(record.text, name) != 0 ||
            as_stream_threads(stream, &thread_n)[record.thread].pid != pid)
            continue;
        assert_true(strlen(out) + strlen(record.value) + 2 < out_b);
        strcat(strcat(out, record.value), "\n");
    }
    as_stream_close(&stream);
    unlink(path);
    rmdir(directory);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* One address three times; records come in any order. */
static void test_same_address(void **state)
{
    static const struct as_draw_time time[] = {{7, 15}, {7, 25}, {7, 45}};
    struct as_block_lives lives;
    char text[512];

    (void)state;
    as_block_lives_init(&lives);
    allocate(&lives, 7, 0x100000, 128 * KIB, 20);
    allocate(&lives, 7, 0x100000, 64 * KIB, 10);
    release(&lives, 7, 0x100000, 30);
    release(&lives, 7, 0x100000, 18);
    allocate(&lives, 7, 0x100000, 256 * KIB, 50);
    written(&lives, time, 3, "block", 7, text, sizeof text);
    assert_string_equal(text, "100000 110000 a 12 block 0\n100000 120000 14 1e block 0\n");
    as_block_lives_fini(&lives);
}

/* A release that was lost: the next block ends the one before. */
static void test_lost_release(void **state)
{
    static const struct as_draw_time time[] = {{7, 15}, {7, 25}};
    struct as_block_lives lives;
    char text[512];

    (void)state;
    as_block_lives_init(&lives);
    allocate(&lives, 7, 0x100000, 64 * KIB, 10);
    allocate(&lives, 7, 0x100000, 128 * KIB, 20);
    written(&lives, time, 2, "block", 7, text, sizeof text);
    assert_string_equal(text, "100000 110000 a 14 block 0\n100000 120000 14 0 block 0\n");
    as_block_lives_fini(&lives);
}

/* Sites are written once, where they are needed; without maps their code is unknown. */
static void test_sites(void **state)
{
    static const struct as_draw_time time[] = {{7, 25}};
    struct as_block_lives lives;
    char text[512];

    (void)state;
    as_block_lives_init(&lives);
    allocate(&lives, 7, 0x100000, 64 * KIB, 10);
    release(&lives, 7, 0x100000, 12);
    allocate(&lives, 7, 0x200000, 64 * KIB, 20);
    written(&lives, time, 1, "site", 7, text, sizeof text);
    assert_string_equal(text, "1\n");
    as_block_lives_fini(&lives);
}

static void test_fork_and_exec(void **state)
{
    static const struct as_draw_time time[] = {{7, 15}, {8, 35}, {8, 55}};
    struct as_block_lives lives;
    char text[512];

    (void)state;
    as_block_lives_init(&lives);
    allocate(&lives, 7, 0x100000, 64 * KIB, 10);
    allocate(&lives, 7, 0x200000, 64 * KIB, 10);
    release(&lives, 7, 0x200000, 20);
    inherit(&lives, 8, 7, 30);
    release(&lives, 7, 0x100000, 31); /* the parent's alone */
    release(&lives, 8, 0x100000, 40);
    allocate(&lives, 8, 0x100000, 64 * KIB, 50);
    assert_int_equal(as_block_lives_exec(&lives, 8, 60), 0);
    written(&lives, time, 3, "block", 8, text, sizeof text);
    assert_string_equal(text, "100000 110000 1e 28 block 0\n100000 110000 32 3c block 0\n");
    as_block_lives_fini(&lives);
}

/* A million short blocks between two samples: only those of samples are kept. */
static void test_many(void **state)
{
    static const uint64_t second_ns = 1000000000;
    struct as_draw_time time[] = {{7, 5 * second_ns + 50}};
    const as_draw_times times = {.at = time, .n = 1};
    struct as_block_lives lives;
    char text[512];
    size_t most = 0;

    (void)state;
    as_block_lives_init(&lives);
    for (uint64_t i = 0; i < 500000; i++) {
        allocate(&lives, 7, 0x100000, 64 * KIB, i * 100000);
        release(&lives, 7, 0x100000, i * 100000 + 60);
        if (as_block_lives_full(&lives))
            as_block_lives_prune(&lives, &times);
        most = lives.n > most ? lives.n : most;
    }
    assert_true(most < 300000);
    written(&lives, time, 1, "block", 7, text, sizeof text);
    assert_string_equal(text, "100000 110000 12a05f200 12a05f23c block 0\n");
    assert_int_equal(lives.dropped, 0);
    as_block_lives_fini(&lives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_address), cmocka_unit_test(test_lost_release),
        cmocka_unit_test(test_sites),        cmocka_unit_test(test_fork_and_exec),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
