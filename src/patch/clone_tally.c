/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps counters of innermost loops in registers while the loop runs: `lea` counts, and exits add
 * to memory. A handler that runs the same loop has its own registers. The registers are those that
 * the loop does not name. Either they are dead, or their value is saved on the stack. A loop that
 * names the stack pointer uses dead ones only. The counts of an instance that never ends are lost.
 */
#include "patch/clone.h"

enum {
    /* Bits of rcx, rdx, rsi, rdi, r8, r9 and r11: unwinders need none of them. rax is left out,
     * because it holds the flags while the counts are added. */
    VOLATILE = 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 11
};

/* ---- Choice of loops
 * -------------------------------------------------------------------------- */

static uint32_t general_of(struct as_regset set)
{
    return (uint32_t)(set.word[0] & 0xffff);
}

/* Returns true if control continues after the instruction or at its direct target, and no other
 * code sees the registers. */
static bool stays_inside(const struct as_insn *insn)
{
    uint64_t target;
    switch (as_form_of(insn)->insn_class) {
    case AS_CLASS_CALL:
    case AS_CLASS_RETURN:
    case AS_CLASS_SYSCALL:
    case AS_CLASS_SYSTEM:
    case AS_CLASS_TRAP:
    case AS_CLASS_INVALID:
        return false;
    case AS_CLASS_JUMP:
        return as_insn_target(insn, &target);
    default:
        return true;
    }
}

/* Adds the registers that `block` names to *used. Returns false if the loop cannot have counters in
 * registers. */
static bool note_block(const struct as_program *p, const struct as_block *b, uint32_t *used)
{
    if (b->bits & (AS_BLOCK_LANDING | AS_BLOCK_UNRESOLVED | AS_BLOCK_NORETURN))
        return false;
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
        struct as_effects effects;
        if (!stays_inside(&p->code.insn[i]))
            return false;
        as_insn_effects(&p->code.insn[i], &effects);
        *used |= general_of(effects.read) | general_of(effects.written);
    }
    return true;
}

static bool has_place(const struct as_patch_area *area, const struct as_block *b)
{
    as_vec_foreach (&area->place, place)
        if (place->address - b->start < b->size_b)
            return true;
    return false;
}

/* Returns true if control enters `loop` only at its header. Sets *used to the registers that the
 * loop names. */
static bool can_tally(const struct as_patch_area *area, uint32_t loop, uint32_t *used)
{
    const struct as_program *p = area->code->program;
    const struct as_loop *l = &p->loop[loop];
    *used = 0;
    if ((l->level != AS_LEVEL_INNERMOST && l->level != AS_LEVEL_SINGLE) ||
        l->bits & (AS_LOOP_IRREDUCIBLE | AS_LOOP_UNREACHED | AS_LOOP_UNRESOLVED))
        return false;
    for (uint32_t k = 0; k < l->blocks; k++) {
        const uint32_t block = p->loop_block[l->first_block + k];
        const struct as_block *b = &p->block[block];
        if (!as_patch_area_holds(area, block) || !note_block(p, b, used) ||
            (block != l->header && has_place(area, b)))
            return false;
        for (uint32_t e = b->first_pred; block != l->header && e < b->first_pred + b->preds; e++)
            if (!as_loop_holds(p, loop, p->pred[e].block))
                return false;
    }
    return true;
}

/* Assigns registers of `regs` to counted blocks of the loop, as far as possible. */
static void assign(const struct as_clone_assembly *a, uint32_t regs, struct as_clone_tally *t)
{
    const struct as_patch_area *area = a->clone->area;
    unsigned reg = 0;
    for (uint32_t k = 0; k < area->blocks; k++) {
        bool has = !a->counted.is[k] || !as_loop_holds(a->p, t->loop, area->block[k]);
        for (unsigned i = 0; i < t->n; i++)
            has |= t->block[i] == k;
        while (reg < 16 && !(regs >> reg & 1))
            reg++;
        if (has)
            continue;
        if (reg == 16 || t->n == AS_CLONE_FIXES_MOST)
            return;
        t->reg[t->n] = (uint8_t)reg++;
        t->block[t->n++] = k;
    }
}

static bool is_needed(const struct as_clone_assembly *a, const struct as_clone_tally *t)
{
    const struct as_patch_area *area = a->clone->area;
    uint32_t n = 0;
    for (uint32_t k = 0; k < area->blocks; k++)
        n += a->counted.is[k] && as_loop_holds(a->p, t->loop, area->block[k]);
    return t->n < n;
}

