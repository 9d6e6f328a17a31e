/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Corrects the decoder library's operand actions: partial writes that merge, masked writes, string
 * operations and the x87 stack. It also adds the floating-point control registers, alignment,
 * idioms and moves. Sources: Intel SDM volume 2, each instruction's operation section.
 */
#include "isa/patches.h"

#include <string.h>

#include "isa/table.h"

static bool is_vector(unsigned reg)
{
    return reg >= AS_REG_VEC && reg < AS_REG_MASK;
}

/* Returns the library's operand for the n-th operand of the record, or NULL. */
static const ZydisDecodedOperand *shown_operand(const ZydisDecodedInstruction *insn,
                                                const ZydisDecodedOperand *ops, unsigned n)
{
    for (unsigned i = 0; i < insn->operand_count; i++)
        if (as_operand_shown(&ops[i]) && !n--)
            return &ops[i];
    return NULL;
}

/* Marks writes that leave other bits unchanged: merging masks and legacy writes below 16 bytes. */
static void merging_writes(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops,
                           struct as_form *f)
{
    bool merge_mask = as_is_masked(insn) && insn->avx.mask.mode == ZYDIS_MASK_MODE_MERGING;
    for (unsigned i = 0; i < f->operands; i++) {
        struct as_operand *o = &f->operand[i];
        const ZydisDecodedOperand *z = shown_operand(insn, ops, i);
        if (!(o->access & AS_ACCESS_WRITE) || !z)
            continue;
        if (o->kind == AS_OPERAND_MEM) {
            if (merge_mask)
                o->access =
                    (uint8_t)((o->access & ~AS_ACCESS_READ) | AS_ACCESS_MAYBE | AS_ACCESS_MERGE);
            continue;
        }
        if (o->kind != AS_OPERAND_REG)
            continue;
        unsigned reg = as_register_of(z->reg.value).reg;
        if (merge_mask && is_vector(reg))
            o->access |= AS_ACCESS_READ | AS_ACCESS_MAYBE | AS_ACCESS_MERGE;
        else if (is_vector(reg) && !(f->traits & AS_TRAIT_VEX) && o->width_b < 16)
            o->access |= AS_ACCESS_MERGE;
        else if (reg < AS_REG_VEC && o->width_b < 4)
            o->access |= AS_ACCESS_MERGE;
        if (o->access & AS_ACCESS_MAYBE)
            o->access |= AS_ACCESS_READ;
    }
}

/* Corrects MVEX writes without a mask. The library marks all MVEX destinations as read and
 * conditionally written, which is true only under a mask. Three kinds of destinations are also
 * sources. These are destinations of FMAs, sums with a carry (operand 2 is a mask), and loads that
 * fill a part. */
static void unmasked_writes(const ZydisDecodedInstruction *insn, struct as_form *f)
{
    struct as_operand *to = &f->operand[0];
    if (insn->encoding != ZYDIS_INSTRUCTION_ENCODING_MVEX || as_is_masked(insn) || !f->operands ||
        !(to->access & AS_ACCESS_WRITE))
        return;
    const bool adds = f->insn_class == AS_CLASS_FMA && !strstr(f->mnemonic, "madd233");
    const bool carries =
        f->operands > 1 && f->insn_class == AS_CLASS_ADD && f->operand[1].file == AS_FILE_MASK;
    const bool fills = strncmp(f->mnemonic, "vloadunpack", 11) == 0;
    to->access = AS_ACCESS_WRITE;
    if (to->kind == AS_OPERAND_REG && (adds || carries || fills))
        to->access |= AS_ACCESS_READ;
}

