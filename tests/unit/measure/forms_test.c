/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms that are found, instances that are made of them, and the lines of a table that come of
 * figures: those of a core that was made up, so that every number is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "all_forms.h"
#include "machine/machine.h"
#include "measure/measure.h"
#include "measure/timing.h"

static void forms_of_all_kinds_are_found(void **state)
{
    static const char *const key[] = {"add r64,r64",
                                      "add r64,imm8",
                                      "add m64,r64",
                                      "add r64,m64 [i]",
                                      "imul r64,r64,imm32",
                                      "lea r64,address64 [bisd]",
                                      "lea r64,address64 [is]",
                                      "xor r32,r32 [same]",
                                      "div r64",
                                      "shl r64,cl",
                                      "cmovz r64,r64",
                                      "adc r64,r64",
                                      "push r64",
                                      "movzx r32,m8",
                                      "popcnt r64,r64",
                                      "addsd xmm,xmm",
                                      "mulps xmm,m128",
                                      "sqrtpd xmm,xmm",
                                      "cvtsi2sd xmm,r64",
                                      "vfmadd231pd ymm,ymm,ymm",
                                      "vfmadd231pd zmm,zmm,zmm {evex}",
                                      "vaddps zmm,zmm,m512 {evex}",
                                      "vdivpd ymm,ymm,ymm",
                                      "vperm2f128 ymm,ymm,ymm,imm8",
                                      "vpermd ymm,ymm,ymm",
                                      "fadd st0,st",
                                      "paddd mm,mm",
                                      "kandw k,k,k"};
    (void)state;
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        form_named(key[i]);
    assert_true(all.cases.n > 8000);
}

/* A table has one line a key: a RIP-relative operand is memory as any other. */
static void keys_are_different(void **state)
{
    struct as_form_list list;
    uint8_t bytes[4 * AS_ENCODE_B];
    size_t n = as_encode_text("mov rax,m64[rip+8]", bytes);

    (void)state;
    n += as_encode_text("mov rax,m64[rbx]", bytes + n);
    n += as_encode_text("mov rcx,m64[rbx+8]", bytes + n);
    n += as_encode_text("mov rcx,m64[rbx+rsi]", bytes + n);
    assert_int_equal(as_forms_init(&list), 0);
    assert_int_equal(as_forms_of_code(&list, bytes, n), 0);
    assert_int_equal(list.cases.n, 2);
    assert_string_equal(list.cases.at[0].key, "mov r64,m64");
    assert_string_equal(list.cases.at[1].key, "mov r64,m64 [i]");
    as_forms_fini(&list);
}

/* Each instance is of the form that it is to stand for, and no two write the same register. */
static void instances_are_of_their_form(void **state)
{
    size_t made = 0;

    (void)state;
    as_vec_foreach (&all.cases, one) {
        struct as_code code;
        struct as_error err;
        char key[AS_UARCH_KEY_B];
        uint8_t bytes[AS_ENCODE_B];
        const size_t n = as_form_instance(one, 1, -1, bytes);
        if (!n)
            continue;
        made++;
        assert_int_equal(as_decode(bytes, n, 0, &code, &err), 0);
        assert_int_equal(code.n, 1);
        as_uarch_key(&code.insn[0], key, sizeof key);
        as_code_free(&code);
        /* The encoder reverses operands of fdiv where that is shorter. */
        if (strcmp(key, one->key) != 0 && strncmp(key, "fdiv", 4) != 0)
            fail_msg("%s became %s", one->key, key);
    }
    assert_true(made > 8000);
}

/* Copies of them would measure an assist of the register stack. */
static void forms_of_x87_are_not_measured(void **state)
{
    static const char *const refused[] = {"fadd st0,st", "fld m64", "fstp m32", "fadd m64"};
    uint8_t bytes[AS_ENCODE_B];

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_int_equal(as_form_instance(form_named(refused[i]), 0, -1, bytes), 0);
    assert_true(as_form_instance(form_named("fldcw m16"), 0, -1, bytes) > 0);
}

