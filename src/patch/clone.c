/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the clone of a region as a template. The blocks are in address order, with instrumentation
 * inserted. The header has the same address modulo 64. A jump ("island") for each exit follows.
 * Relocations describe the parts that depend on the clone's address. Calls run at their original
 * address so that unwinders find known frames: the clone jumps to the call, and an entry after the
 * call leads back.
 */
#include "patch/clone.h"
#include "patch/variant.h"

#include <string.h>

/* ---- Instructions --------------------------------------------------------------------------- */

static int add_branch(struct as_clone_assembly *a, uint32_t from, unsigned condition,
                      uint64_t target, bool wide, uint64_t address)
{
    uint32_t label;
    AS_TRY(as_clone_find_way(a, from, address, target, &label));
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_BRANCH, address);
    if (!part)
        return AS_ERR_NOMEM;
    part->condition = (uint8_t)condition;
    part->label = label;
    part->wide = wide;
    return 0;
}

/* Returns the condition of a direct jump or branch, or -1 if it has no long form. */
static int condition_of(const uint8_t *bytes, unsigned n)
{
    unsigned at = 0;
    while (at < n && (bytes[at] == 0xf2 || bytes[at] == 0x2e || bytes[at] == 0x3e))
        at++;
    if (at + 1 >= n)
        return -1;
    if (at == 0 && bytes[at] >= 0xe0 && bytes[at] <= 0xe3)
        return AS_CLONE_COUNTED + (bytes[at] & 3);
    if (bytes[at] == 0xeb || bytes[at] == 0xe9)
        return AS_CLONE_ALWAYS;
    if (bytes[at] == 0x0f && (bytes[at + 1] & 0xf0) == 0x80)
        return bytes[at + 1] & 15;
    return (bytes[at] & 0xf0) == 0x70 ? bytes[at] & 15 : -1;
}

/* Returns the offset of the 4-byte distance to `target`, or 0 if it is unknown. A ModRM byte for
 * RIP-relative addresses must precede the distance. */
static unsigned find_distance(const uint8_t *bytes, unsigned n, uint64_t address, uint64_t target)
{
    unsigned found = 0;
    for (unsigned at = 2; at + 4 <= n; at++) {
        int32_t distance;
        memcpy(&distance, bytes + at, sizeof distance);
        if ((bytes[at - 1] & 0xc7) != 5 || address + n + (uint64_t)(int64_t)distance != target)
            continue;
        if (found)
            return 0;
        found = at;
    }
    return found;
}

int as_clone_copy(struct as_clone_assembly *a, const struct as_insn *insn, const uint8_t *bytes)
{
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_COPY, insn->address);
    uint64_t target;
    if (!part)
        return AS_ERR_NOMEM;
    part->bytes = bytes;
    part->length = insn->length;
    if (!(as_form_of(insn)->traits & AS_TRAIT_RIP_RELATIVE))
        return 0;
    const unsigned at = as_insn_memory_address(insn, &target)
                            ? find_distance(bytes, insn->length, insn->address, target)
                            : 0;
    if (at == 0)
        a->refusal = AS_PATCH_REFUSED_OPERAND;
    part->fix[part->fixes++] = as_clone_fix(AS_PATCH_TO_MODULE, target, at, insn->length - at);
    return 0;
}

/* Adds a jump to the original call. */
static int add_call(struct as_clone_assembly *a, const struct as_insn *insn)
{
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, insn->address);
    if (!part)
        return AS_ERR_NOMEM;
    part->code[0] = 0xe9;
    part->length = 5;
    part->calls = true;
    part->fix[part->fixes++] = as_clone_fix(AS_PATCH_TO_MODULE, insn->address, 1, 4);
    return 0;
}

