/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clone of a region as a template: its blocks in the order of their addresses, the header at
 * the same address modulo 64, with what is put in to count, then a jump ("island") for each way
 * out. What depends on where the clone will lie is left to relocations.
 * Calls are made where they stand, so that unwinders find the frames they know: the clone jumps to
 * the call, and the place behind it leads back.
 */
#include "patch/clone.h"

#include <string.h>

static struct as_clone_part *new_part(struct as_clone_assembly *a, enum as_clone_kind kind,
                                      uint64_t address)
{
    if (as_vec_push(&a->part, (struct as_clone_part){.kind = (uint8_t)kind, .address = address}) <
        0)
        return NULL;
    return &a->part.at[a->part.n - 1];
}

static struct as_patch_reloc fix_of(unsigned kind, uint64_t value, uint32_t at, unsigned from)
{
    return (struct as_patch_reloc){value, at, (uint16_t)kind, (uint16_t)from};
}

/* ---- Ways ----------------------------------------------------------------------------------- */

static int add_event(struct as_clone_assembly *a, struct as_patch_edge *edge, uint32_t inner,
                     unsigned kind, uint32_t from, uint64_t target)
{
    struct as_patch_maker *m = a->clone->maker;
    const struct as_patch_inner *it = &a->clone->inner[inner];
    struct as_patch_event event = {it->number, 0, (uint16_t)kind};
    if (kind == AS_PATCH_LEAVE) {
        struct as_patch_loop *loop = &m->loop.at[it->number];
        struct as_patch_pending leave = {it->number, {target, 0}};
        int add = it->induction.reg == AS_PATCH_NONE
                      ? 0
                      : as_patch_induction_add(a->p, it->loop, &it->induction, from);
        if (loop->exits == UINT16_MAX)
            return ASSAY_ERR_NOMEM;
        event.exit = (uint16_t)loop->exits++;
        leave.exit.add = add < 0 ? UINT64_MAX : (uint64_t)add;
        AS_TRY(as_vec_push(&m->pending, leave));
    }
    AS_TRY(as_vec_push(&m->event, event));
    edge->events++;
    return 0;
}

static bool holds_address(const struct as_clone_assembly *a, uint32_t loop, uint32_t to)
{
    return to != ASSAY_NONE && as_patch_holds(a->p, loop, a->clone->area->block[to]);
}

/* What happens between `from` and block `to` of the area (or outside): inner loops are left first,
 * then outer ones, then one is entered. */
static int add_events(struct as_clone_assembly *a, uint32_t from, uint32_t to, uint64_t target,
                      struct as_patch_edge *edge)
{
    const struct as_patch_clone *c = a->clone;
    edge->first_event = (uint32_t)c->maker->event.n;
    for (uint32_t i = c->inners; i-- > 0;) {
        if (as_patch_holds(a->p, c->inner[i].loop, from) && !holds_address(a, c->inner[i].loop, to))
            AS_TRY(add_event(a, edge, i, AS_PATCH_LEAVE, from, target));
    }
    for (uint32_t i = 0; i < c->inners; i++) {
        if (to != ASSAY_NONE && a->p->loop[c->inner[i].loop].header == c->area->block[to] &&
            !as_patch_holds(a->p, c->inner[i].loop, from))
            AS_TRY(add_event(a, edge, i, AS_PATCH_ENTER, from, target));
    }
    return 0;
}

/* The label for a branch from block `from` to `target`. */
static int find_way(struct as_clone_assembly *a, uint32_t from, uint64_t target, uint32_t *label)
{
    struct as_patch_maker *m = a->clone->maker;
    const uint32_t to = as_patch_area_find(a->clone->area, target);
    struct as_patch_edge edge = {.target = target, .inside = to != ASSAY_NONE};
    struct as_clone_way way = {target, ASSAY_NONE, to, 0};
    if (a->clone->measured && m->wish.mode != AS_PATCH_COUNT)
        AS_TRY(add_events(a, from, to, target, &edge));
    *label = to;
    if (to != ASSAY_NONE && edge.events == 0)
        return 0;
    if (edge.events) {
        way.edge = (uint32_t)m->edge.n;
        AS_TRY(as_vec_push(&m->edge, edge));
    }
    *label = AS_CLONE_TO_WAY | (uint32_t)a->way.n;
    return as_vec_push(&a->way, way);
}

