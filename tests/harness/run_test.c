/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runner against instructions with well-known results (Intel SDM volume 2). Without it, a
 * harness that observes nothing would accept every decoder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "run.h"

enum { CF = 1, PF = 4, AF = 16, ZF = 64, SF = 128, DF = 1024, OF = 2048 };
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9 };

static struct hx_state in, out;

static void start(void)
{
    memset(&in, 0, sizeof in);
    in.flags = 0x202;
    in.fx[HX_FX_CW] = 0x7f;
    in.fx[HX_FX_CW + 1] = 0x03;
    in.fx[HX_FX_MXCSR] = 0x80;
    in.fx[HX_FX_MXCSR + 1] = 0x1f;
    for (unsigned i = 0; i < 16; i++)
        in.gpr[i] = 0x1111111111111111u * (i % 15 + 1);
    in.gpr[RSP] = (uintptr_t)hx_memory() + 2048;
    for (unsigned i = 0; i < 32; i++)
        memset(in.vec[i], (int)(0x40 + i), 64);
    for (unsigned i = 0; i < 8; i++)
        in.mask[i] = 0x0101010101010101u * i;
    memset(hx_memory(), 0x5a, HX_MEM_B);
    memset(&out, 0xee, sizeof out);
}

static enum hx_outcome go(const void *bytes, size_t n)
{
    hx_load(bytes, n);
    return hx_run(&in, &out);
}

#define RUN(...) go((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* Every vector register but `except` is as it went in. */
static void assert_vectors_kept(unsigned except)
{
    for (unsigned i = 0; i < hx_vector_n(); i++)
        if (i != except)
            assert_memory_equal(in.vec[i], out.vec[i], hx_vector_b());
}

static void nop_keeps_everything(void **state)
{
    (void)state;
    start();
    in.flags |= CF | ZF | DF;
    assert_int_equal(RUN(0x90), HX_DONE);
    assert_memory_equal(in.gpr, out.gpr, sizeof in.gpr);
    assert_int_equal(in.flags & HX_FLAGS, out.flags & HX_FLAGS);
    assert_vectors_kept(32);
    if (hx_vector_level() == HX_LEVEL_AVX512)
        assert_memory_equal(in.mask, out.mask, sizeof in.mask);
    assert_memory_equal(in.fx + HX_FX_ST, out.fx + HX_FX_ST, 10);
}

static void add_and_adc(void **state)
{
    (void)state;
    start();
    in.gpr[RAX] = UINT64_MAX;
    in.gpr[RBX] = 1;
    assert_int_equal(RUN(0x48, 0x01, 0xd8), HX_DONE); /* add rax, rbx */
    assert_int_equal(out.gpr[RAX], 0);
    assert_int_equal(out.flags & HX_FLAGS, CF | PF | AF | ZF);
    start();
    in.flags |= CF;
    in.gpr[RAX] = 0x7fffffff00000001u;
    in.gpr[RBX] = 2;
    assert_int_equal(RUN(0x11, 0xd8), HX_DONE); /* adc eax, ebx: clears the upper half */
    assert_int_equal(out.gpr[RAX], 4);
    assert_int_equal(out.flags & CF, 0);
}

static void partial_writes(void **state)
{
    (void)state;
    start();
    assert_int_equal(RUN(0x88, 0xdc), HX_DONE); /* mov ah, bl */
    assert_int_equal(out.gpr[RAX], 0x1111111111114411u);
    start();
    assert_int_equal(RUN(0x66, 0x89, 0xd8), HX_DONE); /* mov ax, bx */
    assert_int_equal(out.gpr[RAX], 0x1111111111114444u);
    start();
    assert_int_equal(RUN(0x0f, 0x44, 0xc3), HX_DONE); /* cmovz eax, ebx with ZF = 0 */
    assert_int_equal(out.gpr[RAX], 0x11111111);
}

static void shift_by_zero_keeps_flags(void **state)
{
    (void)state;
    start();
    in.gpr[RCX] = 0;
    in.flags |= CF | OF | ZF;
    assert_int_equal(RUN(0x48, 0xd3, 0xe0), HX_DONE); /* shl rax, cl */
    assert_int_equal(out.flags & HX_FLAGS, CF | OF | ZF);
    in.gpr[RCX] = 4;
    assert_int_equal(RUN(0x48, 0xd3, 0xe0), HX_DONE);
    assert_int_equal(out.gpr[RAX], 0x1111111111111110u);
    assert_int_equal(out.flags & (CF | ZF), CF);
}

