/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes one instruction with the decoder library: the reference decoder. It makes a record and a
 * recipe. decode.c uses the recipe to read equal encodings from their bytes.
 */
#include "isa/internal.h"

#include <string.h>

#include "isa/build.h"

static void init_insn(struct as_insn *insn, uint64_t address)
{
    memset(insn, 0, sizeof *insn);
    insn->address = address;
    memset(insn->reg, AS_REG_NONE, sizeof insn->reg);
    insn->base = insn->index = insn->segment = insn->mask = AS_REG_NONE;
}

static void invalid(uint64_t address, struct as_decoded *out)
{
    init_insn(&out->insn, address);
    out->insn.form = AS_FORM_INVALID;
    out->insn.length = 1;
    out->insn.bits = AS_INSN_INVALID;
    out->recipe.flags = AS_RECIPE_SLOW;
}

static uint8_t field_of(ZydisOperandEncoding encoding)
{
    switch (encoding) {
    case ZYDIS_OPERAND_ENCODING_MODRM_REG:
        return AS_ENCODED_REG;
    case ZYDIS_OPERAND_ENCODING_MODRM_RM:
        return AS_ENCODED_RM;
    case ZYDIS_OPERAND_ENCODING_OPCODE:
        return AS_ENCODED_OPCODE;
    case ZYDIS_OPERAND_ENCODING_NDSNDD:
        return AS_ENCODED_VVVV;
    case ZYDIS_OPERAND_ENCODING_IS4:
        return AS_ENCODED_IS4;
    default:
        return AS_ENCODED_CONST;
    }
}

/* Sets the first register and the number mask of the file of `reg`. Sets `fine` if validity depends
 * on the number. */
static void reference_file(unsigned reg, bool evex, uint8_t *first, uint8_t *mask, bool *fine)
{
    *fine = false;
    if (reg < AS_REG_VEC) {
        *first = AS_REG_GPR;
        *mask = 15;
        *fine = evex;
    } else if (reg < AS_REG_MASK) {
        *first = AS_REG_VEC;
        *mask = evex ? 31 : 15;
    } else if (reg < AS_REG_IP) {
        *first = (uint8_t)(reg & ~7u);
        *mask = 7;
        *fine = reg < AS_REG_X87 || reg >= AS_REG_TILE;
    } else {
        *first = (uint8_t)reg; /* segment and system registers use the finer key */
        *mask = 0;
        *fine = true;
    }
}

static void decode_register_operand(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *o,
                                    unsigned slot, struct as_decoded *out)
{
    struct as_named r = as_register_of(o->reg.value);
    struct as_recipe *recipe = &out->recipe;
    uint8_t field = field_of(o->encoding);
    out->insn.reg[slot] = r.reg;
    out->insn.high |= (uint8_t)(r.high << slot);
    recipe->base[slot] = r.reg;
    if (field != AS_ENCODED_CONST) {
        uint8_t mask;
        bool fine;
        reference_file(r.reg, zi->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX, &recipe->base[slot],
                       &mask, &fine);
        recipe->pick[slot] = (uint8_t)(field | mask << 3);
        if (fine)
            recipe->flags |= AS_RECIPE_FINE;
        if (r.reg < AS_REG_VEC && r.width_b == 1 && !(zi->attributes & ZYDIS_ATTRIB_HAS_REX))
            recipe->bytes |= (uint8_t)(1 << slot);
    } else if (r.high) {
        recipe->flags |= AS_RECIPE_SLOW;
    }
}

/* Returns the low 32 bits of the sum of a 32-bit distance and the length. Sets `bit` in insn->wrap
 * if the sum exceeds 32 bits. */
static int32_t wrapped(int64_t value, uint16_t bit, struct as_insn *insn)
{
    if (value > INT32_MAX)
        insn->wrap |= bit;
    return (int32_t)(uint32_t)value;
}