static unsigned first_register(const char *key, unsigned number, int chained, unsigned slot)
{
    uint8_t bytes[AS_ENCODE_B];
    struct as_code code;
    struct as_error err;
    const size_t n = as_form_instance(form_named(key), number, chained, bytes);

    assert_true(n > 0);
    assert_int_equal(as_decode(bytes, n, 0, &code, &err), 0);
    const unsigned reg = slot < 4 ? code.insn[0].reg[slot] : code.insn[0].base;
    as_code_free(&code);
    return reg;
}

static void instances_write_registers_in_turn(void **state)
{
    (void)state;
    assert_int_equal(first_register("vaddpd ymm,ymm,ymm", 0, -1, 0), AS_REG_VEC);
    assert_int_equal(first_register("vaddpd ymm,ymm,ymm", 5, -1, 0), AS_REG_VEC + 5);
    assert_true(first_register("vaddpd ymm,ymm,ymm", 5, -1, 1) >= AS_REG_VEC + 8);
    /* Chained: the source is what the instance writes. */
    assert_int_equal(first_register("vaddpd ymm,ymm,ymm", 0, 2, 2), AS_REG_VEC);
    assert_int_equal(first_register("lea r64,address64 [bis]", 0, 1, 4),
                     first_register("lea r64,address64 [bis]", 0, 1, 0));
    /* Seven general registers, but for what a form implies: cl. */
    assert_int_equal(as_form_copies(form_named("add r64,r64")), 7);
    assert_int_equal(as_form_copies(form_named("shl r64,cl")), 6);
    assert_int_equal(as_form_copies(form_named("vaddpd ymm,ymm,ymm")), 8);
    for (unsigned i = 0; i < 8; i++)
        assert_int_not_equal(first_register("shl r64,cl", i, -1, 0), 1);
}