/* Corrects string operations: rsi and rdi always advance; with rep everything depends on rcx. */
static void strings(const ZydisDecodedInstruction *insn, struct as_form *f)
{
    if (insn->meta.category != ZYDIS_CATEGORY_STRINGOP &&
        insn->meta.category != ZYDIS_CATEGORY_IOSTRINGOP)
        return;
    f->insn_class =
        insn->meta.category == ZYDIS_CATEGORY_STRINGOP ? AS_CLASS_STRING : f->insn_class;
    f->traits &= ~(AS_TRAIT_SCALAR | AS_TRAIT_PACKABLE | AS_TRAIT_FP);
    f->flags_read &=
        /* Repe and repne test a flag that the instruction itself has set. */
        AS_FLAG_D | AS_FLAG_SYSTEM;
    f->element = f->source_element = AS_ELEMENT_INT;
    if (f->memories)
        f->element_b = f->source_element_b = (uint8_t)f->memory[0].width_b;
    for (unsigned i = 0; i < f->memories; i++) /* the library omits scas and cmps */
        if (f->memory[i].base == 6 || f->memory[i].base == 7)
            as_regset_add(&f->implicit_write, f->memory[i].base);
    if (f->traits & AS_TRAIT_REP)
        as_regset_add(&f->implicit_write, 1);
    as_regset_join(&f->implicit_read, f->implicit_write);
    if (insn->mnemonic >= ZYDIS_MNEMONIC_LODSB && insn->mnemonic <= ZYDIS_MNEMONIC_LODSW &&
        !(f->traits & AS_TRAIT_REP) && insn->operand_width >= 32)
        f->implicit_read.word[0] &= ~(uint64_t)1;
    if (!(f->traits & AS_TRAIT_REP)) {
        uint64_t pointers = 1u << 6 | 1u << 7;
        f->implicit_merge.word[0] &= ~pointers;
        return;
    }
    f->implicit_merge = f->implicit_write;
    f->flags_maybe = f->flags_written;
    for (unsigned i = 0; i < f->memories; i++)
        f->memory[i].access |= AS_ACCESS_MAYBE;
}

/* Returns true for instructions that push or pop. Names st(i) are relative to the top, so they
 * rename all eight registers. */
static bool moves_top(const ZydisDecodedInstruction *insn)
{
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_FLD:
    case ZYDIS_MNEMONIC_FILD:
    case ZYDIS_MNEMONIC_FBLD:
    case ZYDIS_MNEMONIC_FLD1:
    case ZYDIS_MNEMONIC_FLDL2E:
    case ZYDIS_MNEMONIC_FLDL2T:
    case ZYDIS_MNEMONIC_FLDLG2:
    case ZYDIS_MNEMONIC_FLDLN2:
    case ZYDIS_MNEMONIC_FLDPI:
    case ZYDIS_MNEMONIC_FLDZ:
    case ZYDIS_MNEMONIC_FSTP:
    case ZYDIS_MNEMONIC_FSTPNCE:
    case ZYDIS_MNEMONIC_FISTP:
    case ZYDIS_MNEMONIC_FISTTP:
    case ZYDIS_MNEMONIC_FBSTP:
    case ZYDIS_MNEMONIC_FADDP:
    case ZYDIS_MNEMONIC_FSUBP:
    case ZYDIS_MNEMONIC_FSUBRP:
    case ZYDIS_MNEMONIC_FMULP:
    case ZYDIS_MNEMONIC_FDIVP:
    case ZYDIS_MNEMONIC_FDIVRP:
    case ZYDIS_MNEMONIC_FCOMP:
    case ZYDIS_MNEMONIC_FCOMPP:
    case ZYDIS_MNEMONIC_FCOMIP:
    case ZYDIS_MNEMONIC_FICOMP:
    case ZYDIS_MNEMONIC_FUCOMP:
    case ZYDIS_MNEMONIC_FUCOMPP:
    case ZYDIS_MNEMONIC_FUCOMIP:
    case ZYDIS_MNEMONIC_FFREEP:
    case ZYDIS_MNEMONIC_FDECSTP:
    case ZYDIS_MNEMONIC_FINCSTP:
    case ZYDIS_MNEMONIC_FPATAN:
    case ZYDIS_MNEMONIC_FPTAN:
    case ZYDIS_MNEMONIC_FSINCOS:
    case ZYDIS_MNEMONIC_FXTRACT:
    case ZYDIS_MNEMONIC_FYL2X:
    case ZYDIS_MNEMONIC_FYL2XP1:
    case ZYDIS_MNEMONIC_FNSAVE:
    case ZYDIS_MNEMONIC_FRSTOR:
    case ZYDIS_MNEMONIC_FNINIT:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
        return true;
    default:
        return false;
    }
}

static void x87(const ZydisDecodedInstruction *insn, struct as_form *f)
{
    static const uint64_t all = (uint64_t)0xff << AS_REG_X87;
    if (moves_top(insn)) {
        f->implicit_read.word[0] |= all;
        f->implicit_write.word[0] |= all;
    }
    if (!(f->traits & AS_TRAIT_X87))
        return;
    as_regset_add(&f->implicit_read, AS_REG_X87CW);
    as_regset_add(&f->implicit_read, AS_REG_X87SW);
    as_regset_add(&f->implicit_write, AS_REG_X87SW);
    as_regset_add(&f->implicit_merge, AS_REG_X87SW);
    if (insn->mnemonic == ZYDIS_MNEMONIC_FLDCW || insn->mnemonic == ZYDIS_MNEMONIC_FLDENV ||
        insn->mnemonic == ZYDIS_MNEMONIC_FNINIT || insn->mnemonic == ZYDIS_MNEMONIC_FRSTOR ||
        insn->mnemonic == ZYDIS_MNEMONIC_FNSAVE || insn->mnemonic == ZYDIS_MNEMONIC_FNSTENV)
        as_regset_add(&f->implicit_write, AS_REG_X87CW);
}

