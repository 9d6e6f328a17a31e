/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inductions against the CPU: random loops are assembled, run and analysed. A value that the
 * analysis finds to change by a constant must do so in the run. A value that does so in all runs
 * should be found.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "built.h"

enum { LOOPS = 400, REGS = 8, ITERATIONS = 9, RUNS = 3, MOST_TEXT = 4000 };

/* Used by the loops, by our numbers: rax rcx rdx rsi rdi r8 r9 r10. */
static const uint8_t number[REGS] = {0, 1, 2, 6, 7, 8, 9, 10};
static const char *const name[REGS] = {"rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10"};

static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint32_t draw(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 11) % below);
}

static char *instruction(char *p)
{
    const char *a = name[draw(REGS)], *b = name[draw(REGS)], *c = name[draw(REGS)];
    int k = (int)draw(64) - 32;
    switch (draw(18)) {
    case 0:
    case 1:
        return p + sprintf(p, "mov %s, %s\n", a, b);
    case 2:
        return p + sprintf(p, "mov %s, %d\n", a, k);
    case 3:
        return p + sprintf(p, "lea %s, [%s+%s*%u%+d]\n", a, b, c, 1u << draw(4), k);
    case 4:
    case 5:
        return p + sprintf(p, "lea %s, [%s%+d]\n", a, b, k);
    case 6:
    case 7:
    case 8:
        return p + sprintf(p, "add %s, %d\n", a, k);
    case 9:
        return p + sprintf(p, "sub %s, %s\n", a, b);
    case 10:
        return p + sprintf(p, "%s %s\n", draw(2) ? "inc" : "dec", a);
    case 11:
        return p + sprintf(p, "shl %s, %u\n", a, draw(4));
    case 12:
        return p + sprintf(p, "imul %s, %s, %d\n", a, b, k);
    case 13:
        return p + sprintf(p, "%s %s\n", draw(2) ? "neg" : "not", a);
    case 14:
        return p + sprintf(p, "xchg %s, %s\n", a, b);
    case 15:
        if (draw(4))
            return p + sprintf(p, "sub %s, %d\n", a, k);
        return p + sprintf(p, "push %s\nmov [rsp-32], %s\nmov %s, [rsp-32]\npop %s\n", a, a, b, c);
    case 16:
        return p + sprintf(p, "xor %s, %s\n", a, draw(2) ? a : b);
    default:
        return p + sprintf(p, "and %s, -16\nor %s, %u\n", a, a, draw(16));
    }
}

/* Registers come from [rdi], and go to [rsi] at the start of each iteration. */
static char *text_of_loop(char *p, unsigned n)
{
    p += sprintf(p, ".globl f%u\n.type f%u,@function\nf%u: push r14\npush r15\n", n, n, n);
    p += sprintf(p, "mov r14, rsi\nmov r15, rdi\n");
    for (unsigned i = 0; i < REGS; i++)
        p += sprintf(p, "mov %s, [r15+%u]\n", name[i], 8 * i);
    p += sprintf(p, "mov r15d, %d\n1:\n", ITERATIONS);
    for (unsigned i = 0; i < REGS; i++)
        p += sprintf(p, "mov [r14+%u], %s\n", 8 * i, name[i]);
    p += sprintf(p, "add r14, %d\n", 8 * REGS);
    for (unsigned i = 2 + draw(7); i > 0; i--)
        p = instruction(p);
    if (draw(2)) { /* two ways, now one, now the other */
        p += sprintf(p, "test r15, 3\njz 2f\n");
        for (unsigned i = draw(3); i > 0; i--)
            p = instruction(p);
        p += sprintf(p, "jmp 3f\n2:\n");
        for (unsigned i = draw(3); i > 0; i--)
            p = instruction(p);
        p += sprintf(p, "3:\n");
    }
    for (unsigned i = draw(3); i > 0; i--)
        p = instruction(p);
    p += sprintf(p, "dec r15\njnz 1b\npop r15\npop r14\nret\n.size f%u,.-f%u\n", n, n);
    return p;
}

