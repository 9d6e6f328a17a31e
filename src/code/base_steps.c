/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the results of single instructions as sums of pointers; see base_values.h. */
#include <string.h>

#include "base/error.h"
#include "code/base_values.h"
#include "isa/form.h"

static const struct as_base_value any_pointer = {.unknown = true};
static const struct as_base_value a_number = {0};

/* ---- Words of the frame ---------------------------------------------------------------------- */

/* Returns the location of a word of the frame. A new word gets a location if `make` is set. Returns
 * AS_NONE if the word has none and none was made, or all are in use. */
static unsigned word_at(struct as_bases *b, int64_t offset_b, bool make)
{
    unsigned at = 0;

    while (at < b->words && b->word[at].offset_b != offset_b)
        at++;
    if (at < b->words)
        return AS_BASE_REGISTERS + at;
    if (!make || b->words == AS_BASE_SLOTS)
        return AS_NONE;
    b->word[b->words++].offset_b = offset_b;
    return AS_BASE_REGISTERS + at;
}

/* Makes all words unknown that a write to [offset_b, offset_b + width_b) of the
 * frame may change. */
static void forget_words(struct as_base_step *s, int64_t offset_b, int64_t width_b)
{
    for (unsigned i = 0; i < s->b->words; i++) {
        const int64_t word_b = s->b->word[i].offset_b;
        if (word_b < offset_b + width_b && offset_b < word_b + 8)
            s->state->at[AS_BASE_REGISTERS + i] = any_pointer;
    }
}

/* Makes all words unknown that code may write through pointers. */
static void forget_escaped(struct as_base_step *s)
{
    for (unsigned i = 0; i < s->b->words; i++)
        if (s->b->word[i].offset_b >= s->b->escaped_b)
            s->state->at[AS_BASE_REGISTERS + i] = any_pointer;
}

/* ---- Vector registers ------------------------------------------------------------------------ */

/* Compilers also spill general registers to vector registers. Vector registers are words with
 * offsets far below any frame. */
#define VECTORS_B (INT64_MIN + 4096)
enum { VECTORS = 32 };

/* Returns the location of the low half of a vector register, or AS_NONE as in word_at(). */
static unsigned vector_at(struct as_bases *b, unsigned reg, bool make)
{
    return reg >= AS_REG_VEC && reg < AS_REG_VEC + VECTORS
               ? word_at(b, VECTORS_B + 8 * (int64_t)(reg - AS_REG_VEC), make)
               : AS_NONE;
}

/* Makes all vector registers unknown that an instruction writes. */
static void forget_vectors(struct as_base_step *s, const struct as_effects *effects)
{
    for (unsigned i = 0; i < s->b->words; i++) {
        const int64_t at_b = s->b->word[i].offset_b - VECTORS_B;
        if (at_b >= 0 && at_b < 8 * VECTORS &&
            (s->form->insn_class == AS_CLASS_CALL ||
             as_regset_has(effects->written, AS_REG_VEC + (unsigned)(at_b / 8))))
            s->state->at[AS_BASE_REGISTERS + i] = any_pointer;
    }
}

/* ---- Addresses ------------------------------------------------------------------------------- */

/* Returns the value of an address of the file: a pointer if a variable is there, else a number. */
static struct as_base_value file_address(struct as_bases *b, uint64_t address)
{
    struct as_base_value out = a_number;
    struct as_base_tag tag;
    uint32_t root;

    if (as_base_static_variable(b, address, &tag, &root)) {
        out = as_base_value_root(root);
        as_base_tag_add(b, &out, tag, root);
    }
    return out;
}

static bool may_be_file_address(const struct as_bases *b, int64_t disp)
{
    return disp > 0x1000 && as_object_info(b->program->object)->type == AS_OBJECT_EXECUTABLE;
}

static struct as_base_value frame_address(struct as_base_step *s, unsigned reg, int64_t disp)
{
    struct as_base_value out = any_pointer;
    struct as_base_tag tag;
    int64_t offset_b = INT64_MIN / 2;

    as_base_frame_offset(s->b, s->at->address, reg, disp, &offset_b);
    if (as_base_frame_variable(s->b, s->block, s->at->address, reg, disp, offset_b, &tag)) {
        out = a_number;
        out.tag[out.tags++] = tag;
    }
    return out;
}

static bool is_frame(const struct as_base_step *s, unsigned reg)
{
    int64_t ignored;

    return reg == AS_BASE_SP ||
           (reg == AS_BASE_BP && as_base_frame_offset(s->b, s->at->address, reg, 0, &ignored));
}

struct as_base_value as_base_step_address(struct as_base_step *s, const struct as_memory *m)
{
    struct as_base_value out = a_number;

