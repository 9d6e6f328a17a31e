/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the instructions that the branches and the addresses of a loop depend on. The analysis
 * walks backwards over the blocks until nothing is added. An instruction in a slice writes a
 * register or flag that is needed after it (slices of Weiser, 1984). Memory is checked at run time:
 * a stored address must not be one that a slice loads.
 */
#include "patch/variant.h"

#include <string.h>

#include "patch/lane_count.h"

struct need {
    struct as_regset reg;
    uint8_t flags;
};

struct slicing {
    struct as_variant_facts *facts;
    const struct as_program *p;
    uint8_t mark;      /* slice that is searched for */
    struct need *need; /* per block of the area: registers and flags needed at its start */
};

/* ---- One instruction ------------------------------------------------------------------------ */

unsigned as_variant_access(const struct as_insn *insn)
{
    const struct as_form *form = as_form_of(insn);
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_MEM)
            return form->operand[i].access & (AS_ACCESS_READ | AS_ACCESS_WRITE);
    return 0;
}

bool as_variant_is_move(const struct as_insn *insn)
{
    switch (as_form_of(insn)->insn_class) {
    case AS_CLASS_MOVE:
    case AS_CLASS_EXTEND:
    case AS_CLASS_BROADCAST:
    case AS_CLASS_GATHER:
        return true;
    default:
        return false;
    }
}

static bool decides_way(const struct as_insn *insn)
{
    const unsigned kind = as_form_of(insn)->insn_class;
    return kind == AS_CLASS_BRANCH || kind == AS_CLASS_JUMP;
}

static bool sets_intersect(struct as_regset a, struct as_regset b)
{
    return (a.word[0] & b.word[0]) || (a.word[1] & b.word[1]);
}

static void add_register(struct need *need, unsigned reg)
{
    if (reg < 128)
        need->reg.word[reg >> 6] |= UINT64_C(1) << (reg & 63);
}

/* Adds the reads of an instruction and removes its writes. Merged registers count as read. For bits
 * above 127, which SSE keeps, this matters only if the loop has AVX instructions. */
static void join_reads(struct need *need, const struct as_effects *e, bool keeps_high)
{
    for (unsigned w = 0; w < 2; w++) {
        const uint64_t kept = keeps_high ? e->merged.word[w] : 0;
        need->reg.word[w] = (need->reg.word[w] & ~(e->written.word[w] & ~kept)) | e->read.word[w];
    }
    need->flags = (uint8_t)((need->flags & ~(e->flags_written & ~e->flags_maybe)) | e->flags_read);
}

/* Adds the mask of a gather or scatter. The instruction clears its mask. Without code that sets the
 * mask again, it accesses nothing from the second iteration on (Intel SDM 2, VGATHERDPD). */
static void add_mask(struct need *need, const struct as_insn *insn)
{
    const unsigned kind = as_form_of(insn)->insn_class;
    const struct as_amount amount = as_amount_of(insn);
    if (kind != AS_CLASS_GATHER && kind != AS_CLASS_SCATTER)
        return;
    if (amount.kind == AS_AMOUNT_MASK)
        add_register(need, AS_REG_MASK + amount.reg);
    if (amount.kind == AS_AMOUNT_SIGNS)
        add_register(need, AS_REG_VEC + amount.reg);
}

/* Adds the registers that start a slice of addresses. */
static void add_seeds(const struct slicing *s, const struct as_insn *insn, struct need *need)
{
    const unsigned access = as_variant_access(insn);
    const bool wanted = s->mark == AS_MARK_ADDRESS  ? access != 0
                        : s->mark == AS_MARK_STORES ? (access & AS_ACCESS_WRITE) != 0
                                                    : false;
    if (!wanted)
        return;
    add_register(need, insn->base);
    add_register(need, insn->index);
    add_mask(need, insn);
}

/* Handles one instruction backwards. Instructions of the branches' slice belong to every slice.
 * Returns true if the instruction is new in the slice. */