/* Adds the effects of MMX instructions: they share the x87 registers and reset their tags. */
static void mmx(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops,
                struct as_form *f)
{
    bool used = insn->mnemonic == ZYDIS_MNEMONIC_EMMS || insn->mnemonic == ZYDIS_MNEMONIC_FEMMS;
    for (unsigned i = 0; i < insn->operand_count; i++)
        used |= ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                ZydisRegisterGetClass(ops[i].reg.value) == ZYDIS_REGCLASS_MMX;
    if (!used)
        return;
    as_regset_add(&f->implicit_write, AS_REG_X87SW);
    if (f->vector_b == 8 && f->traits & AS_TRAIT_PACKED)
        f->traits |= AS_TRAIT_PACKABLE;
}

/* Adds the exchange of rax and r8 for f3 49 90. Intel executes pause; AMD exchanges the registers,
 * as without f3. */
static void pause_or_exchange(const ZydisDecodedInstruction *insn, struct as_form *f)
{
    if (!insn->raw.rex.B)
        return;
    for (unsigned reg = 0; reg <= 8; reg += 8) {
        as_regset_add(&f->implicit_write, reg);
        as_regset_add(&f->implicit_merge, reg);
    }
}

/* Adds writes that the decoder library omits; execution of the instructions showed them. */
static void left_out(const ZydisDecodedInstruction *insn, struct as_form *f)
{
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_RDSSPD: /* the destination stays if shadow stacks are off */
    case ZYDIS_MNEMONIC_RDSSPQ:
        f->operand[0].access |= AS_ACCESS_READ | AS_ACCESS_MAYBE;
        break;
    case ZYDIS_MNEMONIC_VPTEST:
    case ZYDIS_MNEMONIC_VTESTPS:
    case ZYDIS_MNEMONIC_VTESTPD: /* cleared */
        f->flags_written |= AS_FLAG_A | AS_FLAG_O | AS_FLAG_P | AS_FLAG_S;
        break;
    case ZYDIS_MNEMONIC_VPCMPESTRM:
    case ZYDIS_MNEMONIC_VPCMPISTRM: /* writes xmm0 like any VEX instruction */
        as_regset_add(&f->implicit_clear, AS_REG_VEC);
        break;
    case ZYDIS_MNEMONIC_VP2INTERSECTD: /* the named mask register and its neighbour: k2n, k2n+1 */
    case ZYDIS_MNEMONIC_VP2INTERSECTQ:
        f->operand[0].width_b = 16;
        break;
    case ZYDIS_MNEMONIC_PAUSE:
        pause_or_exchange(insn, f);
        break;
    default:
        break;
    }
}

/* Adds MXCSR, which has the rounding mode and exception masks: floating-point
 * instructions read it. */
static void control_word(const ZydisDecodedInstruction *insn, struct as_form *f)
{
    if (insn->mnemonic == ZYDIS_MNEMONIC_LDMXCSR || insn->mnemonic == ZYDIS_MNEMONIC_VLDMXCSR)
        as_regset_add(&f->implicit_write, AS_REG_MXCSR);
    if (insn->mnemonic == ZYDIS_MNEMONIC_STMXCSR || insn->mnemonic == ZYDIS_MNEMONIC_VSTMXCSR)
        as_regset_add(&f->implicit_read, AS_REG_MXCSR);
    if (!(f->traits & AS_TRAIT_FP) || f->traits & AS_TRAIT_X87)
        return;
    if (f->element == AS_ELEMENT_BF16 || f->source_element == AS_ELEMENT_BF16 ||
        insn->mnemonic == ZYDIS_MNEMONIC_VTESTPS || insn->mnemonic == ZYDIS_MNEMONIC_VTESTPD)
        return; /* bfloat16 rounds to nearest and ignores MXCSR; vtest uses sign bits only */
    switch (f->insn_class) {
    case AS_CLASS_RCP:
    case AS_CLASS_RSQRT:
        if (!(f->traits & AS_TRAIT_EVEX))
            break; /* rcpps always treats denormals as zero; vrcp14ps uses MXCSR */
        as_regset_add(&f->implicit_read, AS_REG_MXCSR);
        break;
    case AS_CLASS_ADD:
    case AS_CLASS_MUL:
    case AS_CLASS_FMA:
    case AS_CLASS_DIV:
    case AS_CLASS_SQRT:
    case AS_CLASS_DOT:
    case AS_CLASS_MINMAX:
    case AS_CLASS_ROUND:
    case AS_CLASS_COMPARE:
    case AS_CLASS_CONVERT:
        as_regset_add(&f->implicit_read, AS_REG_MXCSR);
        break;
    default:
        break;
    }
}

