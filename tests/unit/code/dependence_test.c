/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dependences: known ones of loops written in assembly, and on whole binaries an oracle that knows
 * nothing of the implementation: it plays paths one after the other with maps of last writers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "built.h"
#include "code/steps.h"

/* ---- Known loops ------------------------------------------------------------------------- */

#define LOOP(name, body)                                                                           \
    ".globl " name "\n.type " name ",@function\n" name ":\n1:\n" body                              \
    "dec rsi\njnz 1b\nret\n.size " name ",.-" name "\n"

/* Instructions count from 0 in each; `dec rsi` and `jnz` end all. */
static const char loops[] = ".intel_syntax noprefix\n"
    /* a[i] = a[i-1] * b through memory */
    LOOP("carry", "movsd xmm1, [rdi-8]\nmulsd xmm1, xmm0\nmovsd [rdi], xmm1\nadd rdi, 8\n")
    /* a[i] = a[i-4], downwards, with an index */
    LOOP("four", "mov rax, [rdi+rcx*8+32]\nmov [rdi+rcx*8], rax\nsub rcx, 1\n")
        LOOP("late", "mov rax, [rdi-520]\nmov [rdi], rax\nadd rdi, 8\n")
            LOOP("just", "mov rax, [rdi-512]\nmov [rdi], rax\nadd rdi, 8\n")
    /* spill and reload, twice the same slot: the latest store counts */
    LOOP("spill", "mov [rsp-8], rax\nadd rax, 1\nmov [rsp-8], rax\nxor eax, eax\n"
                  "mov rax, [rsp-8]\nmov rbx, [rsp-16]\nmov [rsp-16], rcx\n")
    /* two halves of a quarter: the upper one is not stored in the loop */
    LOOP("partial", "mov [rdi], eax\nmov rbx, [rdi]\nmov [rdx], rax\nmov ecx, [rdx+4]\n"
                    "mov [rbp], r8d\nmov [rbp+4], r9d\nmov r10, [rbp]\n")
    /* pointer chasing */
    LOOP("chase", "add rax, [rdi+8]\nmov rdi, [rdi]\n")
    /* partial registers, idioms, flags */
    LOOP("flags", "add al, 1\nxor ecx, ecx\nsetc cl\nadd rdx, rbx\nadc rdx, 0\ninc r8\n"
                  "cmovc r9, r10\ncvtsi2sd xmm0, r8\nshl r11, cl\n")
    /* a call destroys what it may; the frame and rbx stay */
    LOOP("calls",
         "mov rcx, 5\nmov rbx, 7\nmov [rsp+8], rcx\nmov [rbp], rcx\ncall large\n"
         "mov rdx, [rsp+8]\nmov r12, [rbp]\nadd rcx, rbx\n") ".type large,@function\nlarge: call "
                                                             "rax\nret\n.size large,.-large\n"
    /* a small callee that is known: it keeps rcx */
    LOOP("leaf",
         "mov rcx, 5\nmov rdx, 6\ncall small\nadd rcx, rdx\nadd r8, rax\n") ".type "
                                                                            "small,@"
                                                                            "function\nsmall: mov "
                                                                            "rdx, rax\nret\n.size "
                                                                            "small,.-small\n"
    /* address through a copy and an offset made by lea */
    LOOP("copy", "lea rdx, [rdi+16]\nmov [rdi+24], rax\nmov r8, rdx\nadd r8, 8\nmov rcx, [r8]\n"
                 "add rdi, 64\n")
    /* a pointer kept from the iteration before */
    LOOP("behind", "mov [rdi], rax\nmov rcx, [rdx]\nmov rdx, rdi\nadd rdi, 8\n")
    /* the same unknown address in one iteration, not in the next */
    LOOP("unknown", "mov rax, [r8]\nmov [rdi+rax*4], ecx\nadd ebx, [rdi+rax*4]\nadd r8, 8\n")
        LOOP("push", "push rax\nmov rbx, [rsp]\npop rcx\n");

static struct built known;

static int setup(void **state)
{
    (void)state;
    known = built_new(TEST_CC, "", "S", loops);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    built_free(&known);
    return 0;
}

static struct as_dependences of(const char *function)
{
    struct as_paths paths;
    struct as_dependences d;
    uint32_t loop = built_loop(&known, function, 0);
    assert_int_equal(as_loop_paths(known.program, loop, 0, &paths, NULL), 0);
    assert_int_equal(as_loop_dependences(known.program, loop, &paths, 0, &d, NULL), 0);
    as_paths_free(&paths);
    return d;
}