static bool step_back(const struct slicing *s, uint32_t i, struct need *need)
{
    const struct as_insn *insn = &s->p->code.insn[i];
    uint8_t *mark = &s->facts->mark[i - s->facts->first];
    struct as_effects e;
    as_insn_effects(insn, &e);
    const bool is_needed =
        sets_intersect(e.written, need->reg) || (e.flags_written & need->flags) ||
        (*mark & (s->mark | AS_MARK_CONTROL)) || (s->mark == AS_MARK_CONTROL && decides_way(insn));
    const bool is_new = is_needed && !(*mark & s->mark);
    if (is_needed) {
        *mark |= s->mark;
        join_reads(need, &e, s->facts->vex);
    }
    add_seeds(s, insn, need);
    return is_new;
}

/* ---- The loop ------------------------------------------------------------------------------- */

static uint32_t area_block(const struct as_patch_area *area, uint32_t block)
{
    return as_patch_area_holds(area, block)
               ? as_patch_area_find(area, area->code->program->block[block].start)
               : AS_NONE;
}

/* Walks over all blocks once, from the last to the first. Returns true if something was added. */
static bool slice_again(const struct slicing *s)
{
    const struct as_patch_area *area = s->facts->area;
    bool changed = false;
    for (uint32_t k = area->blocks; k-- > 0;) {
        const struct as_block *b = &s->p->block[area->block[k]];
        struct need need = {0};
        for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++) {
            const uint32_t to = area_block(area, s->p->succ[e].block);
            if (to == AS_NONE)
                continue;
            need.reg.word[0] |= s->need[to].reg.word[0];
            need.reg.word[1] |= s->need[to].reg.word[1];
            need.flags |= s->need[to].flags;
        }
        for (uint32_t i = b->first_insn + b->insns; i-- > b->first_insn;)
            changed |= step_back(s, i, &need);
        changed |= need.reg.word[0] != s->need[k].reg.word[0] ||
                   need.reg.word[1] != s->need[k].reg.word[1] || need.flags != s->need[k].flags;
        s->need[k] = need;
    }
    return changed;
}

static int find_slice(struct as_variant_facts *facts, uint8_t mark)
{
    struct slicing s = {facts, facts->area->code->program, mark, NULL};
    s.need = as_calloc(facts->area->blocks + 1, sizeof *s.need);
    if (!s.need)
        return AS_ERR_NOMEM;
    while (slice_again(&s))
        ;
    as_free(s.need);
    return 0;
}

/* ---- Facts ---------------------------------------------------------------------------------- */

static unsigned refusal_of(const struct as_insn *insn)
{
    const struct as_form *form = as_form_of(insn);
    const unsigned kind = form->insn_class;
    if (form->traits & AS_TRAIT_LOCK)
        return AS_UNVARIED_ATOMIC;
    if (form->memories || form->traits & (AS_TRAIT_REP | AS_TRAIT_STACK))
        return AS_UNVARIED_STACK;
    if (form->traits & AS_TRAIT_X87 || (unsigned)insn->reg[0] - AS_REG_X87 < 8u)
        return AS_UNVARIED_X87;
    if (insn->segment != AS_REG_NONE && insn->bits & AS_INSN_MEM)
        return AS_UNVARIED_SEGMENT;
    if (kind == AS_CLASS_STATE && form->traits & AS_TRAIT_VEX)
        return 0;
    return kind == AS_CLASS_SYSTEM || kind == AS_CLASS_STRING || kind == AS_CLASS_EXCHANGE ||
                   kind == AS_CLASS_SYSCALL || kind == AS_CLASS_TRAP || kind == AS_CLASS_FENCE ||
                   kind == AS_CLASS_CACHE || kind == AS_CLASS_STATE || kind == AS_CLASS_TIME ||
                   kind == AS_CLASS_RANDOM || kind == AS_CLASS_TILE || kind == AS_CLASS_INVALID
               ? AS_UNVARIED_SYSTEM
               : 0;
}

static bool is_noted(const struct as_insn *insn)
{
    return as_amount_of(insn).kind == AS_AMOUNT_FIXED &&
           as_form_of(insn)->insn_class != AS_CLASS_SCATTER;
}