static void implied_chains_are_broken(void **state)
{
    uint8_t bytes[4 * AS_ENCODE_B];

    (void)state;
    assert_int_equal(as_form_breaker(form_named("add r64,r64"), bytes), 0);
    assert_true(as_form_breaker(form_named("div r64"), bytes) > 0);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* A core of six ways: four ALUs, one of which multiplies, two pipes of vectors, two loads, a store.
 */
static const struct as_probe_rates core = {.cycles = {[AS_PROBE_SLOTS] = 56. / 6,
                                                      [AS_PROBE_ALU] = 42. / 4,
                                                      [AS_PROBE_MUL] = 21,
                                                      [AS_PROBE_FMUL] = 7,
                                                      [AS_PROBE_FADD] = 7,
                                                      [AS_PROBE_FANY] = 28. / 3,
                                                      [AS_PROBE_PERM] = 14,
                                                      [AS_PROBE_AGU] = 14,
                                                      [AS_PROBE_LDV] = 7,
                                                      [AS_PROBE_STD] = 14,
                                                      [AS_PROBE_STV] = 7}};

/* Nothing is used: every kernel with instances in it is as fast as alone. */
static struct as_timing idle(double each, double slots)
{
    struct as_timing t = {.each = each, .spread = 0.004, .copies = 8};

    for (unsigned p = 0; p < AS_PROBES; p++) {
        t.mixed_n[p] = 4;
        t.repeats[p] = 1;
        t.mixed[p] = core.cycles[p];
    }
    t.mixed[AS_PROBE_SLOTS] = 4 * slots / 6;
    for (unsigned i = 0; i < AS_OPERANDS_MAX; i++)
        t.latency[i] = -1;
    return t;
}

static void expect_line(const char *key, const struct as_timing *t, const char *behind)
{
    struct as_str line = {0};
    char want[256];

    as_timing_append(&line, form_named(key), t, &core);
    snprintf(want, sizeof want, "form\t%s\t%s\n", key, behind);
    assert_string_equal(as_str_z(&line), want);
    as_str_fini(&line);
}

static void ports_are_whole(void **state)
{
    (void)state;
    assert_int_equal(as_probe_ports(&core, AS_PROBE_SLOTS), 6);
    assert_int_equal(as_probe_ports(&core, AS_PROBE_ALU), 4);
    assert_int_equal(as_probe_ports(&core, AS_PROBE_MUL), 1);
    assert_int_equal(as_probe_ports(&core, AS_PROBE_FANY), 3);
    assert_true(as_probe_spread(&core, AS_PROBE_SLOTS) < 1e-9);
    struct as_probe_rates near = core;
    near.cycles[AS_PROBE_SLOTS] *= 1.01;
    assert_true(fabs(as_probe_spread(&near, AS_PROBE_SLOTS) - 0.01) < 1e-9);
    const struct as_probe_rates none = {.cycles = {0}};
    assert_int_equal(as_probe_ports(&none, AS_PROBE_FMUL), 0);
}

static void fixed_registers_are_chains(void **state)
{
    struct as_timing t = idle(1, 1);
    (void)state;
    /* and eax,imm32: a loop-carried dependence, which uses no unit */
    t.copies = 1;
    t.mixed[AS_PROBE_ALU] += 4 * 1 / 4.;
    expect_line("and eax,imm32", &t, "1\tALU:1\t1\testimated\tm1 0.4%");
}

static void what_cannot_be_is_noisy(void **state)
{
    struct as_timing t = idle(0.25, 1);
    (void)state;
    /* four that take 16 cycles of three ports, where one takes a quarter of a cycle alone */
    t.mixed[AS_PROBE_ALU] += 4 * 4;
    t.latency[0] = t.latency[1] = 1;
    expect_line("add r64,r64", &t, "1\tALU:16\t1\t-\tnoisy 0.4%");
    t = idle(0.25, 9);
    t.latency[0] = t.latency[1] = 1;
    expect_line("add r64,r64", &t, "9\t-\t1\t-\tnoisy 0.4%");
    /* independent ones that take four cycles each, where a chain of them takes one */
    t = idle(4, 1);
    t.latency[0] = t.latency[1] = 1;
    expect_line("add r64,r64", &t, "1\town:4\t1\t-\tnoisy 0.4%");
}

/* Chains through flags, through implied registers, behind a load and across files. Also chains with
 * results too late for a multiplication. */
static void chains_of_all_kinds_stand_in_the_line(void **state)
{
    struct as_timing t = idle(0.5, 2);
    (void)state;
    t.latency[0] = t.latency[1] = 1;
    t.flags_latency = 2.03;
    expect_line("cmovbe r64,r64", &t, "2\t-\t1 f>0:2\t-\tm1 0.4%");
    t.flags_latency = 1.1; /* as the operands */
    expect_line("cmovbe r64,r64", &t, "2\t-\t1\t-\tm1 0.4%");
    t = idle(1, 2);
    t.implied_latency = 3.02;
    expect_line("mul r64", &t, "2\town:1\t3\t-\tm1 0.4%");
    t = idle(0.25, 1);
    t.behind_load = 1.02;
    expect_line("movsx r64,m8", &t, "1\t-\t1\t-\tm1 0.4%");
    t = idle(0.5, 1);
    t.latency[0] = 5.5;
    t.is_split = true;
    expect_line("ucomisd xmm,xmm", &t, "1\town:0.5\t5.5\t-\thalf 0.4%");
    t = idle(0.5, 1);
    t.mixed[AS_PROBE_FADD] += 4 * 1 / 2.;
    t.latency[1] = t.latency[2] = 2;
    assert_true(as_timing_adds(&t, &core));
    t.is_late = true;
    expect_line("vaddpd ymm,ymm,ymm", &t, "1\tFADD:1\t2\tclass=fadd\tm1 0.4%");
}

/* Stores of vectors at two a cycle, of general registers at one: port-cycles are those of the
 * latter, so that both share them. */
/* Of MMX the rate alone is known, of three pipes here. */
static void mmx_goes_by_its_rate(void **state)
{
    struct as_timing t = idle(0.335, 1);
    (void)state;
    t.latency[0] = t.latency[1] = 2;
    expect_line("paddd mm,mm", &t, "1\tFANY:1\t2\t-\tm1 0.4%");
    t.each = 0.67;
    expect_line("pmaddwd mm,mm", &t, "1\tFANY:2\t2\t-\tm1 0.4%");
    t.each = 0.5;
    expect_line("paddd mm,m64", &t, "1\tLDV:1 FANY:1\t2\t-\tm1 0.4%");
    t.latency[0] = t.latency[1] = -1;
    expect_line("movq m64,mm", &t, "1\tAGU:1 STD:1\t0\t-\tm1 0.4%");
}

/* Gathers and scatters: indices, a mask in a vector register or in k1, and other registers than
 * those for what is gathered. */
static void gathers_are_set_up(void **state)
{
    static const char *const key[] = {"vgatherdpd ymm,m256,ymm [i]", "vpgatherqq ymm,m256,ymm [i]",
                                      "vgatherdps zmm,m512 {evex} {k} [i]",
                                      "vpscatterdd m512,zmm {evex} {k} [i]",
                                      "vgatherqps xmm,m128,xmm [i]"};
    (void)state;
    for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
        const struct as_form_case *one = form_named(key[i]);
        uint8_t bytes[4 * AS_ENCODE_B], insn[AS_ENCODE_B];
        struct as_code code;
        struct as_error err;
        char again[AS_UARCH_KEY_B];

        assert_true(as_form_gathers(as_form_get(one->insn.form)));
        size_t n = as_form_breaker(one, bytes);
        assert_int_equal(as_decode(bytes, n, 0, &code, &err), 0);
        assert_int_equal(code.n, 2); /* indices and the mask */
        as_code_free(&code);
        for (unsigned number = 0; number < 8; number++) {
            n = as_form_instance(one, number, -1, insn);
            assert_int_equal(as_decode(insn, n, 0, &code, &err), 0);
            assert_false(code.insn[0].bits & AS_INSN_INVALID);
            as_uarch_key(&code.insn[0], again, sizeof again);
            assert_string_equal(again, key[i]);
            as_code_free(&code);
        }
    }
}