static void multiply_exchange_identify(void **state)
{
    (void)state;
    start();
    in.gpr[RAX] = UINT64_MAX;
    in.gpr[RBX] = 16;
    assert_int_equal(RUN(0x48, 0xf7, 0xe3), HX_DONE); /* mul rbx */
    assert_int_equal(out.gpr[RAX], (uint64_t)-16);
    assert_int_equal(out.gpr[RDX], 15);
    start();
    assert_int_equal(RUN(0x48, 0x87, 0xd8), HX_DONE); /* xchg rax, rbx */
    assert_int_equal(out.gpr[RAX], in.gpr[RBX]);
    assert_int_equal(out.gpr[RBX], in.gpr[RAX]);
    start();
    in.gpr[RAX] = 0;
    assert_int_equal(RUN(0x0f, 0xa2), HX_DONE); /* cpuid clears the upper halves */
    assert_int_equal(out.gpr[RBX] >> 32, 0);
    assert_int_equal(out.gpr[RDX] >> 32, 0);
}

static void scalar_sse_keeps_and_vex_clears(void **state)
{
    (void)state;
    start();
    assert_int_equal(RUN(0xf3, 0x0f, 0x58, 0xc1), HX_DONE); /* addss xmm0, xmm1 */
    assert_memory_not_equal(in.vec[0], out.vec[0], 4);
    assert_memory_equal(in.vec[0] + 4, out.vec[0] + 4, hx_vector_b() - 4);
    assert_vectors_kept(0);
    if (hx_vector_level() < HX_LEVEL_AVX)
        return;
    start();
    assert_int_equal(RUN(0xc5, 0xf2, 0x58, 0xc2), HX_DONE); /* vaddss xmm0, xmm1, xmm2 */
    assert_memory_equal(in.vec[1] + 4, out.vec[0] + 4, 12);
    for (size_t i = 16; i < hx_vector_b(); i++)
        assert_int_equal(out.vec[0][i], 0);
    assert_vectors_kept(0);
}

static void stack_and_memory(void **state)
{
    (void)state;
    start();
    assert_int_equal(RUN(0x53), HX_DONE); /* push rbx */
    assert_int_equal(out.gpr[RSP], in.gpr[RSP] - 8);
    assert_memory_equal(hx_memory() + 2040, &in.gpr[RBX], 8);
    assert_int_equal(hx_memory()[2039], 0x5a);
    start();
    assert_int_equal(RUN(0x58), HX_DONE); /* pop rax */
    assert_int_equal(out.gpr[RAX], 0x5a5a5a5a5a5a5a5au);
}

static void branches(void **state)
{
    (void)state;
    start();
    assert_int_equal(RUN(0x74, HX_BRANCH), HX_DONE); /* jz */
    assert_int_equal(out.taken, 0);
    in.flags |= ZF;
    assert_int_equal(RUN(0x74, HX_BRANCH), HX_DONE);
    assert_int_equal(out.taken, 1);
}

static void x87_in_stack_order(void **state)
{
    (void)state;
    start();
    in.fx[HX_FX_TAG] = 0x7f;
    static const uint8_t two[10] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0x00, 0x40};
    memcpy(in.fx + HX_FX_ST, two, 10);
    assert_int_equal(RUN(0xd9, 0xe8), HX_DONE); /* fld1 */
    assert_memory_equal(out.fx + HX_FX_ST + 16, two, 10);
    assert_int_equal(out.fx[HX_FX_ST + 9], 0x3f);
    assert_int_equal(out.fx[HX_FX_SW + 1] >> 3 & 7, 7);
}

static void faults(void **state)
{
    (void)state;
    start();
    assert_int_equal(RUN(0x0f, 0x0b), HX_ILL); /* ud2 */
    in.gpr[RBX] = 0;
    assert_int_equal(RUN(0x48, 0xf7, 0xf3), HX_FPE); /* div rbx */
    in.gpr[RBX] = (uintptr_t)hx_memory() + HX_MEM_B;
    assert_int_equal(RUN(0x8a, 0x03), HX_SEGV); /* mov al, [rbx] in the guard page */
    in.gpr[RBX]--;
    assert_int_equal(RUN(0x8a, 0x03), HX_DONE);
    assert_int_equal(out.gpr[RAX] & 0xff, 0x5a);
    in.gpr[RSP] = 1; /* no usable stack when the signal comes */
    assert_int_equal(RUN(0x53), HX_SEGV);
    assert_int_equal(RUN(0x90), HX_DONE);
}

int main(void)
{
    const char *reason;
    if (!hx_init(&reason)) {
        print_message("1..0 # SKIP %s\n", reason);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nop_keeps_everything),
        cmocka_unit_test(add_and_adc),
        cmocka_unit_test(partial_writes),
        cmocka_unit_test(shift_by_zero_keeps_flags),
        cmocka_unit_test(multiply_exchange_identify),
        cmocka_unit_test(scalar_sse_keeps_and_vex_clears),
        cmocka_unit_test(stack_and_memory),
        cmocka_unit_test(branches),
        cmocka_unit_test(x87_in_stack_order),
        cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests_name("harness/run", tests, NULL, NULL);
}
