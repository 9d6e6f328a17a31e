/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Analyses a block before its measurement: whether it can be measured, which registers it leaves
 * unused, and which operands must be moved with it.
 */
#include "measure/internal.h"

#include <string.h>
#include <sys/auxv.h>

#include "base/alloc.h"
#include "base/error.h"
#include "isa/encode.h"

#define BLOCK_MOST_B 4096

static bool class_is_measured(const struct as_form *form)
{
    switch (form->insn_class) {
    case AS_CLASS_SYSTEM:
    case AS_CLASS_CALL:
    case AS_CLASS_JUMP:
    case AS_CLASS_BRANCH:
    case AS_CLASS_RETURN:
    case AS_CLASS_SYSCALL:
    case AS_CLASS_TRAP:
    case AS_CLASS_TIME:
    case AS_CLASS_RANDOM:
    case AS_CLASS_TILE:
    case AS_CLASS_INVALID:
        return false;
    default:
        return !(form->traits & (AS_TRAIT_REP | AS_TRAIT_PRIVILEGED));
    }
}

/* Returns true if the form changes state that the code around the block or its faults depend on. */
static bool changes_frame(const struct as_form *form, const struct as_effects *effects)
{
    static const char *const harmless[] = {
        "vzeroupper", "vzeroall", "emms",  "cld",     "clc",      "stc",
        "cmc",        "lahf",     "sahf",  "ldmxcsr", "vldmxcsr", "stmxcsr",
        "vstmxcsr",   "fnstcw",   "fldcw", "fnstsw",  "fninit"};
    for (unsigned reg = AS_REG_SEG; reg < AS_REG_SEG + 6; reg++)
        if (as_regset_has(effects->written, reg))
            return true;
    /* popf and std set a trap flag or a direction that outlives the block. */
    if (form->flags_written & (AS_FLAG_SYSTEM | AS_FLAG_D) && strcmp(form->mnemonic, "cld") != 0)
        return true;
    if (form->insn_class != AS_CLASS_STATE)
        return false;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strcmp(form->mnemonic, harmless[i]) == 0)
            return false;
    return true;
}

/* Returns the mask register of a masked move, its second operand (vmaskmov, vpmaskmov,
 * maskmovdqu). */
static uint32_t lane_mask(const struct as_insn *insn, const struct as_form *form)
{
    const struct as_operand *mask = &form->operand[1];

    if (form->insn_class != AS_CLASS_MOVE || !(form->traits & AS_TRAIT_CONDITIONAL) ||
        form->operands < 2 || mask->kind != AS_OPERAND_REG ||
        (mask->file != AS_FILE_XMM && mask->file != AS_FILE_YMM))
        return 0;
    return 1u << (insn->reg[mask->slot] - AS_REG_VEC);
}

static void note_registers(struct as_metered_block *block, const struct as_insn *insn,
                           const struct as_form *form, const struct as_effects *effects)
{
    for (unsigned reg = 0; reg < 16; reg++)
        if (as_regset_has(effects->read, reg) || as_regset_has(effects->written, reg))
            block->general |= 1u << reg;
    for (unsigned i = 0; i < 4; i++)
        if (insn->reg[i] < 16)
            block->general |= 1u << insn->reg[i];
    for (unsigned reg = AS_REG_X87; reg < AS_REG_X87 + 8; reg++)
        if (as_regset_has(effects->read, reg) || as_regset_has(effects->written, reg))
            block->uses_x87 = true;
    if (form->isa == AS_ISA_X87 || form->isa == AS_ISA_MMX)
        block->uses_x87 = true;
    block->is_wide |= form->vector_b > 32;
    block->lane_masks |= lane_mask(insn, form);
    block->uses_segment |= insn->segment != AS_REG_NONE;
}

static int read_insn(struct as_metered_block *block, size_t i)
{
    const struct as_insn *insn = &block->code.insn[i];
    const struct as_form *form = as_form_get(insn->form);
    struct as_effects effects;

    if (insn->bits & AS_INSN_INVALID)
        return AS_METER_UNDECODED;
    as_insn_effects(insn, &effects);
    if (!class_is_measured(form) || changes_frame(form, &effects))
        return AS_METER_EXCLUDED;
    note_registers(block, insn, form, &effects);
    if (form->traits & AS_TRAIT_RIP_RELATIVE) {
        block->rip[i] = (uint16_t)as_encode_rip_offset(block->bytes + insn->address, insn->length);
        if (!block->rip[i])
            return AS_METER_EXCLUDED;
        /* The offset in the page is kept, so operands that share a line still share it. */
        block->target[i] = AS_METER_RIP + ((insn->address + (uint64_t)(int64_t)insn->disp) & 0xfc0);
    }
    return AS_METER_OK;
}

int as_block_init(struct as_metered_block *block, const uint8_t *bytes, size_t size_b)
{
    struct as_error err;
    int status = AS_METER_OK;

    *block = (struct as_metered_block){.bytes = bytes, .size_b = size_b};
    if (size_b == 0 || size_b > BLOCK_MOST_B)
        return AS_METER_UNDECODED;
    AS_TRY(as_decode(bytes, size_b, 0, &block->code, &err));
    if (block->code.n > AS_METER_INSNS)
        return AS_METER_UNDECODED;
    block->rip = as_calloc(block->code.n, sizeof *block->rip);
    block->target = as_calloc(block->code.n, sizeof *block->target);
    if (!block->rip || !block->target)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < block->code.n && status == AS_METER_OK; i++)
        status = read_insn(block, i);
    return status;
}

void as_block_fini(struct as_metered_block *block)
{
    as_code_free(&block->code);
    as_free(block->rip);
    as_free(block->target);
    *block = (struct as_metered_block){0};
}

void as_widths_read(struct as_widths *widths)
{
    __builtin_cpu_init();
    widths->avx = __builtin_cpu_supports("avx");
    widths->avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                     __builtin_cpu_supports("avx512vl");
    /* The kernel decides whether programs may use it; cpuid reports only the CPU. */
    widths->fsgsbase = (getauxval(AT_HWCAP2) & 1u << 1) != 0;
}