/* Adds an instruction. Sets `ends` if control never continues after it. */
static int add_insn(struct as_clone_assembly *a, uint32_t block, const struct as_insn *insn,
                    bool *ends)
{
    const unsigned kind = as_form_of(insn)->insn_class;
    uint64_t have_b, target;
    const uint8_t *bytes = as_object_bytes(a->p->object, insn->address, &have_b);
    if (!bytes || have_b < insn->length || kind == AS_CLASS_INVALID) {
        a->refusal = AS_PATCH_REFUSED_OVERLAP;
        return 0;
    }
    if (kind == AS_CLASS_CALL)
        return add_call(a, insn);
    if (kind != AS_CLASS_RETURN && as_insn_target(insn, &target)) {
        const int condition = condition_of(bytes, insn->length);
        if (condition < 0)
            a->refusal = AS_PATCH_REFUSED_BRANCH;
        *ends = condition == AS_CLONE_ALWAYS;
        return add_branch(a, block, (unsigned)condition & 63, target, insn->length > 3,
                          insn->address);
    }
    *ends = kind == AS_CLASS_JUMP || kind == AS_CLASS_RETURN;
    if (a->clone->variant)
        return as_variant_insn(a, insn, bytes);
    AS_TRY(as_clone_probe(a, block, insn, bytes, false));
    AS_TRY(as_clone_copy(a, insn, bytes));
    return as_clone_probe(a, block, insn, bytes, true);
}

/* ---- Counters ------------------------------------------------------------------------------- */

/* Adds code that increments a counter. It keeps live flags and the red zone. `inc` does not change
 * the carry flag and is atomic for signal handlers. */
static int add_counter(struct as_clone_assembly *a, uint64_t address, uint64_t counter,
                       uint32_t live)
{
    const bool keep_flags = live & AS_LIVE_STATUS & ~(uint32_t)AS_LIVE_CARRY;
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, address);
    if (!part)
        return AS_ERR_NOMEM;
    if (keep_flags)
        as_clone_save_flags(part, true);
    AS_CLONE_BYTES(part, 0x65, 0x48, 0xff, 0x04, 0x25, 0, 0, 0, 0); /* inc qword gs:[counter] */
    part->fix[part->fixes++] = as_clone_fix(AS_PATCH_TO_COUNTER, counter, part->length - 4u, 0);
    if (keep_flags)
        as_clone_restore_flags(part);
    return 0;
}

/* Returns true if the instruction writes all status flags and reads none: they are
 * dead before it. */
static bool renews_flags(const struct as_insn *insn)
{
    struct as_effects e;
    as_insn_effects(insn, &e);
    const uint32_t sure = (uint32_t)(e.flags_written & ~(unsigned)e.flags_maybe) << AS_LIVE_FLAGS;
    return !e.flags_read && (sure & AS_LIVE_STATUS) == AS_LIVE_STATUS;
}

/* Returns the instruction before which a block is counted. This is the first point where flags are
 * dead, if it comes before the first call. Otherwise it is the start of the block. `*live` becomes
 * the live flags there. */
static uint32_t count_point(const struct as_program *p, const struct as_block *b, uint32_t *live)
{
    if (!(*live & AS_LIVE_STATUS & ~(uint32_t)AS_LIVE_CARRY))
        return b->first_insn;
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
        const unsigned kind = as_form_of(&p->code.insn[i])->insn_class;
        if (kind == AS_CLASS_CALL || kind == AS_CLASS_SYSCALL || kind == AS_CLASS_TRAP)
            break;
        if (renews_flags(&p->code.insn[i])) {
            *live &= ~(uint32_t)AS_LIVE_STATUS;
            return i;
        }
    }
    return b->first_insn;
}

/* Adds lea 1(tally),tally, which changes no flag. */
static int add_tally(struct as_clone_assembly *a, uint64_t address, unsigned reg)
{
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, address);
    const uint8_t low = (uint8_t)(reg & 7);
    if (!part)
        return AS_ERR_NOMEM;
    AS_CLONE_BYTES(part, (uint8_t)(0x48 | (reg >> 3) * 5), 0x8d, (uint8_t)(0x40 | low << 3 | low));
    if (low == 4)
        AS_CLONE_BYTES(part, 0x24);
    AS_CLONE_BYTES(part, 1);
    return 0;
}

