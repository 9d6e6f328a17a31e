/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast decoder, which reads records off the bytes, against the reference decoder. Compares
 * every field of every record. The bytes are random, or code of this process with the C library and
 * the decoder library. Also the edges of a range, wide values, failing allocations and threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/internal.h"

static void compare(const uint8_t *bytes, size_t n)
{
    struct as_code code;
    size_t at = 0;
    assert_int_equal(as_decode(bytes, n, 0x401000, &code, NULL), 0);
    for (size_t i = 0; i < code.n; i++) {
        struct as_decoded ref;
        assert_int_equal(as_reference_decode(bytes + at, n - at, 0x401000 + at, false, &ref), 0);
        if (memcmp(&ref.insn, &code.insn[i], sizeof ref.insn)) {
            char text[128];
            as_insn_format(bytes + at, n - at, 0, AS_SYNTAX_INTEL, text, sizeof text);
            fail_msg("record of `%s` at offset %zu differs", text, at);
        }
        if (ref.insn.bits & AS_INSN_IMM64)
            assert_true(ref.insn.bits & AS_INSN_MEM ? as_code_disp(&code, i) == ref.disp
                                                    : as_code_imm(&code, i) == ref.imm);
        at += ref.insn.length;
    }
    assert_int_equal(at, n);
    as_code_free(&code);
}

static int compare_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    size_t *modules = arg;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type != PT_LOAD || (ph->p_flags & (PF_X | PF_R)) != (PF_X | PF_R))
            continue;
        size_t n = ph->p_memsz < 400000 ? ph->p_memsz : 400000;
        compare((const uint8_t *)(info->dlpi_addr + ph->p_vaddr), n);
        ++*modules;
    }
    return 0;
}

static void own_code(void **state)
{
    (void)state;
    size_t modules = 0;
    dl_iterate_phdr(compare_module, &modules);
    assert_true(modules >= 3);
}

static void random_bytes(void **state)
{
    (void)state;
    enum { N = 200000 };
    static uint8_t bytes[N];
    uint64_t x = 88172645463325252u;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < N; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            bytes[i] = (uint8_t)(x >> 32);
            /* every few bytes start something with a prefix that random bytes seldom hit */
            static const uint8_t starts[] = {0x62, 0xc4, 0xc5, 0x66, 0xf2, 0xf3, 0x48, 0x0f};
            if (round && i % 7 == 0)
                bytes[i] = starts[x >> 40 & 7];
        }
        compare(bytes, N);
    }
}

static void decode_text(const uint8_t *bytes, size_t n, struct as_code *code)
{
    assert_int_equal(as_decode(bytes, n, 0x1000, code, NULL), 0);
}

static void edges(void **state)
{
    (void)state;
    struct as_code code;
    decode_text((const uint8_t *)"", 0, &code);
    assert_int_equal(code.n, 0);
    as_code_free(&code);

    /* mov eax, imm32 cut after two bytes: the first byte is invalid, 0x11 then lacks its ModRM */
    static const uint8_t cut[] = {0xb8, 0x11};
    decode_text(cut, sizeof cut, &code);
    assert_int_equal(code.n, 2);
    assert_int_equal(code.invalid_n, 2);
    assert_int_equal(code.insn[0].length, 1);
    assert_int_equal(as_form_get(code.insn[0].form)->insn_class, AS_CLASS_INVALID);
    as_code_free(&code);

    /* 15 prefixes and an opcode make 16 bytes: too long, so the first byte stands alone */
    uint8_t longest[16];
    memset(longest, 0x66, 15);
    longest[15] = 0x90;
    decode_text(longest, sizeof longest, &code);
    assert_int_equal(code.n, 2);
    assert_int_equal(code.insn[0].length, 1);
    assert_int_equal(code.insn[1].length, 15);
    as_code_free(&code);
}

