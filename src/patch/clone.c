/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clone of a region as a template: its blocks in the order of their addresses, the header at
 * the same address modulo 64, branches inside as short as they were where they reach, then a jump
 * ("island") for each way out. What depends on where the clone will lie is left to relocations.
 * Calls are made where they stand, so that unwinders find the frames they know: the clone jumps to
 * the call, and the place behind it leads back.
 */
#include "patch/internal.h"

#include <string.h>

enum part_kind { PART_COPY, PART_BRANCH, PART_ISLAND, PART_CODE };
enum { ALWAYS = 16, CODE_MOST_B = 48, FIXES_MOST = 3 };

/* A piece of the clone: an instruction, a branch, or code of ours. */
struct clone_part {
    uint8_t kind, length, condition, fixes;
    bool wide, calls;
    uint32_t at;      /* in the clone */
    uint32_t label;   /* BRANCH: block of the area; or, with its top bit, a way */
    uint64_t address; /* of the original code it stands for; 0: none */
    const uint8_t *bytes;
    uint8_t code[CODE_MOST_B];
    struct as_patch_reloc fix[FIXES_MOST]; /* `at` from the beginning of the part */
};
#define TO_WAY 0x80000000u

/* Out of the clone, or over the border of a loop that is measured. */
struct clone_way {
    uint64_t target;
    uint32_t edge; /* of the plan; ASSAY_NONE: straight to the target */
    uint32_t to;   /* block of the area, or ASSAY_NONE */
    uint32_t part; /* its island */
};

struct assembly {
    const struct as_patch_clone *clone;
    const struct assay_program *p;
    AS_VEC(struct clone_part) part;
    AS_VEC(struct clone_way) way;
    uint32_t *label; /* per block of the area: its first part */
    unsigned refusal;
};

static struct clone_part *new_part(struct assembly *a, enum part_kind kind, uint64_t address)
{
    if (as_vec_push(&a->part, (struct clone_part){.kind = (uint8_t)kind, .address = address}) < 0)
        return NULL;
    return &a->part.at[a->part.n - 1];
}

static struct as_patch_reloc fix_of(unsigned kind, uint64_t value, uint32_t at, unsigned from)
{
    return (struct as_patch_reloc){value, at, (uint16_t)kind, (uint16_t)from};
}

/* ---- Ways ----------------------------------------------------------------------------------- */

static int add_event(struct assembly *a, struct as_patch_edge *edge, uint32_t inner, unsigned kind,
                     uint32_t from, uint64_t target)
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

static bool holds_address(const struct assembly *a, uint32_t loop, uint32_t to)
{
    return to != ASSAY_NONE && as_patch_holds(a->p, loop, a->clone->area->block[to]);
}

/* What happens between `from` and block `to` of the area (or outside): inner loops are left first,
 * then outer ones, then one is entered. */
