/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latencies by chains, on a made-up core. It follows registers and flags through a block that runs
 * repeatedly, with latencies by mnemonic and operand. The chains must yield these latencies, and
 * nothing if a chain would lead through an idiom.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "all_forms.h"
#include "measure/table.h"

/* ---- The core -------------------------------------------------------------------------------- */

enum { RUNS = 60, RDX = AS_REG_GPR + 2, RBP = AS_REG_GPR + 5, FLAGS = AS_REG_COUNT, PLACES };

/* From an explicit operand; -1: from all others (implied registers, addresses, flags). */
struct made_latency {
    const char *mnemonic;
    int operand;
    double cycles;
};

static const struct made_latency latencies[] = {
    {"add", -1, 1},         {"sub", -1, 1},       {"imul", -1, 3},     {"mul", -1, 3},
    {"div", -1, 11},        {"cmovbe", -1, 2},    {"test", -1, 1},     {"setz", -1, 1},
    {"vmovq", -1, 5},       {"vaddps", -1, 2},    {"vmulps", -1, 3},   {"vfmadd231pd", 0, 2},
    {"vfmadd231pd", -1, 4}, {"vaddpd", -1, 2},    {"lea", -1, 1},      {"movsx", -1, 6},
    {"adc", -1, 1},         {"vpsrlq", -1, 1},    {"vpcmpeqd", -1, 1}, {"vucomisd", -1, 4},
    {"ucomisd", -1, 4},     {"cvtsi2sd", 1, 8},   {"cvtsi2sd", -1, 3}, {"pcmpgtb", -1, 1},
    {"vgatherdpd", -1, 20}, {"vpxor", -1, 1},     {"mov", -1, 5},      {"kxnorw", -1, 1},
    {"cvttsd2si", -1, 7},   {"vpermilps", -1, 1}, {"or", -1, 1},       {"shr", -1, 1},
    {"idiv", -1, 12},
};

/* Other properties of the core: idioms that the decoder does not know, late results of
 * additions. */
static const char *unknown_idiom;
static double late;
static bool is_divisor_small; /* a constant in rbp: quotients have many digits */
static unsigned width = 8;    /* slots a cycle */

static double latency_of(const char *mnemonic, int operand)
{
    double any = -1;

    for (size_t i = 0; i < sizeof latencies / sizeof *latencies; i++) {
        if (strcmp(latencies[i].mnemonic, mnemonic) != 0)
            continue;
        if (latencies[i].operand == operand)
            return latencies[i].cycles;
        if (latencies[i].operand < 0)
            any = latencies[i].cycles;
    }
    if (any < 0)
        fail_msg("the core has no %s", mnemonic);
    return any;
}

struct made_state {
    double ready[PLACES];
    bool is_late[PLACES]; /* of an adder: others wait longer for it */
};

static double when_there(const struct made_state *s, unsigned place, const char *mnemonic)
{
    return s->ready[place] + (s->is_late[place] && strncmp(mnemonic, "vadd", 4) != 0 ? late : 0);
}

/* Through whichever operand is slowest; where it is none, through the address or implied. */
static double latency_from(const struct as_insn *insn, const struct as_form *form, unsigned reg)
{
    double longest = -1;

    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_REG && form->operand[i].access & AS_ACCESS_READ &&
            insn->reg[form->operand[i].slot] == reg)
            longest = fmax(longest, latency_of(form->mnemonic, (int)i));
    if (strcmp(form->mnemonic, "div") == 0 && reg == RDX)
        return 30; /* an upper half that is not known to be zero */
    if (form->insn_class == AS_CLASS_DIV && is_divisor_small)
        return 18;
    return longest < 0 ? latency_of(form->mnemonic, -1) : longest;
}

/* Sources that are one register, all of them. */
static bool reads_one(const struct as_insn *insn, const struct as_form *form)
{
    return form->operands >= 2 && insn->reg[form->operands - 1] == insn->reg[form->operands - 2];
}

static void run_insn(struct made_state *s, const struct as_insn *insn)
{
    const struct as_form *form = as_form_get(insn->form);
    struct as_effects e;
    double done = 0;

    as_insn_effects(insn, &e);
    is_divisor_small |= as_regset_has(e.written, RBP);
    const bool is_idiom =
        insn->bits & AS_INSN_IDIOM ||
        (unknown_idiom && strcmp(form->mnemonic, unknown_idiom) == 0 && reads_one(insn, form));
    for (unsigned reg = 0; reg < AS_REG_COUNT && !is_idiom; reg++)
        if (as_regset_has(e.read, reg))
            done = fmax(done, when_there(s, reg, form->mnemonic) + latency_from(insn, form, reg));
    if (e.flags_read && !is_idiom)
        done = fmax(done, s->ready[FLAGS] + latency_of(form->mnemonic, -1));
    for (unsigned reg = 0; reg < AS_REG_COUNT; reg++)
        if (as_regset_has(e.written, reg)) {
            s->ready[reg] = done;
            s->is_late[reg] = strncmp(form->mnemonic, "vadd", 4) == 0;
        }
    if (e.flags_written)
        s->ready[FLAGS] = done;
}