/* "from kind what distance bits, ..." of one instruction. */
static void expect(const char *function, uint32_t to, const char *want)
{
    struct as_dependences d = of(function);
    char got[512] = "";
    for (size_t i = 0; i < d.n; i++) {
        const struct as_dependence *at = &d.at[i];
        if (at->to != to)
            continue;
        size_t n = strlen(got);
        const char *what = at->kind == AS_DEPENDENCE_MEMORY     ? "memory"
                           : at->kind == AS_DEPENDENCE_REGISTER ? as_reg_name(at->what, 8)
                                                                : "flags";
        snprintf(got + n, sizeof got - n, "%s%u %s %u%s%s%s%s", n ? ", " : "", at->from, what,
                 at->distance, at->bits & AS_DEPENDENCE_ADDRESS ? " address" : "",
                 at->bits & AS_DEPENDENCE_MERGE ? " merge" : "",
                 at->bits & AS_DEPENDENCE_MAYBE ? " maybe" : "",
                 at->bits & AS_DEPENDENCE_PARTIAL ? " partial" : "");
    }
    if (strcmp(got, want) != 0)
        fail_msg("%s, instruction %u: \"%s\", not \"%s\"", function, to, got, want);
    as_dependences_free(&d);
}

static void test_memory(void **state)
{
    (void)state;
    expect("carry", 0, "2 memory 1, 3 rdi 1 address");
    expect("four", 0, "1 memory 4, 2 rcx 1 address");
    expect("late", 0, "2 rdi 1 address");
    expect("just", 0, "1 memory 64, 2 rdi 1 address");
    expect("copy", 4, "1 memory 0, 3 r8 0 address");
    expect("behind", 1, "0 memory 1, 2 rdx 1 address");
    expect("unknown", 2, "0 rax 0 address, 1 memory 0, 2 rbx 1");
    expect("push", 1, "0 rsp 0 address, 0 memory 0");
}

static void test_frame(void **state)
{
    (void)state;
    expect("spill", 4, "2 memory 0");
    expect("spill", 5, "6 memory 1");
    expect("calls", 5, "2 memory 0 maybe, 4 rsp 0 address");
    expect("calls", 6, "");
}

static void test_partial(void **state)
{
    (void)state;
    expect("partial", 1, "0 memory 0 partial");
    expect("partial", 3, "2 memory 0");
    expect("partial", 6, "4 memory 0 partial, 5 memory 0 partial");
}

static void test_registers(void **state)
{
    (void)state;
    expect("carry", 1, "0 xmm1 0");
    expect("chase", 0, "0 rax 1, 1 rdi 1 address");
    expect("chase", 1, "1 rdi 1 address");
    expect("flags", 0, "0 rax 1");
    expect("flags", 1, "");
    expect("flags", 2, "1 rcx 0 merge, 1 flags 0");
    expect("flags", 3, "4 rdx 1");
    expect("flags", 4, "3 rdx 0, 3 flags 0");
    /* inc leaves the carry of adc alone. */
    expect("flags", 6, "4 flags 0, 6 r9 1 maybe");
    expect("flags", 7, "5 r8 0, 7 xmm0 1 merge");
    expect("flags", 8, "2 rcx 0, 4 flags 0 merge, 5 flags 0 merge, 8 r11 1");
    expect("flags", 10, "9 flags 0");
    expect("calls", 7, "1 rbx 0, 4 rcx 0");
}

static void test_leaf(void **state)
{
    (void)state;
    expect("leaf", 3, "0 rcx 0, 2 rdx 0");
    expect("leaf", 4, "4 r8 1");
}

static void test_order(void **state)
{
    (void)state;
    struct as_dependences d = of("flags");
    for (size_t i = 1; i < d.n; i++)
        assert_true(d.at[i].to > d.at[i - 1].to ||
                    (d.at[i].to == d.at[i - 1].to && d.at[i].from >= d.at[i - 1].from));
    assert_int_equal(d.insn_n, 11);
    as_dependences_free(&d);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct as_paths paths;
    uint32_t loop = built_loop(&known, "spill", 0);
    assert_int_equal(as_loop_paths(known.program, loop, 0, &paths, NULL), 0);
    int rc = AS_ERR_NOMEM;
    for (int64_t after = 0; rc != 0; after++) {
        struct as_dependences d;
        as_alloc_fail_after(after);
        rc = as_loop_dependences(known.program, loop, &paths, 0, &d, NULL);
        as_alloc_fail_after(-1);
        assert_true(rc == 0 || (rc == AS_ERR_NOMEM && !d.at && after < 100));
        as_dependences_free(&d);
    }
    as_paths_free(&paths);
}