/* ---- Instructions --------------------------------------------------------------------------- */

static int add_branch(struct as_clone_assembly *a, uint32_t from, unsigned condition,
                      uint64_t target, bool wide, uint64_t address)
{
    uint32_t label;
    AS_TRY(find_way(a, from, target, &label));
    struct as_clone_part *part = new_part(a, AS_CLONE_BRANCH, address);
    if (!part)
        return ASSAY_ERR_NOMEM;
    part->condition = (uint8_t)condition;
    part->label = label;
    part->wide = wide;
    return 0;
}

/* The condition of a direct jump or branch, AS_CLONE_ALWAYS, or -1: it has no long form. */
static int condition_of(const uint8_t *bytes, unsigned n)
{
    unsigned at = 0;
    while (at < n && (bytes[at] == 0xf2 || bytes[at] == 0x2e || bytes[at] == 0x3e))
        at++;
    if (at + 1 >= n)
        return -1;
    if (bytes[at] == 0xeb || bytes[at] == 0xe9)
        return AS_CLONE_ALWAYS;
    if (bytes[at] == 0x0f && (bytes[at + 1] & 0xf0) == 0x80)
        return bytes[at + 1] & 15;
    return (bytes[at] & 0xf0) == 0x70 ? bytes[at] & 15 : -1;
}

/* Where the 4 bytes of the distance to `target` stand: before them a ModRM byte that says so. */
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

static int add_copy(struct as_clone_assembly *a, const struct assay_insn *insn,
                    const uint8_t *bytes)
{
    struct as_clone_part *part = new_part(a, AS_CLONE_COPY, insn->address);
    uint64_t target;
    if (!part)
        return ASSAY_ERR_NOMEM;
    part->bytes = bytes;
    part->length = insn->length;
    if (!(as_form_of(insn)->traits & ASSAY_TRAIT_RIP_RELATIVE))
        return 0;
    const unsigned at = assay_insn_memory_address(insn, &target)
                            ? find_distance(bytes, insn->length, insn->address, target)
                            : 0;
    if (at == 0)
        a->refusal = AS_PATCH_REFUSED_OPERAND;
    part->fix[part->fixes++] = fix_of(AS_PATCH_TO_MODULE, target, at, insn->length - at);
    return 0;
}

/* Jumps to the call itself. */
static int add_call(struct as_clone_assembly *a, const struct assay_insn *insn)
{
    struct as_clone_part *part = new_part(a, AS_CLONE_CODE, insn->address);
    if (!part)
        return ASSAY_ERR_NOMEM;
    part->code[0] = 0xe9;
    part->length = 5;
    part->calls = true;
    part->fix[part->fixes++] = fix_of(AS_PATCH_TO_MODULE, insn->address, 1, 4);
    return 0;
}

/* True in `ends`: nothing goes on behind it. */
static int add_insn(struct as_clone_assembly *a, uint32_t block, const struct assay_insn *insn,
                    bool *ends)
{
    const unsigned kind = as_form_of(insn)->insn_class;
    uint64_t have_b, target;
    const uint8_t *bytes = assay_object_bytes(a->p->object, insn->address, &have_b);
    if (!bytes || have_b < insn->length || kind == ASSAY_CLASS_INVALID) {
        a->refusal = AS_PATCH_REFUSED_OVERLAP;
        return 0;
    }
    if (kind == ASSAY_CLASS_CALL)
        return add_call(a, insn);
    if (kind != ASSAY_CLASS_RETURN && assay_insn_target(insn, &target)) {
        const int condition = condition_of(bytes, insn->length);
        if (condition < 0)
            a->refusal = AS_PATCH_REFUSED_BRANCH;
        *ends = condition == AS_CLONE_ALWAYS;
        return add_branch(a, block, (unsigned)condition & 31, target, insn->length > 3,
                          insn->address);
    }
    *ends = kind == ASSAY_CLASS_JUMP || kind == ASSAY_CLASS_RETURN;
    return add_copy(a, insn, bytes);
}

/* ---- What is put in ------------------------------------------------------------------------- */