static double latest(const struct made_state *s)
{
    double last = 0;

    for (unsigned i = 0; i < PLACES; i++)
        last = fmax(last, s->ready[i]);
    return last;
}

static void run_block(const uint8_t *bytes, size_t n, struct as_cycles *out)
{
    struct made_state s = {.ready = {0}};
    struct as_code code;
    struct as_error err;
    double half = 0;

    assert_int_equal(as_decode(bytes, n, 0, &code, &err), 0);
    assert_int_equal(code.invalid_n, 0);
    is_divisor_small = false;
    for (unsigned run = 0; run < RUNS; run++) {
        if (run == RUNS / 2)
            half = latest(&s);
        for (size_t i = 0; i < code.n; i++)
            run_insn(&s, &code.insn[i]);
    }
    const double slope = (latest(&s) - half) / (RUNS - RUNS / 2);
    *out = (struct as_cycles){
        .status = AS_METER_OK, .cycles = fmax(slope, (double)code.n / width), .sample_n = 48};
    as_code_free(&code);
}

/* ---- Chains ---------------------------------------------------------------------------------- */

static struct as_table_work made_work(void)
{
    return (struct as_table_work){.made_up = run_block, .half_trip = 5, .load_fp = 7};
}

static struct as_timing chains_of(const char *key)
{
    struct as_table_work w = made_work();
    struct as_timing t = {0};
    struct as_error err;

    assert_int_equal(as_form_latencies(&w, form_named(key), &t, &err), 0);
    return t;
}

static void expect_cycles(const char *key, const char *what, double got, double want)
{
    if (fabs(got - want) > 1e-9)
        fail_msg("%s, %s: %g instead of %g", key, what, got, want);
}

static void every_operand_has_its_chain(void **state)
{
    (void)state;
    const struct as_timing fma = chains_of("vfmadd231pd ymm,ymm,ymm");
    expect_cycles("fma", "addend", fma.latency[0], 2);
    expect_cycles("fma", "factor", fma.latency[1], 4);
    expect_cycles("fma", "factor", fma.latency[2], 4);
    assert_false(fma.is_split);
    const struct as_timing product = chains_of("imul r64,r64,imm32");
    expect_cycles("imul", "source", product.latency[1], 3);
    assert_true(product.latency[0] < 0); /* it is not read */
    const struct as_timing address = chains_of("lea r64,address64 [bisd]");
    expect_cycles("lea", "address", address.latency[1], 1);
    assert_true(product.flags_latency < 0 && product.implied_latency < 0 &&
                product.behind_load < 0);
}

/* `sub rax,rax` waits for nothing, `sub rax,rcx` does: with the source chained to the result there
 * is nothing to be seen of it. */
static void no_chain_through_an_idiom(void **state)
{
    (void)state;
    for (width = 2; width <= 8; width += 6) { /* half a cycle each on a narrow core */
        const struct as_timing known = chains_of("sub r64,r64");
        expect_cycles("sub", "target", known.latency[0], 1);
        assert_true(known.latency[1] < 0);
    }
    width = 8;
    const struct as_timing vectors = chains_of("pcmpgtb xmm,xmm");
    expect_cycles("pcmpgtb", "target", vectors.latency[0], 1);
    assert_true(vectors.latency[1] < 0);
    /* The idiom itself is one, whatever it costs. */
    const struct as_timing itself = chains_of("sub r64,r64 [same]");
    assert_true(itself.latency[0] >= 0 && itself.latency[0] < 0.5);
}

static void nor_through_one_that_the_decoder_does_not_know(void **state)
{
    (void)state;
    unknown_idiom = "add";
    const struct as_timing t = chains_of("add r64,r64");
    unknown_idiom = NULL;
    expect_cycles("add", "target", t.latency[0], 1);
    assert_true(t.latency[1] < 0);
    expect_cycles("add", "source", chains_of("add r64,r64").latency[1], 1);
}

static void flags_have_a_chain_of_their_own(void **state)
{
    (void)state;
    const struct as_timing t = chains_of("cmovbe r64,r64");
    expect_cycles("cmovbe", "source", t.latency[1], 2);
    expect_cycles("cmovbe", "flags", t.flags_latency, 2); /* without the test behind it */
    assert_true(chains_of("add r64,r64").flags_latency < 0);
    /* Flags that a comparison of vectors writes: back over setz and a move. */
    const struct as_timing compare = chains_of("ucomisd xmm,xmm");
    expect_cycles("ucomisd", "flags", compare.latency[0], 4);
    assert_true(compare.is_split);
}

