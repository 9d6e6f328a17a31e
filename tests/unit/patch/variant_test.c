/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variants of loops of this very program, as their assembly says it: what stays, what goes,
 * what stands in for memory; and why some are not made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "patch/patch.h"
#include "patch/variant.h"

/* Each is one loop. */
#define FUNCTION(name, text)                                                                       \
    __asm__(".text\n.p2align 5\n.globl " #name "\n.type " #name ",@function\n" #name ":\n" text    \
            "\n.size " #name ",.-" #name "\n.p2align 5\n")
/* y[i] = a * x[i] + y[i] */
FUNCTION(axpy, "1: movsd (%rsi,%rax,8),%xmm1\n mulsd %xmm0,%xmm1\n addsd (%rdi,%rax,8),%xmm1\n"
               " movsd %xmm1,(%rdi,%rax,8)\n add $1,%rax\n cmp %rdx,%rax\n jb 1b\n ret");
/* s += x[k[i]] / d */
FUNCTION(gathered, "1: mov (%rsi,%rax,4),%ecx\n movsd (%rdi,%rcx,8),%xmm1\n divsd %xmm2,%xmm1\n"
                   " addsd %xmm1,%xmm0\n add $1,%rax\n cmp %rdx,%rax\n jb 1b\n ret");
/* while (p) p = p->next, s += p->x */
FUNCTION(list, "1: addsd 8(%rdi),%xmm0\n mov (%rdi),%rdi\n test %rdi,%rdi\n jnz 1b\n ret");
/* y[k[i]] = x[i] */
FUNCTION(scattered, "1: mov (%rsi,%rax,4),%ecx\n movsd (%rdi,%rax,8),%xmm1\n"
                    " movsd %xmm1,(%r8,%rcx,8)\n add $1,%rax\n cmp %rdx,%rax\n jb 1b\n ret");
/* Two stores side by side, downwards, and one that stays; behind the step of their register. */
FUNCTION(pairs, "1: sub $24,%rdi\n movsd %xmm0,8(%rdi)\n movsd %xmm1,(%rdi)\n mov %rdi,(%rsi)\n"
                " cmp %rdx,%rdi\n ja 1b\n ret");
/* s[4] += x[k[i]...]: the mask, which a gather clears, is set in each iteration. */
FUNCTION(gathered_wide,
         "1: vmovdqu (%rsi,%rax,4),%xmm2\n vpcmpeqd %ymm3,%ymm3,%ymm3\n"
         " vgatherdpd %ymm3,(%rdi,%xmm2,8),%ymm1\n vaddpd %ymm1,%ymm0,%ymm0\n add $4,%rax\n"
         " cmp %rdx,%rax\n jb 1b\n ret");
FUNCTION(gathered_masked,
         "1: vmovdqu (%rsi,%rax,4),%xmm2\n kxnorw %k1,%k1,%k1\n"
         " vgatherdpd (%rdi,%xmm2,8),%ymm1{%k1}\n vaddpd %ymm1,%ymm0,%ymm0\n add $4,%rax\n"
         " cmp %rdx,%rax\n jb 1b\n ret");
FUNCTION(atomic, "1: lock add %rcx,(%rdi)\n add $8,%rdi\n cmp %rsi,%rdi\n jb 1b\n ret");
FUNCTION(x87, "1: fldl (%rdi)\n faddp\n add $8,%rdi\n cmp %rsi,%rdi\n jb 1b\n ret");
FUNCTION(pushing, "1: push %rax\n pop %rcx\n add $8,%rdi\n cmp %rsi,%rdi\n jb 1b\n ret");
FUNCTION(decided, "1: add $-1,%rsi\n nopw (%rax)\n addq $-1,(%rdi,%rcx,8)\n jnz 1b\n ret");
/* s += x[t->n++]: its counter stands in memory. */
FUNCTION(counting, "1: mov 8(%rdi),%rax\n addsd (%rsi,%rax,8),%xmm0\n addq $1,8(%rdi)\n"
                   " cmp %rdx,%rax\n jb 1b\n ret");
/* s += x[i * d]: the step is a register. */
FUNCTION(columns, "1: addsd 16(%rdi,%rax,8),%xmm0\n add %rcx,%rax\n sub $1,%rdx\n jnz 1b\n ret");
FUNCTION(rows, "1: addsd (%rdi),%xmm0\n lea (%rdi,%rcx,2),%rdi\n sub $1,%rdx\n jnz 1b\n ret");
/* One loop in another. */
FUNCTION(nested, "1: xor %eax,%eax\n 2: addsd (%rdi,%rax,8),%xmm0\n add $1,%rax\n cmp %rsi,%rax\n"
                 " jb 2b\n movsd %xmm0,(%rcx)\n add $8,%rcx\n cmp %rdx,%rcx\n jb 1b\n ret");
/* Its counter stands on the stack. */
FUNCTION(spilled, "1: movsd (%rsi),%xmm1\n mulsd %xmm0,%xmm1\n movsd %xmm1,(%rdi)\n add $8,%rdi\n"
                  " add $8,%rsi\n subq $1,8(%rsp)\n jnz 1b\n ret");
/* h = (h ^ x[i]) * f */
FUNCTION(hash, "1: xor (%rdi),%rax\n imul %rcx,%rax\n add $8,%rdi\n cmp %rsi,%rdi\n jb 1b\n ret");
/* So, but more places than are kept. */
FUNCTION(crowded, "1: addq $1,72(%rsp)\n addq $1,80(%rsp)\n addq $1,88(%rsp)\n addq $1,96(%rsp)\n"
                  " addq $1,104(%rsp)\n addq $1,112(%rsp)\n addq $1,120(%rsp)\n"
                  " addq $1,128(%rsp)\n mov 72(%rsp),%rax\n add 80(%rsp),%rax\n"
                  " add 88(%rsp),%rax\n add 96(%rsp),%rax\n add 104(%rsp),%rax\n"
                  " add 112(%rsp),%rax\n add 120(%rsp),%rax\n add 128(%rsp),%rax\n"
                  " addq $1,(%rsp)\n addq $1,8(%rsp)\n addq $1,16(%rsp)\n addq $1,24(%rsp)\n"
                  " addq $1,32(%rsp)\n addq $1,40(%rsp)\n addq $1,48(%rsp)\n addq $1,56(%rsp)\n"
                  " add (%rsp),%rax\n add 8(%rsp),%rax\n add 16(%rsp),%rax\n add 24(%rsp),%rax\n"
                  " add 32(%rsp),%rax\n add 40(%rsp),%rax\n add 48(%rsp),%rax\n"
                  " add 56(%rsp),%rax\n addq $1,64(%rsp)\n add 64(%rsp),%rax\n jnz 1b\n ret");

struct varied {
    struct as_object *object;
    struct as_program *program;
    struct as_patch_verdict *verdict;
    uint8_t *bytes;
    size_t n;
};

static struct varied vary_with(bool slices, bool nests)
{
    const struct as_program_options options = {.jobs = 1, .path_limit = AS_PATH_LIMIT};
    const struct as_patch_wish wish = {.mode = AS_PATCH_VARY,
                                       .period = 31,
                                       .variants = UINT32_MAX,
                                       .slices = slices,
                                       .nests = nests};
    struct as_patch_maker *maker = NULL;
    struct as_error err;
    struct varied it = {0};
    assert_int_equal(as_object_open("/proc/self/exe", NULL, &it.object, &err), 0);
    assert_int_equal(as_program_new(it.object, &options, &it.program, &err), 0);
    it.verdict = as_calloc(it.program->loop_n + 1, sizeof *it.verdict);
    assert_int_equal(as_patch_maker_new(&wish, &maker, &err), 0);
    assert_int_equal(as_patch_maker_add(maker, it.program, NULL, it.verdict, &err), 0);
    assert_int_equal(as_patch_maker_bytes(maker, &it.bytes, &it.n, &err), 0);
    assert_null(as_patch_plan_check(it.bytes, it.n));
    as_patch_maker_free(&maker);
    return it;
}

/* One plan without slices serves all tests: this program has some thousand loops. */
static struct varied shared;

static int share_plan(void **state)
{
    (void)state;
    shared = vary_with(false, false);
    return 0;
}

static void drop(struct varied *it)
{
    as_free(it->bytes);
    as_free(it->verdict);
    as_program_free(&it->program);
    as_object_close(&it->object);
}

static int drop_plan(void **state)
{
    (void)state;
    drop(&shared);
    return 0;
}

static const struct as_patch_verdict *verdict_of(const struct varied *it, const char *name)
{
    const struct as_program *p = it->program;
    for (size_t l = 0; l < p->loop_n; l++)
        if (strcmp(p->body[p->loop[l].body].name, name) == 0)
            return &it->verdict[l];
    fail_msg("there is no loop in %s", name);
    return NULL;
}

static const struct as_patch_variant *variant_of(const struct varied *it, const char *name,
                                                 unsigned kind)
{
    const struct as_patch_plan *plan = (const void *)it->bytes;
    const struct as_patch_verdict *verdict = verdict_of(it, name);
    if (verdict->refusal || verdict->unvaried[kind])
        fail_msg("%s has no variant %s: %s", name, as_variant_rules[kind].name,
                 as_variant_refusal_text(verdict->unvaried[kind]));
    const struct as_patch_loop *loop =
        (const struct as_patch_loop *)as_patch_at(plan, &plan->loop) + verdict->loop;
    const struct as_patch_region *region =
        (const struct as_patch_region *)as_patch_at(plan, &plan->region) + loop->region;
    const struct as_patch_variant *variant = as_patch_at(plan, &plan->variant);
    for (uint32_t i = region->first_variant; i < region->first_variant + region->variants; i++)
        if (variant[i].kind == kind)
            return &variant[i];
    fail_msg("%s: the plan has no variant %s", name, as_variant_rules[kind].name);
    return NULL;
}

/* Its code from where it begins, an instruction a line; distances are those of the template. */
static void disassemble(const struct varied *it, const struct as_patch_variant *variant, char *out,
                        size_t out_b)
{
    const struct as_patch_plan *plan = (const void *)it->bytes;
    const uint8_t *code = (const uint8_t *)as_patch_at(plan, &plan->code) + variant->code.code;
    struct as_code decoded;
    struct as_error err;
    size_t n = 0;
    assert_int_equal(as_decode(code, variant->code.size_b, 0x1000, &decoded, &err), 0);
    for (size_t i = 0; i < decoded.n && n + 80 < out_b; i++) {
        const uint64_t at = decoded.insn[i].address - 0x1000;
        char text[80];
        as_insn_format(code + at, variant->code.size_b - at, decoded.insn[i].address,
                       AS_SYNTAX_INTEL, text, sizeof text);
        n += (size_t)snprintf(out + n, out_b - n, "%s%s", i ? "; " : "", text);
    }
    as_code_free(&decoded);
}

static void check_code(const struct varied *it, const char *name, unsigned kind,
                       const char *expected)
{
    char is[8192] = "";
    disassemble(it, variant_of(it, name, kind), is, sizeof is);
    if (strcmp(is, expected) != 0)
        fail_msg("%s of %s is\n%s\nnot\n%s", as_variant_rules[kind].name, name, is, expected);
}

static void variants_have_their_instructions(void **state)
{
    struct varied it = shared;
    (void)state;
    check_code(&it, "axpy", AS_VARIANT_REC,
               "dec r15; jz 0x1009; add rax, 0x1; cmp rax, rdx; jb 0x1000; "
               "jmp 0x1017; jmp 0x101c");
    check_code(&it, "scattered", AS_VARIANT_REC,
               "dec r15; jz 0x1009; lea r13, [rsi+rax*4]; mov r11, "
               "0x8004000000000000; lea r13, [r13+r11*1]; movnti [r14], r13; "
               "lea r14, [r14+0x8]; mov ecx, [rsi+rax*4]; lea r13, "
               "[r8+rcx*8]; mov r11, 0x8000000000000; lea r13, [r13+r11*1]; "
               "movnti [r14], r13; lea r14, [r14+0x8]; add rax, 0x1; cmp "
               "rax, rdx; jb 0x1000; jmp 0x1052; jmp 0x1057");
    check_code(&it, "pairs", AS_VARIANT_REC,
               "dec r15; jz 0x1009; sub rdi, 0x18; cmp rdi, rdx; jnbe "
               "0x1000; jmp 0x1017; jmp 0x101c");
    check_code(&it, "spilled", AS_VARIANT_REC,
               "dec r15; jz 0x1009; add rdi, 0x8; sub qword ptr [rsp+0x8], "
               "0x1; jnz 0x1000; jmp 0x101a; jmp 0x101f");
    check_code(&it, "spilled", AS_VARIANT_FP,
               "movaps xmm1, xmm15; mulsd xmm1, xmm0; sub qword ptr "
               "[rsp+0x8], 0x1; jnz 0x1000; jmp 0x1015; jmp 0x101a; movups "
               "xmm15, gs:[0x100]; jmp 0x1000");
    check_code(&it, "spilled", AS_VARIANT_FES,
               "nop [rax], eax; nop [rax], eax; nop [rax], eax; nop [rax], "
               "eax; nop [rax], eax; sub qword ptr [rsp+0x8], 0x1; jnz "
               "0x1000; jmp 0x1021; jmp 0x1026");
    check_code(&it, "spilled", AS_VARIANT_DL1,
               "movsd xmm1, qword ptr gs:[0x140]; mulsd xmm1, xmm0; movsd "
               "gs:[0x2240], xmm1; add rdi, 0x8; add rsi, 0x8; sub qword ptr "
               "[rsp+0x8], 0x1; jnz 0x1000; jmp 0x102d; jmp 0x1032");
    check_code(&it, "axpy", AS_VARIANT_DL1_LS,
               "movsd xmm1, qword ptr gs:[0x140]; movsd xmm1, qword ptr "
               "gs:[0x240]; movsd gs:[0x2340], xmm1; add rax, 0x1; cmp rax, "
               "rdx; jb 0x1000; jmp 0x102c; jmp 0x1031");
    check_code(&it, "gathered", AS_VARIANT_DL1_NODIV,
               "mov ecx, gs:[0x140]; movsd xmm1, qword ptr gs:[0x240]; addsd "
               "xmm0, xmm1; add rax, 0x1; cmp rax, rdx; jb 0x1000; jmp "
               "0x1024; jmp 0x1029");
    check_code(&it, "gathered", AS_VARIANT_DL1_NORED,
               "mov ecx, gs:[0x140]; movsd xmm1, qword ptr gs:[0x240]; divsd "
               "xmm1, xmm2; add rax, 0x1; cmp rax, rdx; jb 0x1000; jmp "
               "0x1024; jmp 0x1029");
    check_code(&it, "axpy", AS_VARIANT_PF4,
               "prefetcht0 [rsi+rax*8+0x100]; movsd xmm1, qword ptr "
               "[rsi+rax*8]; mulsd xmm1, xmm0; prefetcht0 [rdi+rax*8+0x100]; "
               "addsd xmm1, [rdi+rax*8]; movsd [rdi+rax*8], xmm1; add rax, "
               "0x1; cmp rax, rdx; jb 0x1000; jmp 0x1031; jmp 0x1036");
    check_code(&it, "gathered", AS_VARIANT_PF64,
               "prefetcht0 [rsi+rax*4+0x1000]; mov ecx, [rsi+rax*4]; movsd "
               "xmm1, qword ptr [rdi+rcx*8]; divsd xmm1, xmm2; addsd xmm0, "
               "xmm1; add rax, 0x1; cmp rax, rdx; jb 0x1000; jmp 0x1026; jmp "
               "0x102b");
    check_code(&it, "axpy", AS_VARIANT_REF,
               "movsd xmm1, qword ptr [rsi+rax*8]; mulsd xmm1, xmm0; addsd xmm1, [rdi+rax*8]; "
               "movsd [rdi+rax*8], xmm1; add rax, 0x1; cmp rax, rdx; jb 0x1000; jmp 0x1021; "
               "jmp 0x1026");
    check_code(&it, "axpy", AS_VARIANT_FP,
               "movaps xmm1, xmm15; mulsd xmm1, xmm0; addsd xmm1, xmm15; add rax, 0x1; "
               "cmp rax, rdx; jb 0x1000; jmp 0x101b; jmp 0x1020; movups xmm15, gs:[0x100]; "
               "jmp 0x1000");
    check_code(&it, "axpy", AS_VARIANT_LS,
               "movsd xmm1, qword ptr [rsi+rax*8]; movsd xmm1, qword ptr [rdi+rax*8]; "
               "movsd [rdi+rax*8], xmm1; add rax, 0x1; cmp rax, rdx; jb 0x1000; jmp 0x101d; "
               "jmp 0x1022");
    check_code(&it, "axpy", AS_VARIANT_DL1,
               "movsd xmm1, qword ptr gs:[0x140]; mulsd xmm1, xmm0; addsd xmm1, gs:[0x240]; "
               "movsd gs:[0x2340], xmm1; add rax, 0x1; cmp rax, rdx; jb 0x1000; jmp 0x1030; "
               "jmp 0x1035");
    check_code(&it, "axpy", AS_VARIANT_FES,
               "nop [rax+rax*1], eax; nop [rax], eax; nop [rax+rax*1], eax; "
               "nop [rax+rax*1], eax; add rax, 0x1; cmp rax, rdx; jb 0x1000; jmp 0x1021; "
               "jmp 0x1026");
    check_code(&it, "gathered", AS_VARIANT_FP,
               "movaps xmm1, xmm15; divsd xmm1, xmm2; addsd xmm0, xmm1; add rax, 0x1; "
               "cmp rax, rdx; jb 0x1000; jmp 0x101a; jmp 0x101f; movups xmm15, gs:[0x100]; "
               "jmp 0x1000");
    check_code(&it, "gathered", AS_VARIANT_LS,
               "mov ecx, [rsi+rax*4]; movsd xmm1, qword ptr [rdi+rcx*8]; add rax, 0x1; "
               "cmp rax, rdx; jb 0x1000; jmp 0x1016; jmp 0x101b");
    check_code(&it, "gathered", AS_VARIANT_DL1,
               "mov ecx, gs:[0x140]; movsd xmm1, qword ptr gs:[0x240]; divsd xmm1, xmm2; "
               "addsd xmm0, xmm1; add rax, 0x1; cmp rax, rdx; jb 0x1000; jmp 0x1028; "
               "jmp 0x102d");
    check_code(&it, "gathered", AS_VARIANT_NODIV,
               "mov ecx, [rsi+rax*4]; movsd xmm1, qword ptr [rdi+rcx*8]; addsd xmm0, xmm1; "
               "add rax, 0x1; cmp rax, rdx; jb 0x1000; jmp 0x101a; jmp 0x101f");
    check_code(&it, "gathered", AS_VARIANT_NORED,
               "mov ecx, [rsi+rax*4]; movsd xmm1, qword ptr [rdi+rcx*8]; "
               "divsd xmm1, xmm2; add rax, 0x1; cmp rax, rdx; jb 0x1000; jmp "
               "0x101a; jmp 0x101f");
    check_code(&it, "gathered_wide", AS_VARIANT_LS,
               "vmovdqu xmm2, [rsi+rax*4]; vpcmpeqd ymm3, ymm3, ymm3; vgatherdpd "
               "ymm1, qword ptr [rdi+xmm2*8], ymm3; add rax, 0x4; cmp rax, rdx; "
               "jb 0x1000; jmp 0x101d; jmp 0x1022");
    check_code(&it, "gathered_masked", AS_VARIANT_LS,
               "vmovdqu xmm2, [rsi+rax*4]; kxnorw k1, k1, k1; vgatherdpd ymm1 "
               "{k1}, [rdi+xmm2*8]; add rax, 0x4; cmp rax, rdx; jb 0x1000; jmp "
               "0x101e; jmp 0x1023");
    /* The chain stays: no register is combined with itself. */
    check_code(&it, "hash", AS_VARIANT_FP,
               "xor rax, rcx; imul rax, rcx; add rdi, 0x8; cmp rdi, rsi; jb "
               "0x1000; jmp 0x1015; jmp 0x101a; movups xmm15, gs:[0x100]; "
               "jmp 0x1000");
    check_code(&it, "list", AS_VARIANT_FP,
               "addsd xmm0, xmm15; mov rdi, [rdi]; test rdi, rdi; jnz 0x1000; jmp 0x1012; "
               "jmp 0x1017; movups xmm15, gs:[0x100]; jmp 0x1000");
    check_code(&it, "list", AS_VARIANT_LS,
               "movsd xmm0, qword ptr [rdi+0x8]; mov rdi, [rdi]; test rdi, rdi; jnz 0x1000; "
               "jmp 0x1012; jmp 0x1017");
}

/* The end of a slice stands before all else; what it looks at stays in every variant. */
static void slices_end_at_the_header(void **state)
{
    struct varied it = vary_with(true, false);
    (void)state;
    check_code(&it, "axpy", AS_VARIANT_REC,
               "cmp rax, fs:[0x0]; jz 0x100f; dec r15; jz 0x1018; add rax, "
               "0x1; cmp rax, rdx; jb 0x1000; jmp 0x1026; jmp 0x102b");
    check_code(&it, "axpy", AS_VARIANT_REF,
               "cmp rax, fs:[0x0]; jz 0x100f; movsd xmm1, qword ptr "
               "[rsi+rax*8]; mulsd xmm1, xmm0; addsd xmm1, [rdi+rax*8]; "
               "movsd [rdi+rax*8], xmm1; add rax, 0x1; cmp rax, rdx; jb "
               "0x1000; jmp 0x1030; jmp 0x1035");
    check_code(&it, "spilled", AS_VARIANT_FES,
               "cmp rsi, fs:[0x0]; jz 0x100f; nop [rax], eax; nop [rax], "
               "eax; nop [rax], eax; nop [rax], eax; add rsi, 0x8; sub qword "
               "ptr [rsp+0x8], 0x1; jnz 0x1000; jmp 0x1030; jmp 0x1035");
    check_code(&it, "list", AS_VARIANT_LS,
               "movsd xmm0, qword ptr [rdi+0x8]; mov rdi, [rdi]; test rdi, "
               "rdi; jnz 0x1000; jmp 0x1012; jmp 0x1017");
    drop(&it);
}

/* Loops of a function of two: the outer one has the smaller number. */
static const struct as_patch_verdict *inner_of(const struct varied *it, const char *name)
{
    return verdict_of(it, name) + 1;
}

/* An inner loop is varied before the one around it; with `nests` the outer one, and with it all. */
static void one_loop_of_a_nest_is_varied(void **state)
{
    struct varied it = vary_with(false, true);
    (void)state;
    assert_int_equal(verdict_of(&shared, "nested")->unvaried[AS_VARIANT_FP], AS_UNVARIED_NESTED);
    assert_true(as_variant_is_nested(AS_UNVARIED_NESTED));
    assert_int_equal(inner_of(&shared, "nested")->unvaried[AS_VARIANT_FP], 0);
    assert_int_equal(inner_of(&it, "nested")->unvaried[AS_VARIANT_FP], AS_UNVARIED_NESTED);
    assert_int_equal(variant_of(&it, "nested", AS_VARIANT_LS)->bits,
                     AS_VARIANT_WRITES | AS_VARIANT_NESTS);
    check_code(&it, "nested", AS_VARIANT_LS,
               "xor eax, eax; movsd xmm0, qword ptr [rdi+rax*8]; add rax, 0x1; "
               "cmp rax, rsi; jb 0x1002; movsd [rcx], xmm0; add rcx, 0x8; cmp "
               "rcx, rdx; jb 0x1000; jmp 0x1022; jmp 0x1027");
    drop(&it);
}

/* So many iterations ahead: 4, 16 or 64 times what the register has, and twice as many where it is
 * added twice. */
static void prefetches_go_by_a_register(void **state)
{
    struct varied it = shared;
    (void)state;
    check_code(&it, "columns", AS_VARIANT_PF4,
               "lea r15, [rax+rcx*4]; prefetcht0 [rdi+r15*8+0x10]; addsd xmm0, "
               "[rdi+rax*8+0x10]; add rax, rcx; sub rdx, 0x1; jnz 0x1000; jmp "
               "0x101e; jmp 0x1023");
    check_code(&it, "columns", AS_VARIANT_PF64,
               "lea r15, [rcx*8]; lea r15, [rax+r15*8]; prefetcht0 "
               "[rdi+r15*8+0x10]; addsd xmm0, [rdi+rax*8+0x10]; add rax, rcx; sub "
               "rdx, 0x1; jnz 0x1000; jmp 0x1026; jmp 0x102b");
    check_code(&it, "rows", AS_VARIANT_PF16,
               "lea r15, [rcx*8]; lea r15, [rdi+r15*4]; prefetcht0 [r15]; addsd xmm0, [rdi]; lea "
               "rdi, [rdi+rcx*2]; sub rdx, 0x1; jnz 0x1000; jmp 0x1023; jmp 0x1028");
}

/* They are stored to in all variants; the first run notes that it did, for they are put back. */
static void counters_in_memory_stay(void **state)
{
    struct varied it = shared;
    (void)state;
    check_code(&it, "counting", AS_VARIANT_REC,
               "lea r15, [r15-0x1]; mov rax, [rdi+0x8]; lea r13, [rdi+0x8]; mov "
               "r11, 0x4008000000000000; lea r13, [r13+r11*1]; movnti [r14], r13; "
               "lea r14, [r14+0x8]; add qword ptr [rdi+0x8], 0x1; cmp rax, rdx; "
               "jb 0x1000; jmp 0x1033; jmp 0x1038");
    check_code(&it, "counting", AS_VARIANT_FES,
               "mov rax, [rdi+0x8]; nop [rax+rax*1], eax; add qword ptr "
               "[rdi+0x8], 0x1; cmp rax, rdx; jb 0x1000; jmp 0x1018; jmp 0x101d");
}

static void check_refused(const struct varied *it, const char *name, unsigned expected)
{
    const struct as_patch_verdict *verdict = verdict_of(it, name);
    assert_int_equal(verdict->refusal, AS_PATCH_REFUSED_VARIANTS);
    for (unsigned kind = 0; kind < AS_VARIANT_KINDS; kind++)
        assert_int_equal(verdict->unvaried[kind], expected);
}

static void what_cannot_be_varied_is_refused(void **state)
{
    struct varied it = shared;
    (void)state;
    check_refused(&it, "atomic", AS_UNVARIED_ATOMIC);
    check_refused(&it, "x87", AS_UNVARIED_X87);
    check_refused(&it, "pushing", AS_UNVARIED_STACK);
    check_refused(&it, "decided", AS_UNVARIED_DECIDED);
    check_refused(&it, "crowded", AS_UNVARIED_DECIDED);
    assert_int_equal(verdict_of(&it, "axpy")->unvaried[AS_VARIANT_NODIV], AS_UNVARIED_USELESS);
    assert_int_equal(verdict_of(&it, "axpy")->unvaried[AS_VARIANT_NORED], AS_UNVARIED_USELESS);
}

static void variants_say_what_they_leave_out(void **state)
{
    struct varied it = shared;
    (void)state;
    assert_int_equal(variant_of(&it, "axpy", AS_VARIANT_LS)->bits, AS_VARIANT_WRITES);
    assert_int_equal(variant_of(&it, "axpy", AS_VARIANT_DL1)->bits, 0);
    assert_int_equal(variant_of(&it, "gathered", AS_VARIANT_DL1)->bits, AS_VARIANT_CHAINS);
    assert_int_equal(variant_of(&it, "list", AS_VARIANT_LS)->bits, AS_VARIANT_DECIDES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(variants_have_their_instructions),
                                       cmocka_unit_test(slices_end_at_the_header),
                                       cmocka_unit_test(one_loop_of_a_nest_is_varied),
                                       cmocka_unit_test(prefetches_go_by_a_register),
                                       cmocka_unit_test(counters_in_memory_stay),
                                       cmocka_unit_test(what_cannot_be_varied_is_refused),
                                       cmocka_unit_test(variants_say_what_they_leave_out)};
    return cmocka_run_group_tests(tests, share_plan, drop_plan);
}
