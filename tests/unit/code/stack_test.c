/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depth of the stack through prologues and epilogues, on bytes assembled by hand (GNU as). Also the
 * names of functions that do not return.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "code/internal.h"
#include "code/stack.h"

/* Depth after all instructions of `bytes`, from an entry. */
static struct as_stack after(const uint8_t *bytes, size_t size_b)
{
    struct as_code code;
    struct as_stack stack = {0, AS_STACK_UNKNOWN};
    assert_int_equal(as_decode(bytes, size_b, 0x1000, &code, NULL), 0);
    for (size_t i = 0; i < code.n; i++)
        as_stack_step(&stack, &code.insn[i], as_form_get(code.insn[i].form));
    as_code_free(&code);
    return stack;
}
#define AFTER(...) after((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void test_pushes(void **state)
{
    (void)state;
    assert_int_equal(AFTER(0x53).depth, 8);                                  /* push rbx */
    assert_int_equal(AFTER(0x41, 0x54, 0x6a, 0x01, 0x5b).depth, 8);          /* r12, 1; pop rbx */
    assert_int_equal(AFTER(0x48, 0x83, 0xec, 0x18).depth, 24);               /* sub rsp, 24 */
    assert_int_equal(AFTER(0x53, 0x48, 0x83, 0xc4, 0x08).depth, 0);          /* add rsp, 8 */
    assert_int_equal(AFTER(0x48, 0x8d, 0x64, 0x24, 0x80).depth, 128);        /* lea rsp,[rsp-128] */
    assert_int_equal(AFTER(0x53, 0x5c).depth, AS_STACK_UNKNOWN);             /* pop rsp */
    assert_int_equal(AFTER(0x48, 0x29, 0xc4).depth, AS_STACK_UNKNOWN);       /* sub rsp, rax */
    assert_int_equal(AFTER(0xc8, 0x10, 0, 0).depth, AS_STACK_UNKNOWN);       /* enter 16, 0 */
    assert_int_equal(AFTER(0x48, 0x83, 0xe4, 0xf0).depth, AS_STACK_UNKNOWN); /* and rsp, -16 */
}

static void test_frame_pointer_brings_it_back(void **state)
{
    (void)state;
    /* push rbp; mov rbp, rsp; sub rsp, rax; leave */
    struct as_stack stack = AFTER(0x55, 0x48, 0x89, 0xe5, 0x48, 0x29, 0xc4, 0xc9);
    assert_int_equal(stack.depth, 0);
    /* push rbp; mov rbp, rsp; push rbx; and rsp, -32; lea rsp, [rbp-8]; pop rbx; pop rbp */
    stack = AFTER(0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xe4, 0xe0, 0x48, 0x8d, 0x65, 0xf8,
                  0x5b, 0x5d);
    assert_int_equal(stack.depth, 0);
    /* mov rsp, rbp without a frame */
    assert_int_equal(AFTER(0x48, 0x89, 0xec).depth, AS_STACK_UNKNOWN);
}

static void test_names(void **state)
{
    (void)state;
    assert_true(as_noreturn_name("abort"));
    assert_true(as_noreturn_name("abort@plt"));
    assert_true(as_noreturn_name("__cxa_throw@GLIBCXX_3.4"));
    assert_true(as_noreturn_name("__ubsan_handle_add_overflow_abort"));
    assert_true(as_noreturn_name("__asan_report_load8"));
    assert_false(as_noreturn_name("aborted"));
    assert_false(as_noreturn_name("abor"));
    assert_false(as_noreturn_name("atexit"));
    assert_false(as_noreturn_name("__ubsan_handle_add_overflow"));
    assert_false(as_noreturn_name(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pushes),
        cmocka_unit_test(test_frame_pointer_brings_it_back),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
