/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the registers, flags and memory that an operation reads and writes, each with its latency.
 * Flags form two groups. The top of the x87 stack is known at rename and makes no dependence. The
 * same holds for rsp on a core with a stack engine.
 */
#include <string.h>

#include "predict/internal.h"

bool as_insn_same_registers(const struct as_insn *insn, const struct as_form *form)
{
    return form->operands == 2 && form->operand[0].kind == AS_OPERAND_REG &&
           form->operand[1].kind == AS_OPERAND_REG && insn->reg[0] == insn->reg[1];
}

/* Returns true for registers that can make a dependence: not rip, control words and segments. */
static bool is_followed(unsigned reg)
{
    return reg < AS_REG_TILE + 8;
}

static float pair_latency(const struct as_core_timing *timing, unsigned from, unsigned to,
                          float other)
{
    for (unsigned i = 0; timing && i < timing->pair_n; i++)
        if (timing->pair[i].from == from && timing->pair[i].to == to)
            return timing->pair[i].latency;
    return other;
}

static void add_read(struct as_op *op, unsigned place, unsigned kind, float earlier)
{
    for (unsigned i = 0; i < op->read_n; i++)
        if (op->read[i].place == place && op->read[i].kind == kind) {
            if (earlier > op->read[i].earlier)
                op->read[i].earlier = earlier;
            return;
        }
    if (op->read_n < AS_READS)
        op->read[op->read_n++] = (struct as_op_read){(uint8_t)place, (uint8_t)kind, earlier};
}

static void add_write(struct as_op *op, unsigned place, float latency)
{
    if (op->write_n < AS_WRITES)
        op->write[op->write_n++] = (struct as_op_write){(uint8_t)place, latency};
}

static void read_set(struct as_op *op, struct as_regset set, unsigned kind, float earlier)
{
    for (unsigned word = 0; word < 2; word++)
        for (uint64_t left = set.word[word]; left; left &= left - 1) {
            const unsigned reg = 64 * word + (unsigned)__builtin_ctzll(left);
            if (is_followed(reg))
                add_read(op, reg, kind, earlier);
        }
}

/* Returns the place of the value of a register operand. */
static unsigned place_of(const struct as_predictor *p, const struct as_form *form, unsigned reg)
{
    return form->traits & AS_TRAIT_X87 ? as_x87_place(&p->block.x87, reg) : reg;
}

static void read_operands(const struct as_predictor *p, struct as_op *op,
                          const struct as_insn *insn, const struct as_form *form,
                          const struct as_effects *effects)
{
    for (unsigned i = 0; i < form->operands; i++) {
        const struct as_operand *o = &form->operand[i];
        const unsigned reg = o->kind == AS_OPERAND_REG ? insn->reg[o->slot] : AS_REG_NONE;
        if (reg == AS_REG_NONE || !is_followed(reg) || !as_regset_has(effects->read, reg) ||
            !(o->access & (AS_ACCESS_READ | AS_ACCESS_MAYBE | AS_ACCESS_MERGE)))
            continue;
        add_read(op, place_of(p, form, reg), AS_READ_DATA,
                 pair_latency(op->timing, i, 0, op->latency) - op->latency);
    }
    if (insn->mask != AS_REG_NONE)
        add_read(op, insn->mask, AS_READ_DATA, 0);
}

static void read_addresses(struct as_op *op, const struct as_insn *insn, const struct as_form *form,
                           bool in_order)
{
    const unsigned kind =
        form->insn_class == AS_CLASS_LEA && !in_order ? AS_READ_DATA : AS_READ_ADDRESS;
    if (form->insn_class == AS_CLASS_NOP || !(insn->bits & AS_INSN_MEM))
        return;
    if (insn->base != AS_REG_NONE && is_followed(insn->base))
        add_read(op, insn->base, kind, 0);
    if (insn->index != AS_REG_NONE)
        add_read(op, insn->index, kind,
                 kind == AS_READ_DATA
                     ? pair_latency(op->timing, AS_PLACE_INDEX, 0, op->latency) - op->latency
                     : 0);
}

/* Returns the implicit registers except those of the x87 stack. */
static struct as_regset implicit_without(struct as_regset set, bool without_rsp)
{
    set.word[0] &= ~((uint64_t)0xff << AS_REG_X87);
    if (without_rsp)
        set.word[0] &= ~((uint64_t)1 << (AS_REG_GPR + 4));
    return set;
}

static void read_and_write_flags(struct as_op *op, const struct as_effects *effects,
                                 bool without_reads)
{
    const float later = pair_latency(op->timing, AS_PLACE_FLAGS, 0, op->latency) - op->latency;
    if (effects->flags_read & AS_FLAG_C && !without_reads)
        add_read(op, AS_VALUE_CARRY, AS_READ_DATA, later);
    if (effects->flags_read & (uint8_t) ~(AS_FLAG_C | AS_FLAG_D | AS_FLAG_SYSTEM) && !without_reads)
        add_read(op, AS_VALUE_FLAGS, AS_READ_DATA, later);
    const float latency = pair_latency(op->timing, 0, AS_PLACE_FLAGS, op->latency);
    if (effects->flags_written & AS_FLAG_C)
        add_write(op, AS_VALUE_CARRY, latency);
    if (effects->flags_written & (uint8_t) ~(AS_FLAG_C | AS_FLAG_D | AS_FLAG_SYSTEM))
        add_write(op, AS_VALUE_FLAGS, latency);
}