static void stores_share_their_ports(void **state)
{
    struct as_timing t = idle(1, 1);
    (void)state;
    t.mixed[AS_PROBE_STV] += 4 * 1 / 2.;
    t.latency[1] = t.latency[2] = 4;
    expect_line("vfmadd231pd ymm,ymm,ymm", &t, "1\tSTD:0.5 own:1\t4\t-\tm1 0.4%");
}

/* Shared ports: operations of the smaller group do not count for the larger one. Pipes of 64 bytes
 * have groups of their own if they block others. */
static void shared_ports_count_once(void **state)
{
    struct as_timing t = idle(0.5, 1);
    struct as_probe_rates shared = core;
    struct as_str line = {0};

    (void)state;
    shared.alu_has_vectors = shared.wide_are_own = true;
    shared.cycles[AS_PROBE_FANYZ] = 14;
    shared.cycles[AS_PROBE_PERMZ] = 14;
    shared.ports[AS_PROBE_ALU] = 0xf;
    shared.ports[AS_PROBE_FANY] = 0x7;
    shared.ports[AS_PROBE_FMUL] = 0x3;
    shared.ports[AS_PROBE_FANYZ] = 0x5;
    shared.ports[AS_PROBE_PERMZ] = 0x4;
    t.latency[1] = t.latency[2] = 4;
    t.mixed[AS_PROBE_ALU] += 4 * 1 / 4.;
    t.mixed[AS_PROBE_FANY] += 4 * 1 / 3.;
    t.mixed[AS_PROBE_FMUL] += 4 * 1 / 2.;
    as_timing_append(&line, form_named("vmulpd ymm,ymm,ymm"), &t, &shared);
    /* One operation of three goes through the one port of permutations. */
    t = idle(1.5, 3);
    t.latency[1] = t.latency[2] = 4;
    t.mixed[AS_PROBE_ALU] += 4 * 3 / 4.;
    t.mixed[AS_PROBE_FANYZ] = shared.cycles[AS_PROBE_FANYZ] + 4 * 3 / 2.;
    t.mixed[AS_PROBE_PERMZ] = shared.cycles[AS_PROBE_PERMZ] + 4 * 1;
    as_timing_append(&line, form_named("vmulpd zmm,zmm,zmm {evex}"), &t, &shared);
    assert_string_equal(as_str_z(&line),
                        "form\tvmulpd ymm,ymm,ymm\t1\tFMUL:1\t4\t-\tm1 0.4%\n"
                        "form\tvmulpd zmm,zmm,zmm {evex}\t3\tFANY512:2 PERM512:1\t4\t-\tm1 0.4%\n");
    as_str_fini(&line);
    /* Pipes that are the same for longer: port-cycles of the shorter ones. */
    shared = core;
    shared.cycles[AS_PROBE_FMULZ] = 14;
    assert_int_equal(as_probe_home(&shared, AS_PROBE_FMULZ), AS_PROBE_FMUL);
    t = idle(1, 1);
    t.latency[1] = t.latency[2] = 4;
    t.mixed[AS_PROBE_FMULZ] = shared.cycles[AS_PROBE_FMULZ] + 4 * 1;
    as_timing_append(&line, form_named("vmulpd zmm,zmm,zmm {evex}"), &t, &shared);
    assert_string_equal(as_str_z(&line),
                        "form\tvmulpd zmm,zmm,zmm {evex}\t1\tFMUL:2\t4\t-\tm1 0.4%\n");
    as_str_fini(&line);
}

