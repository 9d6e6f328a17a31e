/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of loops with strides known from their source: by gcc and clang at several levels.
 * Assembly is used if the exact instructions matter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "built.h"

/* Operands off the stack, counted; arrays by what is done to them. */
struct summary {
    unsigned kind[AS_STRIDE_UNKNOWN + 1];
    unsigned arrays_read, arrays_written;
    int64_t stride; /* of the last one with a known step */
};

static struct summary summarise(const struct built *b, uint32_t loop)
{
    struct as_streams s;
    struct summary sum = {0};
    uint64_t read = 0, written = 0;
    assert_int_equal(as_loop_streams(b->program, loop, &s, NULL), 0);
    for (size_t i = 0; i < s.n; i++) {
        const struct as_memory_stream *at = &s.at[i];
        if (i)
            assert_true(at[-1].insn < at->insn ||
                        (at[-1].insn == at->insn && at[-1].operand < at->operand));
        assert_true(at->stack == (at->array >= s.arrays));
        assert_true(at->offset_b >= 0);
        if (at->stack)
            continue;
        sum.kind[at->stride]++;
        sum.stride = at->stride_b ? at->stride_b : sum.stride;
        read |= at->access & AS_ACCESS_READ ? (uint64_t)1 << at->array : 0;
        written |= at->access & AS_ACCESS_WRITE ? (uint64_t)1 << at->array : 0;
    }
    sum.arrays_read = (unsigned)__builtin_popcountll(read);
    sum.arrays_written = (unsigned)__builtin_popcountll(written);
    as_streams_free(&s);
    return sum;
}

/* ---- C, as compilers make it ------------------------------------------------------------- */

static const char source[] =
    "struct v { double x, y, z; };\n"
    "struct list { struct list *next; long v; };\n"
    "void daxpy(double *restrict y, const double *restrict x, double a, long n)\n"
    "{ for (long i = 0; i < n; i++) y[i] += a * x[i]; }\n"
    "double column(double (*a)[100], long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) s += a[i][3]; return s; }\n"
    "double gather(double *a, int *x, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) s += a[x[i]]; return s; }\n"
    "void one(struct v *a, long n) { for (long i = 0; i < n; i++) a[i].y = 1; }\n"
    "void all(struct v *a, long n)\n"
    "{ for (long i = 0; i < n; i++) { a[i].x = 1; a[i].y = 2; a[i].z = 3; } }\n"
    "void three(double *restrict x, double *restrict y, double *restrict z, long n)\n"
    "{ for (long i = 0; i < n; i++) { x[i] = 1; y[i] = 2; z[i] = 3; } }\n"
    "void stencil(double *restrict y, const double *restrict x, long n)\n"
    "{ for (long i = 1; i < n; i++) y[i] = x[i - 1] + x[i] + x[i + 1]; }\n"
    "void down(double *a, long n) { for (long i = n; i > 0; i--) a[i] = 0.5 * a[i]; }\n"
    "long chase(struct list *p) { long s = 0; for (; p; p = p->next) s += p->v; return s; }\n"
    "void narrow(int *restrict a, const int *restrict b, int n)\n"
    "{ for (int i = 0; i < n; i++) a[i] = b[i] + 1; }\n"
    "__attribute__((visibility(\"hidden\"))) double G[512], H[512];\n"
    "void globals(long n) { for (long i = 0; i < n; i++) G[i] = H[i] + H[i]; }\n"
    "double same(const volatile double *p, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) s += *p; return s; }\n";

static const char *const builds[][2] = {
    {TEST_CC, "-O0"},
    {TEST_CC, "-O1"},
    {TEST_CC, "-O2 -fno-tree-loop-distribute-patterns"},
    {TEST_CC, "-O3 -march=haswell -fno-tree-loop-distribute-patterns"},
    {TEST_CC, "-O2 -funroll-loops -fno-tree-vectorize"},
    {"clang", "-O0"},
    {"clang", "-O1"},
    {"clang", "-O2"},
    {"clang", "-O3 -march=skylake-avx512 -fno-unroll-loops"},
};