/* ---- The oracle -------------------------------------------------------------------------- */

enum { THINGS = AS_REG_COUNT + 8, NOBODY = -1 };

struct fact {
    uint32_t from, to; /* instructions of the program */
    uint16_t distance;
    uint8_t thing;
};

struct facts {
    struct fact *at;
    size_t n, room;
};

static void add_fact(struct facts *f, struct fact fact)
{
    if (f->n == f->room) {
        f->room = f->room ? f->room * 2 : 64;
        f->at = realloc(f->at, f->room * sizeof *f->at);
        assert_non_null(f->at);
    }
    f->at[f->n++] = fact;
}

static int compare_facts(const void *a, const void *b)
{
    const struct fact *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->thing != y->thing)
        return x->thing < y->thing ? -1 : 1;
    return x->distance < y->distance ? -1 : x->distance > y->distance;
}

/* Sorted, and of facts that differ in the distance only the smallest. */
static void settle(struct facts *f)
{
    size_t n = 0;
    if (!f->n)
        return;
    qsort(f->at, f->n, sizeof *f->at, compare_facts);
    for (size_t i = 0; i < f->n; i++) {
        if (n && f->at[n - 1].to == f->at[i].to && f->at[n - 1].from == f->at[i].from &&
            f->at[n - 1].thing == f->at[i].thing)
            continue;
        f->at[n++] = f->at[i];
    }
    f->n = n;
}

static void plain_effects(const struct as_program *program, const struct as_insn *insn,
                          bool read[THINGS], bool written[THINGS])
{
    struct as_effects e;
    unsigned c = as_form_get(insn->form)->insn_class;
    as_insn_effects(insn, &e);
    for (unsigned r = 0; r < AS_REG_COUNT; r++) {
        read[r] = as_regset_has(e.read, r) && c != AS_CLASS_NOP;
        written[r] = as_regset_has(e.written, r);
    }
    for (unsigned i = 0; i < 8; i++) {
        read[AS_REG_COUNT + i] = (e.flags_read | e.flags_maybe) >> i & 1;
        written[AS_REG_COUNT + i] = e.flags_written >> i & 1;
    }
    if (c == AS_CLASS_CALL) { /* the one thing taken from the implementation, tested above */
        as_step_effects(program, insn, &e);
        for (unsigned r = 0; r < AS_REG_TILE; r++)
            written[r] = as_regset_has(e.written, r);
        for (unsigned i = 0; i < 8; i++)
            written[AS_REG_COUNT + i] = e.flags_written >> i & 1;
    }
    read[AS_REG_IP] = written[AS_REG_IP] = false;
}

struct player {
    const struct as_program *program;
    int64_t writer[THINGS]; /* instruction */
    int64_t when[THINGS];   /* iteration */
};

static void play(struct player *p, const struct as_paths *paths, size_t path, int64_t now,
                 struct facts *out)
{
    const struct as_path *at = &paths->path[path];
    for (uint32_t b = at->first; b < at->first + at->blocks; b++) {
        const struct as_block *block = &p->program->block[paths->block[b]];
        for (uint32_t i = block->first_insn; i < block->first_insn + block->insns; i++) {
            bool read[THINGS], written[THINGS];
            plain_effects(p->program, &p->program->code.insn[i], read, written);
            for (unsigned t = 0; t < THINGS; t++) {
                if (read[t] && p->writer[t] != NOBODY && out)
                    add_fact(out, (struct fact){(uint32_t)p->writer[t], i,
                                                (uint16_t)(now - p->when[t]), (uint8_t)t});
            }
            for (unsigned t = 0; t < THINGS; t++) {
                if (written[t]) {
                    p->writer[t] = i;
                    p->when[t] = now;
                }
            }
        }
    }
}

static void play_all(const struct as_program *program, const struct as_paths *paths, size_t first,
                     size_t second, struct facts *out)
{
    struct player p = {.program = program};
    for (unsigned t = 0; t < THINGS; t++)
        p.writer[t] = NOBODY;
    play(&p, paths, first, 0, out);
    play(&p, paths, second, 1, out);
}