static void figures_become_lines(void **state)
{
    struct as_timing t = idle(0.25, 1);
    (void)state;
    t.mixed[AS_PROBE_ALU] += 4 * 1 / 4.; /* four of them take a cycle of all four ALUs */
    t.latency[0] = t.latency[1] = 0.997;
    expect_line("add r64,r64", &t, "1\tALU:1\t1\t-\tm1 0.4%");
    t = idle(1, 1.02);
    t.mixed[AS_PROBE_ALU] += 4 * 0.98 / 4;
    t.mixed[AS_PROBE_MUL] += 4;
    t.latency[0] = 2.99;
    t.latency[1] = 2.99;
    expect_line("imul r64,r64", &t, "1\tALU:1 MUL:1\t3\t-\tm1 0.4%");
    /* A unit of its own: five cycles, of which ports explain a half. */
    t = idle(5, 1);
    t.mixed[AS_PROBE_FMUL] += 4 * 1 / 2.;
    t.latency[1] = t.latency[2] = 12.97;
    expect_line("vdivpd ymm,ymm,ymm", &t, "1\tFMUL:1 FDIV:5\t13\t-\tm1 0.4%");
    /* Divisions by their values, best and worst. */
    t = idle(6, 1);
    t.implied_latency = 10;
    t.hard_each = 9;
    t.hard_latency = 17.1;
    expect_line("div r64", &t, "1\tIDIV:6-9\t10-17\t-\tm1 0.4%");
    /* The addend is needed later. */
    t = idle(0.5, 1);
    t.mixed[AS_PROBE_FMUL] += 4 * 1 / 2.;
    t.latency[0] = 2;
    t.latency[1] = t.latency[2] = 4;
    expect_line("vfmadd231pd ymm,ymm,ymm", &t, "1\tFMUL:1\t4 0>0:2\t-\tm1 0.4%");
}