static void check_source(const struct built *b, const char *flags)
{
    struct summary s = summarise(b, built_hot(b, "daxpy"));
    print_message("# %s\n", flags);
    assert_true(s.kind[AS_STRIDE_UNIT] >= 3);
    assert_int_equal(s.arrays_read, 2);
    assert_int_equal(s.arrays_written, 1);
    assert_int_equal(s.kind[AS_STRIDE_CONSTANT] + s.kind[AS_STRIDE_UNKNOWN], 0);
    s = summarise(b, built_hot(b, "column"));
    /* Vector code may gather; else whole rows. */
    assert_true(s.kind[AS_STRIDE_CONSTANT] || s.kind[AS_STRIDE_INDIRECT]);
    assert_true(s.stride % 800 == 0);
    assert_int_equal(s.kind[AS_STRIDE_UNIT], 0);
    s = summarise(b, built_hot(b, "gather"));
    assert_true(s.kind[AS_STRIDE_INDIRECT] >= 1 && s.kind[AS_STRIDE_UNIT] >= 1);
    assert_int_equal(s.arrays_read, 2);
    s = summarise(b, built_hot(b, "all"));
    assert_true(s.kind[AS_STRIDE_UNIT] >= 1);
    assert_int_equal(s.kind[AS_STRIDE_CONSTANT], 0);
    assert_int_equal(s.arrays_written, 1);
    assert_int_equal(s.stride % 24, 0);
    s = summarise(b, built_hot(b, "three"));
    assert_int_equal(s.arrays_written, 3);
    assert_int_equal(s.kind[AS_STRIDE_CONSTANT] + s.kind[AS_STRIDE_UNKNOWN], 0);
    s = summarise(b, built_hot(b, "stencil"));
    assert_int_equal(s.arrays_written, 1);
    assert_int_equal(s.arrays_read, 1);
    assert_int_equal(s.kind[AS_STRIDE_CONSTANT] + s.kind[AS_STRIDE_UNKNOWN], 0);
    s = summarise(b, built_hot(b, "down"));
    assert_true(s.stride < 0 && s.stride % 8 == 0);
    assert_int_equal(s.kind[AS_STRIDE_CONSTANT] + s.kind[AS_STRIDE_UNKNOWN], 0);
    s = summarise(b, built_hot(b, "chase"));
    assert_true(s.kind[AS_STRIDE_INDIRECT] >= 2);
    assert_int_equal(s.arrays_read, 1);
    s = summarise(b, built_hot(b, "narrow"));
    assert_true(s.kind[AS_STRIDE_UNIT] >= 2);
    assert_int_equal(s.arrays_read, 1);
    assert_int_equal(s.arrays_written, 1);
    s = summarise(b, built_hot(b, "globals"));
    assert_int_equal(s.arrays_read, 1);
    assert_int_equal(s.arrays_written, 1);
    assert_int_equal(s.kind[AS_STRIDE_CONSTANT] + s.kind[AS_STRIDE_UNKNOWN], 0);
    s = summarise(b, built_hot(b, "same"));
    assert_true(s.kind[AS_STRIDE_ZERO] >= 1);
    assert_int_equal(s.arrays_read, 1);
}

static void test_compiled(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof builds / sizeof builds[0]; i++) {
        if (!built_has(builds[i][0]))
            continue; /* clang is optional */
        struct built b = built_new(builds[i][0], builds[i][1], "c", source);
        check_source(&b, builds[i][1]);
        built_free(&b);
    }
}

/* ---- Assembly ---------------------------------------------------------------------------- */

#define FUNCTION(name, body)                                                                       \
    ".globl " name "\n.type " name ",@function\n" name ":\n" body "ret\n.size " name ",.-" name "\n"