static void convert(const struct as_dependences *d, struct facts *out)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct as_dependence *at = &d->at[i];
        struct fact f = {d->insn[at->from], d->insn[at->to], at->distance, at->what};
        assert_true(at->from < d->insn_n && at->to < d->insn_n);
        assert_true(at->distance || at->from < at->to);
        if (at->kind == AS_DEPENDENCE_MEMORY) {
            assert_in_range(at->distance, 0, AS_DEPENDENCE_DISTANCE);
            continue;
        }
        assert_in_range(at->distance, 0, 1);
        if (at->kind == AS_DEPENDENCE_REGISTER) {
            add_fact(out, f);
            continue;
        }
        for (unsigned k = 0; k < 8; k++) {
            f.thing = (uint8_t)(AS_REG_COUNT + k);
            if (at->what >> k & 1)
                add_fact(out, f);
        }
    }
}

static void compare(const struct as_program *program, uint32_t loop, struct facts *want,
                    struct facts *got)
{
    settle(want);
    settle(got);
    for (size_t i = 0; i < want->n || i < got->n; i++) {
        if (i < want->n && i < got->n && !compare_facts(&want->at[i], &got->at[i]))
            continue;
        const struct fact *f = i < want->n ? &want->at[i] : &got->at[i];
        fail_msg("loop %u at %llx: %s %u <- %u thing %u distance %u", loop,
                 (unsigned long long)program->block[program->loop[loop].header].start,
                 i < want->n ? "wanted" : "not wanted", f->to, f->from, f->thing, f->distance);
    }
    free(want->at);
    free(got->at);
}

/* Each path repeated: exactly what two rounds of it show. */
static void check_path(const struct as_program *program, uint32_t loop,
                       const struct as_paths *paths, size_t path)
{
    struct as_dependences d;
    struct facts want = {0}, got = {0};
    assert_int_equal(as_loop_dependences(program, loop, paths, path, &d, NULL), 0);
    convert(&d, &got);
    play_all(program, paths, path, path, &want);
    compare(program, loop, &want, &got);
    as_dependences_free(&d);
}

/* The merged view: exactly what any path before any path shows. */
static void check_merged(const struct as_program *program, uint32_t loop,
                         const struct as_paths *paths)
{
    struct as_dependences d;
    struct as_paths merged;
    struct facts want = {0}, got = {0};
    assert_int_equal(as_loop_paths(program, loop, 1, &merged, NULL), 0);
    assert_int_equal(as_loop_dependences(program, loop, &merged, 0, &d, NULL), 0);
    if (!d.limited) {
        convert(&d, &got);
        for (size_t a = 0; a < paths->path_n; a++) {
            for (size_t b = 0; b < paths->path_n; b++)
                play_all(program, paths, a, b, &want);
        }
        compare(program, loop, &want, &got);
    }
    as_dependences_free(&d);
    as_paths_free(&merged);
}

/* ---- Memory, by brute force -------------------------------------------------------------- */

/* Bytes of the load at `to` that the store at `from` wrote `d` iterations before. */
static uint64_t overlap(const struct as_memory_stream *from, const struct as_memory_stream *to,
                        int64_t d)
{
    uint64_t bytes = 0;
    int64_t first = from->offset_b - d * from->stride_b - to->offset_b;
    for (int64_t i = 0; i < (int64_t)from->width_b; i++) {
        if (first + i >= 0 && first + i < (int64_t)to->width_b)
            bytes |= (uint64_t)1 << (first + i);
    }
    return bytes;
}

static bool has_dependence(const struct as_dependences *d, uint32_t from, uint32_t to,
                           int64_t distance, bool partial)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct as_dependence *at = &d->at[i];
        if (at->kind == AS_DEPENDENCE_MEMORY && d->insn[at->from] == from &&
            d->insn[at->to] == to && at->distance == distance &&
            (at->bits & AS_DEPENDENCE_PARTIAL) / AS_DEPENDENCE_PARTIAL == partial)
            return true;
    }
    return false;
}

