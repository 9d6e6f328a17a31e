/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latencies of a form, by chains from its result to its inputs. A chain goes directly, through a
 * move between register files, through a comparison to flags, or through memory. A multiplication
 * behind the form shows late results.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "measure/internal.h"
#include "measure/table.h"

static bool is_general(unsigned file)
{
    return file >= AS_FILE_GPR8 && file <= AS_FILE_GPR64;
}

static bool is_vector(unsigned file)
{
    return file >= AS_FILE_XMM && file <= AS_FILE_ZMM;
}

static bool same_kind(unsigned a, unsigned b)
{
    return (is_general(a) && is_general(b)) || (is_vector(a) && is_vector(b)) || a == b;
}

static bool is_plain_register(const struct as_operand *o, unsigned access)
{
    return o->kind == AS_OPERAND_REG && !o->fixed && o->access & access;
}

/* Returns the first register operand that is written, or -1. */
static int target_of_form(const struct as_form *form)
{
    for (unsigned i = 0; i < form->operands; i++)
        if (is_plain_register(&form->operand[i], AS_ACCESS_WRITE))
            return (int)i;
    return -1;
}

/* Returns true if an instance became an idiom that waits for nothing, because it has a register
 * twice. */
static bool became_idiom(const struct as_form_case *one, const uint8_t *bytes, size_t n)
{
    struct as_code code;
    struct as_error err;

    if (one->insn.bits & AS_INSN_IDIOM || as_decode(bytes, n, 0, &code, &err) < 0)
        return false;
    const bool is_idiom = code.n && code.insn[0].bits & AS_INSN_IDIOM;
    as_code_free(&code);
    return is_idiom;
}

/* Returns the register that an instance writes or, if chained, reads. */
static int register_of(const uint8_t *bytes, size_t n, unsigned operand)
{
    struct as_code code;
    struct as_error err;
    int reg = -1;

    if (as_decode(bytes, n, 0, &code, &err) < 0)
        return -1;
    if (code.n && code.insn[0].reg[operand] < 16)
        reg = code.insn[0].reg[operand];
    as_code_free(&code);
    return reg;
}

/* Returns the number of the register within its file. */
static int register_number(const uint8_t *bytes, size_t n, unsigned operand)
{
    struct as_code code;
    struct as_error err;
    int number = -1;

    if (as_decode(bytes, n, 0, &code, &err) < 0)
        return -1;
    const struct as_form *form = code.n ? as_form_get(code.insn[0].form) : NULL;
    if (form && form->operand[operand].kind == AS_OPERAND_REG) {
        const int reg = code.insn[0].reg[form->operand[operand].slot];
        number = reg - (reg >= AS_REG_X87    ? AS_REG_X87
                        : reg >= AS_REG_MASK ? AS_REG_MASK
                        : reg >= AS_REG_VEC  ? AS_REG_VEC
                                             : AS_REG_GPR);
    }
    as_code_free(&code);
    return number;
}

static int cycles_behind(struct as_table_work *w, uint8_t *bytes, size_t n, const char *text,
                         double *cycles, struct as_error *err)
{
    struct as_cycles out;
    const size_t more = n ? as_encode_text(text, bytes + n) : 0;

    *cycles = 0;
    if (!more)
        return 0;
    AS_TRY(as_table_chain(w, bytes, n + more, &out, err));
    *cycles = out.cycles;
    return 0;
}

/* Measures a chain with a move back between register files. Half of the round trip is subtracted
 * for the move. It is unknown which half is longer. */
static int chain_across(struct as_table_work *w, const struct as_form_case *one,
                        struct as_timing *t, unsigned operand, bool to_vector, struct as_error *err)
{
    uint8_t bytes[2 * AS_ENCODE_B];
    const size_t n = as_form_instance(one, 0, (int)operand, bytes);
    double cycles;

    if (w->half_trip == 0)
        return 0;
    AS_TRY(
        cycles_behind(w, bytes, n, to_vector ? "vmovq rax,xmm0" : "vmovq xmm0,rax", &cycles, err));
    if (cycles > w->half_trip) {
        t->latency[operand] = cycles - w->half_trip;
        t->is_split = true;
    }
    return 0;
}