/* The best of many rounds of a kernel is better than its ports allow: not what instances use. */
static void kernels_are_as_fast_as_their_ports(void **state)
{
    struct as_timing t = idle(0.25, 1);
    struct as_probe_rates lucky = core;
    struct as_str line = {0};

    (void)state;
    lucky.cycles[AS_PROBE_ALU] *= 0.975;
    t.repeats[AS_PROBE_ALU] = 2;
    t.mixed[AS_PROBE_ALU] = 2 * core.cycles[AS_PROBE_ALU] + 4 * 1 / 4.;
    t.latency[0] = t.latency[1] = 1;
    as_timing_append(&line, form_named("add r64,r64"), &t, &lucky);
    assert_string_equal(as_str_z(&line), "form\tadd r64,r64\t1\tALU:1\t1\t-\tm1 0.4%\n");
    as_str_fini(&line);
}

/* Pipes that others fill unevenly do not count as used; a nearly whole number is rounded. */
static void chance_is_no_use(void **state)
{
    struct as_timing t = idle(0.5, 1);

    (void)state;
    t.latency[1] = t.latency[2] = 4;
    t.mixed[AS_PROBE_FMUL] += 4 * 1.17 / 2.;
    t.mixed[AS_PROBE_PERM] += 4 * 0.4 / 1.;
    expect_line("vfmadd231pd ymm,ymm,ymm", &t, "1\tFMUL:1\t4\t-\tm1 0.4%");
}

/* With several loads, no port is busy longer than one load takes. Loads of vectors share some of
 * these ports. */
static void loads_may_clash(void **state)
{
    struct as_timing t = idle(1, 1);

    (void)state;
    t.mixed[AS_PROBE_AGU] += 4 * 22 / 2.;
    expect_line("mov m64,r64", &t, "1\tAGU:1 own:1\t0\t-\tm1 0.4%");
    t = idle(0.75, 1);
    t.mixed[AS_PROBE_AGU] += 4 * 1.55 / 2.;
    expect_line("mov r64,m64", &t, "1\tAGU:1\t0\t-\tm1 0.4%");
    /* A store that no kernel shows, as the load before it waits for those of the kernel. */
    t = idle(1.05, 1);
    t.mixed[AS_PROBE_STD] = t.mixed[AS_PROBE_STV] = 0;
    expect_line("add m64,r64", &t, "1\tSTD:1\t1\testimated\tm1 0.4%");
    t = idle(0.5, 1);
    t.mixed[AS_PROBE_AGU] += 4 * 1.4 / 2.;
    t.mixed[AS_PROBE_LDV] += 4 * 1 / 2.;
    expect_line("vmovupd ymm,m256", &t, "1\tLDV:1\t0\t-\tm1 0.4%");
}

static void what_costs_nothing_is_said(void **state)
{
    struct as_timing t = idle(1 / 6., 1);
    (void)state;
    t.latency[1] = 0.17;
    expect_line("mov r64,r64", &t, "1\t-\t0\tmove\tm1 0.4%");
    t.latency[0] = t.latency[1] = 0.17;
    expect_line("xor r32,r32 [same]", &t, "1\t-\t0\tzero\tm1 0.4%");
    /* The same, where the core does not see through it. */
    t.latency[0] = t.latency[1] = 1;
    expect_line("xor r32,r32 [same]", &t, "1\t-\t1\t-\tm1 0.4%");
}

/* Results that no chain shows: flags, constants, loads. */
static void what_no_chain_shows_is_marked(void **state)
{
    struct as_timing t = idle(0.25, 1.2);
    (void)state;
    expect_line("cmp r64,r64", &t, "1\t-\t1\testimated\tm1 0.4%");
    expect_line("mov r32,imm32", &t, "1\t-\t1\testimated\tm1 0.4%");
    expect_line("mov r64,m64", &t, "1\t-\t0\t-\tm1 0.4%");
    expect_line("movzx r32,m8", &t, "1\t-\t0\t-\tm1 0.4%");
    expect_line("mov m64,r64", &t, "1\t-\t0\t-\tm1 0.4%");
}