static const char text[] = ".intel_syntax noprefix\n"
    /* a hole of 8 bytes in 24; the second array without */
    FUNCTION("holes", "1: mov rax, [rdi]\nmov rcx, [rdi+16]\nmovups xmm0, [rsi]\n"
                      "mov r8, [rsi+16]\nadd rdi, 24\nadd rsi, 24\ndec rdx\njnz 1b\n")
    /* induction: several updates, lea, inc, copy from behind, other sums on other paths */
    FUNCTION("counts", "1: add rax, 3\nlea rax, [rax+5]\ninc ecx\nmov rbx, rdx\nadd rdx, 8\n"
                       "test rdi, 1\njz 2f\nadd r8, 4\nadd r9, 1\njmp 3f\n2: add r8, 4\n"
                       "add r9, 2\n3: lea r10, [rdx+rdx*2]\nimul r11, rdx, 40\n"
                       "cmp rdx, rsi\njb 1b\n") FUNCTION("named", "1: loop 1b\n")
    /* the inner loop changes rdx and rcx; rdx is set again, rcx is not */
    FUNCTION("nest", "1: mov rdx, rdi\n2: mov [rdx+rcx*8], rax\nadd rdx, 8\nadd rcx, 1\n"
                     "cmp rdx, rsi\njb 2b\n mov rdx, rdi\n mov [rdx], rax\nmov [rcx], rax\n"
                     "add rdi, 800\ndec r8\njnz 1b\n")
    /* an index from memory, by a detour; a register of unknown origin */
    FUNCTION("origin", "1: movzx eax, byte ptr [rsi]\nand eax, 15\nmov [rdi+rax*8], rdx\n"
                       "rdtsc\nmov [rdi+rax*8], rdx\ninc rsi\ndec rcx\njnz 1b\n")
    /* the counter lives in memory */
    FUNCTION("spilled", "push rbp\nmov rbp, rsp\n1: mov eax, [rbp-4]\ncdqe\n"
                        "lea rdx, [rax*8]\nmov rax, [rbp-16]\nadd rax, rdx\nmov [rax], rcx\n"
                        "add dword ptr [rbp-4], 1\ncmp dword ptr [rbp-4], 99\njle 1b\npop rbp\n")
    /* steps in registers: one that stays, a product, one that grows */
    FUNCTION("leading", "1: mov [rdi], rax\nmov rbx, rdx\nimul rbx, r8\nmov [rsi+rbx*8], rax\n"
                        "mov [r9], rax\nadd r9, rdx\nadd rdi, r8\ninc rdx\ndec rcx\njnz 1b\n")
        FUNCTION("vector", "1: vgatherqpd ymm0, [rdi+ymm1*8], ymm2\nvmovupd [rsi], ymm0\n"
                           "add rsi, 32\ndec rcx\njnz 1b\n")
    /* a frame pointer, and slots by the stack pointer all the same: an aligned stack */
    FUNCTION("aligned", "push rbp\nmov rbp, rsp\nand rsp, -32\nsub rsp, 64\n"
                        "1: mov rdx, [rsp+32]\nvmovupd ymm0, [rdx+rax]\n"
                        "vmovupd [rcx+rax], ymm0\nadd rax, 32\ncmp rax, rsi\njnz 1b\n"
                        "leave\n")
    /* a base that each iteration loads; an index that it loads */
    FUNCTION("based", "1: mov rdx, [rdi]\nmovsd xmm0, [rdx+rbx*8+16]\naddsd xmm1, xmm0\n"
                      "mov rdx, [rsi]\nmovsd [rdx], xmm1\nmov rax, [r9]\n"
                      "movsd xmm2, [r8+rax]\ninc rbx\ndec rcx\njnz 1b\n")
    /* what ends a loop: a bound in a register, a count to zero, four bytes, a bound that moves or
     * that is in memory */
    FUNCTION("bound", "1: mov [rdi+rax], rcx\nadd rax, 16\ncmp rsi, rax\njne 1b\n") FUNCTION(
        "zero", "1: mov [rdi], rcx\nadd rdi, 8\nsub rdx, 4\njnz 1b\n")
        FUNCTION("four", "1: mov [rdi], rcx\nadd rdi, 8\ninc edx\ncmp edx, 77\njl 1b\n") FUNCTION(
            "tested", "1: mov [rdi], rcx\nlea rdx, [rdx-2]\ntest rdx, rdx\njg 1b\n")
            FUNCTION("moving", "1: mov [rdi], rcx\nadd rdi, 8\nadd rsi, rdi\n"
                               "cmp rdi, rsi\njne 1b\n")
                FUNCTION("memory", "1: mov [rdi], rcx\nadd rdi, 8\ncmp rdi, [rsi]\n"
                                   "jne 1b\n")
                    FUNCTION("records", "1: mov eax, [rsi]\nlea rax, [rax+rax*2]\n"
                                        "lea rcx, [rdi+rax*8]\nxor edx, edx\n"
                                        "2: addss xmm0, [rcx+rdx]\nadd rdx, 4\ncmp rdx, 12\n"
                                        "jne 2b\nadd rsi, 4\ncmp rsi, r8\njne 1b\n")
                        FUNCTION("rows", "1: movsxd rdx, dword ptr [rsi]\n"
                                         "movsxd rcx, dword ptr [rsi+4]\n"
                                         "2: addsd xmm0, [rdi+rdx*8]\ninc rdx\ncmp rdx, rcx\n"
                                         "jl 2b\nadd rsi, 4\ncmp rsi, r8\njne 1b\n")
                            FUNCTION("again",
                                     "1: push rax\npush rbx\npop rbx\npop rax\nmov [rsp+8], rax\n"
                                     "dec rcx\njnz 1b\n");