/* Adds registers that are saved, restored or cleared as a whole. */
static void whole_state(const ZydisDecodedInstruction *insn, struct as_form *f)
{
    static const struct as_regset fx = {
        {(uint64_t)0xffff << AS_REG_VEC | (uint64_t)0xff << AS_REG_X87,
         (uint64_t)7 << (AS_REG_MXCSR - 64)}};
    static const struct as_regset all = {
        {~(uint64_t)0xffff, (uint64_t)0xff | (uint64_t)15 << (AS_REG_MXCSR - 64)}};
    static const struct as_regset low16 = {{(uint64_t)0xffff << AS_REG_VEC, 0}};
    const char *name = f->mnemonic;
    if (insn->mnemonic == ZYDIS_MNEMONIC_VZEROALL || insn->mnemonic == ZYDIS_MNEMONIC_VZEROUPPER) {
        as_regset_join(&f->implicit_write, low16);
        as_regset_join(&f->implicit_clear, low16);
        if (insn->mnemonic == ZYDIS_MNEMONIC_VZEROUPPER)
            as_regset_join(&f->implicit_merge, low16);
    } else if (!strncmp(name, "fxsave", 6)) {
        as_regset_join(&f->implicit_read, fx);
    } else if (!strncmp(name, "fxrstor", 7)) {
        as_regset_join(&f->implicit_write, fx);
        as_regset_join(&f->implicit_merge, low16);
    } else if (!strncmp(name, "xsave", 5)) {
        as_regset_join(&f->implicit_read, all);
    } else if (!strncmp(name, "xrstor", 6)) {
        as_regset_join(&f->implicit_write, all);
        as_regset_join(&f->implicit_merge, all);
    } else if (insn->mnemonic == ZYDIS_MNEMONIC_EMMS || insn->mnemonic == ZYDIS_MNEMONIC_FEMMS) {
        as_regset_add(&f->implicit_write, AS_REG_X87SW);
    }
}

static void tiles(const ZydisDecodedInstruction *insn, struct as_form *f)
{
    if (f->isa != AS_ISA_AMX)
        return;
    bool writes =
        insn->mnemonic == ZYDIS_MNEMONIC_LDTILECFG || insn->mnemonic == ZYDIS_MNEMONIC_TILERELEASE;
    if (writes)
        f->implicit_write.word[1] |= 0xff;
    as_regset_add(writes ? &f->implicit_write : &f->implicit_read, AS_REG_TILECFG);
}

/* Marks writes that depend on a value and may leave the old one. */
static void conditional_writes(const ZydisDecodedInstruction *insn, struct as_form *f)
{
    struct as_operand *o = &f->operand[0];
    if (insn->mnemonic == ZYDIS_MNEMONIC_BSF || insn->mnemonic == ZYDIS_MNEMONIC_BSR)
        o->access |= AS_ACCESS_READ | AS_ACCESS_MAYBE; /* zero source: also on Intel CPUs */
    if ((insn->mnemonic == ZYDIS_MNEMONIC_SHLD || insn->mnemonic == ZYDIS_MNEMONIC_SHRD) &&
        f->operand[2].kind == AS_OPERAND_IMM)
        o->access &= (uint8_t)~AS_ACCESS_MAYBE;
}

static void alignment(const ZydisDecodedInstruction *insn, struct as_form *f)
{
    bool mem16 = false, mem = false;
    for (unsigned i = 0; i < f->operands; i++)
        if (f->operand[i].kind == AS_OPERAND_MEM) {
            mem = true;
            mem16 = f->operand[i].width_b == 16;
        }
    if (!mem)
        f->traits &= ~AS_TRAIT_ALIGNED;
    bool legacy_vector = f->vector_b == 16 && !(f->traits & AS_TRAIT_VEX);
    if (mem16 && legacy_vector && !(f->traits & AS_TRAIT_UNALIGNED))
        f->traits |= AS_TRAIT_ALIGNED;
    (void)insn;
}