static void the_width_is_no_port(void **state)
{
    struct as_timing t = idle(1 / 3., 2);
    (void)state;
    /* 42 + 4 * 2 slots at four a cycle would look like a use of ALUs: a core of four ways. */
    struct as_probe_rates narrow = core;
    narrow.cycles[AS_PROBE_SLOTS] = 14;
    t.mixed[AS_PROBE_SLOTS] = 4 * 2 / 4.;
    t.mixed[AS_PROBE_ALU] = (42 + 8) / 4.;
    struct as_str line = {0};
    as_timing_append(&line, form_named("vaddpd ymm,ymm,m256"), &t, &narrow);
    assert_non_null(strstr(as_str_z(&line), "\t2\t-\t"));
    as_str_fini(&line);
}

/* Lines of decoded instructions that were not full look like parts of a slot. */
static void slots_are_whole(void **state)
{
    static const struct {
        double seen;
        const char *line;
    } slots[] = {{1.3, "1\t-\t1\t-\tm1 0.4%"},         {1.6, "1\t-\t1\t-\tm1 0.4%"},
                 {1.8, "2\t-\t1\t-\tm1 0.4%"},         {2.5, "2\t-\t1\t-\tm1 0.4%"},
                 {28.84, "28.8\t-\t1\t-\tnoisy 0.4%"}, /* long microcode as it is seen */
                 {0.5, "0.5\t-\t1\t-\tm1 0.4%"}};      /* two that fuse */
    (void)state;
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        struct as_timing t = idle(1, slots[i].seen);
        t.latency[0] = t.latency[1] = 1;
        expect_line("adc r64,r64", &t, slots[i].line);
    }
}

static void noise_stands_in_the_line(void **state)
{
    struct as_timing t = idle(1, 1);
    (void)state;
    t.is_noisy = true;
    t.latency[0] = 1;
    expect_line("adc r64,r64", &t, "1\t-\t1\t-\tnoisy 0.4%");
    /* A chain of flags, not a unit of its own; without a chain it would be one. */
    t.is_noisy = false;
    expect_line("bsf r64,r64", &t, "1\town:1\t1\t-\tm1 0.4%");
}

/* ---- A table --------------------------------------------------------------------------------- */

static size_t count_lines(const char *path, const char *begin)
{
    char line[512];
    size_t n = 0;
    FILE *f = fopen(path, "r");

    while (f && fgets(line, sizeof line, f))
        n += strncmp(line, begin, strlen(begin)) == 0;
    if (f)
        fclose(f);
    return n;
}

/* Forms that raise a signal on every CPU: ldmxcsr with invalid bits, with which memory is filled.
 * Also one form at least that AMD had until 2017, and one that few have. */
static size_t put_what_faults(uint8_t *out)
{
    static const uint8_t xop[] = {0x8f, 0xe8, 0x78, 0xa2, 0xc1, 0x20};   /* vpcmov */
    static const uint8_t newer[] = {0x62, 0xf2, 0x7f, 0x48, 0x68, 0xc1}; /* vp2intersectd */
    const size_t n = as_encode_text("ldmxcsr m32[rbx]", out);

    assert_true(n > 0);
    memcpy(out + n, xop, sizeof xop);
    memcpy(out + n + sizeof xop, newer, sizeof newer);
    return n + sizeof xop + sizeof newer;
}

/* Does not judge the figures. Each form must have a line, measured or refused. A stopped
 * measurement must be continued. A form that faults has no line of the table, and does not stop
 * others. */
