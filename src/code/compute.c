/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the symbolic results of one instruction: copies, sums, differences, products with
 * constants, addresses. Every other result is a new atom. The atom keeps its inputs if it depends
 * on general registers alone.
 */
#include "code/evaluate.h"

#include <string.h>

/* The current instruction. */
struct insn_work {
    struct as_evaluation *e;
    const struct as_insn *insn;
    const struct as_form *form;
    const struct as_effects *effects;
    size_t index; /* into the program's code */
    uint32_t step;
    uint8_t slot; /* location of its explicit memory operand, or UINT8_MAX */
    struct as_value address;
};

static bool is_gpr(unsigned reg)
{
    return reg < AS_GPRS;
}

static bool named(const struct insn_work *w, const char *mnemonic)
{
    return strcmp(w->form->mnemonic, mnemonic) == 0;
}

/* Returns the sum of base, index and displacement. A vector index or a segment base is an atom. */
static struct as_value form_address(struct as_evaluation *e, uint8_t base, uint8_t index,
                                    uint8_t scale, uint8_t segment, int64_t disp)
{
    struct as_symbols *s = &e->symbols;
    struct as_value v = as_symbol_constant(disp);
    if (is_gpr(base))
        v = as_symbol_add(s, v, e->now[base], 1);
    else if (base == AS_REG_IP)
        v = as_symbol_add(s, v, e->image, 1);
    if (is_gpr(index))
        v = as_symbol_add(s, v, e->now[index], scale);
    else if (index != AS_REG_NONE)
        v = as_symbol_add(s, v, as_symbol_atom(s, AS_ATOM_VARYING), 1);
    if (segment == AS_REG_SEG + 4 || segment == AS_REG_SEG + 5)
        v = as_symbol_add(s, v, e->segment[segment - AS_REG_SEG - 4], 1);
    return v;
}

static void form_accesses(struct insn_work *w)
{
    struct as_evaluation *e = w->e;
    struct as_memory m[2];
    if (!(w->insn->bits & AS_INSN_MEM) && !w->form->memories)
        return;
    int n = as_insn_memory(&e->steps->view->iteration->program->code, w->insn, m);
    for (int i = 0; i < n; i++) {
        if (!m[i].access)
            continue;
        struct as_access a = {.memory = m[i], .at = w->step, .operand = (uint8_t)i};
        a.address = form_address(e, m[i].base, m[i].index, m[i].scale, m[i].segment, m[i].disp);
        a.gathered = m[i].index != AS_REG_NONE && !is_gpr(m[i].index);
        a.location = as_frame_location(e, &m[i]);
        if (i == 0 && w->insn->bits & AS_INSN_MEM) {
            w->slot = a.location;
            w->address = a.address;
        }
        if (m[i].access & AS_ACCESS_WRITE && a.location == UINT8_MAX)
            e->stores = true;
        if (as_vec_push(&e->access, a) < 0)
            e->symbols.failed = true;
    }
}

/* Sets `out` to the value of operand `i` of 32 or 64 bits. Returns false for other operands. */
static bool operand_value(struct insn_work *w, unsigned i, struct as_value *out)
{
    const struct as_operand *o = &w->form->operand[i];
    struct as_evaluation *e = w->e;
    if (o->kind == AS_OPERAND_IMM) {
        int64_t imm = as_code_imm(&e->steps->view->iteration->program->code, w->index);
        *out = as_symbol_constant(imm);
        return true;
    }
    if (o->width_b != 4 && o->width_b != 8)
        return false;
    if (o->kind == AS_OPERAND_REG && is_gpr(w->insn->reg[o->slot])) {
        *out = e->now[w->insn->reg[o->slot]];
        return true;
    }
    if (o->kind != AS_OPERAND_MEM)
        return false;
    if (w->slot != UINT8_MAX) {
        *out = e->now[w->slot];
        return true;
    }
    *out = as_symbol_atom(&e->symbols, AS_ATOM_LOAD);
    as_symbol_input(&e->symbols, w->address);
    return true;
}

static bool scaled(struct insn_work *w, struct as_value a, struct as_value b, struct as_value *out)
{
    if (a.term && b.term)
        return false;
    struct as_value zero = as_symbol_constant(0);
    *out = a.term ? as_symbol_add(&w->e->symbols, zero, a, b.constant)
                  : as_symbol_add(&w->e->symbols, zero, b, a.constant);
    return true;
}