/* Returns true if the form reads one register only. Then it cannot be an idiom, and only the
 * renamer can execute it early (additions of constants on Golden Cove). */
static bool reads_one_register(const struct as_form *form)
{
    unsigned n = 0;

    for (unsigned i = 0; i < form->operands; i++)
        n += form->operand[i].kind == AS_OPERAND_ADDRESS ||
             (form->operand[i].kind == AS_OPERAND_REG &&
              form->operand[i].access & (AS_ACCESS_READ | AS_ACCESS_MERGE));
    return n == 1;
}

/* Measures a move to another register and back: some cores do not eliminate a move to itself. */
static int chain_moves(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                       unsigned operand, struct as_error *err)
{
    struct as_encode_choice back = {.base = AS_ENCODE_KEEP, .index = AS_ENCODE_KEEP};
    uint8_t bytes[2 * AS_ENCODE_B];
    struct as_cycles cycles;
    const size_t n = as_form_instance(one, 0, -1, bytes);
    const int to = n ? register_number(bytes, n, 0) : -1;
    const int from = n ? register_number(bytes, n, operand) : -1;

    if (to < 0 || from < 0 || to == from)
        return 0;
    memset(back.reg, AS_ENCODE_KEEP, sizeof back.reg);
    back.reg[0] = (uint8_t)from;
    back.reg[operand] = (uint8_t)to;
    const size_t more = as_encode_again(bytes, n, &back, bytes + n);
    if (!more)
        return 0;
    AS_TRY(as_table_chain(w, bytes, n + more, &cycles, err));
    if (cycles.cycles > 0)
        t->latency[operand] = cycles.cycles / 2;
    return 0;
}

static int chain_operand(struct as_table_work *w, const struct as_form_case *one,
                         struct as_timing *t, unsigned operand, int written, struct as_error *err)
{
    const struct as_form *form = as_form_get(one->insn.form);
    const struct as_operand *o = &form->operand[operand];
    const unsigned file = form->operand[written].file;
    const bool is_register = is_plain_register(o, AS_ACCESS_READ);
    struct as_cycles cycles;
    uint8_t bytes[AS_ENCODE_B];

    if (is_register && !same_kind(o->file, file))
        return chain_across(w, one, t, operand, file >= AS_FILE_XMM, err);
    if (!is_register && o->kind != AS_OPERAND_ADDRESS)
        return 0;
    if (form->traits & AS_TRAIT_REGMOVE && form->operands == 2 && operand == 1 && is_register &&
        o->file == file)
        return chain_moves(w, one, t, operand, err);
    const size_t n = as_form_instance(one, 0, (int)operand, bytes);
    if (!n || became_idiom(one, bytes, n))
        return 0;
    AS_TRY(as_table_chain(w, bytes, n, &cycles, err));
    /* The decoder does not know every idiom. With two registers the form waits. */
    const bool waits = cycles.cycles > 0.4 || reads_one_register(form) ||
                       form->traits & AS_TRAIT_REGMOVE || one->insn.bits & AS_INSN_IDIOM;
    if (cycles.cycles > 0 && waits)
        t->latency[operand] = cycles.cycles;
    return 0;
}

