/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms on vectors and with registers alone: what the manuals list as the packed instruction for
 * each scalar one, and that registers and addresses stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "isa/encode.h"
#include "isa/packed.h"

static struct as_insn decoded(const char *text)
{
    uint8_t bytes[AS_ENCODE_B];
    struct as_code code;
    struct as_error err;
    const size_t n = as_encode_text(text, bytes);

    if (!n)
        fail_msg("%s: cannot be encoded", text);
    assert_int_equal(as_decode(bytes, n, 0, &code, &err), 0);
    const struct as_insn insn = code.insn[0];
    as_code_free(&code);
    return insn;
}

static void check_packed(const char *text, unsigned times, const char *expected)
{
    const struct as_insn insn = decoded(text);
    struct as_insn out;
    char got[AS_FORM_TEXT_B] = "none";

    for (int again = 0; again < 2; again++) { /* looked for, and remembered */
        if (as_insn_packed(&insn, times, &out))
            as_form_text(as_form_get(out.form), got, sizeof got);
        if (strcmp(got, expected) != 0)
            fail_msg("%s, %u times: %s, expected %s", text, times, got, expected);
    }
}

static void scalars_become_vectors(void **state)
{
    (void)state;
    check_packed("addsd xmm0,xmm1", 4, "vaddpd ymm,ymm,ymm");
    check_packed("addsd xmm0,m64[rax]", 2, "vaddpd xmm,xmm,m128");
    check_packed("vmulss xmm0,xmm1,xmm2", 16, "vmulps zmm,zmm,zmm {evex}");
    check_packed("vmulss xmm0,xmm1,m32[rax+rcx*4]", 8, "vmulps ymm,ymm,m256");
    check_packed("vfmadd231sd xmm0,xmm1,m64[rax]", 8, "vfmadd231pd zmm,zmm,m512 {evex}");
    check_packed("vdivsd xmm0,xmm1,xmm2", 4, "vdivpd ymm,ymm,ymm");
    check_packed("sqrtsd xmm0,xmm1", 4, "vsqrtpd ymm,ymm");
    check_packed("vsqrtsd xmm0,xmm1,xmm2", 4, "vsqrtpd ymm,ymm");
    check_packed("movsd xmm0,m64[rax]", 4, "vmovupd ymm,m256");
    check_packed("vmovss m32[rax],xmm0", 8, "vmovups m256,ymm");
    check_packed("maxsd xmm0,xmm1", 4, "vmaxpd ymm,ymm,ymm");
    check_packed("rsqrtss xmm0,xmm1", 8, "vrsqrtps ymm,ymm");
}

static void vectors_become_wider(void **state)
{
    (void)state;
    check_packed("addpd xmm0,xmm1", 2, "vaddpd ymm,ymm,ymm");
    check_packed("vaddps ymm0,ymm1,m256[rax]", 2, "vaddps zmm,zmm,m512 {evex}");
    check_packed("pxor xmm0,xmm1", 4, "vpxorq zmm,zmm,zmm {evex}");
    check_packed("movups xmm0,m128[rax]", 2, "vmovups ymm,m256");
    check_packed("movdqu xmm0,m128[rax]", 4, "vmovdqu64 zmm,m512 {evex}");
    check_packed("vcvtps2pd xmm0,m64[rax]", 4, "vcvtps2pd zmm,m256 {evex}");
}

static void conversions_keep_their_lanes(void **state)
{
    (void)state;
    check_packed("cvtss2sd xmm0,xmm1", 4, "vcvtps2pd ymm,xmm");
    check_packed("cvtsd2ss xmm0,m64[rax]", 4, "vcvtpd2ps xmm,m256");
    check_packed("cvtsi2sd xmm0,eax", 4, "vcvtdq2pd ymm,xmm");
}

static void integers_become_vectors(void **state)
{
    (void)state;
    check_packed("add eax,m32[rdi]", 8, "vpaddd ymm,ymm,m256");
    check_packed("mov eax,m32[rdi]", 8, "vmovdqu ymm,m256");
    check_packed("mov m16[rdi],ax", 8, "vmovdqu m128,xmm");
    check_packed("sub rax,rcx", 8, "vpsubq zmm,zmm,zmm {evex}");
    check_packed("and ecx,7", 8, "vpand ymm,ymm,ymm");
}