/* Removes traits that the table gives to a mnemonic but that this form does not have. */
static void idioms_and_moves(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops,
                             struct as_form *f)
{
    const uint32_t idioms = AS_TRAIT_ZEROING | AS_TRAIT_ONES;
    bool registers = f->operands >= 2, full = true;
    ZydisRegisterClass first = ZYDIS_REGCLASS_INVALID;
    for (unsigned i = 0; i < f->operands; i++) {
        const ZydisDecodedOperand *z = shown_operand(insn, ops, i);
        if (f->operand[i].kind == AS_OPERAND_IMM && i >= 2)
            continue;
        if (f->operand[i].kind != AS_OPERAND_REG || !z) {
            registers = false;
            break;
        }
        ZydisRegisterClass rc = ZydisRegisterGetClass(z->reg.value);
        full &= rc != ZYDIS_REGCLASS_GPR8 && rc != ZYDIS_REGCLASS_GPR16;
        if (!i)
            first = rc;
        else if (rc != first && !(first == ZYDIS_REGCLASS_MASK && f->traits & idioms))
            registers = false;
    }
    if (!registers || !full || f->traits & AS_TRAIT_MASKED)
        f->traits &= ~(idioms | AS_TRAIT_REGMOVE);
}

static void widths(const ZydisDecodedInstruction *insn, struct as_form *f)
{
    if (insn->mnemonic == ZYDIS_MNEMONIC_XLAT && f->memories) {
        f->memory[0].access = AS_ACCESS_READ;
        f->memory[0].index = 0; /* al */
    }
    /* bt and similar use the bit number as a signed distance from the operand's address */
    if (insn->mnemonic >= ZYDIS_MNEMONIC_BT && insn->mnemonic <= ZYDIS_MNEMONIC_BTS &&
        f->operand[0].kind == AS_OPERAND_MEM && f->operand[1].kind == AS_OPERAND_REG)
        f->operand[0].width_b = 0;
    for (unsigned i = 0; i < f->operands; i++) {
        struct as_operand *o = &f->operand[i];
        bool mem = o->kind == AS_OPERAND_MEM;
        /* FMA4 scalars read one lane of a register in either operand position. */
        if (f->insn_class == AS_CLASS_FMA && f->traits & AS_TRAIT_SCALAR && f->operands == 4 &&
            o->kind == AS_OPERAND_REG && !(o->access & AS_ACCESS_WRITE))
            o->width_b = f->element_b;
        if (f->insn_class == AS_CLASS_NOP) {
            o->access = 0;
            o->kind = mem ? AS_OPERAND_ADDRESS : o->kind;
        } else if (mem && (f->insn_class == AS_CLASS_PREFETCH || f->insn_class == AS_CLASS_CACHE) &&
                   insn->mnemonic != ZYDIS_MNEMONIC_CLZERO) {
            o->access = 0;
            o->width_b = 64;
        } else if (mem && (f->insn_class == AS_CLASS_GATHER || f->insn_class == AS_CLASS_SCATTER)) {
            o->access |= f->insn_class == AS_CLASS_SCATTER ? AS_ACCESS_WRITE : 0;
            o->width_b = (uint16_t)(f->element_b * f->lanes);
        }
    }
}

void as_form_patch(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops,
                   struct as_form *f)
{
    merging_writes(insn, ops, f);
    unmasked_writes(insn, f);
    strings(insn, f);
    left_out(insn, f);
    x87(insn, f);
    mmx(insn, ops, f);
    whole_state(insn, f);
    tiles(insn, f);
    conditional_writes(insn, f);
    control_word(insn, f);
    alignment(insn, f);
    idioms_and_moves(insn, ops, f);
    widths(insn, f);
    bool memory = false, relative = false;
    for (unsigned i = 0; i < f->operands; i++) {
        memory |= f->operand[i].kind == AS_OPERAND_MEM;
        relative |= f->operand[i].kind == AS_OPERAND_REL;
        if (shown_operand(insn, ops, i) && f->operand[i].kind == AS_OPERAND_REG &&
            as_register_of(shown_operand(insn, ops, i)->reg.value).reg == AS_REG_SYSTEM)
            f->insn_class = AS_CLASS_SYSTEM;
    }
    if (insn->mnemonic == ZYDIS_MNEMONIC_XCHG && memory)
        f->traits |= AS_TRAIT_LOCK;
    if ((f->insn_class == AS_CLASS_CALL || f->insn_class == AS_CLASS_JUMP) && !relative)
        f->traits |= AS_TRAIT_INDIRECT;
}