static struct as_streams of(const struct built *b, const char *function, unsigned n)
{
    struct as_streams s;
    assert_int_equal(as_loop_streams(b->program, built_loop(b, function, n), &s, NULL), 0);
    return s;
}

static void expect(const struct as_memory_stream *s, enum as_stride kind, int64_t stride,
                   int64_t offset, uint32_t array)
{
    assert_int_equal(s->stride, kind);
    assert_int_equal(s->stride_b, stride);
    assert_int_equal(s->offset_b, offset);
    assert_int_equal(s->array, array);
}

static void expect_induction(const struct as_streams *s, unsigned reg, int64_t step, bool controls)
{
    for (size_t i = 0; i < s->induction_n; i++) {
        if (s->induction[i].reg == reg) {
            assert_int_equal(s->induction[i].step, step);
            assert_int_equal(s->induction[i].controls, controls);
            return;
        }
    }
    assert_int_equal(step, 0);
}

static void test_arrays(void **state)
{
    const struct built *b = *state;
    struct as_streams s = of(b, "holes", 0);
    assert_int_equal(s.n, 4);
    assert_int_equal(s.arrays, 2);
    expect(&s.at[0], AS_STRIDE_CONSTANT, 24, 0, 0);
    expect(&s.at[1], AS_STRIDE_CONSTANT, 24, 16, 0);
    expect(&s.at[2], AS_STRIDE_UNIT, 24, 0, 1);
    expect(&s.at[3], AS_STRIDE_UNIT, 24, 16, 1);
    assert_int_equal(s.at[2].width_b, 16);
    as_streams_free(&s);
}

static void test_inductions(void **state)
{
    const struct built *b = *state;
    struct as_streams s = of(b, "counts", 0);
    expect_induction(&s, 0, 8, false);
    expect_induction(&s, 1, 1, false);
    expect_induction(&s, 2, 8, true);
    expect_induction(&s, 3, 8, false);
    expect_induction(&s, 6, 0, false);
    expect_induction(&s, 8, 4, false);
    expect_induction(&s, 9, 0, false);
    expect_induction(&s, 10, 24, false);
    expect_induction(&s, 11, 320, false);
    assert_int_equal(s.induction_n, 7);
    as_streams_free(&s);
}

static void test_nest(void **state)
{
    const struct built *b = *state;
    struct as_streams s = of(b, "nest", 0);
    assert_int_equal(s.n, 2);
    expect(&s.at[0], AS_STRIDE_CONSTANT, 800, 0, 0);
    assert_int_equal(s.at[1].stride, AS_STRIDE_UNKNOWN);
    expect_induction(&s, 1, 0, false);
    expect_induction(&s, 7, 800, false);
    expect_induction(&s, 8, -1, true);
    as_streams_free(&s);
    s = of(b, "nest", 1);
    assert_int_equal(s.n, 1);
    expect(&s.at[0], AS_STRIDE_CONSTANT, 16, 0, 0);
    as_streams_free(&s);
}