static void a_table_is_made_and_gone_on_with(void **state)
{
    char path[] = "/tmp/assay-table-XXXXXX", part[64];
    uint8_t bytes[64];
    size_t n = 0;
    struct as_host *host;
    struct as_error err;
    struct as_instruction_result result;
    volatile int stop = 1;

    (void)state;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(part, sizeof part, "%s.part", path);
    n += put_what_faults(bytes);
    n += as_encode_text("add rax,rcx", bytes + n);
    n += as_encode_text("movaps xmm0,m128[rbx]", bytes + n);
    const struct as_bytes code = {.bytes = bytes, .size_b = n};
    struct as_instruction_options options = {
        .path = path, .code = &code, .code_n = 1, .progress_fd = -1, .stop = &stop};
    assert_int_equal(as_host_read(NULL, &host, &err), 0);
    assert_int_equal(as_measure_instructions(host, &options, &result, &err), 0);
    assert_true(result.is_stopped);
    assert_int_equal(result.measured_n, 0);
    assert_int_equal(access(part, F_OK), 0);
    FILE *f = fopen(part, "a"); /* done before it was stopped */
    fputs("form\tadd r64,r64\t9\t-\t9\t-\tm1 0.0%\n", f);
    fputs("form\tcmp r64,r64\t1\t-\t1\testimated\tm1 0.0%\n", f);
    fputs("form\tno such\t1\t-\t1\testimated\tm1 0.0%\n", f);
    fclose(f);
    stop = 0;
    assert_int_equal(as_measure_instructions(host, &options, &result, &err), 0);
    assert_false(result.is_stopped);
    assert_int_equal(result.measured_n + result.refused_n, 4);
    assert_true(result.refused_n >= 2);
    assert_int_equal(count_lines(path, "# ldmxcsr m32: "), 1);
    assert_int_equal(count_lines(path, "form\tldmxcsr"), 0);
    assert_int_equal(count_lines(path, "form\tmovaps xmm,m128\t") +
                         count_lines(path, "# noisy: form\tmovaps xmm,m128\t"),
                     1);
    assert_int_equal(count_lines(path, "core\t"), 1);
    assert_int_equal(count_lines(path, "form\tadd r64,r64\t9\t"), 1);
    assert_int_equal(count_lines(path, "form\t") + count_lines(path, "# ") -
                         count_lines(path, "# noisy: set\t") -
                         count_lines(path, "# forward_int: not seen"),
                     7);
    /* A missing latency does not replace a measured one. */
    const bool has_table = as_uarch_host() != NULL;
    assert_int_equal(count_lines(path, "# partly: form\tcmp r64,r64\t"), has_table);
    assert_int_equal(count_lines(path, "form\tcmp r64,r64\t"), !has_table);
    assert_int_equal(count_lines(path, "form\tno such\t"), 1);
    assert_int_not_equal(access(part, F_OK), 0);
    /* Those who use tables read it. */
    struct as_uarch *table;
    if (as_uarch_open(path, &table, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(table->timing_n >= 1 && table->group_n > 0);
    assert_true(table->is_set[AS_UARCH_dispatch_width]);
    as_uarch_free(&table);
    options.path = "/nonexistent/x";
    assert_int_equal(as_measure_instructions(host, &options, &result, &err), AS_ERR_IO);
    unlink(path);
    as_host_free(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_of_all_kinds_are_found),
        cmocka_unit_test(keys_are_different),
        cmocka_unit_test(instances_are_of_their_form),
        cmocka_unit_test(forms_of_x87_are_not_measured),
        cmocka_unit_test(instances_write_registers_in_turn),
        cmocka_unit_test(implied_chains_are_broken),
        cmocka_unit_test(ports_are_whole),
        cmocka_unit_test(shared_ports_count_once),
        cmocka_unit_test(figures_become_lines),
        cmocka_unit_test(fixed_registers_are_chains),
        cmocka_unit_test(what_cannot_be_is_noisy),
        cmocka_unit_test(chains_of_all_kinds_stand_in_the_line),
        cmocka_unit_test(mmx_goes_by_its_rate),
        cmocka_unit_test(gathers_are_set_up),
        cmocka_unit_test(stores_share_their_ports),
        cmocka_unit_test(kernels_are_as_fast_as_their_ports),
        cmocka_unit_test(chance_is_no_use),
        cmocka_unit_test(loads_may_clash),
        cmocka_unit_test(what_costs_nothing_is_said),
        cmocka_unit_test(what_no_chain_shows_is_marked),
        cmocka_unit_test(the_width_is_no_port),
        cmocka_unit_test(slots_are_whole),
        cmocka_unit_test(noise_stands_in_the_line),
        cmocka_unit_test(a_table_is_made_and_gone_on_with),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, collect_all, drop_all);
}