    if (m->segment != AS_REG_NONE)
        return any_pointer;
    if (m->rip_relative)
        return file_address(s->b, (uint64_t)m->disp);
    if (m->base != AS_REG_NONE && m->base >= AS_BASE_REGISTERS)
        return any_pointer;
    if (m->base != AS_REG_NONE && is_frame(s, m->base))
        out = frame_address(s, m->base, m->disp);
    else if (m->base != AS_REG_NONE)
        out = as_base_add_constant(s->state->at[m->base], m->disp);
    if (may_be_file_address(s->b, m->disp) && !out.tags && !out.unknown && m->base != AS_BASE_SP) {
        const struct as_base_value fixed = file_address(s->b, (uint64_t)m->disp);
        if (fixed.tags)
            out = m->base == AS_REG_NONE ? fixed : as_base_add(s->b, &fixed, &out, 1);
    }
    if (m->index == AS_REG_NONE)
        return out;
    if (m->index >=
        AS_BASE_REGISTERS) /* a gather: the elements of the index vector count as numbers */
        return as_base_inexact(out);
    const struct as_base_value index = as_base_scale(&s->state->at[m->index], m->scale);
    return as_base_add(s->b, &out, &index, 1);
}

/* ---- Loads and stores ------------------------------------------------------------------------ */

static void tag_loaded(struct as_base_step *s, const struct as_base_value *address, uint32_t root,
                       struct as_base_value *out)
{
    struct as_base_tag tag;

    for (unsigned i = 0; i < address->tags; i++)
        if (as_base_loaded(s->b, &address->tag[i], &tag))
            as_base_tag_add(s->b, out, tag, root);
}

/* Returns the value of an 8-byte load. */
static struct as_base_value load_word(struct as_base_step *s, const struct as_memory *m,
                                      unsigned reg)
{
    const struct as_base_value address = as_base_step_address(s, m);
    const uint32_t root = as_base_root_result(s->b, s->insn, reg);
    struct as_base_value out = as_base_value_root(root);
    struct as_base_tag tag;
    int64_t offset_b;

    if (m->base < AS_BASE_REGISTERS && is_frame(s, m->base)) {
        const bool known = m->index == AS_REG_NONE &&
                           as_base_frame_offset(s->b, s->at->address, m->base, m->disp, &offset_b);
        const unsigned at = known ? word_at(s->b, offset_b, false) : AS_NONE;
        out = at == AS_NONE ? any_pointer : s->state->at[at];
    }
    tag_loaded(s, &address, root, &out);
    if (m->index == AS_REG_NONE && m->base != AS_REG_NONE &&
        as_base_behind(s->b, s->block, s->at->address, m->base, m->disp, &tag))
        as_base_tag_add(s->b, &out, tag, root);
    return out;
}

static void store_value(struct as_base_step *s, const struct as_memory *m,
                        const struct as_base_value *value)
{
    int64_t offset_b;

    if (m->base >= AS_BASE_REGISTERS || !is_frame(s, m->base)) {
        forget_escaped(s);
        return;
    }
    if (m->index != AS_REG_NONE ||
        !as_base_frame_offset(s->b, s->at->address, m->base, m->disp, &offset_b)) {
        forget_words(s, INT64_MIN / 2, INT64_MAX);
        return;
    }
    forget_words(s, offset_b, m->width_b ? m->width_b : 64);
    const unsigned at = value ? word_at(s->b, offset_b, true) : AS_NONE;
    if (at != AS_NONE)
        s->state->at[at] = *value;
}

/* ---- Instructions ---------------------------------------------------------------------------- */

static bool is_named(const struct as_base_step *s, const char *mnemonic)
{
    return strcmp(s->form->mnemonic, mnemonic) == 0;
}

/* Returns the value of an 8-byte register. */
static struct as_base_value register_value(const struct as_base_step *s, unsigned reg)
{
    if (reg < AS_BASE_REGISTERS)
        return s->state->at[reg];
    const unsigned at = vector_at(s->b, reg, false);
    return at == AS_NONE ? any_pointer : s->state->at[at];
}

/* Returns the value of an 8-byte source operand. */
static struct as_base_value source_value(struct as_base_step *s, unsigned operand, unsigned reg)
{
    const struct as_operand *o = &s->form->operand[operand];
    struct as_memory memory[2];

    switch (o->kind) {
    case AS_OPERAND_REG:
        return register_value(s, s->at->reg[o->slot]);
    case AS_OPERAND_MEM:
        as_insn_memory(&s->b->program->code, s->at, memory);
        return load_word(s, &memory[0], reg);
    case AS_OPERAND_IMM:
        return may_be_file_address(s->b, as_code_imm(&s->b->program->code, s->insn))
                   ? file_address(s->b, (uint64_t)as_code_imm(&s->b->program->code, s->insn))
                   : a_number;
    default:
        return a_number;
    }
}

