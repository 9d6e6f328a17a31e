/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An instruction with something else in place of its memory operand, as its assembly says it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "isa/encode.h"

enum change { LOCAL, REGISTER, LOAD, ADDRESS, VALUE, ZERO };

static size_t change(enum change how, const uint8_t *bytes, size_t n, uint8_t *out)
{
    switch (how) {
    case LOCAL:
        return as_encode_local(bytes, n, 0x140, out);
    case REGISTER:
        return as_encode_register(bytes, n, 9, out);
    case LOAD:
        return as_encode_load(bytes, n, out);
    case ADDRESS:
        return as_encode_address(bytes, n, 0, out);
    case VALUE:
        return as_encode_value(bytes, n, 9, out);
    default:
        return as_encode_value(bytes, n, AS_ENCODE_KEEP, out);
    }
}

/* `expected`: the assembly of what becomes of `text`; NULL: there is none. */
static void check(enum change how, const char *text, const char *expected)
{
    uint8_t from[AS_ENCODE_B], to[AS_ENCODE_B];
    char is[128] = "nothing";
    const size_t n = as_encode_text(text, from);
    const size_t changed = change(how, from, n, to);
    if (!n)
        fail_msg("'%s' cannot be encoded", text);
    if (changed)
        as_insn_format(to, changed, 0, AS_SYNTAX_INTEL, is, sizeof is);
    if (strcmp(is, expected ? expected : "nothing") != 0)
        fail_msg("'%s' becomes '%s', not '%s'", text, is, expected ? expected : "nothing");
}

static void memory_moves_to_the_thread(void **state)
{
    (void)state;
    check(LOCAL, "movsd xmm1,m64[rax+rcx*8+16]", "movsd xmm1, qword ptr gs:[0x140]");
    check(LOCAL, "vmovupd m256[rdi-32],ymm15", "vmovupd gs:[0x140], ymm15");
    check(LOCAL, "vfmadd231pd zmm17,zmm1,m512[rsi]", "vfmadd231pd zmm17, zmm1, gs:[0x140]");
    check(LOCAL, "add m64[r12+r13*2],rdx", "add gs:[0x140], rdx");
    check(LOCAL, "mov eax,m32[rip+5]", "mov eax, gs:[0x140]");
    check(LOCAL, "vgatherdpd zmm0,k1,m64[rdi+ymm1*8]", NULL);
    check(LOCAL, "add rax,rcx", NULL);
}

static void memory_becomes_a_register(void **state)
{
    (void)state;
    check(REGISTER, "addsd xmm1,m64[rax]", "addsd xmm1, xmm9");
    check(REGISTER, "vmulpd ymm1,ymm2,m256[rax+8]", "vmulpd ymm1, ymm2, ymm9");
    check(REGISTER, "vfmadd213ps zmm1,zmm2,m512[rax]", "vfmadd213ps zmm1, zmm2, zmm9");
    check(REGISTER, "add eax,m32[rdx]", "add eax, r9d");
    check(REGISTER, "vcvtpd2ps xmm1,m256[rax]", "vcvtpd2ps xmm1, ymm9");
    check(REGISTER, "movsd m64[rax],xmm1", NULL);
}

static void computing_becomes_loading(void **state)
{
    (void)state;
    check(LOAD, "addsd xmm1,m64[rax+rcx*8]", "movsd xmm1, qword ptr [rax+rcx*8]");
    check(LOAD, "mulps xmm1,m128[rax]", "movups xmm1, [rax]");
    check(LOAD, "vfmadd231pd ymm1,ymm2,m256[rax+8]", "vmovups ymm1, [rax+0x8]");
    check(LOAD, "vaddss xmm3,xmm3,m32[r9]", "vmovss xmm3, dword ptr [r9]");
    check(LOAD, "vaddpd zmm20,zmm1,m512[rsi]", "vmovups zmm20, zmmword ptr [rsi]");
    check(LOAD, "add eax,m32[rdx]", "mov eax, [rdx]");
    check(LOAD, "imul rax,m64[rdx]", "mov rax, [rdx]");
}

static void addresses_are_taken(void **state)
{
    (void)state;
    check(ADDRESS, "movsd m64[rdi+rcx*8-24],xmm1", "lea rax, [rdi+rcx*8-0x18]");
    check(ADDRESS, "vmovupd m512[rsp+64],zmm20", "lea rax, [rsp+0x40]");
    check(ADDRESS, "vscatterdpd m64[rdi+ymm1*8],k1,zmm0", NULL);
}

static void loads_become_values(void **state)
{
    (void)state;
    check(VALUE, "movsd xmm1,m64[rax]", "movaps xmm1, xmm9");
    check(VALUE, "vmovupd ymm1,m256[rax]", "vmovaps ymm1, ymm9");
    check(VALUE, "mov r10,m64[rax]", "mov r10d, 0x0");
    check(ZERO, "movsd xmm1,m64[rax]", "xorps xmm1, xmm1");
    check(ZERO, "vmovupd ymm1,m256[rax]", "vxorps xmm1, xmm1, xmm1");
    check(ZERO, "vmovupd zmm20,m512[rax]", "vpxord zmm20, zmm20, zmm20");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_moves_to_the_thread), cmocka_unit_test(memory_becomes_a_register),
        cmocka_unit_test(computing_becomes_loading), cmocka_unit_test(addresses_are_taken),
        cmocka_unit_test(loads_become_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
