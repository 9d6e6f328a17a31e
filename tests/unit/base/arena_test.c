/* SPDX-License-Identifier: Apache-2.0 */
/* The arena: alignment, blocks that keep their bytes, large blocks, overflow, no memory. */
#include "unit.h"

#include "base/arena.h"

static void test_alignment(void **state)
{
    (void)state;
    struct as_arena arena;
    as_arena_init(&arena);
    for (size_t align_b = 1; align_b <= 4096; align_b *= 2) {
        assert_non_null(as_arena_alloc(&arena, 1, 1)); /* knocks it off */
        void *p = as_arena_alloc(&arena, 3, align_b);
        assert_int_equal((uintptr_t)p % align_b, 0);
        memset(p, 0xff, 3);
    }
    as_arena_fini(&arena);
}

static void test_blocks_do_not_overlap(void **state)
{
    (void)state;
    enum { N = 2000 };
    static unsigned char *blocks[N];
    struct as_arena arena;
    as_arena_init(&arena);
    /* Sizes 0 to 12,000 so that bumping, new chunks and blocks of their own all happen. */
    for (size_t i = 0; i < N; i++) {
        size_t n = i * 2654435761u % 12001;
        blocks[i] = as_arena_alloc(&arena, n, 1);
        assert_non_null(blocks[i]);
        memset(blocks[i], (int)(i & 0xff), n);
    }
    for (size_t i = 0; i < N; i++) {
        size_t n = i * 2654435761u % 12001;
        for (size_t k = 0; k < n; k += 97)
            assert_int_equal(blocks[i][k], i & 0xff);
    }
    assert_true(arena.total_b >= 2000u * 6000u * 9 / 10);
    as_arena_fini(&arena);
    assert_int_equal(arena.total_b, 0);
}

static void test_large_block_leaves_the_head(void **state)
{
    (void)state;
    struct as_arena arena;
    as_arena_init(&arena);
    char *a = as_arena_alloc(&arena, 16, 1);
    assert_non_null(as_arena_alloc(&arena, (size_t)10 << 20, 1));
    char *b = as_arena_alloc(&arena, 16, 1);
    assert_ptr_equal(b, a + 16);
    as_arena_fini(&arena);
}

static void test_calloc_array_and_strndup(void **state)
{
    (void)state;
    struct as_arena arena;
    as_arena_init(&arena);
    memset(as_arena_alloc(&arena, 64, 8), 0xff, 64);
    uint64_t *v = as_arena_array(&arena, uint64_t, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(v[i], 0);
    assert_null(as_arena_calloc(&arena, SIZE_MAX / 4, 8, 8));
    assert_null(as_arena_alloc(&arena, SIZE_MAX, 8));
    assert_null(as_arena_strndup(&arena, "x", SIZE_MAX));
    assert_string_equal(as_arena_strndup(&arena, "abcdef", 3), "abc");
    assert_string_equal(as_arena_strndup(&arena, NULL, 0), "");
    as_arena_fini(&arena);
}

/* After a reset what was in use fits without another request; memory beyond what is kept goes. */
static void test_reset_keeps_memory(void **state)
{
    (void)state;
    struct as_arena arena;
    as_arena_init(&arena);
    as_arena_reset(&arena);
    for (int i = 0; i < 100; i++)
        memset(as_arena_alloc(&arena, 5000, 8), i, 5000);
    as_arena_reset(&arena);
    char *first = as_arena_alloc(&arena, 5000, 8); /* one block for all from here on */
    assert_non_null(first);
#ifndef __SANITIZE_ADDRESS__
    as_alloc_fail_after(0);
    for (int i = 1; i < 100; i++)
        assert_non_null(as_arena_alloc(&arena, 5000, 8));
    as_arena_reset(&arena);
    assert_ptr_equal(as_arena_alloc(&arena, 5000, 8), first);
    as_alloc_fail_after(-1);
#endif
    uint64_t *v = as_arena_array(&arena, uint64_t, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v[i], 0);
    assert_non_null(as_arena_alloc(&arena, AS_ARENA_KEEP_B + 1, 8));
    as_arena_reset(&arena);
    assert_int_equal(arena.total_b, 0);
    as_arena_fini(&arena);
}

static void test_no_memory(void **state)
{
    (void)state;
    for (int after = 0; after < 4; after++) {
        struct as_arena arena;
        as_arena_init(&arena);
        as_alloc_fail_after(after);
        int chunks = 0;
        while (as_arena_alloc(&arena, 3000, 8))
            chunks++;
        as_alloc_fail_after(-1);
        assert_true(chunks >= after);
        assert_int_equal(arena.total_b > 0, after > 0);
        /* Whole again once there is memory. */
        assert_non_null(as_arena_alloc(&arena, 3000, 8));
        as_arena_fini(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_blocks_do_not_overlap),
        cmocka_unit_test(test_large_block_leaves_the_head),
        cmocka_unit_test(test_calloc_array_and_strndup),
        cmocka_unit_test(test_reset_keeps_memory),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
