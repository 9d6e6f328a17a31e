/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding into a table that grows while workers copy into it. Queries on loops come from more
 * threads than the program has scratch buffers. Results must be equal for any number of threads.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "built.h"

/* 40 functions of one-byte instructions, two wide constants at the end of each. */
static const char dense[] = ".macro function n\n .globl f\\n\n .type f\\n,@function\nf\\n:\n"
                            " .rept 4000\n push %rbx\n pop %rbx\n nop\n .endr\n"
                            " movabs $0x1122334455667700+\\n,%rax\n"
                            " movabs $0x7766554433221100+\\n,%rax\n ret\n .size f\\n,.-f\\n\n"
                            ".endm\n.altmacro\n.set i,0\n.rept 40\n function %i\n .set i,i+1\n"
                            ".endr\n";

static void check_dense(const struct as_code *code)
{
    assert_int_equal(code->n, 40 * 12003);
    assert_int_equal(code->wide_n, 80);
    for (size_t i = 1; i < code->n; i++)
        assert_int_equal(code->insn[i].address,
                         code->insn[i - 1].address + code->insn[i - 1].length);
    for (size_t f = 0; f < 40; f++) {
        size_t at = f * 12003 + 12000;
        assert_int_equal(as_code_imm(code, at), (int64_t)(0x1122334455667700 + f));
        assert_int_equal(as_code_imm(code, at + 1), (int64_t)(0x7766554433221100 + f));
    }
}

static void test_table_grows(void **state)
{
    (void)state;
    struct built b = built_new(TEST_CC, "", "S", dense);
    check_dense(&b.program->code);
    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        const struct as_program_options options = {.jobs = jobs, .path_limit = 1};
        struct as_program *again = NULL;
        assert_int_equal(as_program_new(b.object, &options, &again, NULL), 0);
        check_dense(&again->code);
        assert_memory_equal(again->code.insn, b.program->code.insn,
                            sizeof *again->code.insn * again->code.n);
        as_program_free(&again);
    }
    built_free(&b);
}

enum { ASKING = 12, ROUNDS = 200 };

struct asking {
    const struct as_program *program;
    uint32_t loop[2];
    size_t dependences[2], streams[2];
};

static void ask(const struct asking *a, unsigned which, size_t *dependences, size_t *streams)
{
    struct as_paths paths;
    struct as_dependences d = {0};
    struct as_streams s = {0};
    *dependences = *streams = 0;
    if (as_loop_paths(a->program, a->loop[which], 8, &paths, NULL) == 0 &&
        as_loop_dependences(a->program, a->loop[which], &paths, 0, &d, NULL) == 0 &&
        as_loop_streams(a->program, a->loop[which], &s, NULL) == 0) {
        *dependences = d.n;
        *streams = s.n;
    }
    as_streams_free(&s);
    as_dependences_free(&d);
    as_paths_free(&paths);
}

static void *ask_often(void *context)
{
    const struct asking *a = context;
    for (unsigned i = 0; i < ROUNDS; i++) {
        size_t dependences, streams;
        ask(a, i % 2, &dependences, &streams);
        if (dependences != a->dependences[i % 2] || streams != a->streams[i % 2])
            return context;
    }
    return NULL;
}

static void test_many_threads_ask(void **state)
{
    (void)state;
    struct built b = built_new(TEST_CC, "-O1", "c",
                               "void f(double *a, double *b, long n)\n"
                               "{ for (long i = 1; i < n; i++) a[i] = a[i - 1] * b[i]; }\n"
                               "long g(const long *a, long n)\n"
                               "{ long s = 0; for (long i = 0; i < n; i++) s += a[i]; return s; }");
    struct asking a = {.program = b.program, .loop = {built_hot(&b, "f"), built_hot(&b, "g")}};
    pthread_t thread[ASKING];
    for (unsigned i = 0; i < 2; i++)
        ask(&a, i, &a.dependences[i], &a.streams[i]);
    assert_int_equal(a.streams[1], 1);
    assert_true(a.dependences[0] > a.dependences[1] && a.streams[0] > a.streams[1]);
    for (unsigned i = 0; i < ASKING; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, ask_often, &a), 0);
    for (unsigned i = 0; i < ASKING; i++) {
        void *differs;
        assert_int_equal(pthread_join(thread[i], &differs), 0);
        assert_null(differs);
    }
    built_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_grows),
        cmocka_unit_test(test_many_threads_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