/* COUNT: gives block `k` its counter. Blocks get no code if their counts follow from others. */
static int add_count(struct as_clone_assembly *a, uint32_t k, struct as_clone_point *point)
{
    const uint32_t block = a->clone->area->block[k];
    const unsigned reg = as_clone_tally_of(a, k);
    uint32_t live = as_live_at(a->clone->area->code, block);
    *point = (struct as_clone_point){a->counter[k], AS_NONE, 0};
    if (reg != AS_PATCH_NONE)
        return add_tally(a, a->p->block[block].start, reg);
    if (a->counted.is[k]) {
        point->insn = count_point(a->p, &a->p->block[block], &live);
        point->live = live;
    }
    return 0;
}

/* COUNT: adds a counter for the rest of a block after a call, because a call may never return. */
static int count_behind(struct as_clone_assembly *a, uint32_t block, uint32_t insn)
{
    const struct as_block *b = &a->p->block[block];
    const struct as_insn *call = &a->p->code.insn[insn];
    uint64_t counter;
    if (!a->counter || as_form_of(call)->insn_class != AS_CLASS_CALL ||
        insn + 1 == b->first_insn + b->insns)
        return 0;
    AS_TRY(as_clone_count(a, block, call->address + call->length, AS_PATCH_RUNS, &counter));
    return add_counter(a, call->address + call->length, counter,
                       as_live_before(a->clone->area->code, block, insn + 1));
}

static int add_probes(struct as_clone_assembly *a, uint32_t block)
{
    const struct as_patch_clone *c = a->clone;
    for (uint32_t i = 0; i < c->inners; i++) {
        if (a->p->loop[c->inner[i].loop].header != block)
            continue;
        if (c->inner[i].tally != AS_PATCH_NONE)
            AS_TRY(add_tally(a, a->p->block[block].start, c->inner[i].tally));
        if (c->inner[i].counts)
            AS_TRY(add_counter(a, a->p->block[block].start,
                               c->maker->loop.at[c->inner[i].number].counter,
                               as_live_at(c->area->code, block)));
    }
    return 0;
}

static uint32_t block_of(const struct as_clone_assembly *a, uint32_t to)
{
    return to == AS_NONE ? AS_NONE : a->clone->area->block[to];
}

/* Adds the jump of block `k` that falls through, unless its target comes next in the clone. */
static int add_rest(struct as_clone_assembly *a, uint32_t k)
{
    const uint32_t block = a->clone->area->block[k];
    const struct as_block *b = &a->p->block[block];
    const uint64_t end = b->start + b->size_b;
    const uint64_t last = a->p->code.insn[b->first_insn + b->insns - 1].address;
    const uint32_t next = block_of(a, as_patch_area_find(a->clone->area, end));
    const bool crosses = as_clone_tally_borders(a, block, next);
    uint32_t label;
    if (crosses)
        AS_TRY(as_clone_tally_cross(a, block, next, end, last));
    AS_TRY(as_clone_find_way(a, crosses ? next : block, last, end, &label));
    if (label == k + 1)
        return 0;
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_BRANCH, last);
    if (!part)
        return AS_ERR_NOMEM;
    part->condition = AS_CLONE_ALWAYS;
    part->label = label;
    return 0;
}

static int add_block(struct as_clone_assembly *a, uint32_t k)
{
    const struct as_patch_area *area = a->clone->area;
    const uint32_t block = area->block[k];
    const struct as_block *b = &a->p->block[block];
    struct as_clone_point point = {.insn = AS_NONE};
    bool ends = false;
    a->label[k] = (uint32_t)a->part.n;
    if (block == area->header && (a->clone->variant || a->clone->measured))
        AS_TRY(as_clone_slice(a, block));
    if (a->clone->variant)
        AS_TRY(as_variant_block(a, block));
    a->depth_b = (uint8_t)as_clone_tally_depth(a, block);
    if (a->counter)
        AS_TRY(add_count(a, k, &point));
    else if (as_clone_is_timed(a))
        AS_TRY(add_probes(a, block));
    a->next_record = b->first_insn;
    a->part_place = AS_NONE;
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
        if (as_clone_records(a))
            AS_TRY(as_clone_addresses_at(a, block, i));
        if (i == point.insn)
            AS_TRY(add_counter(a, a->p->code.insn[i].address, point.counter, point.live));
        AS_TRY(as_clone_point_at(a, &a->p->code.insn[i], false));
        AS_TRY(add_insn(a, block, &a->p->code.insn[i], &ends));
        AS_TRY(count_behind(a, block, i));
        AS_TRY(as_clone_point_at(a, &a->p->code.insn[i], true));
    }
    if (ends || b->bits & AS_BLOCK_NORETURN)
        return 0;
    return add_rest(a, k);
}