/* The inner loop of a function with two, and the size of the records of its first operand. */
static int64_t record_size(const struct built *b, const char *function)
{
    const uint32_t outer = built_loop(b, function, 0), inner = built_loop(b, function, 1);
    const uint32_t loop = b->program->loop[inner].parent == outer ? inner : outer;
    struct as_streams s;
    int64_t size_b = -1;

    assert_int_equal(as_loop_streams(b->program, loop, &s, NULL), 0);
    assert_int_equal(as_loop_record_size(b->program, loop, &s.at[0], &size_b, NULL), 0);
    as_streams_free(&s);
    return size_b;
}

static void test_record_sizes(void **state)
{
    const struct built *b = *state;

    assert_int_equal(record_size(b, "records"), 24);
    assert_int_equal(record_size(b, "rows"), 8);
    assert_int_equal(record_size(b, "nest"), 0);
}

static void test_origin(void **state)
{
    const struct built *b = *state;
    struct as_streams s = of(b, "origin", 0);
    assert_int_equal(s.n, 3);
    expect(&s.at[0], AS_STRIDE_UNIT, 1, 0, 0);
    assert_int_equal(s.at[1].stride, AS_STRIDE_INDIRECT);
    assert_int_equal(s.at[2].stride, AS_STRIDE_UNKNOWN);
    as_streams_free(&s);
    s = of(b, "vector", 0);
    assert_int_equal(s.at[0].stride, AS_STRIDE_INDIRECT);
    expect(&s.at[1], AS_STRIDE_UNIT, 32, 0, 1);
    as_streams_free(&s);
}

/* One register, and nothing else. */
static void expect_stride(const struct as_register_stride *stride, unsigned gpr, int64_t factor)
{
    assert_int_equal(stride->constant_b, 0);
    assert_int_equal(stride->reg[0], AS_REG_GPR + gpr);
    assert_int_equal(stride->factor[0], factor);
}

static void test_steady(void **state)
{
    const struct built *b = *state;
    struct as_streams s = of(b, "leading", 0);
    assert_int_equal(s.n, 3);
    for (size_t i = 0; i < s.n; i++) {
        assert_int_equal(s.at[i].stride, AS_STRIDE_UNKNOWN);
        assert_int_equal(s.at[i].steady, i < 2);
        assert_int_equal(s.at[i].register_stride.n, i < 2);
    }
    expect_stride(&s.at[0].register_stride, 8, 1);
    expect_stride(&s.at[1].register_stride, 8, 8);
    as_streams_free(&s);
}

static void test_based(void **state)
{
    const struct built *b = *state;
    struct as_streams s = of(b, "based", 0);
    const struct as_based_stride *base = &s.at[1].based;
    assert_int_equal(s.n, 6);
    assert_int_equal(base->reg, AS_REG_GPR + 2);
    assert_int_equal(base->stride_b, 8);
    assert_int_equal(base->last - base->first, 6 + 4); /* movsd, addsd: up to the next mov */
    assert_int_equal(s.at[3].based.reg, AS_REG_GPR + 2);
    assert_int_equal(s.at[3].based.stride_b, 0);
    assert_true(s.at[3].based.first > base->last);
    assert_int_equal(s.at[5].based.reg, AS_REG_GPR + 0); /* the index: r8 stays */
    assert_int_equal(s.at[5].based.stride_b, 0);
    as_streams_free(&s);
}

static void expect_limit(const struct built *b, const char *function,
                         const struct as_loop_limit *want)
{
    struct as_streams s = of(b, function, 0);

    assert_int_equal(s.limit.step, want->step);
    if (want->step) {
        assert_int_equal(s.limit.reg, want->reg);
        assert_int_equal(s.limit.bound_reg, want->bound_reg);
        assert_int_equal(s.limit.bound, want->bound_reg == AS_REG_NONE ? want->bound : 0);
        assert_int_equal(s.limit.width_b, want->width_b);
    }
    as_streams_free(&s);
}