static void reference_memory(const ZydisDecodedOperand *o, struct as_decoded *out)
{
    struct as_insn *insn = &out->insn;
    struct as_named base = as_register_of(o->mem.base), index = as_register_of(o->mem.index);
    insn->bits |= AS_INSN_MEM;
    insn->base = base.reg;
    insn->index = index.reg;
    insn->scale = index.reg == AS_REG_NONE ? 0 : o->mem.scale ? o->mem.scale : 1;
    if (o->mem.segment == ZYDIS_REGISTER_FS)
        insn->segment = AS_REG_SEG + 4;
    else if (o->mem.segment == ZYDIS_REGISTER_GS)
        insn->segment = AS_REG_SEG + 5;
    int64_t disp = o->mem.disp.value;
    if (base.reg == AS_REG_IP) {
        insn->disp = wrapped(disp + insn->length, AS_WRAP_DISP, insn);
    } else {
        insn->disp = (int32_t)(uint32_t)(uint64_t)disp;
        if (insn->disp != disp) {
            insn->bits |= AS_INSN_IMM64;
            out->disp = disp;
        }
    }
    if (base.reg == 4 || base.reg == 5)
        insn->bits |= AS_INSN_STACKMEM;
    if (o->mem.type == ZYDIS_MEMOP_TYPE_MEM || o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
        out->recipe.flags |= AS_RECIPE_MEM;
    else
        out->recipe.flags |= AS_RECIPE_SLOW;
}

static void decode_immediate_operand(const ZydisDecodedOperand *o, unsigned nth,
                                     struct as_decoded *out)
{
    struct as_insn *insn = &out->insn;
    int64_t value = o->imm.value.s;
    if (nth) {
        insn->imm = (int32_t)((uint32_t)insn->imm | (uint32_t)value << 16);
        out->recipe.flags |= AS_RECIPE_SLOW;
        return;
    }
    if (o->imm.is_relative) {
        insn->imm = wrapped(value + insn->length, AS_WRAP_IMM, insn);
        out->recipe.flags |= AS_RECIPE_REL | AS_RECIPE_SIGNED;
        return;
    }
    insn->imm = (int32_t)(uint32_t)(uint64_t)value;
    bool fits = o->size <= 32 || insn->imm == value;
    if (!fits && o->imm.is_signed == ZYAN_FALSE && (uint64_t)value <= UINT32_MAX && o->size <= 32)
        fits = true;
    if (!fits) {
        insn->bits |= AS_INSN_IMM64;
        out->imm = value;
    }
    if (o->imm.is_signed)
        out->recipe.flags |= AS_RECIPE_SIGNED;
    if (o->encoding == ZYDIS_OPERAND_ENCODING_NONE && value == 1)
        out->recipe.flags |= AS_RECIPE_ONE;
    else if (o->encoding == ZYDIS_OPERAND_ENCODING_NONE ||
             o->encoding == ZYDIS_OPERAND_ENCODING_IS4)
        out->recipe.flags |= AS_RECIPE_SLOW;
    else
        out->recipe.flags |= AS_RECIPE_IMM;
}

/* Sets `slots` to the two sources that make an idiom if they are equal. Returns false if the form
 * has no idiom. */
static bool idiom_slots(const struct as_form *form, uint8_t *slots)
{
    unsigned sources[AS_OPERANDS_MAX], n = 0;
    if (!(form->traits & (AS_TRAIT_ZEROING | AS_TRAIT_ONES)))
        return false;
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_REG && form->operand[i].access & AS_ACCESS_READ)
            sources[n++] = form->operand[i].slot;
    if (n != 2)
        return false;
    *slots = (uint8_t)(sources[0] | sources[1] << 4);
    return true;
}

static void decode_shown_operands(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops,
                                  struct as_decoded *out)
{
    unsigned slot = 0, imms = 0;
    for (unsigned i = 0; i < zi->operand_count; i++) {
        const ZydisDecodedOperand *o = &ops[i];
        if (!as_operand_shown(o))
            continue;
        if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && slot < AS_SLOTS)
            decode_register_operand(zi, o, slot++, out);
        else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
            reference_memory(o, out);
        else if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            decode_immediate_operand(o, imms++, out);
    }
}

/* Returns the shift of a compressed 8-bit displacement, or 0xff if unknown. The function decodes
 * the encoding again with displacement 1. */