/* Returns the address that lea computes. */
static struct as_base_value lea_value(struct as_base_step *s)
{
    const struct as_insn *at = s->at;
    const struct as_memory m = {.base = at->base == AS_REG_IP ? AS_REG_NONE : at->base,
                                .index = at->index,
                                .scale = at->scale,
                                .segment = AS_REG_NONE,
                                .disp = as_code_disp(&s->b->program->code, s->insn)};
    uint64_t address;

    return as_insn_memory_address(at, &address) ? file_address(s->b, address)
                                                : as_base_step_address(s, &m);
}

/* Returns the result of add, sub, inc, dec or neg on a register. */
static struct as_base_value sum_value(struct as_base_step *s, unsigned reg)
{
    const struct as_base_value *old = &s->state->at[reg];
    const bool minus = is_named(s, "sub");

    if (is_named(s, "inc") || is_named(s, "dec"))
        return as_base_add_constant(*old, is_named(s, "inc") ? 1 : -1);
    if (is_named(s, "neg"))
        return as_base_scale(old, -1);
    if ((!minus && !is_named(s, "add")) || s->form->operands < 2)
        return as_base_value_root(as_base_root_result(s->b, s->insn, reg));
    if (s->form->operand[1].kind == AS_OPERAND_IMM) {
        const int64_t by = as_code_imm(&s->b->program->code, s->insn);
        return as_base_add_constant(*old, minus ? -by : by);
    }
    const struct as_base_value other = source_value(s, 1, reg);
    return as_base_add(s->b, old, &other, minus ? -1 : 1);
}

/* Returns the result of a bit operation. Clearing low bits leaves a pointer in its object. Other
 * operations make a number. */
static struct as_base_value logic_value(struct as_base_step *s, unsigned reg)
{
    const bool clears = is_named(s, "and") && s->form->operands == 2 &&
                        s->form->operand[1].kind == AS_OPERAND_IMM &&
                        as_code_imm(&s->b->program->code, s->insn) < 0;

    return clears ? as_base_inexact(s->state->at[reg])
                  : as_base_value_root(as_base_root_result(s->b, s->insn, reg));
}

static struct as_base_value shift_value(struct as_base_step *s, unsigned reg)
{
    const struct as_operand *by = &s->form->operand[1];
    int64_t n = by->fixed ? by->fixed - 1 : as_code_imm(&s->b->program->code, s->insn);

    if ((!is_named(s, "shl") && !is_named(s, "sal")) || s->form->operands != 2 ||
        by->kind != AS_OPERAND_IMM || n < 0 || n > 14)
        return as_base_value_root(as_base_root_result(s->b, s->insn, reg));
    return as_base_scale(&s->state->at[reg], (int64_t)1 << n);
}

/* Returns the value of a conditional move: the merge of both values. */
static struct as_base_value select_value(struct as_base_step *s, unsigned reg)
{
    const struct as_base_value other = source_value(s, 1, reg);
    struct as_base_value out = s->state->at[reg];

    as_base_merge(s->b, &out, &other, as_base_root_result(s->b, s->insn, reg));
    return out;
}

/* Returns true for movq and similar moves between two registers. */
static bool is_vector_move(const struct as_base_step *s)
{
    const struct as_operand *o = s->form->operand;

    return s->form->operands == 2 && o[0].kind == AS_OPERAND_REG && o[1].kind == AS_OPERAND_REG &&
           (is_named(s, "movq") || is_named(s, "vmovq") || is_named(s, "movdqa") ||
            is_named(s, "vmovdqa") || is_named(s, "vmovdqa64") || is_named(s, "movaps") ||
            is_named(s, "vmovaps") || is_named(s, "vmovapd"));
}

/* Returns the result that an instruction writes to its first operand, an 8-byte register. */
static struct as_base_value result_of(struct as_base_step *s, unsigned reg)
{
    const bool idiom = s->at->bits & AS_INSN_IDIOM;
    const bool plain = s->form->operands == 2 && s->form->operand[1].width_b == 8;

    if (is_vector_move(s))
        return register_value(s, s->at->reg[s->form->operand[1].slot]);

