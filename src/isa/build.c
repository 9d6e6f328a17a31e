/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a form from a decoded instruction and the table row of its mnemonic. The form has operands
 * and their access, implicit registers, flags, element, lanes, operations and traits. patches.c
 * corrects the library's operand actions where the manuals differ.
 */
#include "isa/build.h"

#include <string.h>

#include "isa/patches.h"
#include "isa/table.h"

struct as_named as_register_of(ZydisRegister reg)
{
    struct as_named out = {AS_REG_NONE, 0, 0};
    ZydisRegisterClass rc = ZydisRegisterGetClass(reg);
    unsigned id = (uint8_t)ZydisRegisterGetId(reg); /* -1, and no class, for no register */
    unsigned first;
    out.width_b = (uint16_t)(ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg) / 8);
    switch (rc) {
    case ZYDIS_REGCLASS_GPR8:
        if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH) {
            out.reg = (uint8_t)(reg - ZYDIS_REGISTER_AH);
            out.high = 1;
        } else if (reg < ZYDIS_REGISTER_AH) {
            out.reg = (uint8_t)(reg - ZYDIS_REGISTER_AL);
        } else {
            out.reg = (uint8_t)(reg - ZYDIS_REGISTER_SPL + 4);
        }
        return out;
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        first = AS_REG_GPR;
        break;
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        first = AS_REG_VEC;
        break;
    case ZYDIS_REGCLASS_MASK:
        first = AS_REG_MASK;
        break;
    case ZYDIS_REGCLASS_X87:
    case ZYDIS_REGCLASS_MMX:
        first = AS_REG_X87;
        break;
    case ZYDIS_REGCLASS_TMM:
        first = AS_REG_TILE;
        out.width_b = 1024;
        break;
    case ZYDIS_REGCLASS_SEGMENT:
        first = AS_REG_SEG;
        break;
    case ZYDIS_REGCLASS_IP:
        out.reg = AS_REG_IP;
        return out;
    case ZYDIS_REGCLASS_CONTROL:
    case ZYDIS_REGCLASS_DEBUG:
    case ZYDIS_REGCLASS_TEST:
    case ZYDIS_REGCLASS_BOUND:
        out.reg = AS_REG_SYSTEM;
        return out;
    default:
        if (reg == ZYDIS_REGISTER_MXCSR)
            out.reg = AS_REG_MXCSR;
        else if (reg == ZYDIS_REGISTER_X87CONTROL)
            out.reg = AS_REG_X87CW;
        else if (reg == ZYDIS_REGISTER_X87STATUS || reg == ZYDIS_REGISTER_X87TAG)
            out.reg = AS_REG_X87SW;
        else if (reg != ZYDIS_REGISTER_NONE && rc != ZYDIS_REGCLASS_FLAGS)
            out.reg = AS_REG_SYSTEM;
        return out;
    }
    out.reg = (uint8_t)(first + id);
    return out;
}