static uint8_t disp_shift_of(const ZydisDecoder *decoder, const ZydisDecodedInstruction *zi,
                             const uint8_t *bytes)
{
    uint8_t probe[AS_INSN_MAX_B + 17] = {0};
    ZydisDecodedInstruction pi;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    unsigned at = zi->raw.modrm.offset;
    memcpy(probe, bytes, at);
    probe[at] = (uint8_t)(0x40 | zi->raw.modrm.reg << 3); /* [rax + disp8] */
    probe[at + 1] = 1;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, probe, AS_INSN_MAX_B, &pi, ops)))
        return 0xff;
    for (unsigned i = 0; i < pi.operand_count; i++)
        if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            ops[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
            return (uint8_t)__builtin_ctzll((uint64_t)ops[i].mem.disp.value | 128);
    return 0xff;
}

/* Returns true for instructions that depend on register numbers. Complex FMAs of half floats are
 * invalid if a source is the destination (SDM: #UD). movdir64b writes to the address in its
 * register operand. */
static bool hangs_on_registers(const ZydisDecodedInstruction *zi)
{
    switch (zi->mnemonic) {
    case ZYDIS_MNEMONIC_MOVDIR64B:
    case ZYDIS_MNEMONIC_VFCMADDCPH:
    case ZYDIS_MNEMONIC_VFCMADDCSH:
    case ZYDIS_MNEMONIC_VFCMULCPH:
    case ZYDIS_MNEMONIC_VFCMULCSH:
    case ZYDIS_MNEMONIC_VFMADDCPH:
    case ZYDIS_MNEMONIC_VFMADDCSH:
    case ZYDIS_MNEMONIC_VFMULCPH:
    case ZYDIS_MNEMONIC_VFMULCSH:
        return true;
    default:
        return false;
    }
}

static void finish_recipe(const ZydisDecoder *decoder, const ZydisDecodedInstruction *zi,
                          const uint8_t *bytes, const struct as_form *form, struct as_decoded *out)
{
    struct as_recipe *recipe = &out->recipe;
    struct as_insn *insn = &out->insn;
    recipe->form = insn->form;
    recipe->segment = insn->segment;
    recipe->imm_b = (uint8_t)(zi->raw.imm[0].size / 8);
    if (zi->raw.imm[1].size || (zi->raw.disp.size && !(zi->attributes & ZYDIS_ATTRIB_HAS_MODRM)) ||
        zi->encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW || form->insn_class == AS_CLASS_SYSTEM ||
        form->insn_class == AS_CLASS_GATHER || form->insn_class == AS_CLASS_SCATTER ||
        (form->isa == AS_ISA_AMX && insn->bits & AS_INSN_MEM))
        recipe->flags |= AS_RECIPE_SLOW;
    if (zi->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && insn->bits & AS_INSN_MEM)
        recipe->disp_shift = disp_shift_of(decoder, zi, bytes);
    if (recipe->disp_shift == 0xff)
        recipe->flags |= AS_RECIPE_SLOW;
    if (hangs_on_registers(zi))
        recipe->flags |= AS_RECIPE_FINE;
    if (idiom_slots(form, &recipe->idiom)) {
        recipe->flags |= AS_RECIPE_IDIOM;
        if (insn->reg[recipe->idiom & 15] == insn->reg[recipe->idiom >> 4])
            insn->bits |= AS_INSN_IDIOM;
    }
}

int as_reference_decode(const uint8_t *bytes, size_t size_b, uint64_t address, bool k1om,
                        struct as_decoded *out)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction zi;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    struct as_form form;

    memset(out, 0, sizeof *out);
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (size_b > AS_INSN_MAX_B)
        size_b = AS_INSN_MAX_B;
    /* Only Knights Corner has MVEX; for all other CPUs these bytes are invalid. */
    if (!size_b || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size_b, &zi, ops)) ||
        (zi.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX && !k1om)) {
        invalid(address, out);
        return 0;
    }
    init_insn(&out->insn, address);
    out->insn.length = zi.length;
    memset(out->recipe.base, AS_REG_NONE, AS_SLOTS);
    as_form_build(&zi, ops, &form);
    int number = as_form_intern(&form);
    if (number < 0)
        return number;
    out->insn.form = (uint16_t)number;
    decode_shown_operands(&zi, ops, out);
    if (form.traits & AS_TRAIT_MASKED)
        out->insn.mask = as_register_of(zi.avx.mask.reg).reg;
    finish_recipe(&decoder, &zi, bytes, &form, out);
    return 0;
}