static int add_events(struct assembly *a, uint32_t from, uint32_t to, uint64_t target,
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
static int find_way(struct assembly *a, uint32_t from, uint64_t target, uint32_t *label)
{
    struct as_patch_maker *m = a->clone->maker;
    const uint32_t to = as_patch_area_find(a->clone->area, target);
    struct as_patch_edge edge = {.target = target, .inside = to != ASSAY_NONE};
    struct clone_way way = {target, ASSAY_NONE, to, 0};
    if (a->clone->measured && m->wish.mode != AS_PATCH_COUNT)
        AS_TRY(add_events(a, from, to, target, &edge));
    *label = to;
    if (to != ASSAY_NONE && edge.events == 0)
        return 0;
    if (edge.events) {
        way.edge = (uint32_t)m->edge.n;
        AS_TRY(as_vec_push(&m->edge, edge));
    }
    *label = TO_WAY | (uint32_t)a->way.n;
    return as_vec_push(&a->way, way);
}

/* ---- Instructions --------------------------------------------------------------------------- */

static int add_branch(struct assembly *a, uint32_t from, unsigned condition, uint64_t target,
                      bool wide, uint64_t address)
{
    uint32_t label;
    AS_TRY(find_way(a, from, target, &label));
    struct clone_part *part = new_part(a, PART_BRANCH, address);
    if (!part)
        return ASSAY_ERR_NOMEM;
    part->condition = (uint8_t)condition;
    part->label = label;
    part->wide = wide;
    return 0;
}

/* The condition of a direct jump or branch, ALWAYS, or -1: it has no long form. */
static int condition_of(const uint8_t *bytes, unsigned n)
{
    unsigned at = 0;
    while (at < n && (bytes[at] == 0xf2 || bytes[at] == 0x2e || bytes[at] == 0x3e))
        at++;
    if (at + 1 >= n)
        return -1;
    if (bytes[at] == 0xeb || bytes[at] == 0xe9)
        return ALWAYS;
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

static int add_copy(struct assembly *a, const struct assay_insn *insn, const uint8_t *bytes)
{
    struct clone_part *part = new_part(a, PART_COPY, insn->address);
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
static int add_call(struct assembly *a, const struct assay_insn *insn)
{
    struct clone_part *part = new_part(a, PART_CODE, insn->address);
    if (!part)
        return ASSAY_ERR_NOMEM;
    part->code[0] = 0xe9;
    part->length = 5;
    part->calls = true;
    part->fix[part->fixes++] = fix_of(AS_PATCH_TO_MODULE, insn->address, 1, 4);
    return 0;
}

/* True in `ends`: nothing goes on behind it. */
static int add_insn(struct assembly *a, uint32_t block, const struct assay_insn *insn, bool *ends)
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
        *ends = condition == ALWAYS;
        return add_branch(a, block, (unsigned)condition & 31, target, insn->length > 3,
                          insn->address);
    }
    *ends = kind == ASSAY_CLASS_JUMP || kind == ASSAY_CLASS_RETURN;
    return add_copy(a, insn, bytes);
}

/* ---- What is put in ------------------------------------------------------------------------- */

static void put(struct clone_part *part, unsigned n, const uint8_t *bytes)
{
    memcpy(part->code + part->length, bytes, n);
    part->length = (uint8_t)(part->length + n);
}
#define PUT(part, ...)                                                                             \
    put((part), sizeof((const uint8_t[]){__VA_ARGS__}), (const uint8_t[]){__VA_ARGS__})

/* reg = the thread's file; then one more for `counter` in it. */
static void put_increment(struct clone_part *part, unsigned reg, uint64_t counter)
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
static int add_counter(struct assembly *a, uint64_t counter, uint32_t live)
{
    const bool keep_flags = live & AS_LIVE_STATUS & ~(uint32_t)AS_LIVE_CARRY;
    struct clone_part *part = new_part(a, PART_CODE, 0);
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
static int count_block(struct assembly *a, uint32_t block, uint32_t live)
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
static int add_tally(struct assembly *a, unsigned reg)
{
    struct clone_part *part = new_part(a, PART_CODE, 0);
    const uint8_t low = (uint8_t)(reg & 7);
    if (!part)
        return ASSAY_ERR_NOMEM;
    PUT(part, (uint8_t)(0x48 | (reg >> 3) * 5), 0x8d, (uint8_t)(0x40 | low << 3 | low));
    if (low == 4)
        PUT(part, 0x24);
    PUT(part, 1);
    return 0;
}

static int add_probes(struct assembly *a, uint32_t block)
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

static int add_block(struct assembly *a, uint32_t k)
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
    struct clone_part *part = new_part(a, PART_BRANCH, 0);
    if (!part)
        return ASSAY_ERR_NOMEM;
    part->condition = ALWAYS;
    part->label = label;
    return 0;
}

static int add_islands(struct assembly *a)
{
    for (uint32_t w = 0; w < a->way.n; w++) {
        struct clone_part *part = new_part(a, PART_ISLAND, 0);
        if (!part)
            return ASSAY_ERR_NOMEM;
        const struct clone_way *way = &a->way.at[w];
        part->code[0] = 0xe9;
        part->length = 5;
        part->fix[part->fixes++] = way->edge == ASSAY_NONE
                                       ? fix_of(AS_PATCH_TO_MODULE, way->target, 1, 4)
                                       : fix_of(AS_PATCH_TO_EDGE, way->edge, 1, 4);
        a->way.at[w].part = (uint32_t)a->part.n - 1;
    }
    return 0;
}

/* ---- Layout --------------------------------------------------------------------------------- */

static uint32_t target_of(const struct assembly *a, const struct clone_part *part)
{
    const uint32_t to =
        part->label & TO_WAY ? a->way.at[part->label & ~TO_WAY].part : a->label[part->label];
    return a->part.at[to].at;
}

/* Short branches that do not reach become long, until all reach. Returns the size. */
static uint32_t lay_out(struct assembly *a)
{
    uint32_t at;
    bool grown = true;
    for (at = 0; grown;) {
        grown = false;
        at = 0;
        as_vec_foreach (&a->part, part) {
            if (part->kind == PART_BRANCH)
                part->length = !part->wide ? 2 : part->condition == ALWAYS ? 5 : 6;
            part->at = at;
            at += part->length;
        }
        as_vec_foreach (&a->part, part) {
            if (part->kind != PART_BRANCH || part->wide)
                continue;
            const int64_t distance = (int64_t)target_of(a, part) - (part->at + 2);
            if (distance < INT8_MIN || distance > INT8_MAX)
                part->wide = grown = true;
        }
    }
    return at;
}

static void write_branch(const struct assembly *a, const struct clone_part *part, uint8_t *out)
{
    const uint32_t distance = target_of(a, part) - (part->at + part->length);
    if (!part->wide) {
        out[0] = part->condition == ALWAYS ? 0xeb : (uint8_t)(0x70 | part->condition);
        out[1] = (uint8_t)distance;
        return;
    }
    unsigned n = 0;
    if (part->condition == ALWAYS) {
        out[n++] = 0xe9;
    } else {
        out[n++] = 0x0f;
        out[n++] = (uint8_t)(0x80 | part->condition);
    }
    memcpy(out + n, &distance, sizeof distance);
}

/* Pieces that follow each other in both codes make one span. */
static int add_span(struct as_patch_maker *m, const struct clone_part *part, uint32_t original_b,
                    uint32_t first)
{
    struct as_patch_span *last = m->span.n > first ? &m->span.at[m->span.n - 1] : NULL;
    if (last && last->original_b == last->size_b && part->length == original_b &&
        last->address + last->original_b == part->address && last->at + last->size_b == part->at) {
        last->size_b += part->length;
        last->original_b += original_b;
        return 0;
    }
    return as_vec_push(
        &m->span, (struct as_patch_span){part->address, part->at, part->length, original_b, 0});
}

static int emit_template(struct assembly *a, struct as_patch_template *out)
{
    struct as_patch_maker *m = a->clone->maker;
    const uint64_t code = m->code.n;
    if (as_vec_reserve(&m->code, code + out->size_b + 64) < 0)
        return ASSAY_ERR_NOMEM;
    m->code.n += (out->size_b + 15) & ~15ull;
    memset(m->code.at + code, 0x90, m->code.n - code);
    out->code = code;
    out->first_reloc = (uint32_t)m->reloc.n;
    out->first_span = (uint32_t)m->span.n;
    uint64_t address = 0;
    as_vec_foreach (&a->part, part) {
        uint8_t *to = m->code.at + code + part->at;
        if (part->kind == PART_BRANCH)
            write_branch(a, part, to);
        else
            memcpy(to, part->kind == PART_COPY ? part->bytes : part->code, part->length);
        for (unsigned f = 0; f < part->fixes; f++) {
            struct as_patch_reloc reloc = part->fix[f];
            reloc.at += part->at;
            AS_TRY(as_vec_push(&m->reloc, reloc));
        }
        if (part->address) {
            address = part->address;
            const size_t insn = assay_code_find(&a->p->code, address);
            AS_TRY(add_span(m, part, insn == SIZE_MAX ? part->length : a->p->code.insn[insn].length,
                            out->first_span));
        }
    }
    out->relocs = (uint32_t)m->reloc.n - out->first_reloc;
    out->spans = (uint32_t)m->span.n - out->first_span;
    return 0;
}

/* Where an arrival at `address` goes on: behind a call with what comes then, or at a block. */
static uint32_t place_of(const struct assembly *a, uint64_t address)
{
    for (size_t i = 0; i + 1 < a->part.n; i++) {
        const struct clone_part *part = &a->part.at[i];
        const size_t insn = part->calls ? assay_code_find(&a->p->code, part->address) : SIZE_MAX;
        if (insn != SIZE_MAX && part->address + a->p->code.insn[insn].length == address)
            return part[1].at;
    }
    const uint32_t k = as_patch_area_find(a->clone->area, address);
    return k == ASSAY_NONE ? UINT32_MAX : a->part.at[a->label[k]].at;
}

static int assemble(struct assembly *a, struct as_patch_template *out, uint32_t *at)
{
    const struct as_patch_area *area = a->clone->area;
    struct as_patch_maker *m = a->clone->maker;
    const size_t first_edge = m->edge.n;
    for (uint32_t k = 0; k < area->blocks && !a->refusal; k++)
        AS_TRY(add_block(a, k));
    if (a->refusal)
        return 0;
    AS_TRY(add_islands(a));
    out->size_b = lay_out(a);
    for (size_t i = 0; i < area->place.n; i++) {
        at[i] = place_of(a, area->place.at[i].address);
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
    return a->refusal ? 0 : emit_template(a, out);
}

int as_patch_clone_make(const struct as_patch_clone *clone, struct as_patch_template *out,
                        uint32_t *at, unsigned *refusal)
{
    struct assembly a = {.clone = clone, .p = clone->area->code->program};
    a.label = as_calloc(clone->area->blocks + 1, sizeof *a.label);
    int rc = a.label ? assemble(&a, out, at) : ASSAY_ERR_NOMEM;
    *refusal = a.refusal;
    as_vec_fini(&a.part);
    as_vec_fini(&a.way);
    as_free(a.label);
    return rc;
}