static void see_insn(struct as_variant_facts *facts, const struct as_insn *insn)
{
    const struct as_form *form = as_form_of(insn);
    if (!facts->refusal)
        facts->refusal = (uint8_t)refusal_of(insn);
    facts->vex |= (form->traits & (AS_TRAIT_VEX | AS_TRAIT_EVEX)) != 0;
    facts->spare_b = form->vector_b > facts->spare_b && form->vector_b <= 64
                         ? (uint8_t)form->vector_b
                         : facts->spare_b;
    facts->gathers |= form->insn_class == AS_CLASS_GATHER || form->insn_class == AS_CLASS_SCATTER;
    facts->divides |= form->insn_class == AS_CLASS_DIV || form->insn_class == AS_CLASS_SQRT;
}

/* Calls `see` for every instruction of the area. */
static void each_insn(struct as_variant_facts *facts,
                      void (*see)(struct as_variant_facts *, uint32_t i, void *), void *with)
{
    const struct as_program *p = facts->area->code->program;
    for (uint32_t k = 0; k < facts->area->blocks; k++) {
        const struct as_block *b = &p->block[facts->area->block[k]];
        for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++)
            see(facts, i, with);
    }
}

struct uses {
    uint32_t touched[128]; /* number of instructions that read or write each register */
};

static void count_uses(struct as_variant_facts *facts, uint32_t i, void *with)
{
    const struct as_insn *insn = &facts->area->code->program->code.insn[i];
    struct uses *uses = with;
    struct as_effects e;
    as_insn_effects(insn, &e);
    for (unsigned reg = 0; reg < 128; reg++)
        uses->touched[reg] += as_regset_has(e.read, reg) || as_regset_has(e.written, reg);
    see_insn(facts, insn);
}

/* Marks a reduction: it adds to or multiplies a register that nothing else in the loop reads. */
static void mark_reduction(struct as_variant_facts *facts, uint32_t i, void *with)
{
    const struct as_insn *insn = &facts->area->code->program->code.insn[i];
    const struct as_form *form = as_form_of(insn);
    const struct uses *uses = with;
    const unsigned reg = insn->reg[0], kind = form->insn_class;
    struct as_effects e;
    if ((kind != AS_CLASS_ADD && kind != AS_CLASS_MUL && kind != AS_CLASS_FMA &&
         kind != AS_CLASS_MINMAX) ||
        reg - AS_REG_VEC >= 32u || uses->touched[reg] != 1)
        return;
    as_insn_effects(insn, &e);
    if (!as_regset_has(e.read, reg) || !as_regset_has(e.written, reg))
        return;
    facts->mark[i - facts->first] |= AS_MARK_REDUCTION;
    facts->reduces = true;
}

bool as_variant_register_stays(const struct as_variant_facts *facts, unsigned reg)
{
    return reg >= 16 || (facts->step[reg].is_known && facts->step[reg].insn == AS_NONE);
}

static void see_slices(struct as_variant_facts *facts, uint32_t i, void *with)
{
    const struct as_insn *insn = &facts->area->code->program->code.insn[i];
    const uint8_t mark = facts->mark[i - facts->first];
    const unsigned access = as_variant_is_slot(facts, insn) ? 0 : as_variant_access(insn);
    (void)with;
    if (access & AS_ACCESS_WRITE) {
        facts->stores = true;
        facts->notes &= is_noted(insn);
    }
    facts->decides |= mark & AS_MARK_CONTROL && access & AS_ACCESS_READ;
    facts->decides_by_stores |= mark & AS_MARK_CONTROL && access & AS_ACCESS_WRITE;
    facts->chains |= mark & AS_MARK_ADDRESS && access & AS_ACCESS_READ &&
                     !(as_variant_register_stays(facts, insn->base) &&
                       as_variant_register_stays(facts, insn->index));
}

/* Returns true if both access the same address by the same registers. Unoptimised code accesses its
 * variables this way. */
static bool is_place_of(const struct as_insn *a, const struct as_insn *b)
{
    return a->base == b->base && a->index == b->index && a->scale == b->scale &&
           a->disp - b->disp + (a->base == AS_REG_IP ? (int64_t)(a->address - b->address) : 0) == 0;
}

/* Sets decides_by_stores if another instruction stores to the fixed address that a slice loads. For
 * moving addresses, the run itself shows this. */
static void see_stored(struct as_variant_facts *facts, uint32_t i, void *with)
{
    const struct as_insn *insn = &facts->area->code->program->code.insn[i];
    const struct as_insn *load = with;
    facts->decides_by_stores |=
        as_variant_access(insn) & AS_ACCESS_WRITE && is_place_of(insn, load) &&
        as_variant_register_stays(facts, insn->base) &&
        as_variant_register_stays(facts, insn->index) && !as_variant_is_slot(facts, insn);
}