static void implied_registers_have_one_too(void **state)
{
    (void)state;
    expect_cycles("mul", "rax", chains_of("mul r64").implied_latency, 3);
    /* The upper half is zero, which the chain does not wait for. */
    expect_cycles("div", "rax", chains_of("div r64").implied_latency, 11);
}

/* Quotients with all digits: without what makes the dividend of the quotient before. */
static void divisions_have_a_worst_case(void **state)
{
    static const char *const keys[] = {"div r64", "idiv r64"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct as_table_work w = made_work();
        struct as_timing t = chains_of(keys[i]);
        struct as_error err;
        assert_int_equal(as_form_divisions(&w, form_named(keys[i]), &t, &err), 0);
        expect_cycles(keys[i], "best", t.implied_latency, 11 + (double)i);
        expect_cycles(keys[i], "worst", t.hard_latency, 18);
    }
    struct as_table_work w = made_work();
    struct as_timing t = chains_of("mul r64");
    struct as_error err;
    assert_int_equal(as_form_divisions(&w, form_named("mul r64"), &t, &err), 0);
    assert_true(t.hard_latency == 0 && t.hard_each == 0);
}

static void moves_between_files_are_taken_off(void **state)
{
    (void)state;
    const struct as_timing from = chains_of("cvttsd2si r64,xmm");
    expect_cycles("cvttsd2si", "source", from.latency[1], 7);
    assert_true(from.is_split);
    const struct as_timing to = chains_of("cvtsi2sd xmm,r64");
    expect_cycles("cvtsi2sd", "source", to.latency[1], 8);
    assert_true(to.is_split);
    /* Without that move nothing is known. */
    struct as_table_work w = made_work();
    struct as_timing t = {0};
    struct as_error err;
    w.half_trip = 0;
    assert_int_equal(as_form_latencies(&w, form_named("cvttsd2si r64,xmm"), &t, &err), 0);
    assert_true(t.latency[1] < 0 && !t.is_split);
}

static void what_extends_a_load_stands_behind_it(void **state)
{
    (void)state;
    expect_cycles("movsx", "load", chains_of("movsx r64,m8").behind_load, 1); /* of 6 */
    expect_cycles("movsx", "load", chains_of("movsx r64,m8 [i]").behind_load, 1);
    assert_true(chains_of("mov r64,m64").behind_load < 0);
}

static void gathers_are_followed_by_their_indices(void **state)
{
    (void)state;
    expect_cycles("vgatherdpd", "indices", chains_of("vgatherdpd ymm,m256,ymm [i]").implied_latency,
                  20 - 7);
}

/* ---- Late results ---------------------------------------------------------------------------- */

static void late_results_are_found(void **state)
{
    struct as_table_work w = made_work();
    struct as_error err;
    struct as_timing t = {.mixed_n = {0}};

    (void)state;
    late = 1;
    assert_int_equal(as_measure_bypass(&w, &err), 0);
    if (!as_parameter_find(&w.parameters, "bypass.fadd")) {
        print_message("# skipped: this processor has no AVX\n");
        skip();
    }
    expect_cycles("bypass", "late", w.late, 1);
    expect_cycles("bypass", "multiplication", w.multiply, 3);
    /* It uses the pipes of additions: kernels of them are slower with four of it. */
    w.rates.cycles[AS_PROBE_FADD] = 7;
    w.rates.cycles[AS_PROBE_SLOTS] = 56. / 8;
    t = (struct as_timing){.each = 0.5, .copies = 8};
    t.mixed_n[AS_PROBE_FADD] = 4, t.repeats[AS_PROBE_FADD] = 1;
    t.mixed[AS_PROBE_FADD] = 9;
    assert_int_equal(as_form_latencies(&w, form_named("vaddpd ymm,ymm,ymm"), &t, &err), 0);
    assert_int_equal(as_form_lateness(&w, form_named("vaddpd ymm,ymm,ymm"), &t, &err), 0);
    assert_true(t.is_late);
    late = 0;
    assert_int_equal(as_form_lateness(&w, form_named("vaddpd ymm,ymm,ymm"), &t, &err), 0);
    assert_false(t.is_late);
    w = made_work();
    assert_int_equal(as_measure_bypass(&w, &err), 0);
    expect_cycles("bypass", "late", w.late, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operand_has_its_chain),
        cmocka_unit_test(no_chain_through_an_idiom),
        cmocka_unit_test(nor_through_one_that_the_decoder_does_not_know),
        cmocka_unit_test(flags_have_a_chain_of_their_own),
        cmocka_unit_test(implied_registers_have_one_too),
        cmocka_unit_test(divisions_have_a_worst_case),
        cmocka_unit_test(moves_between_files_are_taken_off),
        cmocka_unit_test(what_extends_a_load_stands_behind_it),
        cmocka_unit_test(gathers_are_followed_by_their_indices),
        cmocka_unit_test(late_results_are_found),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, collect_all, drop_all);
}