static bool add_value(struct insn_work *w, struct as_value *out)
{
    struct as_symbols *s = &w->e->symbols;
    struct as_value a, b = as_symbol_constant(1);
    bool two = w->form->operands == 2;
    if (!operand_value(w, 0, &a) || (two && !operand_value(w, 1, &b)))
        return false;
    if ((two && named(w, "add")) || named(w, "inc"))
        *out = as_symbol_add(s, a, b, 1);
    else if ((two && named(w, "sub")) || named(w, "dec"))
        *out = as_symbol_add(s, a, b, -1);
    else if (named(w, "neg"))
        *out = as_symbol_add(s, as_symbol_constant(0), a, -1);
    else
        return false;
    return true;
}

static bool multiply_value(struct insn_work *w, struct as_value *out)
{
    struct as_value a, b;
    unsigned n = w->form->operands;
    if (n < 2 || !named(w, "imul") || !operand_value(w, n - 2, &a) || !operand_value(w, n - 1, &b))
        return false;
    if (!scaled(w, a, b, out))
        *out = as_symbol_product(&w->e->symbols, a, b);
    return true;
}

static bool logic_value(struct insn_work *w, struct as_value *out)
{
    struct as_value a, b;
    if (w->insn->bits & AS_INSN_IDIOM) {
        *out = as_symbol_constant(0);
        return true;
    }
    if (named(w, "not") && operand_value(w, 0, &a)) {
        *out = as_symbol_add(&w->e->symbols, as_symbol_constant(-1), a, -1);
        return true;
    }
    if (w->form->operands != 2 || !operand_value(w, 0, &a) || !operand_value(w, 1, &b))
        return false;
    *out = a;
    if (as_symbol_equal(a, b))
        return named(w, "and") || named(w, "or");
    if (w->form->operand[1].kind != AS_OPERAND_IMM)
        return false;
    int64_t imm = b.constant;
    if (imm > 0 && imm <= INT32_MAX && (named(w, "or") || named(w, "xor"))) {
        unsigned low_bits = 64 - (unsigned)__builtin_clzll((uint64_t)imm);
        *out = as_symbol_bits(&w->e->symbols, a, imm, low_bits);
        return true;
    }
    if (imm < 0 && !(-(uint64_t)imm & (-(uint64_t)imm - 1)) && named(w, "and")) {
        *out = as_symbol_bits(&w->e->symbols, a, 0, (unsigned)__builtin_ctzll((uint64_t)imm));
        return true;
    }
    return false;
}

/* Sets `out` to the value of the first operand after the instruction. Returns false if it is not a
 * known sum. */
static bool result_value(struct insn_work *w, struct as_value *out)
{
    struct as_value count;
    if (w->form->operands && w->form->operand[0].width_b != 4 && w->form->operand[0].width_b != 8)
        return false;
    switch (w->form->insn_class) {
    case AS_CLASS_MOVE:
        return w->form->operands == 2 && operand_value(w, 1, out);
    case AS_CLASS_EXTEND:
        if (w->form->operands == 2)
            return operand_value(w, 1, out);
        *out = w->e->now[0];
        return named(w, "cdqe");
    case AS_CLASS_LEA:
        *out = form_address(w->e, w->insn->base, w->insn->index, w->insn->scale, AS_REG_NONE,
                            as_code_disp(&w->e->steps->view->iteration->program->code, w->index));
        if (w->insn->base == AS_REG_IP)
            out->constant += (int64_t)w->insn->address;
        return true;
    case AS_CLASS_ADD:
        if (w->insn->bits & AS_INSN_IDIOM)
            return logic_value(w, out);
        return w->form->operands && add_value(w, out);
    case AS_CLASS_MUL:
        return multiply_value(w, out);
    case AS_CLASS_LOGIC:
        return w->form->operands && logic_value(w, out);
    case AS_CLASS_SHIFT:
        if (w->form->operands != 2 || w->form->operand[1].kind != AS_OPERAND_IMM ||
            !(named(w, "shl") || named(w, "sal")) || !operand_value(w, 0, out))
            return false;
        count = as_symbol_constant((int64_t)((uint64_t)1 << (w->insn->imm & 63)));
        return scaled(w, *out, count, out);
    default:
        return false;
    }
}