/* A loop of one block: its streams tell where each operand is, all stores are tried backwards. */
static size_t check_memory(const struct as_program *program, uint32_t loop,
                           const struct as_paths *paths)
{
    struct as_dependences d;
    struct as_streams s;
    size_t want = 0, got = 0;
    assert_int_equal(as_loop_dependences(program, loop, paths, 0, &d, NULL), 0);
    assert_int_equal(as_loop_streams(program, loop, &s, NULL), 0);
    for (size_t l = 0; l < s.n; l++) {
        const struct as_memory_stream *to = &s.at[l];
        bool is = to->stride <= AS_STRIDE_CONSTANT;
        if (!(to->access & AS_ACCESS_READ) || !is || !to->width_b || to->width_b > 64)
            continue;
        uint64_t all = ~(uint64_t)0 >> (64 - to->width_b), left = all;
        /* At a fixed address the iteration before stands for all. */
        int64_t far = to->stride_b ? AS_DEPENDENCE_DISTANCE : 1;
        for (int64_t k = 0; k <= far && left; k++) {
            for (size_t i = s.n; i-- > 0 && left;) {
                const struct as_memory_stream *from = &s.at[i];
                if (from->array != to->array || !(from->access & AS_ACCESS_WRITE) ||
                    (k == 0 && from->insn >= to->insn) || from->width_b > 64)
                    continue;
                uint64_t bytes = overlap(from, to, k);
                if (!(bytes & left))
                    continue;
                if (!has_dependence(&d, from->insn, to->insn, k, bytes != all))
                    fail_msg("loop %u at %llx: no dependence %u <- %u at %d", loop,
                             (unsigned long long)program->code.insn[to->insn].address, to->insn,
                             from->insn, (int)k);
                want++;
                if (!(from->access & AS_ACCESS_MAYBE))
                    left &= ~bytes;
            }
        }
    }
    /* And nothing else, but at addresses without a known step. */
    for (size_t i = 0; i < d.n; i++) {
        bool unknown = false;
        for (size_t k = 0; k < s.n; k++)
            unknown |= s.at[k].insn == d.insn[d.at[i].to] && s.at[k].stride > AS_STRIDE_CONSTANT;
        got += d.at[i].kind == AS_DEPENDENCE_MEMORY && !unknown;
    }
    if (got != want)
        fail_msg("loop %u at %llx: %zu dependences, not %zu", loop,
                 (unsigned long long)program->code.insn[d.insn[0]].address, got, want);
    as_streams_free(&s);
    as_dependences_free(&d);
    return want;
}

static bool is_plain(const struct as_program *program, uint32_t loop)
{
    const struct as_loop *l = &program->loop[loop];
    const struct as_block *b = &program->block[l->header];
    if (l->blocks != 1 || l->bits || l->insns > 500)
        return false;
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
        const struct as_form *form = as_form_get(program->code.insn[i].form);
        if (form->insn_class == AS_CLASS_CALL || form->traits & AS_TRAIT_REP)
            return false;
    }
    return true;
}

static size_t memory_facts;

/* Every `step`-th loop of a binary, and those of one block; returns how many paths were compared.
 */
static size_t check_binary(const char *path, uint32_t step)
{
    struct built b;
    size_t done = 0;
    if (!built_open(path, &b))
        return 0;
    for (uint32_t loop = 0; loop < b.program->loop_n; loop++) {
        struct as_paths paths;
        bool plain = is_plain(b.program, loop);
        if (b.program->loop[loop].insns > 5000 || (loop % step && !plain))
            continue;
        assert_int_equal(as_loop_paths(b.program, loop, 12, &paths, NULL), 0);
        if (plain)
            memory_facts += check_memory(b.program, loop, &paths);
        for (size_t i = 0; i < paths.path_n && !paths.merged && loop % step == 0; i++, done++)
            check_path(b.program, loop, &paths, i);
        if (paths.path_n > 1)
            check_merged(b.program, loop, &paths);
        as_paths_free(&paths);
    }
    built_free(&b);
    return done;
}

static void test_binaries(void **state)
{
    (void)state;
    size_t done = check_binary("/proc/self/exe", 1);
    assert_true(done > 100);
    memory_facts = 0;
    if (check_binary("/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0", 97))
        assert_true(memory_facts > 100);
    check_binary("/lib/x86_64-linux-gnu/libc.so.6", 3);
    check_binary("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_frame),
        cmocka_unit_test(test_partial),   cmocka_unit_test(test_registers),
        cmocka_unit_test(test_leaf),      cmocka_unit_test(test_order),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_binaries),
    };
    return cmocka_run_group_tests_name("code/dependence", tests, setup, teardown);
}