/* Chooses registers for the counters. Registers with a saved value come first in the table. */
static void choose_registers(const struct as_clone_assembly *a, uint32_t used,
                             struct as_clone_tally *t)
{
    const struct as_patch_code *code = a->clone->area->code;
    const uint32_t unnamed = ~used & 0xfffe & ~(uint32_t)AS_LIVE_STACK; /* without rax */
    const uint32_t dead = unnamed & ~as_live_at(code, a->p->loop[t->loop].header);
    struct as_clone_tally free = *t;
    assign(a, dead, &free);
    if (is_needed(a, &free) && !(used & AS_LIVE_STACK)) {
        assign(a, unnamed & VOLATILE & ~dead, t);
        if (t->n > AS_CLONE_FIXES_MOST - free.n) /* free registers cost less */
            t->n = (uint8_t)(AS_CLONE_FIXES_MOST - free.n);
        t->pushed = t->n;
    }
    assign(a, dead, t);
}

/* Chooses a register for the cursor of address records. Only a loop that is not a walk has many
 * records. r12 and rsp would need other encodings. */
static void choose_cursor(const struct as_clone_assembly *a, uint32_t used,
                          struct as_clone_tally *t)
{
    const uint32_t header = a->p->loop[t->loop].header;
    uint32_t unnamed = ~used & 0xfffe & ~(uint32_t)AS_LIVE_STACK & ~(1u << 12);
    t->cursor = AS_PATCH_NONE;
    if (!as_clone_records(a) || t->walk != AS_NONE)
        return;
    for (unsigned i = 0; i < t->n; i++)
        unnamed &= ~(1u << t->reg[i]);
    const uint32_t dead = unnamed & ~as_live_at(a->clone->area->code, header);
    const uint32_t pushed = used & AS_LIVE_STACK ? 0 : unnamed & VOLATILE;
    if (dead || pushed)
        t->cursor = (uint8_t)__builtin_ctz(dead ? dead : pushed);
    t->cursor_pushed = !dead && pushed;
}

int as_clone_tallies_find(struct as_clone_assembly *a)
{
    const struct as_patch_area *area = a->clone->area;
    const struct as_body *body = &a->p->body[area->body];
    for (uint32_t l = body->first_loop; l < body->first_loop + body->loops; l++) {
        struct as_clone_tally it = {.loop = l, .entry = AS_NONE};
        uint32_t used;
        if (!can_tally(area, l, &used))
            continue;
        choose_registers(a, used, &it);
        if (it.n == 0)
            continue;
        const uint32_t header = a->p->loop[l].header;
        AS_TRY(as_clone_count(a, header, a->p->block[header].start, AS_PATCH_OPEN, &it.open));
        AS_TRY(as_clone_walk_find(a, &it));
        choose_cursor(a, used, &it);
        AS_TRY(as_vec_push(&a->tally, it));
    }
    return 0;
}

unsigned as_clone_tally_of(const struct as_clone_assembly *a, uint32_t k)
{
    const struct as_clone_tally *t = as_clone_tally_around(a, a->clone->area->block[k]);
    for (unsigned i = 0; t && i < t->n; i++)
        if (t->block[i] == k)
            return t->reg[i];
    return AS_PATCH_NONE;
}

/* ---- Entries and exits
 * ------------------------------------------------------------------------ */

static unsigned depth_of(const struct as_clone_tally *t)
{
    return t && as_clone_tally_pushes(t) ? AS_CLONE_RED_ZONE_B + 8 * as_clone_tally_pushes(t) : 0;
}

unsigned as_clone_tally_depth(const struct as_clone_assembly *a, uint32_t block)
{
    return depth_of(as_clone_tally_around(a, block));
}

bool as_clone_tally_borders(const struct as_clone_assembly *a, uint32_t from, uint32_t to)
{
    return as_clone_tally_around(a, from) != as_clone_tally_around(a, to);
}

static int move_stack(struct as_clone_assembly *a, uint64_t address, bool down)
{
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, address);
    if (!part)
        return AS_ERR_NOMEM;
    if (down)
        AS_CLONE_BYTES(part, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea rsp,[rsp-128] */
    else
        AS_CLONE_BYTES(part, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0); /* lea rsp,[rsp+128] */
    a->depth_b = (uint8_t)(down ? AS_CLONE_RED_ZONE_B : 0);
    return 0;
}

/* Adds a push (0x50) or pop (0x58). */
static int move_register(struct as_clone_assembly *a, uint64_t address, unsigned reg,
                         unsigned opcode)
{
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, address);
    if (!part)
        return AS_ERR_NOMEM;
    if (reg > 7)
        AS_CLONE_BYTES(part, 0x41);
    AS_CLONE_BYTES(part, (uint8_t)(opcode | (reg & 7)));
    a->depth_b = (uint8_t)(opcode == 0x50 ? a->depth_b + 8 : a->depth_b - 8);
    return 0;
}

/* Marks the loop as running or not. A thread that is killed in the loop leaves its counts in
 * registers; the mark shows this. */