/* Returns a new atom for a register or slot that the instruction writes. */
static struct as_value unknown_value(struct insn_work *w)
{
    struct as_symbols *s = &w->e->symbols;
    const struct as_regset *read = &w->effects->read;
    bool memory = w->insn->bits & AS_INSN_MEM || w->form->memories;
    /* Registers other than general ones, without the instruction pointer. */
    uint64_t others =
        read->word[0] >> AS_GPRS | (read->word[1] & ~((uint64_t)1 << (AS_REG_IP - 64)));
    unsigned c = w->form->insn_class;
    if (memory || others || w->effects->flags_read || w->effects->flags_maybe ||
        c == AS_CLASS_SYSTEM || c == AS_CLASS_TIME || c == AS_CLASS_RANDOM || c == AS_CLASS_CALL ||
        c == AS_CLASS_SYSCALL || c == AS_CLASS_INVALID)
        return as_symbol_atom(s, AS_ATOM_VARYING);
    struct as_value v = as_symbol_atom(s, AS_ATOM_PURE);
    for (uint64_t left = read->word[0]; left; left &= left - 1)
        as_symbol_input(s, w->e->now[__builtin_ctzll(left)]);
    return v;
}

/* Sets `by` to the change of rsp by push, pop or call. Returns false for other instructions. A call
 * leaves rsp unchanged after its return. */
static bool moves_stack(const struct insn_work *w, int64_t *by)
{
    *by = 0;
    switch (w->form->insn_class) {
    case AS_CLASS_CALL:
        return true;
    case AS_CLASS_PUSH:
        *by = w->form->memories ? -(int64_t)w->form->memory[0].width_b : 0;
        return named(w, "push") || named(w, "pushfq");
    case AS_CLASS_POP:
        *by = w->form->memories ? w->form->memory[0].width_b : 0;
        return named(w, "pop") || named(w, "popfq");
    default:
        return false;
    }
}

/* Returns true if a store has the width of the slot. Other stores leave an unknown value in the
 * slot. */
static bool fills_slot(const struct insn_work *w, uint8_t location)
{
    return w->form->operands && w->form->operand[0].kind == AS_OPERAND_MEM &&
           w->form->operand[0].access & AS_ACCESS_WRITE &&
           w->form->operand[0].width_b == w->e->slot[location - AS_GPRS].width_b;
}

static void write_results(struct insn_work *w)
{
    struct as_evaluation *e = w->e;
    /* Most instructions of vector code write neither a general register nor the frame. */
    if (!(w->effects->written.word[0] & 0xffff) && !(w->insn->bits & AS_INSN_STACKMEM))
        return;
    uint64_t written = as_frame_writes(e, w->insn, w->effects);
    if (!written)
        return;
    struct as_value value, swapped, results[AS_LOCATIONS_MOST];
    int64_t by;
    bool known = result_value(w, &value);
    bool stack = moves_stack(w, &by);
    bool swaps = named(w, "xchg") && operand_value(w, 0, &value) && operand_value(w, 1, &swapped);
    unsigned first = w->form->operands ? w->insn->reg[w->form->operand[0].slot] : 0;
    if (w->form->operands && w->form->operand[0].kind != AS_OPERAND_REG)
        first = w->slot != UINT8_MAX && fills_slot(w, w->slot) ? w->slot : AS_REG_NONE;
    for (uint64_t left = written; left; left &= left - 1) {
        unsigned location = (unsigned)__builtin_ctzll(left);
        if (location == AS_REG_SP && stack)
            results[location] =
                as_symbol_add(&e->symbols, e->now[location], as_symbol_constant(by), 1);
        else if (known && location == first)
            results[location] = value;
        else if (swaps && location == first)
            results[location] = swapped;
        else if (swaps && location == w->insn->reg[w->form->operand[1].slot])
            results[location] = value;
        else
            results[location] = unknown_value(w);
    }
    for (uint64_t left = written; left; left &= left - 1)
        e->now[__builtin_ctzll(left)] = results[__builtin_ctzll(left)];
}

void as_compute(struct as_evaluation *e, uint32_t step)
{
    struct insn_work w = {.e = e, .step = step, .index = e->steps->insn[step], .slot = UINT8_MAX};
    w.insn = as_step_insn(e->steps, step);
    w.form = as_form_of(w.insn);
    w.effects = &e->steps->effects[step];
    form_accesses(&w);
    write_results(&w);
    e->stores |= w.form->insn_class == AS_CLASS_CALL;
}
