/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoding from text, held to bytes that GNU as writes; and changed registers, held to the decoder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "isa/encode.h"

static void check_text(const char *text, const char *hex)
{
    uint8_t out[AS_ENCODE_B];
    char got[2 * AS_ENCODE_B + 1] = "";
    const size_t n = as_encode_text(text, out);

    for (size_t i = 0; i < n; i++)
        snprintf(got + 2 * i, 3, "%02x", out[i]);
    if (strcmp(got, hex) != 0)
        fail_msg("%s: %s, expected %s", text, got, hex);
}

/* The bytes are those of `as -msyntax=intel`. */
static void text_is_encoded(void **state)
{
    (void)state;
    check_text("add rax,rcx", "4801c8");
    check_text("mov r15,0x1111111122222222", "49bf2222222211111111");
    check_text("mov m64[rip+0],rsp", "48892500000000");
    check_text("vmovups zmm5,m512[rip+0]", "62f17c48102d00000000");
    check_text("vmovupd m256[rdi+rax*8-32],ymm3", "c5fd115cc7e0");
    check_text("vfmadd231pd zmm0,zmm1,m512[rdi+64]", "62f2f548b84701");
    check_text("vaddps zmm20,zmm21,zmm22", "62a1544058e6");
    check_text("vgatherdpd zmm0,k1,m64[rdi+ymm1*8]", "62f2fd499204cf");
    check_text("movntpd m128[rdi],xmm0", "660f2b07");
    check_text("prefetchnta m8[rdi+512]", "0f188700020000");
}

static void what_is_no_instruction_is_refused(void **state)
{
    static const char *const bad[] = {
        "",          "frobnicate rax", "add rax",        "add rax,rcx,",
        "add rax,m", "add rax,m64[",   "add m64[rax*3]", "vaddpd zmm0 zmm1"};
    uint8_t out[AS_ENCODE_B];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (as_encode_text(bad[i], out) != 0)
            fail_msg("'%s' was encoded", bad[i]);
}

static struct as_insn again(const char *text, const struct as_encode_choice *choice)
{
    uint8_t from[AS_ENCODE_B], to[AS_ENCODE_B];
    struct as_code code;
    struct as_error err;
    const size_t n = as_encode_text(text, from);
    const size_t changed = n ? as_encode_again(from, n, choice, to) : 0;

    if (!changed)
        fail_msg("%s cannot be encoded again", text);
    assert_int_equal(as_decode(to, changed, 0, &code, &err), 0);
    assert_int_equal(code.n, 1);
    const struct as_insn insn = code.insn[0];
    as_code_free(&code);
    return insn;
}

#define KEEP AS_ENCODE_KEEP

static void registers_are_changed(void **state)
{
    const struct as_encode_choice three = {
        .reg = {9, 10, 11, KEEP, KEEP}, .base = KEEP, .index = KEEP};
    const struct as_encode_choice memory = {
        .reg = {2, KEEP, KEEP, KEEP, KEEP}, .base = 3, .index = 10, .sets_disp = true, .disp = 192};
    (void)state;
    struct as_insn insn = again("vfmadd231pd zmm0,zmm1,zmm2", &three);
    assert_int_equal(insn.reg[0], AS_REG_VEC + 9);
    assert_int_equal(insn.reg[1], AS_REG_VEC + 10);
    assert_int_equal(insn.reg[2], AS_REG_VEC + 11);
    /* A mask does not count as an operand of a form: it stays as it is. */
    insn = again("vaddpd zmm0,k1,zmm1,zmm2", &three);
    assert_int_equal(insn.mask, AS_REG_MASK + 1);
    assert_int_equal(insn.reg[0], AS_REG_VEC + 9);
    assert_int_equal(insn.reg[2], AS_REG_VEC + 11);
    insn = again("mov eax,m32[rcx+rdx*4+8]", &memory);
    assert_int_equal(insn.reg[0], 2);
    assert_int_equal(insn.base, 3);
    assert_int_equal(insn.index, 10);
    assert_int_equal(insn.disp, 192);
    /* The count in cl stays as it is. */
    insn = again("shl rax,cl", &three);
    assert_int_equal(insn.reg[0], 9);
    /* Byte registers above bl are spl and so on, not ah. */
    insn =
        again("add al,cl", &(struct as_encode_choice){.reg = {6, 7}, .base = KEEP, .index = KEEP});
    assert_int_equal(insn.reg[0], 6);
    assert_int_equal(insn.high, 0);
}

static void rip_operands_are_found(void **state)
{
    uint8_t out[AS_ENCODE_B];
    (void)state;
    size_t n = as_encode_text("mov m32[rip+0],5", out);
    assert_int_equal(as_encode_rip_offset(out, n), 2);
    n = as_encode_text("mov m32[rax+0],5", out);
    assert_int_equal(as_encode_rip_offset(out, n), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_encoded),
        cmocka_unit_test(what_is_no_instruction_is_refused),
        cmocka_unit_test(registers_are_changed),
        cmocka_unit_test(rip_operands_are_found),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
