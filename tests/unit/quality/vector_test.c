/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts on vectorisation of loops from assembly, with every instruction known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "built.h"
#include "quality/vector.h"

/* Each is one loop. */
static const struct {
    const char *name, *body;
} functions[] = {
    /* negation and conversion use packed instructions for one value */
    {"negate", "movsd xmm0, [rsi+rax*8]\nxorpd xmm0, xmm7\ncvtps2pd xmm1, xmm0\n"
               "movsd [rdi+rax*8], xmm0\n"},
    {"whole", "movupd xmm0, [rsi+rax*8]\naddpd xmm0, xmm1\nmovups [rdi+rax*8], xmm0\ninc rax\n"},
    {"halves", "movq xmm0, [rsi+rax*8]\npxor xmm0, xmm1\nmovq [rdi+rax*8], xmm0\n"},
    {"collect", "vfmadd231sd xmm0, xmm1, [rsi+rax*8]\n"},
    /* the same, but what it hands on is a factor */
    {"factor", "vfmadd132sd xmm0, xmm1, [rsi+rax*8]\n"},
    {"handed_on", "addsd xmm0, [rsi+rax*8]\nmovsd [rdi+rax*8], xmm0\n"},
    {"far_off", "movsd xmm0, [rdi+rax*8-64]\naddsd xmm0, xmm1\nmovsd [rdi+rax*8], xmm0\n"},
    {"close_by", "movsd xmm0, [rdi+rax*8-16]\naddsd xmm0, xmm1\nmovsd [rdi+rax*8], xmm0\n"},
    {"search", "movsd xmm0, [rsi+rax*8]\nucomisd xmm0, xmm1\nja 2f\naddsd xmm0, xmm2\n"
               "movsd [rdi+rax*8], xmm0\n"},
    {"count", "nop\n"},
};

static struct built build_all(void)
{
    char text[8192] = ".intel_syntax noprefix\n";

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const char *name = functions[i].name;

        snprintf(text + strlen(text), sizeof text - strlen(text),
                 ".globl %s\n.type %s,@function\n%s:\n1: %sinc rax\ncmp rax, rdx\njne 1b\n2: ret\n"
                 ".size %s,.-%s\n",
                 name, name, name, functions[i].body, name, name);
    }
    return built_new(TEST_CC, "", "S", text);
}

static struct as_vector_verdict of(const struct built *b, const char *function)
{
    struct as_vector_verdict verdict;

    assert_int_equal(as_loop_vector_verdict(b->program, built_loop(b, function, 0), &verdict, NULL),
                     0);
    return verdict;
}

static void expect(const struct built *b, const char *function, enum as_vector_state state,
                   uint32_t width_b, const char *reasons)
{
    struct as_vector_verdict v = of(b, function);
    char got[128] = "";

    for (size_t i = 0; i < v.reason_n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "",
                 as_vector_obstacle_name(v.reason[i].obstacle));
    print_message("# %s\n", function);
    assert_int_equal(v.state, state);
    assert_int_equal(v.width_b, width_b);
    assert_string_equal(got, reasons);
    as_vector_verdict_free(&v);
}

static void test_states(void **state)
{
    struct built b = build_all();

    (void)state;
    expect(&b, "negate", AS_VECTOR_SCALAR, 0, "overlap");
    expect(&b, "whole", AS_VECTOR_FULL, 16, "");
    expect(&b, "halves", AS_VECTOR_FULL, 8, "");
    expect(&b, "count", AS_VECTOR_NONE, 0, "");
    built_free(&b);
}

static void test_reasons(void **state)
{
    struct built b = build_all();

    (void)state;
    expect(&b, "collect", AS_VECTOR_SCALAR, 0, "reduction");
    expect(&b, "factor", AS_VECTOR_SCALAR, 0, "chain");
    expect(&b, "handed_on", AS_VECTOR_SCALAR, 0, "chain");
    expect(&b, "far_off", AS_VECTOR_SCALAR, 0, "");
    expect(&b, "close_by", AS_VECTOR_SCALAR, 0, "chain");
    expect(&b, "search", AS_VECTOR_SCALAR, 0, "exits");
    built_free(&b);
}

/* The evidence is the instructions themselves. */
static void test_evidence(void **state)
{
    struct built b = build_all();
    struct as_vector_verdict v = of(&b, "close_by");
    char said[256], small[16];

    (void)state;
    assert_int_equal(v.reason[0].amount, 2);
    assert_int_equal(v.reason[0].n, 3);
    assert_string_equal(built_mnemonic(&b, v.insn[v.reason[0].first + 1]), "addsd");
    as_vector_reason_text(b.program, &v, &v.reason[0], said, sizeof said);
    assert_non_null(strstr(said, "each iteration needs what the one 2 before computed: 0x"));
    assert_non_null(strstr(said, " addsd"));
    assert_int_equal(as_vector_reason_text(b.program, &v, &v.reason[0], small, sizeof small), 15);
    assert_memory_equal(small, said, 15);
    as_vector_verdict_free(&v);
    v = of(&b, "search");
    assert_int_equal(v.reason[0].amount, 2);
    assert_int_equal(v.reason[0].n, 2);
    as_vector_verdict_free(&v);
    built_free(&b);
}

static void test_no_memory(void **state)
{
    struct built b = build_all();
    int rc = -1;

    (void)state;
    for (long n = 0; rc < 0; n++) {
        struct as_vector_verdict v;
        struct as_error err = {0};

        as_alloc_fail_after(n);
        rc = as_loop_vector_verdict(b.program, built_loop(&b, "close_by", 0), &v, &err);
        as_alloc_fail_after(-1);
        assert_true(rc == 0 || rc == AS_ERR_NOMEM);
        assert_true(rc == 0 || err.text[0]);
        as_vector_verdict_free(&v);
    }
    built_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_evidence),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
