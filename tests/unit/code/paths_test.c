/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of loops with a known shape in assembly: listed, counted, merged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "built.h"

/* `ifs` diamonds one after the other in one loop: 2^ifs paths of 1 + ... blocks. */
static struct built diamonds(unsigned ifs)
{
    char *text = calloc(1, 1000 + 100 * (size_t)ifs);
    assert_non_null(text);
    char *p = text + sprintf(text, ".intel_syntax noprefix\n.globl f\n.type f,@function\nf:\n1:\n");
    for (unsigned i = 0; i < ifs; i++)
        p += sprintf(p, "test edi, %u\njz .Le%u\nadd rax, 1\n.Le%u:\n", 1u << i % 31, i, i);
    sprintf(p, "dec rsi\njnz 1b\nret\n.size f,.-f\n");
    struct built b = built_new(TEST_CC, "", "S", text);
    free(text);
    return b;
}

static void test_few(void **state)
{
    (void)state;
    struct built b = diamonds(3);
    uint32_t loop = built_loop(&b, "f", 0);
    struct as_paths paths;
    assert_int_equal(as_loop_paths(b.program, loop, 8, &paths, NULL), 0);
    assert_int_equal(paths.count, 8);
    assert_int_equal(paths.path_n, 8);
    assert_int_equal(b.program->loop[loop].paths, 8);
    assert_false(b.program->loop[loop].bits & AS_LOOP_PATH_LIMIT);
    assert_false(paths.merged);
    for (size_t i = 0; i < paths.path_n; i++) {
        const uint32_t *at = paths.block + paths.path[i].first;
        assert_int_equal(at[0], b.program->loop[loop].header);
        /* Four blocks always, and one for each condition that holds: the bits of the number, the
         * edge that falls through first or last, but each set of choices once. */
        assert_in_range(paths.path[i].blocks, 4, 7);
        for (size_t k = 0; k < i; k++)
            assert_false(
                paths.path[k].blocks == paths.path[i].blocks &&
                !memcmp(paths.block + paths.path[k].first, at, paths.path[i].blocks * sizeof *at));
    }
    as_paths_free(&paths);
    assert_null(paths.block);

    /* One fewer than there are: all seven blocks, header first, each edge forwards. */
    assert_int_equal(as_loop_paths(b.program, loop, 7, &paths, NULL), 0);
    assert_true(paths.merged);
    assert_int_equal(paths.count, 8);
    assert_int_equal(paths.path_n, 1);
    assert_int_equal(paths.path[0].blocks, 7);
    for (uint32_t i = 1; i < 7; i++)
        assert_true(paths.block[i] > paths.block[i - 1]);
    as_paths_free(&paths);
    built_free(&b);
}

static void test_many(void **state)
{
    (void)state;
    struct built b = diamonds(40);
    struct as_paths paths;
    assert_int_equal(as_loop_paths(b.program, built_loop(&b, "f", 0), 8, &paths, NULL), 0);
    assert_int_equal(paths.count, (uint64_t)1 << 40);
    assert_true(b.program->loop[0].paths == UINT32_MAX);
    assert_true(b.program->loop[0].bits & AS_LOOP_PATH_LIMIT);
    assert_true(paths.merged);
    assert_int_equal(paths.block_n, 81);
    as_paths_free(&paths);
    /* No limit does not mean to list what no memory holds. */
    assert_int_equal(as_loop_paths(b.program, built_loop(&b, "f", 0), 0, &paths, NULL), 0);
    assert_true(paths.merged);
    as_paths_free(&paths);
    built_free(&b);
    b = diamonds(2000);
    assert_int_equal(as_loop_paths(b.program, built_loop(&b, "f", 0), 8, &paths, NULL), 0);
    assert_true(paths.count == UINT64_MAX);
    assert_int_equal(paths.block_n, 4001);
    as_paths_free(&paths);
    built_free(&b);
}

static const char shapes[] = ".intel_syntax noprefix\n"
                             /* An inner loop, an early end of the iteration, an exit. */
                             ".globl nest\n.type nest,@function\nnest:\n"
                             "1: test edi, 1\n jz 4f\n"
                             "2: add rax, 1\n dec rdx\n jnz 2b\n"
                             "4: test edi, 2\n jz 5f\n"
                             "   cmp rax, 100\n ja 9f\n"
                             "5: dec rsi\n jnz 1b\n"
                             "9: ret\n.size nest,.-nest\n"
                             /* The inner loop tests at its head: its body leads only back. */
                             ".globl head\n.type head,@function\nhead:\n"
                             "1: mov rdx, rdi\n"
                             "2: test rdx, rdx\n jz 3f\n"
                             "   dec rdx\n jmp 2b\n"
                             "3: dec rsi\n jnz 1b\n"
                             "   ret\n.size head,.-head\n"
                             /* Two ways into the inner cycle: one of its edges goes back. */
                             ".globl wild\n.type wild,@function\nwild:\n"
                             "1: test edi, 1\n jz 3f\n"
                             "2: add rax, 1\n"
                             "3: add rax, 2\n test edi, 4\n jz 2b\n"
                             "   dec rsi\n jnz 1b\n"
                             "   ret\n.size wild,.-wild\n";

static void expect_paths(const struct built *b, const char *function, unsigned count,
                         unsigned longest)
{
    struct as_paths paths;
    uint32_t most = 0;
    assert_int_equal(as_loop_paths(b->program, built_loop(b, function, 0), 0, &paths, NULL), 0);
    assert_int_equal(paths.count, count);
    assert_int_equal(paths.path_n, count);
    for (size_t i = 0; i < paths.path_n; i++)
        most = paths.path[i].blocks > most ? paths.path[i].blocks : most;
    assert_int_equal(most, longest);
    as_paths_free(&paths);
}

static void test_shapes(void **state)
{
    (void)state;
    struct built b = built_new(TEST_CC, "", "S", shapes);
    expect_paths(&b, "nest", 4, 5);
    expect_paths(&b, "head", 1, 3);
    expect_paths(&b, "wild", 1, 3);
    built_free(&b);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct built b = diamonds(3);
    uint32_t loop = built_loop(&b, "f", 0);
    for (unsigned limit = 0; limit < 8; limit += 7) {
        int rc = AS_ERR_NOMEM;
        for (int64_t after = 0; rc != 0; after++) {
            struct as_paths paths;
            as_alloc_fail_after(after);
            rc = as_loop_paths(b.program, loop, limit, &paths, NULL);
            as_alloc_fail_after(-1);
            assert_true(rc == 0 || (rc == AS_ERR_NOMEM && !paths.block && after < 50));
            as_paths_free(&paths);
        }
    }
    built_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("code/paths", tests, NULL, NULL);
}