static void see_loads(struct as_variant_facts *facts, uint32_t i, void *with)
{
    struct as_insn insn = facts->area->code->program->code.insn[i];
    (void)with;
    if (facts->mark[i - facts->first] & (AS_MARK_CONTROL | AS_MARK_STORES) &&
        as_variant_access(&insn) & AS_ACCESS_READ && !as_variant_is_slot(facts, &insn)) {
        facts->is_read = true;
        each_insn(facts, see_stored, &insn);
    }
}

/* Adds the registers that are needed if only branches and addresses of stores run. */
static void see_kept(struct as_variant_facts *facts, uint32_t i, void *with)
{
    const struct as_insn *insn = &facts->area->code->program->code.insn[i];
    struct need need = {0};
    struct as_effects e;
    (void)with;
    as_insn_effects(insn, &e);
    if (facts->mark[i - facts->first] & (AS_MARK_CONTROL | AS_MARK_STORES) || decides_way(insn))
        need.reg = (struct as_regset){
            {e.read.word[0] | e.written.word[0], e.read.word[1] | e.written.word[1]}};
    if (as_variant_access(insn) & AS_ACCESS_WRITE) {
        add_register(&need, insn->base);
        add_register(&need, insn->index);
    }
    facts->kept |= (uint32_t)(need.reg.word[0] & 0xffff);
    facts->walks |= as_variant_prefetches(facts, insn);
}

static void find_range(struct as_variant_facts *facts)
{
    const struct as_program *p = facts->area->code->program;
    uint32_t end = 0;
    facts->first = UINT32_MAX;
    for (uint32_t k = 0; k < facts->area->blocks; k++) {
        const struct as_block *b = &p->block[facts->area->block[k]];
        facts->first = b->first_insn < facts->first ? b->first_insn : facts->first;
        end = b->first_insn + b->insns > end ? b->first_insn + b->insns : end;
    }
    facts->n = end - facts->first;
}

int as_variant_facts_find(const struct as_patch_area *area, const struct as_patch_slice *slice,
                          struct as_variant_facts *out)
{
    struct uses uses = {{0}};
    *out = (struct as_variant_facts){.area = area,
                                     .slice = *slice,
                                     .spare = AS_PATCH_NONE,
                                     .unused = AS_PATCH_NONE,
                                     .spare_b = 16,
                                     .notes = true};
    find_range(out);
    for (uint32_t k = 0; k < area->blocks; k++)
        out->nests |= area->code->program->block[area->block[k]].loop != area->loop;
    out->mark = as_calloc(out->n + 1, sizeof *out->mark);
    if (!out->mark)
        return AS_ERR_NOMEM;
    each_insn(out, count_uses, &uses);
    for (unsigned v = 0; v < 16; v++)
        if (uses.touched[AS_REG_VEC + v] == 0)
            out->spare = (uint8_t)v;
    for (unsigned r = 0; r < 16; r++)
        if (uses.touched[r] == 0 && !(AS_LIVE_STACK >> r & 1))
            out->unused = (uint8_t)r;
    each_insn(out, mark_reduction, &uses);
    if (slice->reg != AS_PATCH_NONE) /* the end of a slice is a branch too */
        out->mark[slice->insn - out->first] |= AS_MARK_CONTROL;
    as_patch_steps_find(area, out->step);
    do {
        AS_TRY(find_slice(out, AS_MARK_CONTROL));
        AS_TRY(find_slice(out, AS_MARK_STORES));
        AS_TRY(find_slice(out, AS_MARK_ADDRESS));
    } while (as_variant_slots_find(out));
    each_insn(out, see_slices, NULL);
    if (out->stores)
        each_insn(out, see_loads, NULL);
    each_insn(out, see_kept, NULL);
    out->streams = as_variant_has_streams(out);
    AS_TRY(as_live_find(area->code, area->body));
    out->is_calm = !(as_live_at(area->code, area->header) & AS_LIVE_STATUS);
    return 0;
}

void as_variant_facts_fini(struct as_variant_facts *facts)
{
    as_free(facts->mark);
}