/* Differences wrap as registers do. */
static int64_t difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Which registers changed by one constant from the second iteration on, in all runs. */
static unsigned run(void (*loop)(const int64_t *, int64_t (*)[REGS]), int64_t step[REGS])
{
    unsigned constant = (1u << REGS) - 1;
    for (unsigned r = 0; r < RUNS; r++) {
        int64_t start[REGS], seen[ITERATIONS][REGS];
        for (unsigned i = 0; i < REGS; i++)
            start[i] = (int64_t)draw(1u << 30) * 16;
        loop(start, seen);
        for (unsigned i = 0; i < REGS; i++) {
            /* A chain of copies needs as many iterations as it is long to settle. */
            int64_t by = difference(seen[ITERATIONS - 1][i], seen[ITERATIONS - 2][i]);
            for (unsigned k = 4; k < ITERATIONS - 1; k++) {
                if (difference(seen[k][i], seen[k - 1][i]) != by)
                    constant &= ~(1u << i);
            }
            if (r && step[i] != by)
                constant &= ~(1u << i);
            step[i] = by;
        }
    }
    return constant;
}

struct tally {
    unsigned said, missed;
};

static void check(const struct built *b, unsigned n, unsigned constant, const int64_t step[REGS],
                  struct tally *tally)
{
    char function[16];
    struct as_streams s;
    unsigned said = 0;
    snprintf(function, sizeof function, "f%u", n);
    assert_int_equal(as_loop_streams(b->program, built_loop(b, function, 0), &s, NULL), 0);
    for (size_t i = 0; i < s.induction_n; i++) {
        const uint8_t *at = memchr(number, s.induction[i].reg, REGS);
        if (!at) {
            assert_true(s.induction[i].reg == 14 || s.induction[i].reg == 15);
            assert_int_equal(s.induction[i].step, s.induction[i].reg == 14 ? 8 * REGS : -1);
            assert_int_equal(s.induction[i].controls, s.induction[i].reg == 15);
            continue;
        }
        unsigned reg = (unsigned)(at - number);
        said |= 1u << reg;
        if (!(constant >> reg & 1) || step[reg] != s.induction[i].step)
            fail_msg("%s: %s changes by %lld, said %lld", function, name[reg], (long long)step[reg],
                     (long long)s.induction[i].step);
    }
    for (unsigned i = 0; i < REGS; i++) {
        bool counts = constant >> i & 1 && step[i];
        tally->said += counts && said >> i & 1;
        tally->missed += counts && !(said >> i & 1);
    }
    as_streams_free(&s);
}

static void test_random(void **state)
{
    (void)state;
    char *text = malloc((size_t)LOOPS * MOST_TEXT), *p = text;
    assert_non_null(text);
    p += sprintf(p, ".intel_syntax noprefix\n");
    for (unsigned n = 0; n < LOOPS; n++)
        p = text_of_loop(p, n);
    struct built b = built_new_kept(TEST_CC, "", "S", text, "induction-test.so");
    free(text);
    void *library = dlopen("./induction-test.so", RTLD_NOW);
    assert_non_null(library);
    struct tally tally = {0};
    for (unsigned n = 0; n < LOOPS; n++) {
        char function[16];
        int64_t step[REGS];
        void (*loop)(const int64_t *, int64_t(*)[REGS]);
        snprintf(function, sizeof function, "f%u", n);
        *(void **)&loop = dlsym(library, function);
        assert_non_null(loop);
        unsigned constant = run(loop, step);
        check(&b, n, constant, step, &tally);
    }
    dlclose(library);
    remove("induction-test.so");
    built_free(&b);
    print_message("# %u inductions found, %u missed\n", tally.said, tally.missed);
    assert_true(tally.said > 200);
    /* Those that pass through memory, or set low bits of themselves. */
    assert_true(tally.missed * 10 < tally.said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests_name("code/induction", tests, NULL, NULL);
}