static void put(struct as_clone_part *part, unsigned n, const uint8_t *bytes)
{
    memcpy(part->code + part->length, bytes, n);
    part->length = (uint8_t)(part->length + n);
}
#define PUT(part, ...)                                                                             \
    put((part), sizeof((const uint8_t[]){__VA_ARGS__}), (const uint8_t[]){__VA_ARGS__})

/* reg = the thread's file; then one more for `counter` in it. */
static void put_increment(struct as_clone_part *part, unsigned reg, uint64_t counter)
{
    const uint8_t high = (uint8_t)(reg >> 3);
    PUT(part, 0x64, (uint8_t)(0x48 | high << 2), 0x8b, (uint8_t)(0x04 | (reg & 7) << 3), 0x25, 0, 0,
        0, 0);
    part->fix[part->fixes++] = fix_of(AS_PATCH_TO_THREAD, 0, part->length - 4u, 0);
    PUT(part, (uint8_t)(0x48 | high), 0xff, (uint8_t)(0x80 | (reg & 7)));
    if ((reg & 7) == 4)
        PUT(part, 0x24); /* r12 needs an index byte */
    PUT(part, 0, 0, 0, 0);
    part->fix[part->fixes++] = fix_of(AS_PATCH_TO_COUNTER, counter, part->length - 4u, 0);
}

/* Counts at the beginning of a block, where `live` is live. Flags and red zone are kept; `inc`
 * leaves the carry flag alone. */
static int add_counter(struct as_clone_assembly *a, uint64_t counter, uint32_t live)
{
    const bool keep_flags = live & AS_LIVE_STATUS & ~(uint32_t)AS_LIVE_CARRY;
    struct as_clone_part *part = new_part(a, AS_CLONE_CODE, 0);
    unsigned reg = 0;
    while (reg < 16 && live >> reg & 1)
        reg++;
    const bool keep_reg = reg > 15;
    reg = keep_reg ? 1 : reg;
    if (!part)
        return ASSAY_ERR_NOMEM;
    if (keep_flags || keep_reg)
        PUT(part, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea rsp,[rsp-128] */
    if (keep_reg)
        PUT(part, 0x51);
    if (keep_flags)
        PUT(part, 0x9c);
    put_increment(part, reg, counter);
    if (keep_flags)
        PUT(part, 0x9d);
    if (keep_reg)
        PUT(part, 0x59);
    if (keep_flags || keep_reg)
        PUT(part, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0); /* lea rsp,[rsp+128] */
    return 0;
}

/* COUNT: each block has a counter. */
static int count_block(struct as_clone_assembly *a, uint32_t block, uint32_t live)
{
    struct as_patch_maker *m = a->clone->maker;
    const uint64_t counter = m->counter.n;
    uint32_t inner = a->clone->inners;
    while (inner-- > 0 && !as_patch_holds(a->p, a->clone->inner[inner].loop, block))
        ;
    AS_TRY(as_vec_push(&m->counter, (struct as_patch_counter){a->p->block[block].start,
                                                              a->clone->inner[inner].number,
                                                              (uint32_t)m->module.n - 1}));
    return add_counter(a, counter, live);
}

/* lea 1(tally),tally: no flag changes. */
static int add_tally(struct as_clone_assembly *a, unsigned reg)
{
    struct as_clone_part *part = new_part(a, AS_CLONE_CODE, 0);
    const uint8_t low = (uint8_t)(reg & 7);
    if (!part)
        return ASSAY_ERR_NOMEM;
    PUT(part, (uint8_t)(0x48 | (reg >> 3) * 5), 0x8d, (uint8_t)(0x40 | low << 3 | low));
    if (low == 4)
        PUT(part, 0x24);
    PUT(part, 1);
    return 0;
}

static int add_probes(struct as_clone_assembly *a, uint32_t block)
{
    const struct as_patch_clone *c = a->clone;
    const struct assay_program *p = a->p;
    if (!c->measured)
        return 0;
    uint32_t live = as_live_at(c->area->code, block);
    for (uint32_t i = 0; i < c->inners;
         i++) { /* registers that count are not free in their loops */
        if (c->inner[i].tally != AS_PATCH_NONE && as_patch_holds(p, c->inner[i].loop, block))
            live |= 1u << c->inner[i].tally;
    }
    if (c->maker->wish.mode == AS_PATCH_COUNT)
        return count_block(a, block, live);
    for (uint32_t i = 0; i < c->inners; i++) {
        if (p->loop[c->inner[i].loop].header != block)
            continue;
        if (c->inner[i].tally != AS_PATCH_NONE)
            AS_TRY(add_tally(a, c->inner[i].tally));
        if (c->inner[i].counts)
            AS_TRY(add_counter(a, c->maker->loop.at[c->inner[i].number].counter, live));
    }
    return 0;
}

static int add_block(struct as_clone_assembly *a, uint32_t k)
{
    const struct as_patch_area *area = a->clone->area;
    const uint32_t block = area->block[k];
    const struct assay_block *b = &a->p->block[block];
    const uint64_t end = b->start + b->size_b;
    bool ends = false;
    a->label[k] = (uint32_t)a->part.n;
    AS_TRY(add_probes(a, block));
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++)
        AS_TRY(add_insn(a, block, &a->p->code.insn[i], &ends));
    if (ends || b->bits & ASSAY_BLOCK_NORETURN)
        return 0;
    /* Falls through, into the next block of the clone or somewhere else. */
    uint32_t label;
    AS_TRY(find_way(a, block, end, &label));
    if (label == k + 1)
        return 0;
    struct as_clone_part *part = new_part(a, AS_CLONE_BRANCH, 0);
    if (!part)
        return ASSAY_ERR_NOMEM;
    part->condition = AS_CLONE_ALWAYS;
    part->label = label;
    return 0;
}