    switch (s->form->insn_class) {
    case AS_CLASS_MOVE:
        return plain || s->form->operand[1].kind == AS_OPERAND_IMM ? source_value(s, 1, reg)
                                                                   : any_pointer;
    case AS_CLASS_LEA:
        return lea_value(s);
    case AS_CLASS_ADD:
        return idiom ? a_number : sum_value(s, reg);
    case AS_CLASS_LOGIC:
        return idiom ? a_number : logic_value(s, reg);
    case AS_CLASS_SHIFT:
        return shift_value(s, reg);
    case AS_CLASS_SELECT:
        return s->form->operands == 2 ? select_value(s, reg) : a_number;
    case AS_CLASS_EXCHANGE:
    case AS_CLASS_EXTRACT:
        return any_pointer;
    default:
        return as_base_value_root(as_base_root_result(s->b, s->insn, reg));
    }
}

/* Returns the 8-byte general register that is the first operand and written, or AS_NONE. */
static unsigned destination(const struct as_base_step *s)
{
    const struct as_operand *o = &s->form->operand[0];

    return s->form->operands && o->kind == AS_OPERAND_REG && o->access & AS_ACCESS_WRITE &&
                   o->width_b == 8 && s->at->reg[o->slot] < AS_BASE_REGISTERS
               ? s->at->reg[o->slot]
               : AS_NONE;
}

/* Returns true for a mov of a 32-bit constant: code at fixed addresses loads addresses this way.
 * Sets `reg` to the register. */
static bool is_short_constant(const struct as_base_step *s, unsigned *reg)
{
    const struct as_operand *o = s->form->operand;

    if (s->form->insn_class != AS_CLASS_MOVE || s->form->operands != 2 ||
        o[0].kind != AS_OPERAND_REG || o[0].width_b != 4 || o[1].kind != AS_OPERAND_IMM)
        return false;
    *reg = s->at->reg[o[0].slot];
    return *reg < AS_BASE_REGISTERS;
}

/* Sets all written registers except `but` to a number or a new root. */
static void write_others(struct as_base_step *s, unsigned but)
{
    struct as_effects effects;

    as_insn_effects(s->at, &effects);
    unsigned written = (unsigned)(effects.written.word[0] & 0xffff);
    if (s->form->insn_class == AS_CLASS_CALL)
        written |= AS_BASE_CALL_WRITES;
    for (unsigned reg = 0; reg < AS_BASE_REGISTERS; reg++)
        if (written >> reg & 1 && reg != but)
            s->state->at[reg] =
                s->form->insn_class == AS_CLASS_POP || s->form->insn_class == AS_CLASS_EXCHANGE
                    ? any_pointer
                    : as_base_value_root(as_base_root_result(s->b, s->insn, reg));
    forget_vectors(s, &effects);
}

/* Stores a value in a vector register if the source is a general register or a tracked vector
 * register. */
static void write_vector(struct as_base_step *s, const struct as_base_value *value)
{
    const unsigned from = s->at->reg[s->form->operand[1].slot];
    const bool keeps = from < AS_BASE_REGISTERS || vector_at(s->b, from, false) != AS_NONE;
    const unsigned to = vector_at(s->b, s->at->reg[s->form->operand[0].slot], keeps);

    if (to != AS_NONE)
        s->state->at[to] = *value;
}

/* Applies writes to memory. A word of the frame keeps the value of a stored register. */
static void write_memory(struct as_base_step *s)
{
    struct as_memory memory[2];
    const int n = as_insn_memory(&s->b->program->code, s->at, memory);
    const struct as_operand *from = &s->form->operand[1];

    for (int i = 0; i < n; i++) {
        const struct as_base_value *value = NULL;
        if (!(memory[i].access & AS_ACCESS_WRITE) || s->form->insn_class == AS_CLASS_CALL)
            continue;
        if (i == 0 && s->form->insn_class == AS_CLASS_MOVE && memory[i].width_b == 8 &&
            s->form->operands == 2 && from->kind == AS_OPERAND_REG &&
            s->at->reg[from->slot] < AS_BASE_REGISTERS)
            value = &s->state->at[s->at->reg[from->slot]];
        store_value(s, &memory[i], value);
    }
    if (s->form->insn_class == AS_CLASS_CALL)
        forget_escaped(s);
}

void as_base_step_run(struct as_base_step *s)
{
    const unsigned to = destination(s);
    unsigned reg = AS_NONE;
    struct as_base_value result = a_number;

    if (s->form->insn_class == AS_CLASS_NOP)
        return;
    if (to != AS_NONE)
        result = result_of(s, to);
    else if (is_short_constant(s, &reg) || is_vector_move(s))
        result = source_value(s, 1, reg);
    write_memory(s);
    write_others(s, to);
    if (to == AS_NONE && is_vector_move(s))
        write_vector(s, &result);
    if (to != AS_NONE || reg != AS_NONE)
        s->state->at[to != AS_NONE ? to : reg] = result;
}