/* Measures the latency from flags to a general register, with a one-cycle test back. */
static int chain_flags(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                       unsigned written, struct as_error *err)
{
    static const char *const name[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                       "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    const struct as_form *form = as_form_get(one->insn.form);
    uint8_t bytes[2 * AS_ENCODE_B];
    char test[32];
    double cycles;

    if (!form->flags_read || form->operand[written].file < AS_FILE_GPR32 ||
        !is_general(form->operand[written].file))
        return 0;
    const size_t n = as_form_instance(one, 0, -1, bytes);
    const int reg = n ? register_of(bytes, n, written) : -1;
    if (reg < 0)
        return 0;
    snprintf(test, sizeof test, "test %s,%s", name[reg], name[reg]);
    AS_TRY(cycles_behind(w, bytes, n, test, &cycles, err));
    t->flags_latency = cycles > 1 ? cycles - 1 : -1;
    return 0;
}

/* Measures vector comparisons: flags to a general register in a cycle, and back as above. */
static int chain_to_flags(struct as_table_work *w, const struct as_form_case *one,
                          struct as_timing *t, struct as_error *err)
{
    const struct as_form *form = as_form_get(one->insn.form);
    uint8_t bytes[3 * AS_ENCODE_B];
    double cycles;

    if (!form->flags_written || w->half_trip == 0 || !form->operands ||
        !is_plain_register(&form->operand[0], AS_ACCESS_READ) || !is_vector(form->operand[0].file))
        return 0;
    size_t n = as_form_instance(one, 0, 0, bytes);
    const size_t more = n ? as_encode_text("setz al", bytes + n) : 0;
    AS_TRY(cycles_behind(w, bytes, more ? n + more : 0, "vmovq xmm0,rax", &cycles, err));
    if (cycles > w->half_trip + 1) {
        t->latency[0] = cycles - w->half_trip - 1;
        t->is_split = true;
    }
    return 0;
}

/* Measures dependent multiplications and divisions of rax. */
static int chain_implied(struct as_table_work *w, const struct as_form_case *one,
                         struct as_timing *t, struct as_error *err)
{
    const struct as_form *form = as_form_get(one->insn.form);
    uint8_t bytes[2 * AS_ENCODE_B];
    struct as_cycles cycles;
    size_t before = 0;

    if ((form->insn_class != AS_CLASS_MUL && form->insn_class != AS_CLASS_DIV) ||
        !(form->implicit_read.word[0] & form->implicit_write.word[0] & 0xffff))
        return 0;
    /* A division of a long number is slower than of one that fits. The upper half is zero, as in
     * programs. */
    if (form->insn_class == AS_CLASS_DIV)
        before = as_encode_text("xor edx,edx", bytes);
    const size_t n = as_form_instance(one, 0, -1, bytes + before);
    if (!n)
        return 0;
    AS_TRY(as_table_chain(w, bytes, before + n, &cycles, err));
    t->implied_latency = cycles.cycles > 0 ? cycles.cycles : -1;
    return 0;
}

/* Measures the operation behind a load. The address comes from the result before, which is small; a
 * constant makes it an address. The latency of the load itself is that of a move from such an
 * address. */
static int chain_load(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                      unsigned written, struct as_error *err)
{
    const struct as_form *form = as_form_get(one->insn.form);
    struct as_encode_choice choice = {.index = 10, .sets_disp = true, .disp = 0x20000000};
    uint8_t bytes[AS_ENCODE_B], chained[AS_ENCODE_B];
    struct as_cycles cycles, load;
    char text[64] = "mov rax,m64[rax+536870912]";

    if (form->insn_class != AS_CLASS_EXTEND || !(one->insn.bits & AS_INSN_MEM) ||
        one->insn.base == AS_REG_IP)
        return 0;
    memset(choice.reg, AS_ENCODE_KEEP, sizeof choice.reg);
    const size_t n = as_form_instance(one, 0, -1, bytes);
    const int reg = n ? register_of(bytes, n, written) : -1;
    choice.base = (uint8_t)reg;
    const size_t size_b = reg < 0 ? 0 : as_encode_again(bytes, n, &choice, chained);
    if (!size_b)
        return 0;
    if (one->insn.index != AS_REG_NONE)
        snprintf(text, sizeof text, "mov rax,m64[rax+r10*%u+536870912]", one->insn.scale);
    AS_TRY(as_table_chain(w, chained, size_b, &cycles, err));
    AS_TRY(as_table_chain(w, bytes, as_encode_text(text, bytes), &load, err));
    const bool is_known = cycles.cycles > 0 && load.cycles > 0;
    t->behind_load = is_known ? fmax(cycles.cycles - load.cycles, 0) : -1;
    return 0;
}

/* Measures the latency from the indices to the result of a gather. The next indices are a shift of
 * the last result, which is zero. The latency of a vector load is not in the line: it comes
 * before. */
static int chain_gather(struct as_table_work *w, const struct as_form_case *one,
                        struct as_timing *t, struct as_error *err)
{
    const bool masked = strstr(one->key, "{k}") != NULL;
    uint8_t bytes[4 * AS_ENCODE_B], shift[AS_ENCODE_B];
    struct as_cycles cycles, shifts;
    size_t n = as_encode_text(masked ? "vpsrlq zmm10,zmm0,63" : "vpsrlq ymm10,ymm0,63", bytes);

    if (as_form_get(one->insn.form)->insn_class != AS_CLASS_GATHER)
        return 0;
    n += as_encode_text(masked ? "kxnorw k1,k1,k1" : "vpcmpeqd ymm11,ymm11,ymm11", bytes + n);
    const size_t more = as_form_instance(one, 0, -1, bytes + n);
    if (!more)
        return 0;
    AS_TRY(as_table_chain(w, bytes, n + more, &cycles, err));
    AS_TRY(as_table_chain(w, shift, as_encode_text("vpsrlq ymm0,ymm0,63", shift), &shifts, err));
    const double all = cycles.cycles - shifts.cycles - w->load_fp;
    t->implied_latency = cycles.cycles > 0 && shifts.cycles > 0 && all > 0 ? all : -1;
    return 0;
}

int as_form_latencies(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                      struct as_error *err)
{
    const struct as_form *form = as_form_get(one->insn.form);
    const int written = target_of_form(form);

    for (unsigned i = 0; i < AS_OPERANDS_MAX; i++)
        t->latency[i] = -1;
    t->flags_latency = t->implied_latency = t->behind_load = -1;
    if (as_form_gathers(form))
        return chain_gather(w, one, t, err);
    AS_TRY(chain_implied(w, one, t, err));
    if (written < 0)
        return chain_to_flags(w, one, t, err);
    for (unsigned i = 0; i < form->operands; i++)
        AS_TRY(chain_operand(w, one, t, i, written, err));
    AS_TRY(chain_flags(w, one, t, (unsigned)written, err));
    return chain_load(w, one, t, (unsigned)written, err);
}

/* ---- Late results ---------------------------------------------------------------------------- */

static const char add_text[] = "vaddps xmm0,xmm0,xmm8", multiply_text[] = "vmulps xmm0,xmm0,xmm9";

int as_measure_bypass(struct as_table_work *w, struct as_error *err)
{
    uint8_t bytes[2 * AS_ENCODE_B];
    struct as_cycles multiply, add;
    double both;
    struct as_widths widths;

    as_widths_read(&widths);
    if (!widths.avx)
        return 0;
    AS_TRY(as_table_chain(w, bytes, as_encode_text(multiply_text, bytes), &multiply, err));
    AS_TRY(as_table_chain(w, bytes, as_encode_text(add_text, bytes), &add, err));
    AS_TRY(cycles_behind(w, bytes, as_encode_text(add_text, bytes), multiply_text, &both, err));
    if (!(multiply.cycles > 0) || !(add.cycles > 0) || both == 0)
        return 0;
    const double late = round(2 * (both - multiply.cycles - add.cycles)) / 2;
    w->multiply = multiply.cycles;
    w->late = late > 0 ? late : 0;
    struct as_parameter *p = as_parameter_add(&w->parameters, "bypass.fadd", "cycles");
    p->value = w->late;
    p->sample_n = multiply.sample_n;
    p->is_noisy = multiply.status == AS_METER_NOISY || add.status == AS_METER_NOISY;
    return 0;
}

/* Measures an addition through the operand with the longest chain, and a multiplication behind
 * it. */
int as_form_lateness(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                     struct as_error *err)
{
    const struct as_form *form = as_form_get(one->insn.form);
    const int written = target_of_form(form);
    uint8_t bytes[2 * AS_ENCODE_B];
    int longest = -1;
    double cycles;

    for (int i = 0; i < AS_OPERANDS_MAX; i++)
        if (t->latency[i] > 0.5 && (longest < 0 || t->latency[i] > t->latency[longest]))
            longest = i;
    if (w->late < 0.5 || longest < 0 || t->is_split || !is_vector(form->operand[written].file) ||
        !as_timing_adds(t, &w->rates))
        return 0;
    AS_TRY(cycles_behind(w, bytes, as_form_instance(one, 0, longest, bytes), multiply_text, &cycles,
                         err));
    t->is_late = cycles - t->latency[longest] - w->multiply > w->late / 2;
    return 0;
}