static void what_has_no_vector_form_has_none(void **state)
{
    (void)state;
    check_packed("addsd xmm0,xmm1", 16, "none"); /* 128 bytes */
    check_packed("addsd xmm0,xmm1", 3, "none");
    check_packed("fadd st0,st1", 2, "none");
    check_packed("lea rax,m64[rdi+8]", 4, "none");
    check_packed("div rcx", 4, "none");
}

static void registers_and_addresses_stay(void **state)
{
    (void)state;
    struct as_insn out, insn = decoded("addsd xmm3,m64[rax+rcx*8-64]");

    assert_true(as_insn_packed(&insn, 4, &out));
    assert_int_equal(out.reg[0], AS_REG_VEC + 3);
    assert_int_equal(out.reg[1], AS_REG_VEC + 3); /* the destination was a source */
    assert_int_equal(out.base, AS_REG_GPR + 0);
    assert_int_equal(out.index, AS_REG_GPR + 1);
    assert_int_equal(out.disp, -64);
    insn = decoded("vsqrtsd xmm4,xmm5,xmm6");
    assert_true(as_insn_packed(&insn, 4, &out));
    assert_int_equal(out.reg[0], AS_REG_VEC + 4);
    assert_int_equal(out.reg[1], AS_REG_VEC + 6);
}

static void memory_becomes_a_register(void **state)
{
    (void)state;
    char got[AS_FORM_TEXT_B];
    struct as_insn out, insn = decoded("vaddpd ymm1,ymm2,m256[rax]");

    assert_true(as_insn_registers(&insn, AS_REG_VEC + 9, &out));
    as_form_text(as_form_get(out.form), got, sizeof got);
    assert_string_equal(got, "vaddpd ymm,ymm,ymm");
    assert_int_equal(out.reg[2], AS_REG_VEC + 9);
    assert_int_equal(out.base, AS_REG_NONE);
    insn = decoded("imul rax,m64[rsi]");
    assert_true(as_insn_registers(&insn, AS_REG_GPR + 7, &out));
    as_form_text(as_form_get(out.form), got, sizeof got);
    assert_string_equal(got, "imul r64,r64");
    assert_int_equal(out.reg[1], AS_REG_GPR + 7);
}

static void every_part_can_be_made(void **state)
{
    (void)state;
    static const struct {
        enum as_part part;
        unsigned element_b, width_b;
        const char *form;
    } part[] = {{AS_PART_FIRST, 8, 16, "vmovsd xmm,m64"},
                {AS_PART_NEXT, 8, 16, "vmovhpd xmm,xmm,m64"},
                {AS_PART_NEXT, 4, 16, "vinsertps xmm,xmm,m32,imm8"},
                {AS_PART_JOIN, 16, 32, "vinsertf128 ymm,ymm,xmm,imm8"},
                {AS_PART_SPLIT, 32, 64, "vextractf64x4 ymm,zmm,imm8 {evex}"},
                {AS_PART_GATHER, 8, 32, "vgatherdpd ymm,m256,ymm"}};
    struct as_insn out;
    char got[AS_FORM_TEXT_B];

    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        for (int again = 0; again < 2; again++) {
            assert_true(as_insn_part(part[i].part, part[i].element_b, part[i].width_b, &out));
            as_form_text(as_form_get(out.form), got, sizeof got);
            assert_string_equal(got, part[i].form);
        }
    assert_false(as_insn_part(AS_PART_NEXT, 2, 16, &out));
}

static void what_is_added_is_known(void **state)
{
    (void)state;
    struct as_insn insn = decoded("vfmadd231pd ymm0,ymm1,ymm2");
    assert_int_equal(as_form_addend(as_form_get(insn.form)), 0);
    insn = decoded("vfmadd132pd ymm0,ymm1,ymm2");
    assert_int_equal(as_form_addend(as_form_get(insn.form)), 1);
    insn = decoded("vfnmadd213ss xmm0,xmm1,xmm2");
    assert_int_equal(as_form_addend(as_form_get(insn.form)), 2);
    insn = decoded("vaddpd ymm0,ymm1,ymm2");
    assert_true(as_form_addend(as_form_get(insn.form)) < 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_become_vectors),
        cmocka_unit_test(vectors_become_wider),
        cmocka_unit_test(conversions_keep_their_lanes),
        cmocka_unit_test(integers_become_vectors),
        cmocka_unit_test(what_has_no_vector_form_has_none),
        cmocka_unit_test(registers_and_addresses_stay),
        cmocka_unit_test(memory_becomes_a_register),
        cmocka_unit_test(every_part_can_be_made),
        cmocka_unit_test(what_is_added_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