static uint8_t access_of(ZydisOperandActions actions)
{
    unsigned access = 0;
    if (actions & ZYDIS_OPERAND_ACTION_MASK_READ)
        access |= AS_ACCESS_READ;
    if (actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
        access |= AS_ACCESS_WRITE;
    if (actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
        access |= AS_ACCESS_MAYBE;
    return (uint8_t)access;
}

static uint8_t flags_of(ZydisAccessedFlagsMask mask)
{
    static const struct {
        ZydisAccessedFlagsMask from;
        uint8_t to;
    } map[] = {
        {ZYDIS_CPUFLAG_CF, AS_FLAG_C}, {ZYDIS_CPUFLAG_PF, AS_FLAG_P}, {ZYDIS_CPUFLAG_AF, AS_FLAG_A},
        {ZYDIS_CPUFLAG_ZF, AS_FLAG_Z}, {ZYDIS_CPUFLAG_SF, AS_FLAG_S}, {ZYDIS_CPUFLAG_DF, AS_FLAG_D},
        {ZYDIS_CPUFLAG_OF, AS_FLAG_O},
    };
    ZydisAccessedFlagsMask rest = mask;
    uint8_t out = 0;
    for (size_t i = 0; i < sizeof map / sizeof *map; i++) {
        if (mask & map[i].from)
            out |= map[i].to;
        rest &= ~map[i].from;
    }
    return rest ? (uint8_t)(out | AS_FLAG_SYSTEM) : out;
}

static void build_flags(const ZydisDecodedInstruction *insn, struct as_form *f)
{
    if (!insn->cpu_flags)
        return;
    const ZydisAccessedFlags *z = insn->cpu_flags;
    f->flags_read = flags_of(z->tested);
    f->flags_undefined = flags_of(z->undefined);
    f->flags_written = (uint8_t)(flags_of(z->modified | z->set_0 | z->set_1) | f->flags_undefined);
}

static uint8_t isa_of(const ZydisDecodedInstruction *insn)
{
    static const struct {
        const char *prefix; /* start of the library's ISA set name; the first match wins */
        uint8_t isa;
    } map[] = {
        {"AVX512_FP16", AS_ISA_AVX512_FP16},
        {"AVX512_BF16", AS_ISA_AVX512_BF16},
        {"AVX512_VAES", AS_ISA_AES},
        {"AVX512", AS_ISA_AVX512},
        {"AVX_VNNI", AS_ISA_AVX_VNNI},
        {"AVX2", AS_ISA_AVX2},
        {"AVXAES", AS_ISA_AES},
        {"AVX_GFNI", AS_ISA_OTHER},
        {"AVX", AS_ISA_AVX},
        {"AES", AS_ISA_AES},
        {"VAES", AS_ISA_AES},
        {"PCLMULQDQ", AS_ISA_AES},
        {"VPCLMULQDQ", AS_ISA_AES},
        {"SHA", AS_ISA_AES},
        {"AMX", AS_ISA_AMX},
        {"F16C", AS_ISA_F16C},
        {"FMA4", AS_ISA_OTHER},
        {"FMA", AS_ISA_FMA},
        {"BMI", AS_ISA_BMI},
        {"LZCNT", AS_ISA_BMI},
        {"ADOX", AS_ISA_BMI},
        {"SSE4A", AS_ISA_OTHER},
        {"SSE4", AS_ISA_SSE4},
        {"POPCNT", AS_ISA_SSE4},
        {"SSSE3", AS_ISA_SSSE3},
        {"SSE3X87", AS_ISA_X87},
        {"SSE3", AS_ISA_SSE3},
        {"SSE2", AS_ISA_SSE2},
        {"SSE", AS_ISA_SSE},
        {"X87", AS_ISA_X87},
        {"FCMOV", AS_ISA_X87},
        {"PENTIUMMMX", AS_ISA_MMX},
        {"I86", AS_ISA_BASE},
        {"I186", AS_ISA_BASE},
        {"I286", AS_ISA_BASE},
        {"I386", AS_ISA_BASE},
        {"I486", AS_ISA_BASE},
        {"PENTIUMREAL", AS_ISA_BASE},
        {"PPRO", AS_ISA_BASE},
        {"LONGMODE", AS_ISA_BASE},
        {"CMOV", AS_ISA_BASE},
        {"CMPXCHG16B", AS_ISA_BASE},
        {"FAT_NOP", AS_ISA_BASE},
        {"PREFETCH_NOP", AS_ISA_BASE},
        {"LAHF", AS_ISA_BASE},
        {"PAUSE", AS_ISA_BASE},
        {"MOVBE", AS_ISA_BASE},
        {"CLFSH", AS_ISA_BASE},
        {"FXSAVE", AS_ISA_BASE},
        {"CET", AS_ISA_BASE},
        {"RDTSCP", AS_ISA_BASE},
        {"RDPMC", AS_ISA_BASE},
    };
    const char *name = ZydisISASetGetString(insn->meta.isa_set);
    for (size_t i = 0; name && i < sizeof map / sizeof *map; i++)
        if (!strncmp(name, map[i].prefix, strlen(map[i].prefix)))
            return map[i].isa;
    return AS_ISA_OTHER;
}

static uint8_t register_file(ZydisRegister reg)
{
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
        return AS_FILE_GPR8;
    case ZYDIS_REGCLASS_GPR16:
        return AS_FILE_GPR16;
    case ZYDIS_REGCLASS_GPR32:
        return AS_FILE_GPR32;
    case ZYDIS_REGCLASS_GPR64:
        return AS_FILE_GPR64;
    case ZYDIS_REGCLASS_MMX:
        return AS_FILE_MMX;
    case ZYDIS_REGCLASS_XMM:
        return AS_FILE_XMM;
    case ZYDIS_REGCLASS_YMM:
        return AS_FILE_YMM;
    case ZYDIS_REGCLASS_ZMM:
        return AS_FILE_ZMM;
    case ZYDIS_REGCLASS_MASK:
        return AS_FILE_MASK;
    case ZYDIS_REGCLASS_X87:
        return AS_FILE_X87;
    case ZYDIS_REGCLASS_TMM:
        return AS_FILE_TILE;
    case ZYDIS_REGCLASS_SEGMENT:
        return AS_FILE_SEGMENT;
    default:
        return AS_FILE_OTHER;
    }
}

static struct as_operand operand_of(const ZydisDecodedOperand *o, uint8_t *slot)
{
    struct as_operand out = {0};
    out.access = access_of(o->actions);
    out.width_b = (uint16_t)(o->size / 8);
    switch (o->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER:
        out.kind = AS_OPERAND_REG;
        out.slot = (*slot)++;
        out.file = register_file(o->reg.value);
        if (o->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT)
            out.fixed = (uint8_t)(as_register_of(o->reg.value).reg + 1);
        break;
    case ZYDIS_OPERAND_TYPE_MEMORY:
        out.kind = o->mem.type == ZYDIS_MEMOP_TYPE_AGEN ? AS_OPERAND_ADDRESS : AS_OPERAND_MEM;
        break;
    default:
        out.kind = o->imm.is_relative ? AS_OPERAND_REL : AS_OPERAND_IMM;
        out.access = AS_ACCESS_READ;
        if (o->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT)
            out.fixed = (uint8_t)o->imm.value.u;
    }
    return out;
}

/* Sets vector_b to the width of the widest vector register. Returns the width in bytes of the
 * widest access to one. */
static unsigned widest_access(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops,
                              struct as_form *f)
{
    unsigned widest = 0;
    for (unsigned i = 0; i < insn->operand_count; i++) {
        const ZydisDecodedOperand *o = &ops[i];
        if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        ZydisRegisterClass rc = ZydisRegisterGetClass(o->reg.value);
        if (rc != ZYDIS_REGCLASS_XMM && rc != ZYDIS_REGCLASS_YMM && rc != ZYDIS_REGCLASS_ZMM &&
            rc != ZYDIS_REGCLASS_MMX)
            continue;
        unsigned reg_b = as_register_of(o->reg.value).width_b;
        if (reg_b > f->vector_b)
            f->vector_b = (uint16_t)reg_b;
        if (o->size / 8u > widest)
            widest = o->size / 8u;
    }
    return widest > f->vector_b ? f->vector_b : widest;
}

static void build_operands(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops,
                           struct as_form *f)
{
    uint8_t slot = 0;
    for (unsigned i = 0; i < insn->operand_count; i++) {
        if (!as_operand_shown(&ops[i]) || f->operands == AS_OPERANDS_MAX)
            continue;
        struct as_operand o = operand_of(&ops[i], &slot);
        if (o.kind == AS_OPERAND_MEM && ops[i].mem.base == ZYDIS_REGISTER_RIP)
            f->traits |= AS_TRAIT_RIP_RELATIVE;
        if (o.kind == AS_OPERAND_ADDRESS && ops[i].mem.base == ZYDIS_REGISTER_RIP)
            f->traits |= AS_TRAIT_RIP_RELATIVE;
        f->operand[f->operands++] = o;
    }
}

static void implicit_register(const ZydisDecodedOperand *o, struct as_form *f)
{
    struct as_named r = as_register_of(o->reg.value);
    uint8_t access = access_of(o->actions);
    if (ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_FLAGS) {
        if (access & AS_ACCESS_MAYBE)
            f->flags_maybe = f->flags_written;
        return;
    }
    if (r.reg == AS_REG_NONE)
        return;
    if (access & AS_ACCESS_READ)
        as_regset_add(&f->implicit_read, r.reg);
    if (!(access & AS_ACCESS_WRITE))
        return;
    as_regset_add(&f->implicit_write, r.reg);
    bool gpr = r.reg < AS_REG_VEC;
    if (access & AS_ACCESS_MAYBE || (gpr && r.width_b < 4))
        as_regset_add(&f->implicit_merge, r.reg);
    if (gpr && r.width_b == 4)
        as_regset_add(&f->implicit_clear, r.reg);
}

static void implicit_memory(const ZydisDecodedOperand *o, struct as_form *f)
{
    if (f->memories == 2)
        return;
    struct as_form_memory *m = &f->memory[f->memories++];
    m->base = as_register_of(o->mem.base).reg;
    m->index = as_register_of(o->mem.index).reg;
    m->segment = AS_REG_NONE;
    if (o->mem.segment == ZYDIS_REGISTER_FS)
        m->segment = AS_REG_SEG + 4;
    else if (o->mem.segment == ZYDIS_REGISTER_GS)
        m->segment = AS_REG_SEG + 5;
    m->access = access_of(o->actions);
    m->width_b = (uint16_t)(o->size / 8);
    if (m->base == 4 && m->access & AS_ACCESS_WRITE)
        m->disp = (int16_t)-m->width_b;
    as_regset_add(&f->implicit_read, m->base);
    as_regset_add(&f->implicit_read, m->index);
}

static void build_implicit(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops,
                           struct as_form *f)
{
    for (unsigned i = 0; i < insn->operand_count; i++) {
        const ZydisDecodedOperand *o = &ops[i];
        if (as_operand_shown(o) || o->encoding == ZYDIS_OPERAND_ENCODING_MASK)
            continue;
        if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
            implicit_register(o, f);
        else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
            implicit_memory(o, f);
    }
}

static void build_encoding_traits(const ZydisDecodedInstruction *insn, struct as_form *f)
{
    ZydisInstructionAttributes a = insn->attributes;
    bool evex = insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
    if (evex || insn->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
        insn->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX ||
        insn->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP)
        f->traits |= AS_TRAIT_VEX;
    if (evex)
        f->traits |= AS_TRAIT_EVEX;
    if (a & ZYDIS_ATTRIB_HAS_LOCK)
        f->traits |= AS_TRAIT_LOCK;
    if (a & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
        f->traits |= AS_TRAIT_REP;
    if (a & ZYDIS_ATTRIB_IS_PRIVILEGED)
        f->traits |= AS_TRAIT_PRIVILEGED;
    if (insn->avx.broadcast.mode && !insn->avx.broadcast.is_static)
        f->traits |= AS_TRAIT_BROADCAST;
    if (as_is_masked(insn))
        f->traits |= AS_TRAIT_MASKED;
    if (insn->avx.mask.mode == ZYDIS_MASK_MODE_ZEROING ||
        insn->avx.mask.mode == ZYDIS_MASK_MODE_CONTROL_ZEROING)
        f->traits |= AS_TRAIT_MASK_ZEROES;
}

static uint16_t index_lanes(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops)
{
    const char *name = ZydisMnemonicGetString(insn->mnemonic);
    unsigned index_b = strstr(name, "erq") ? 8 : 4; /* vgatherq?, vscatterq? and similar */
    for (unsigned i = 0; i < insn->operand_count; i++)
        if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY && ops[i].mem.type == ZYDIS_MEMOP_TYPE_VSIB)
            return (uint16_t)(as_register_of(ops[i].mem.index).width_b / index_b);
    return 64;
}

/* Returns the width in bytes of an integer source. For conversions and extensions this is the width
 * of the last operand. */
static uint8_t source_width(const struct as_form *f)
{
    unsigned last_b = f->element_b;
    if (f->insn_class == AS_CLASS_CONVERT || f->insn_class == AS_CLASS_EXTEND)
        for (unsigned i = 0; i < f->operands; i++)
            if (f->operand[i].kind != AS_OPERAND_IMM && f->operand[i].width_b)
                last_b = f->operand[i].width_b;
    return (uint8_t)last_b;
}

static void build_elements(const struct as_isa_row *row, const ZydisDecodedInstruction *insn,
                           struct as_form *f)
{
    f->element = row->element;
    f->element_b = row->element_b;
    f->source_element = row->source;
    f->source_element_b = row->source_b;
    unsigned width_b = 0;
    for (unsigned i = 0; i < f->operands && !width_b; i++)
        width_b = f->operand[i].width_b;
    if (!width_b)
        width_b = insn->operand_width / 8u;
    if (f->element == AS_ELEMENT_INT && !f->element_b)
        f->element_b = (uint8_t)width_b;
    if ((f->insn_class == AS_CLASS_PUSH || f->insn_class == AS_CLASS_POP) && f->memories)
        f->element_b = (uint8_t)f->memory[0].width_b;
    if (f->source_element == AS_ELEMENT_INT && !f->source_element_b)
        f->source_element_b = source_width(f);
    if (f->element >= AS_ELEMENT_F16 && f->element <= AS_ELEMENT_F80 &&
        f->insn_class != AS_CLASS_SYSTEM)
        f->traits |= AS_TRAIT_FP;
    else if (f->source_element >= AS_ELEMENT_F16 && f->source_element <= AS_ELEMENT_F80)
        f->traits |= AS_TRAIT_FP;
}

static void build_lanes(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops,
                        unsigned access_b, struct as_form *f)
{
    if (f->element == AS_ELEMENT_NONE) {
        f->lanes = 0;
        return;
    }
    f->lanes = 1;
    if (f->traits & AS_TRAIT_PACKED && f->element_b) {
        unsigned lane_b = f->element_b;
        if (f->insn_class == AS_CLASS_CONVERT && f->source_element_b > lane_b &&
            insn->mnemonic != ZYDIS_MNEMONIC_VCVTNE2PS2BF16)
            lane_b = f->source_element_b;
        if (access_b)
            f->lanes = (uint16_t)(access_b / lane_b);
        if (f->isa == AS_ISA_AMX)
            f->lanes = 256;
        if (!f->lanes)
            f->lanes = 1;
    }
    if (f->insn_class == AS_CLASS_GATHER || f->insn_class == AS_CLASS_SCATTER ||
        (f->insn_class == AS_CLASS_PREFETCH && f->traits & AS_TRAIT_EVEX)) {
        uint16_t lanes = index_lanes(insn, ops);
        if (!access_b || lanes < f->lanes)
            f->lanes = lanes;
    }
}

void as_form_build(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops,
                   struct as_form *f)
{
    memset(f, 0, sizeof *f);
    const struct as_isa_row *row = &as_isa_rows[insn->mnemonic];
    f->mnemonic = row->mnemonic;
    f->insn_class = row->insn_class;
    f->traits = row->traits;
    f->isa = row->traits & AS_TRAIT_X87 ? AS_ISA_X87 : isa_of(insn);
    f->extensions = as_form_extensions(insn);
    build_flags(insn, f);
    build_encoding_traits(insn, f);
    build_operands(insn, ops, f);
    build_implicit(insn, ops, f);
    build_elements(row, insn, f);
    unsigned access_b = widest_access(insn, ops, f);
    build_lanes(insn, ops, access_b, f);
    for (unsigned i = 0; i < f->operands; i++)
        if (f->operand[i].kind == AS_OPERAND_REG || f->operand[i].kind == AS_OPERAND_MEM)
            f->operand[i].element_b = f->element_b;
    as_form_patch(insn, ops, f);
    /* cmpsd and movsd are two instructions each with one table row. */
    bool string = f->insn_class == AS_CLASS_STRING;
    unsigned intops = string ? f->flags_written != 0 : row->intops;
    f->flops = (uint16_t)(string ? 0 : row->flops * f->lanes);
    f->intops = (uint16_t)(intops * f->lanes);
    f->traits &= ~AS_TRAIT_UNALIGNED;
}