static int mark_open(struct as_clone_assembly *a, const struct as_clone_tally *t, uint64_t address,
                     bool open)
{
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, address);
    if (!part)
        return AS_ERR_NOMEM;
    AS_CLONE_BYTES(part, 0x65, 0x48, 0xc7, 0x04, 0x25, 0, 0, 0, 0, open, 0, 0, 0);
    part->fix[part->fixes++] = (struct as_patch_reloc){t->open, 5, AS_PATCH_TO_COUNTER, 0};
    return 0; /* mov qword gs:[counter],open */
}

static int enter_loop(struct as_clone_assembly *a, const struct as_clone_tally *t, uint64_t address)
{
    AS_TRY(as_clone_walk_enter(a, t, address));
    if (as_clone_tally_pushes(t))
        AS_TRY(move_stack(a, address, true));
    for (unsigned i = 0; i < t->pushed; i++)
        AS_TRY(move_register(a, address, t->reg[i], 0x50));
    if (t->cursor_pushed)
        AS_TRY(move_register(a, address, t->cursor, 0x50));
    AS_TRY(as_clone_cursor_enter(a, t, address));
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, address);
    if (!part)
        return AS_ERR_NOMEM;
    for (unsigned i = 0; i < t->n; i++) {
        if (t->reg[i] > 7)
            AS_CLONE_BYTES(part, 0x41);
        AS_CLONE_BYTES(part, (uint8_t)(0xb8 | (t->reg[i] & 7)), 0, 0, 0, 0); /* mov r32,0 */
    }
    return mark_open(a, t, address, true);
}

static int leave_loop(struct as_clone_assembly *a, const struct as_clone_tally *t, bool keep_flags,
                      uint64_t address)
{
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, address);
    if (!part)
        return AS_ERR_NOMEM;
    if (keep_flags)
        as_clone_save_flags(part, as_clone_tally_pushes(t) == 0);
    for (unsigned i = 0; i < t->n; i++) { /* add gs:[counter],r64 */
        AS_CLONE_BYTES(part, 0x65, (uint8_t)(0x48 | (t->reg[i] >> 3) << 2), 0x01,
                       (uint8_t)(4 | (t->reg[i] & 7) << 3), 0x25, 0, 0, 0, 0);
        part->fix[part->fixes++] = (struct as_patch_reloc){
            a->counter[t->block[i]], part->length - 4u, AS_PATCH_TO_COUNTER, 0};
    }
    if (keep_flags)
        as_clone_restore_flags(part);
    AS_TRY(mark_open(a, t, address, false));
    AS_TRY(as_clone_walk_leave(a, t, address));
    AS_TRY(as_clone_cursor_leave(a, t, keep_flags, address));
    if (t->cursor_pushed)
        AS_TRY(move_register(a, address, t->cursor, 0x58));
    for (unsigned i = t->pushed; i-- > 0;)
        AS_TRY(move_register(a, address, t->reg[i], 0x58));
    return as_clone_tally_pushes(t) ? move_stack(a, address, false) : 0;
}

int as_clone_tally_cross(struct as_clone_assembly *a, uint32_t from, uint32_t to, uint64_t target,
                         uint64_t address)
{
    const struct as_clone_tally *left = as_clone_tally_around(a, from),
                                *entered = as_clone_tally_around(a, to);
    a->depth_b = (uint8_t)depth_of(left);
    if (left)
        AS_TRY(leave_loop(a, left, as_clone_live(a, target) & AS_LIVE_STATUS, address));
    return entered ? enter_loop(a, entered, address) : 0;
}

/* Adds the entry at the header of a tally's loop. The header's own part is the start of further
 * iterations. The entry has the header's address modulo a cache line, because clones are aligned by
 * it. */
static int add_entry(struct as_clone_assembly *a, struct as_clone_tally *t, uint32_t k)
{
    const uint64_t address = a->p->block[a->p->loop[t->loop].header].start;
    a->depth_b = 0;
    struct as_clone_part *pad = as_clone_part_new(a, AS_CLONE_PAD, address);
    if (!pad)
        return AS_ERR_NOMEM;
    pad->label = k;
    t->entry = (uint32_t)a->part.n;
    AS_TRY(enter_loop(a, t, address));
    struct as_clone_part *jump = as_clone_part_new(a, AS_CLONE_BRANCH, address);
    if (!jump)
        return AS_ERR_NOMEM;
    jump->condition = AS_CLONE_ALWAYS;
    jump->label = k;
    return 0;
}

int as_clone_tally_entries(struct as_clone_assembly *a)
{
    const struct as_patch_area *area = a->clone->area;
    as_vec_foreach (&a->tally, t) {
        const struct as_block *header = &a->p->block[a->p->loop[t->loop].header];
        if (has_place(area, header))
            AS_TRY(add_entry(a, t, as_patch_area_find(area, header->start)));
    }
    return 0;
}
