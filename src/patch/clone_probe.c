/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the work of instructions with a variable amount: lanes of the mask before the instruction,
 * or the decrease of rcx during a string instruction. Live flags, registers and the red zone are
 * kept; vector registers are only read.
 */
#include "patch/clone.h"

#include <string.h>

int as_clone_count(struct as_clone_assembly *a, uint32_t block, uint64_t address, unsigned counts,
                   uint64_t *counter)
{
    struct as_patch_maker *m = a->clone->maker;
    struct as_patch_counter it = {.address = address,
                                  .loop = UINT32_MAX,
                                  .module = (uint32_t)m->module.n - 1,
                                  .counts = counts};
    for (uint32_t i = a->clone->inners; i-- > 0 && it.loop == UINT32_MAX;)
        if (as_loop_holds(a->p, a->clone->inner[i].loop, block))
            it.loop = a->clone->inner[i].number;
    *counter = m->counter.n;
    return as_vec_push(&m->counter, it);
}

#define PUT AS_CLONE_BYTES

/* Emits 4 bytes that depend on the clone's address. */
static void emit_relocated_word(struct as_clone_part *part, unsigned kind, uint64_t value)
{
    PUT(part, 0, 0, 0, 0);
    part->fix[part->fixes++] = (struct as_patch_reloc){value, part->length - 4u, (uint16_t)kind, 0};
}

static void emit_register_save(struct as_clone_part *part, bool keep_flags)
{
    part->lowers = true;
    part->pushes = keep_flags ? 2 : 1;
    PUT(part, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea rsp,[rsp-128] */
    PUT(part, 0x50);                         /* push rax */
    if (keep_flags)
        PUT(part, 0x9c);
}

static void emit_register_restore(struct as_clone_part *part, bool keep_flags)
{
    if (keep_flags)
        PUT(part, 0x9d);
    PUT(part, 0x58);
    PUT(part, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0); /* lea rsp,[rsp+128] */
}

/* Emits rax = the bits of a mask register. */
static void emit_mask_bits(struct as_clone_part *part, const struct as_amount *it)
{
    if (it->lanes <= 16)
        PUT(part, 0xc5, 0xf8, 0x93, (uint8_t)(0xc0 | it->reg)); /* kmovw eax,k */
    else if (it->lanes <= 32)
        PUT(part, 0xc5, 0xfb, 0x93, (uint8_t)(0xc0 | it->reg)); /* kmovd */
    else
        PUT(part, 0xc4, 0xe1, 0xfb, 0x93, (uint8_t)(0xc0 | it->reg)); /* kmovq */
}

/* Emits rax = the sign bits of a vector register. */
static void emit_sign_bits(struct as_clone_part *part, const struct as_amount *it)
{
    const uint8_t rex = (uint8_t)(it->reg >> 3), low = (uint8_t)(0xc0 | (it->reg & 7));
    if (it->element_b == 1 && rex)
        PUT(part, 0x66, 0x41, 0x0f, 0xd7, low); /* pmovmskb eax,xmm */
    else if (it->element_b == 1)
        PUT(part, 0x66, 0x0f, 0xd7, low);
    else /* vmovmskps, vmovmskpd eax,vector */
        PUT(part, 0xc4, (uint8_t)(0xe1 ^ rex << 5),
            (uint8_t)(0x78 | it->wide << 2 | (it->element_b == 8)), 0x50, low);
}

static void emit_lane_count(struct as_clone_part *part, const struct as_amount *it,
                            uint64_t counter, bool behind)
{
    if (it->kind == AS_AMOUNT_REPEATS)
        PUT(part, 0x48, 0x89, 0xc8); /* mov rax,rcx */
    else if (it->kind == AS_AMOUNT_MASK)
        emit_mask_bits(part, it);
    else
        emit_sign_bits(part, it);
    if (it->kind != AS_AMOUNT_REPEATS) {
        const uint32_t all = it->lanes < 32 ? (UINT32_C(1) << it->lanes) - 1 : UINT32_MAX;
        if (it->lanes < 32)
            PUT(part, 0x25, (uint8_t)all, (uint8_t)(all >> 8), (uint8_t)(all >> 16),
                (uint8_t)(all >> 24));           /* and eax,all */
        PUT(part, 0xf3, 0x48, 0x0f, 0xb8, 0xc0); /* popcnt rax,rax */
    }
    PUT(part, 0x65, 0x48, behind ? 0x29 : 0x01, 0x04, 0x25); /* sub, add gs:[counter],rax */
    emit_relocated_word(part, AS_PATCH_TO_COUNTER, counter);
}

/* Returns true for 32-bit addresses: ecx is the count then. */
static bool is_narrow(const uint8_t *bytes, unsigned n)
{
    for (unsigned i = 0; i + 1 < n; i++)
        if (bytes[i] == 0x67)
            return true;
    return false;
}

int as_clone_probe(struct as_clone_assembly *a, uint32_t block, const struct as_insn *insn,
                   const uint8_t *bytes, bool behind)
{
    const struct as_amount it = as_amount_of(insn);
    const uint32_t number = (uint32_t)(insn - a->p->code.insn);
    /* After the instruction: the counter made before it. */
    uint64_t counter = a->clone->maker->counter.n - 1;
    if (!a->clone->measured || a->clone->maker->wish.mode != AS_PATCH_COUNT ||
        it.kind == AS_AMOUNT_FIXED || it.kind == AS_AMOUNT_UNKNOWN || (behind && !it.ends_early))
        return 0;
    if (it.kind == AS_AMOUNT_REPEATS && is_narrow(bytes, insn->length))
        a->refusal = AS_PATCH_REFUSED_OPERAND;
    if (!behind)
        AS_TRY(as_clone_count(a, block, insn->address,
                              it.kind == AS_AMOUNT_REPEATS ? AS_PATCH_REPEATS : AS_PATCH_LANES,
                              &counter));
    const bool keep_flags =
        as_live_before(a->clone->area->code, block, number + behind) & AS_LIVE_STATUS;
    struct as_clone_part *part =
        as_clone_part_new(a, AS_CLONE_CODE, insn->address + (behind ? insn->length : 0));
    if (!part)
        return AS_ERR_NOMEM;
    emit_register_save(part, keep_flags);
    emit_lane_count(part, &it, counter, behind);
    emit_register_restore(part, keep_flags);
    return 0;
}