static int add_islands(struct as_clone_assembly *a)
{
    for (uint32_t w = 0; w < a->way.n; w++) {
        struct as_clone_part *part = new_part(a, AS_CLONE_ISLAND, 0);
        if (!part)
            return ASSAY_ERR_NOMEM;
        const struct as_clone_way *way = &a->way.at[w];
        part->code[0] = 0xe9;
        part->length = 5;
        part->fix[part->fixes++] = way->edge == ASSAY_NONE
                                       ? fix_of(AS_PATCH_TO_MODULE, way->target, 1, 4)
                                       : fix_of(AS_PATCH_TO_EDGE, way->edge, 1, 4);
        a->way.at[w].part = (uint32_t)a->part.n - 1;
    }
    return 0;
}

/* ---- All ------------------------------------------------------------------------------------ */

static int assemble(struct as_clone_assembly *a, struct as_patch_template *out, uint32_t *at)
{
    const struct as_patch_area *area = a->clone->area;
    struct as_patch_maker *m = a->clone->maker;
    const size_t first_edge = m->edge.n;
    for (uint32_t k = 0; k < area->blocks && !a->refusal; k++)
        AS_TRY(add_block(a, k));
    if (a->refusal)
        return 0;
    AS_TRY(add_islands(a));
    out->size_b = as_clone_lay_out(a);
    for (size_t i = 0; i < area->place.n; i++) {
        at[i] = as_clone_place(a, area->place.at[i].address);
        if (at[i] == UINT32_MAX)
            a->refusal = area->place.at[i].why;
    }
    out->header = at[0];
    /* Edges inside lead to where their block begins. */
    for (size_t e = first_edge; e < m->edge.n; e++) {
        if (m->edge.at[e].inside)
            m->edge.at[e].target =
                a->part.at[a->label[as_patch_area_find(area, m->edge.at[e].target)]].at;
    }
    return a->refusal ? 0 : as_clone_emit(a, out);
}

int as_patch_clone_make(const struct as_patch_clone *clone, struct as_patch_template *out,
                        uint32_t *at, unsigned *refusal)
{
    struct as_clone_assembly a = {.clone = clone, .p = clone->area->code->program};
    a.label = as_calloc(clone->area->blocks + 1, sizeof *a.label);
    int rc = a.label ? assemble(&a, out, at) : ASSAY_ERR_NOMEM;
    *refusal = a.refusal;
    as_vec_fini(&a.part);
    as_vec_fini(&a.way);
    as_free(a.label);
    return rc;
}