/* Adds reads of st(0) and st(1) by x87 instructions that do not name them. */
static void read_stack(const struct as_predictor *p, struct as_op *op, const struct as_form *form)
{
    for (unsigned i = 0; i < 2; i++)
        if (as_x87_reads(form, i))
            add_read(op, as_x87_place(&p->block.x87, AS_REG_X87 + i), AS_READ_DATA, 0);
}

static void write_stack(const struct as_predictor *p, struct as_op *op, const struct as_form *form)
{
    for (unsigned i = 0; i < 2; i++)
        if (as_x87_writes(form, i))
            add_write(op, as_x87_place(&p->block.x87, AS_REG_X87 + i), op->latency);
}

static void write_registers(const struct as_predictor *p, struct as_op *op,
                            const struct as_insn *insn, const struct as_form *form,
                            const struct as_effects *effects, bool without_rsp)
{
    struct as_regset written = implicit_without(effects->written, without_rsp);
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_REG && form->operand[i].access & AS_ACCESS_WRITE &&
            insn->reg[form->operand[i].slot] / 8 == AS_REG_X87 / 8)
            add_write(op, place_of(p, form, insn->reg[form->operand[i].slot]), op->latency);
    write_stack(p, op, form);
    for (unsigned word = 0; word < 2; word++)
        for (uint64_t left = written.word[word]; left; left &= left - 1) {
            const unsigned reg = 64 * word + (unsigned)__builtin_ctzll(left);
            if (is_followed(reg))
                add_write(op, reg, op->latency);
        }
}

/* Returns true for an and-not of a vector register with itself, which is zero. AMD cores treat it
 * as independent of its sources. */
static bool is_cut(const struct as_predictor *p, const struct as_insn *insn,
                   const struct as_form *form)
{
    static const char *const names[] = {"pandn", "andnps", "andnpd"};
    const char *m = form->mnemonic + (form->mnemonic[0] == 'v');
    const unsigned n = form->operands;
    if (!(p->uarch->set[AS_UARCH_andn_breaks] > 0) || n < 2 || n > 3 ||
        form->operand[n - 1].kind != AS_OPERAND_REG ||
        insn->reg[form->operand[n - 1].slot] != insn->reg[form->operand[n - 2].slot])
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(m, names[i]) == 0)
            return true;
    return false;
}

void as_op_effects(struct as_predictor *p, struct as_op *op, const struct as_insn *insn,
                   const struct as_form *form)
{
    struct as_effects effects;
    const double *set = p->uarch->set;
    as_insn_effects(insn, &effects);
    op->stack = form->traits & AS_TRAIT_STACK && set[AS_UARCH_stack_engine] > 0 &&
                !(p->block.without & AS_WITHOUT_STACK_ENGINE);
    const bool zero = op->flags & AS_TIMING_ZERO;
    if (as_x87_swaps(form)) {
        as_x87_swap(&p->block.x87, insn);
        return;
    }
    const bool flags_alone = set[AS_UARCH_sbb_breaks] > 0 && as_insn_same_registers(insn, form) &&
                             strcmp(form->mnemonic, "sbb") == 0;
    if (!zero && !flags_alone && !is_cut(p, insn, form)) {
        read_operands(p, op, insn, form, &effects);
        read_stack(p, op, form);
        read_set(op, implicit_without(form->implicit_read, op->stack), AS_READ_DATA, 0);
        read_set(op, implicit_without(form->implicit_merge, op->stack), AS_READ_DATA, 0);
    }
    read_addresses(op, insn, form, set[AS_UARCH_in_order] > 0);
    read_and_write_flags(op, &effects, zero);
    if (as_x87_pushes(form))
        as_x87_push(&p->block.x87);
    write_registers(p, op, insn, form, &effects, op->stack);
    for (unsigned i = as_x87_pops(form); i; i--)
        as_x87_pop(&p->block.x87);
}

void as_op_memory(struct as_predictor *p, struct as_op *op, const struct as_insn *insn,
                  const struct as_form *form)
{
    const double *set = p->uarch->set;
    if (form->insn_class == AS_CLASS_NOP || form->insn_class == AS_CLASS_LEA)
        return;
    op->memory_n = (uint8_t)as_insn_memory(p->block.code, insn, op->memory);
    for (unsigned i = 0; i < op->memory_n; i++) {
        op->loads |= op->memory[i].access & AS_ACCESS_READ;
        op->stores |= (op->memory[i].access & AS_ACCESS_WRITE) != 0;
    }
    if (form->insn_class == AS_CLASS_PREFETCH)
        op->loads = false;
    const bool indexed = insn->index != AS_REG_NONE;
    if (op->loads && !op->locked) /* the latency of a locked instruction includes the load */
        op->load_latency =
            (float)(op->vector ? set[indexed ? AS_UARCH_load_fp_indexed : AS_UARCH_load_fp]
                               : set[indexed ? AS_UARCH_load_int_indexed : AS_UARCH_load_int]);
}
