/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the code of a variant, instruction by instruction: the role of each, the action of the rule
 * for this role, and its bytes.
 */
#include "patch/variant.h"

#include <stdio.h>
#include <string.h>

#include "isa/encode.h"

#define LOCAL(field) ((int32_t)offsetof(struct as_variant_local, field))

/* ---- Bytes ---------------------------------------------------------------------------------- */

int as_variant_encoded(struct as_clone_assembly *a, const struct as_insn *insn,
                       const uint8_t *bytes, size_t n)
{
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, insn->address);
    uint64_t target;
    if (!part)
        return AS_ERR_NOMEM;
    as_clone_add_bytes(part, n, bytes);
    const size_t at = as_encode_rip_offset(bytes, n);
    if (at && as_insn_memory_address(insn, &target))
        part->fix[part->fixes++] =
            (struct as_patch_reloc){target, (uint32_t)at, AS_PATCH_TO_MODULE, (uint16_t)(n - at)};
    else if (at)
        a->clone->variant->refusal = AS_UNVARIED_ENCODING;
    return 0;
}

static int emit_nop_padding(struct as_clone_assembly *a, const struct as_insn *insn)
{
    static const uint8_t nop[9][9] = {{0x90},
                                      {0x66, 0x90},
                                      {0x0f, 0x1f, 0},
                                      {0x0f, 0x1f, 0x40, 0},
                                      {0x0f, 0x1f, 0x44, 0, 0},
                                      {0x66, 0x0f, 0x1f, 0x44, 0, 0},
                                      {0x0f, 0x1f, 0x80, 0, 0, 0, 0},
                                      {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
                                      {0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}};
    uint8_t one[16];
    size_t n = 0, rest = insn->length;
    for (; rest > 9; rest--)
        one[n++] = 0x66;
    memcpy(one + n, nop[rest - 1], rest);
    return as_variant_encoded(a, insn, one, insn->length);
}

/* ---- Actions -------------------------------------------------------------------------------- */

unsigned as_variant_width(const struct as_insn *insn)
{
    struct as_memory memory[2];
    return as_insn_memory(NULL, insn, memory) > 0 ? memory[0].width_b : 0;
}

/* Returns the gs:offset of the slot for an address in the first-level cache. Each combination of
 * base, index and scale has one slot for loads and one for stores. Different displacements remain
 * apart. */
static int slot_of(struct as_variant *v, const struct as_insn *insn, unsigned access)
{
    const uint8_t writes = (access & AS_ACCESS_WRITE) != 0;
    uint32_t s = 0;
    const bool fixed = insn->base == AS_REG_IP || insn->base == AS_REG_NONE;
    for (; s < v->slots && !(v->slot[s].base == insn->base && v->slot[s].index == insn->index &&
                             v->slot[s].scale == insn->scale && v->slot[s].writes == writes);)
        s++;
    if (s == AS_VARIANT_SLOTS) {
        v->refusal = AS_UNVARIED_SLOTS;
        return 0;
    }
    if (s == v->slots) {
        v->slot[s].base = insn->base;
        v->slot[s].index = insn->index;
        v->slot[s].scale = insn->scale;
        v->slot[s].writes = writes;
        v->slots++;
    }
    const unsigned width_b = as_variant_width(insn);
    unsigned align_b = 1;
    while (align_b < width_b && align_b < 64)
        align_b *= 2;
    const unsigned at = (fixed ? 0 : (unsigned)insn->disp % AS_VARIANT_SLOT_B) & ~(align_b - 1);
    return (writes ? LOCAL(stored) : LOCAL(slot)) + (int)(s * AS_VARIANT_SLOT_B + at);
}

/* Returns a general register that the loop does not write. The destination is not suitable: `xor`
 * or `sub` with itself gives 0 without a dependence. */
static unsigned general_stand_in(const struct as_variant *v, unsigned to)
{
    for (unsigned r = 0; r < 16; r++)
        if (r != to && r != AS_VARIANT_STACK_POINTER && v->facts->step[r].is_known &&
            v->facts->step[r].insn == AS_NONE)
            return r;
    return AS_VARIANT_STACK_POINTER;
}

/* Returns the register that replaces a memory operand: a general one if the destination is one,
 * else a vector register. */
static unsigned stand_in(const struct as_variant *v, const struct as_insn *insn)
{
    const unsigned to = insn->reg[0];
    if (to < AS_REG_VEC)
        return general_stand_in(v, to);
    if (v->facts->spare != AS_PATCH_NONE)
        return v->facts->spare;
    return to - AS_REG_VEC < 32 ? to - AS_REG_VEC : 0;
}

static int emit_value_form(struct as_clone_assembly *a, const struct as_insn *insn,
                           const uint8_t *bytes)
{
    const uint8_t spare = a->clone->variant->facts->spare;
    uint8_t code[AS_ENCODE_B];
    const size_t n =
        as_encode_value(bytes, insn->length, spare == AS_PATCH_NONE ? AS_ENCODE_KEEP : spare, code);
    if (!n) /* a mask keeps its value */
        return 0;
    return as_variant_encoded(a, insn, code, n);
}

/* Emits the instruction with a register instead of its memory operand. */
static int emit_register_form(struct as_clone_assembly *a, const struct as_insn *insn,
                              const uint8_t *bytes)
{
    uint8_t code[AS_ENCODE_B];
    if (!as_variant_access(insn))
        return as_clone_copy(a, insn, bytes);
    const size_t n =
        as_encode_register(bytes, insn->length, stand_in(a->clone->variant, insn), code);
    return n ? as_variant_encoded(a, insn, code, n) : emit_value_form(a, insn, bytes);
}

/* Encodes a plain load for an unmasked instruction that writes a register. Returns its length, or 0
 * for other instructions. */
static size_t plain_load(const struct as_insn *insn, const uint8_t *bytes,
                         uint8_t code[AS_ENCODE_B])
{
    const struct as_form *form = as_form_of(insn);
    const bool writes = form->operands && form->operand[0].access & AS_ACCESS_WRITE;
    return writes && insn->mask == AS_REG_NONE ? as_encode_load(bytes, insn->length, code) : 0;
}

/* Emits a plain load. Comparisons and masked instructions remain unchanged. */
static int emit_plain_load(struct as_clone_assembly *a, const struct as_insn *insn,
                           const uint8_t *bytes)
{
    uint8_t code[AS_ENCODE_B];
    const size_t n = plain_load(insn, bytes, code);
    return n ? as_variant_encoded(a, insn, code, n) : as_clone_copy(a, insn, bytes);
}

static int emit_slot_access(struct as_clone_assembly *a, const struct as_insn *insn,
                            const uint8_t *bytes)
{
    struct as_variant *v = a->clone->variant;
    uint8_t code[AS_ENCODE_B];
    const bool prefetches = as_form_of(insn)->insn_class == AS_CLASS_PREFETCH;
    const unsigned access = as_variant_access(insn);
    if (!access && !prefetches)
        return as_clone_copy(a, insn, bytes);
    const size_t n = as_encode_local(bytes, insn->length, slot_of(v, insn, access), code);
    if (!n && !v->refusal)
        v->refusal = v->facts->gathers ? AS_UNVARIED_GATHER : AS_UNVARIED_ENCODING;
    return n ? as_variant_encoded(a, insn, code, n) : 0;
}

/* Emits a plain load from a slot in the first-level cache. */
static int emit_slot_load(struct as_clone_assembly *a, const struct as_insn *insn,
                          const uint8_t *bytes)
{
    struct as_variant *v = a->clone->variant;
    uint8_t load[AS_ENCODE_B], code[AS_ENCODE_B];
    if (!as_variant_access(insn))
        return 0;
    const size_t have = plain_load(insn, bytes, load);
    if (!have)
        return emit_slot_access(a, insn, bytes);
    const size_t n = as_encode_local(load, have, slot_of(v, insn, AS_ACCESS_READ), code);
    if (!n && !v->refusal)
        v->refusal = AS_UNVARIED_ENCODING;
    return n ? as_variant_encoded(a, insn, code, n) : 0;
}

/* Emits a prefetch for a later iteration, then the unchanged instruction. */
static int emit_prefetch_and_copy(struct as_clone_assembly *a, const struct as_insn *insn,
                                  const uint8_t *bytes)
{
    AS_TRY(as_variant_prefetch(a, insn));
    return as_clone_copy(a, insn, bytes);
}

static int emit_logged_access(struct as_clone_assembly *a, const struct as_insn *insn,
                              const uint8_t *bytes)
{
    const unsigned access = as_variant_access(insn);
    if (as_variant_is_slot(a->clone->variant->facts, insn)) {
        if (access & AS_ACCESS_WRITE && insn->base != AS_VARIANT_STACK_POINTER &&
            !a->clone->variant->facts->streams)
            AS_TRY(as_variant_note(a, insn, bytes, AS_VARIANT_NOTE_SLOT));
        return as_clone_copy(a, insn, bytes);
    }
    if (access && !a->clone->variant->facts->streams)
        AS_TRY(
            as_variant_note(a, insn, bytes, access & AS_ACCESS_WRITE ? 0 : AS_VARIANT_NOTE_LOADS));
    return access & AS_ACCESS_WRITE ? 0 : as_clone_copy(a, insn, bytes);
}

/* ---- Roles ---------------------------------------------------------------------------------- */

static enum as_variant_role role_of_access(const struct as_insn *insn, uint8_t mark)
{
    const unsigned access = as_variant_access(insn), kind = as_form_of(insn)->insn_class;
    if (access == (AS_ACCESS_READ | AS_ACCESS_WRITE))
        return AS_VARIED_UPDATE;
    if (access & AS_ACCESS_WRITE)
        return AS_VARIED_STORE;
    if (kind == AS_CLASS_PREFETCH)
        return AS_VARIED_PREFETCH;
    if (kind == AS_CLASS_NOP)
        return AS_VARIED_NOP;
    if (kind == AS_CLASS_DIV || kind == AS_CLASS_SQRT)
        return AS_VARIED_DIVISION;
    if (mark & AS_MARK_REDUCTION)
        return AS_VARIED_REDUCTION;
    if (!access)
        return AS_VARIED_COMPUTE;
    return as_variant_is_move(insn) && insn->mask == AS_REG_NONE ? AS_VARIED_LOAD
                                                                 : AS_VARIED_COMPUTE_LOAD;
}

static enum as_variant_role role_of(const struct as_variant *v, const struct as_insn *insn,
                                    uint8_t mark)
{
    const uint8_t sought = v->rule->slice == AS_SLICE_ALL      ? AS_MARK_ADDRESS
                           : v->rule->slice == AS_SLICE_STORES ? AS_MARK_STORES
                                                               : 0;
    const unsigned access = as_variant_access(insn);
    if (mark & sought && !(access & AS_ACCESS_WRITE))
        return access ? AS_VARIED_INDEX : AS_VARIED_ADDRESS;
    return role_of_access(insn, mark);
}

static int act(struct as_clone_assembly *a, const struct as_insn *insn, const uint8_t *bytes,
               unsigned action)
{
    switch (action) {
    case AS_DO_NOTHING:
        return 0;
    case AS_DO_DROP:
        return as_variant_access(insn) ? emit_plain_load(a, insn, bytes) : 0;
    case AS_DO_NOP:
        return emit_nop_padding(a, insn);
    case AS_DO_VALUE:
        return emit_value_form(a, insn, bytes);
    case AS_DO_REGISTER:
        return emit_register_form(a, insn, bytes);
    case AS_DO_LOAD:
        return emit_plain_load(a, insn, bytes);
    case AS_DO_SLOT:
        return emit_slot_access(a, insn, bytes);
    case AS_DO_SLOT_LOAD:
        return emit_slot_load(a, insn, bytes);
    case AS_DO_AHEAD:
        return emit_prefetch_and_copy(a, insn, bytes);
    case AS_DO_LOG:
        return emit_logged_access(a, insn, bytes);
    default:
        return as_clone_copy(a, insn, bytes);
    }
}

int as_variant_insn(struct as_clone_assembly *a, const struct as_insn *insn, const uint8_t *bytes)
{
    struct as_variant *v = a->clone->variant;
    const size_t i = (size_t)(insn - a->p->code.insn);
    const uint8_t mark = v->facts->mark[i - v->facts->first];
    int rc;
    if (mark & AS_MARK_CONTROL)
        rc = v->kind == AS_VARIANT_REC ? emit_logged_access(a, insn, bytes)
                                       : as_clone_copy(a, insn, bytes);
    else
        rc = act(a, insn, bytes, v->rule->action[role_of(v, insn, mark)]);
    if (v->refusal)
        a->refusal = AS_PATCH_REFUSED_OPERAND; /* only this variant: ends the assembly */
    return rc;
}

/* Adds a prologue for FP that loads a number into the register that replaces memory operands. A
 * jump to the header follows. */
int as_variant_prologue(struct as_clone_assembly *a)
{
    struct as_variant *v = a->clone->variant;
    const struct as_variant_facts *facts = v->facts;
    uint8_t text[AS_ENCODE_B], code[AS_ENCODE_B];
    char load[48];
    if (v->kind != AS_VARIANT_FP || facts->spare == AS_PATCH_NONE)
        return 0;
    const unsigned bits = !facts->vex           ? 128
                          : facts->spare_b > 32 ? 512
                          : facts->spare_b > 16 ? 256
                                                : 128;
    snprintf(load, sizeof load, "%smovups %s%u,m%u[rax]", facts->vex ? "v" : "",
             bits == 512   ? "zmm"
             : bits == 256 ? "ymm"
                           : "xmm",
             (unsigned)facts->spare, bits);
    const size_t have = as_encode_text(load, text);
    const size_t n = have ? as_encode_local(text, have, LOCAL(value), code) : 0;
    const uint64_t header = a->p->block[a->clone->area->header].start;
    struct as_clone_part *part = n ? as_clone_part_new(a, AS_CLONE_CODE, header) : NULL;
    if (!part)
        return n ? AS_ERR_NOMEM : 0;
    as_clone_add_bytes(part, n, code);
    v->prologue = (uint32_t)a->part.n - 1;
    part = as_clone_part_new(a, AS_CLONE_BRANCH, header);
    if (!part)
        return AS_ERR_NOMEM;
    part->condition = AS_CLONE_ALWAYS;
    part->wide = true;
    part->label = as_patch_area_find(a->clone->area, header);
    return 0;
}
