/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds code of REC, the run of branches and addresses alone, which notes iterations and addresses.
 * All registers are restored at its end. So it may use each register that it does not need itself.
 * If these are too few, it saves others in words of the thread at gs:offset.
 */
#include "patch/variant.h"

#include "isa/encode.h"

#define LOCAL(field) ((int32_t)offsetof(struct as_variant_local, field))
#define PUT(part, ...)                                                                             \
    as_clone_add_bytes((part), sizeof((const uint8_t[]){__VA_ARGS__}),                             \
                       (const uint8_t[]){__VA_ARGS__})

enum { RAX_BIT = 1 << 0, RDX_BIT = 1 << 2, RSP_BIT = 1 << 4, R12_BIT = 1 << 12 };

/* ---- Registers ------------------------------------------------------------------------------ */

static uint8_t claim_free_register(uint32_t *used, uint32_t never)
{
    for (unsigned r = 16; r-- > 0;)
        if (!((*used | never) >> r & 1)) {
            *used |= 1u << r;
            return (uint8_t)r;
        }
    return AS_PATCH_NONE;
}

/* Chooses registers. rsp and r12 would need other encodings; rax and rdx have the
 * time at the end. */
void as_variant_note_registers(struct as_variant *v)
{
    const uint32_t plain = RSP_BIT | R12_BIT, looked_at = plain | RAX_BIT | RDX_BIT;
    uint32_t used = v->facts->kept;
    v->note.tally = claim_free_register(&used, looked_at);
    v->note.log = claim_free_register(&used, looked_at);
    v->note.address = claim_free_register(&used, plain);
    v->note.above = claim_free_register(&used, plain);
    if (v->note.above == AS_PATCH_NONE)
        v->note.log = AS_PATCH_NONE;
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

static void emit_immediate(struct as_clone_part *part, uint64_t value, size_t n)
{
    as_clone_add_bytes(part, n, (const uint8_t *)&value);
}

/* Emits mov between rax (0), rcx (1) or rdx (2) and gs:[offset]. */
static void emit_local_move(struct as_clone_part *part, bool store, unsigned reg, int32_t offset)
{
    PUT(part, 0x65, 0x48, store ? 0x89 : 0x8b, (uint8_t)(0x04 | reg << 3), 0x25);
    emit_immediate(part, (uint32_t)offset, 4);
}

static uint8_t rex(unsigned reg, unsigned index, unsigned base)
{
    return (uint8_t)(0x48 | (reg >> 3) << 2 | (index >> 3) << 1 | base >> 3);
}

/* Emits lea reg,[reg+by]. */
static void emit_lea_add(struct as_clone_part *part, unsigned reg, int8_t by)
{
    PUT(part, rex(reg, 0, reg), 0x8d, (uint8_t)(0x40 | (reg & 7) << 3 | (reg & 7)), (uint8_t)by);
}

/* ---- Iterations ----------------------------------------------------------------------------- */

/* Emits the countdown of a register. Too many iterations have run when it reaches 0. */
static int emit_note_countdown(struct as_clone_assembly *a, struct as_clone_part *part)
{
    const struct as_variant *v = a->clone->variant;
    const unsigned reg = v->note.tally;
    if (!(v->bits & AS_VARIANT_BOUNDED)) {
        emit_lea_add(part, reg, -1);
        return 0;
    }
    PUT(part, rex(0, 0, reg), 0xff, (uint8_t)(0xc8 | (reg & 7)), 0x0f, 0x84); /* dec reg; jz */
    emit_immediate(part, 0, 4);
    part->fix[part->fixes++] = as_clone_fix(AS_PATCH_TO_AGENT, 0, 5, 4);
    return 0;
}

int as_variant_block(struct as_clone_assembly *a, uint32_t block)
{
    const struct as_variant *v = a->clone->variant;
    if (v->kind != AS_VARIANT_REC || block != a->clone->area->header)
        return 0;
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, a->p->block[block].start);
    if (!part)
        return AS_ERR_NOMEM;
    if (v->note.tally != AS_PATCH_NONE)
        return emit_note_countdown(a, part);
    emit_local_move(part, true, 0, LOCAL(saved));
    emit_local_move(part, false, 0, LOCAL(trips));
    emit_lea_add(part, 0, 1);
    emit_local_move(part, true, 0, LOCAL(trips));
    emit_local_move(part, false, 0, LOCAL(saved));
    return 0;
}

/* ---- Addresses ------------------------------------------------------------------------------ */

/* Emits a note that uses free registers. */
static void emit_note_in_free_registers(const struct as_variant *v, struct as_clone_part *part,
                                        uint64_t above)
{
    const unsigned address = v->note.address, add = v->note.above, log = v->note.log;
    PUT(part, rex(0, 0, add), (uint8_t)(0xb8 | (add & 7))); /* mov add,above */
    emit_immediate(part, above, 8);
    PUT(part, rex(address, add, address), 0x8d, (uint8_t)(0x44 | (address & 7) << 3),
        (uint8_t)((add & 7) << 3 | (address & 7)), 0); /* lea address,[address+add] */
    PUT(part, rex(address, 0, log), 0x0f, 0xc3, (uint8_t)(0x40 | (address & 7) << 3 | (log & 7)),
        0); /* movnti [log],address */
    emit_lea_add(part, log, 8);
}

static void emit_note_in_saved_registers(struct as_clone_part *part, uint64_t above)
{
    PUT(part, 0x48, 0xba); /* mov rdx,above */
    emit_immediate(part, above, 8);
    PUT(part, 0x48, 0x8d, 0x04, 0x10); /* lea rax,[rax+rdx] */
    emit_local_move(part, false, 1, LOCAL(log));
    PUT(part, 0x48, 0x0f, 0xc3, 0x01); /* movnti [rcx],rax */
    emit_lea_add(part, 1, 8);
    emit_local_move(part, true, 1, LOCAL(log));
}

static int emit_register_moves(struct as_clone_assembly *a, const struct as_insn *insn, bool store)
{
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, insn->address);
    if (!part)
        return AS_ERR_NOMEM;
    for (unsigned reg = 0; reg < 3; reg++)
        emit_local_move(part, store, reg, LOCAL(saved) + 8 * (int32_t)reg);
    return 0;
}

static int emit_note(struct as_clone_assembly *a, const struct as_insn *insn, uint64_t above)
{
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, insn->address);
    if (!part)
        return AS_ERR_NOMEM;
    if (a->clone->variant->note.log != AS_PATCH_NONE)
        emit_note_in_free_registers(a->clone->variant, part, above);
    else
        emit_note_in_saved_registers(part, above);
    return 0;
}

int as_variant_note(struct as_clone_assembly *a, const struct as_insn *insn, const uint8_t *bytes,
                    unsigned note)
{
    struct as_variant *v = a->clone->variant;
    const unsigned width_b = as_variant_width(insn);
    const bool is_free = v->note.log != AS_PATCH_NONE;
    const uint64_t above = (uint64_t)(width_b | note) << AS_VARIANT_NOTE_BITS;
    uint8_t lea[AS_ENCODE_B];
    const size_t n = as_encode_address(bytes, insn->length, is_free ? v->note.address : 0, lea);
    if (!n || width_b == 0) {
        v->refusal = AS_UNVARIED_UNNOTED;
        return 0;
    }
    if (!is_free)
        AS_TRY(emit_register_moves(a, insn, true));
    AS_TRY(as_variant_encoded(a, insn, lea, n));
    AS_TRY(emit_note(a, insn, above));
    return is_free ? 0 : emit_register_moves(a, insn, false);
}