static void test_limits(void **state)
{
    const uint8_t none = AS_REG_NONE;

    expect_limit(*state, "bound",
                 &(struct as_loop_limit){.step = 16, .reg = 0, .bound_reg = 6, .width_b = 8});
    expect_limit(*state, "zero",
                 &(struct as_loop_limit){.step = -4, .reg = 2, .bound_reg = none, .width_b = 8});
    expect_limit(
        *state, "four",
        &(struct as_loop_limit){.step = 1, .reg = 2, .bound_reg = none, .bound = 77, .width_b = 4});
    expect_limit(*state, "tested",
                 &(struct as_loop_limit){.step = -2, .reg = 2, .bound_reg = none, .width_b = 8});
    expect_limit(*state, "moving", &(struct as_loop_limit){0});
    expect_limit(*state, "memory", &(struct as_loop_limit){0});
}

/* From where to where the registers of an address stay: the whole block, or up to what writes one.
 */
static void test_window(void **state)
{
    const struct built *b = *state;
    struct as_streams s = of(b, "bound", 0);

    assert_int_equal(s.at[0].last - s.at[0].first, 4); /* the addition itself has not happened */
    as_streams_free(&s);
    s = of(b, "based", 0);
    assert_int_equal(s.at[1].first, b->program->code.insn[s.at[1].insn].address);
    assert_int_equal(s.at[1].last - s.at[1].first, 6 + 4);
    assert_true(s.at[0].last - s.at[0].first > 30); /* rdi stays in all of it */
    as_streams_free(&s);
}

static void test_frame(void **state)
{
    const struct built *b = *state;
    struct as_streams s = of(b, "spilled", 0);
    assert_int_equal(s.n, 5);
    assert_int_equal(s.arrays, 1);
    assert_true(s.at[0].stack && s.at[1].stack && !s.at[2].stack && s.at[3].stack);
    expect(&s.at[2], AS_STRIDE_UNIT, 8, 0, 0);
    expect(&s.at[0], AS_STRIDE_ZERO, 0, 12, 1);
    as_streams_free(&s);
    s = of(b, "aligned", 0);
    assert_int_equal(s.n, 3);
    assert_true(s.at[0].stack && !s.at[1].stack);
    expect(&s.at[1], AS_STRIDE_UNIT, 32, 0, 0);
    expect(&s.at[2], AS_STRIDE_UNIT, 32, 0, 1);
    as_streams_free(&s);
    s = of(b, "again", 0);
    assert_int_equal(s.n, 5);
    assert_int_equal(s.arrays, 0);
    for (size_t i = 0; i < s.n; i++)
        assert_int_equal(s.at[i].stride, AS_STRIDE_ZERO);
    assert_int_equal(s.at[4].offset_b, 24);
    as_streams_free(&s);
    s = of(b, "named", 0);
    assert_int_equal(s.n, 0);
    as_streams_free(&s);
}

static void test_no_memory(void **state)
{
    const struct built *b = *state;
    int rc = AS_ERR_NOMEM;
    for (int64_t after = 0; rc != 0; after++) {
        struct as_streams s;
        as_alloc_fail_after(after);
        rc = as_loop_streams(b->program, built_loop(b, "spilled", 0), &s, NULL);
        as_alloc_fail_after(-1);
        assert_true(rc == 0 || (rc == AS_ERR_NOMEM && !s.at && after < 100));
        as_streams_free(&s);
    }
}

static int setup(void **state)
{
    static struct built built;
    built = built_new(TEST_CC, "", "S", text);
    *state = &built;
    return 0;
}

static int teardown(void **state)
{
    built_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays),    cmocka_unit_test(test_inductions),
        cmocka_unit_test(test_nest),      cmocka_unit_test(test_record_sizes),
        cmocka_unit_test(test_origin),    cmocka_unit_test(test_steady),
        cmocka_unit_test(test_frame),     cmocka_unit_test(test_based),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_window),    cmocka_unit_test(test_compiled),
    };
    return cmocka_run_group_tests_name("code/streams", tests, setup, teardown);
}