/* Assembles the clone. Sets `at` to the offset of each entry. */
static int assemble(struct as_clone_assembly *a, struct as_patch_template *out, uint32_t *at)
{
    const struct as_patch_area *area = a->clone->area;
    struct as_patch_maker *m = a->clone->maker;
    const size_t first_edge = m->edge.n;
    for (uint32_t k = 0; k < area->blocks && !a->refusal; k++) {
        AS_TRY(add_block(a, k));
        if (as_clone_is_timed(a) && as_clone_has_table_out(a, area->block[k]))
            a->refusal = AS_PATCH_REFUSED_TABLE_LEAVES;
    }
    if (!a->refusal)
        AS_TRY(as_clone_entries(a, at));
    if (a->refusal)
        return 0;
    AS_TRY(as_clone_islands(a));
    if (a->clone->variant)
        AS_TRY(as_variant_prologue(a));
    out->size_b = as_clone_lay_out(a);
    as_clone_offsets(a, at);
    out->header = at[0];
    if (a->clone->variant)
        a->clone->variant->enter =
            a->clone->variant->prologue ? a->part.at[a->clone->variant->prologue].at : at[0];
    /* Edges that stay inside lead to the start of their target block. */
    for (size_t e = first_edge; e < m->edge.n; e++) {
        if (m->edge.at[e].inside)
            m->edge.at[e].target =
                a->part.at[a->label[as_patch_area_find(area, m->edge.at[e].target)]].at;
    }
    return a->refusal ? 0 : as_clone_emit(a, out);
}

/* Adds the terms of blocks that are not counted: now the counters have numbers. */
static int add_terms(struct as_clone_assembly *a)
{
    as_vec_foreach (&a->counted.term, term)
        AS_TRY(
            as_vec_push(&a->clone->maker->term,
                        (struct as_patch_term){(uint32_t)a->counter[term->to],
                                               (uint32_t)a->counter[term->from], term->times, 0}));
    return 0;
}

static int prepare_counts(struct as_clone_assembly *a)
{
    if (!a->clone->measured || a->clone->maker->wish.mode != AS_PATCH_COUNT)
        return 0;
    const struct as_patch_area *area = a->clone->area;
    a->counter = as_calloc(area->blocks + 1, sizeof *a->counter);
    if (!a->counter)
        return AS_ERR_NOMEM;
    for (uint32_t k = 0; k < area->blocks; k++)
        AS_TRY(as_clone_count(a, area->block[k], a->p->block[area->block[k]].start, AS_PATCH_RUNS,
                              &a->counter[k]));
    AS_TRY(as_patch_counted_find(area, &a->counted));
    return as_clone_tallies_find(a);
}

int as_patch_clone_make(const struct as_patch_clone *clone, struct as_patch_template *out,
                        uint32_t *at, unsigned *refusal)
{
    struct as_clone_assembly a = {.clone = clone, .p = clone->area->code->program};
    a.label = as_calloc(clone->area->blocks + 1, sizeof *a.label);
    int rc = a.label ? prepare_counts(&a) : AS_ERR_NOMEM;
    if (rc == 0)
        rc = assemble(&a, out, at);
    if (rc == 0 && !a.refusal)
        rc = add_terms(&a);
    *refusal = a.refusal;
    as_patch_counted_fini(&a.counted);
    as_free(a.counter);
    as_vec_fini(&a.part);
    as_vec_fini(&a.way);
    as_vec_fini(&a.tally);
    as_free(a.label);
    return rc;
}