static void values(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {
        0x48, 0xb8, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, /* mov rax, imm64 */
        0x48, 0x8b, 0x05, 0xff, 0xff, 0xff, 0x7f,                   /* mov rax, [rip+2^31-1] */
        0x74, 0xfe,                                                 /* jz itself */
        0x48, 0xa1, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* mov rax, [moffs] */
        0x88, 0xe7,                                                 /* mov bh, ah */
        0x64, 0x8b, 0x04, 0x8d, 0x10, 0,    0,    0,                /* mov eax, fs:[rcx*4+16] */
    };
    struct as_code code;
    uint64_t address;
    decode_text(bytes, sizeof bytes, &code);
    assert_int_equal(code.n, 6);
    assert_true(as_code_imm(&code, 0) == 0x0123456789abcdef);
    assert_true(as_insn_memory_address(&code.insn[1], &address));
    assert_true(address == 0x100aull + 7 + 0x7fffffff);
    assert_true(as_code_disp(&code, 1) == 0x7fffffffll + 7);
    assert_true(as_insn_target(&code.insn[2], &address));
    assert_true(address == 0x1011);
    assert_false(as_insn_target(&code.insn[3], &address));
    assert_true(as_code_disp(&code, 3) == 0x1122334455667788);
    assert_int_equal(code.insn[4].reg[0], 3);
    assert_int_equal(code.insn[4].reg[1], 0);
    assert_int_equal(code.insn[4].high, 3);
    assert_int_equal(code.insn[5].segment, AS_REG_SEG + 4);
    assert_int_equal(code.insn[5].index, 1);
    assert_int_equal(code.insn[5].scale, 4);
    assert_int_equal(code.insn[5].base, AS_REG_NONE);
    assert_int_equal(as_code_find(&code, 0x1000 + 12), 1);
    assert_true(as_code_find(&code, 0xfff) == SIZE_MAX);
    assert_true(as_code_find(&code, 0x1000 + sizeof bytes) == SIZE_MAX);
    as_code_free(&code);
}

static void failing_allocations(void **state)
{
    (void)state;
    uint8_t bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++) /* one-byte instructions: more than estimated */
        bytes[i] = 0x90;
    memcpy(bytes, "\x48\xb8\xef\xcd\xab\x89\x67\x45\x23\x01", 10);
    int failures = 0;
    for (int after = 0; after < 20; after++) {
        struct as_code code;
        struct as_error err = {0};
        as_alloc_fail_after(after);
        int rc = as_decode(bytes, sizeof bytes, 0, &code, &err);
        as_alloc_fail_after(-1);
        if (rc == 0) {
            assert_int_equal(code.n, 291);
        } else {
            assert_int_equal(rc, AS_ERR_NOMEM);
            assert_int_equal(err.code, AS_ERR_NOMEM);
            assert_null(code.insn);
            failures++;
        }
        as_code_free(&code);
    }
    assert_true(failures >= 2);
}

static void *decode_thread(void *arg)
{
    uint8_t bytes[20000];
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < sizeof bytes; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t)(x >> 40);
    }
    return as_decode(bytes, sizeof bytes, 0, arg, NULL) ? arg : NULL;
}

static void threads(void **state)
{
    (void)state;
    pthread_t thread[4];
    struct as_code code[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, decode_thread, &code[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        assert_null(failed);
        assert_int_equal(code[i].n, code[0].n);
        assert_memory_equal(code[i].insn, code[0].insn, code[0].n * sizeof *code[0].insn);
    }
    for (int i = 0; i < 4; i++)
        as_code_free(&code[i]);
}

static void format(void **state)
{
    (void)state;
    char buf[64];
    static const uint8_t add[] = {0x01, 0xd8}, call[] = {0xe8, 0xfb, 0x0f, 0, 0};
    assert_int_equal(as_insn_format(add, 2, 0, AS_SYNTAX_INTEL, buf, sizeof buf), 12);
    assert_string_equal(buf, "add eax, ebx");
    as_insn_format(add, 2, 0, AS_SYNTAX_ATT, buf, sizeof buf);
    assert_string_equal(buf, "add %ebx, %eax");
    as_insn_format(call, 5, 0x1000, AS_SYNTAX_INTEL, buf, sizeof buf);
    assert_string_equal(buf, "call 0x2000");
    assert_int_equal(as_insn_format(add, 1, 0, AS_SYNTAX_INTEL, buf, 4), 3);
    assert_string_equal(buf, "(ba");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_allocations),
        cmocka_unit_test(threads),
        cmocka_unit_test(edges),
        cmocka_unit_test(values),
        cmocka_unit_test(format),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(own_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
