/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that records addresses in a counting clone (patch/address_plan.h). An innermost loop is a
 * walk if all its addresses move by constants. A walk has one record at its entry, and its exit
 * adds the iterations. All other code has records in its blocks, each before the first access of a
 * part. A part ends at an access that needs a register which changed in the part. If the buffer is
 * full, a thread waits while it has patience, and then goes on without records. In innermost loops
 * the cursor stands in a register. Each record of them stands where it covers most accesses.
 */
#include "patch/address_code.h"

#include <assert.h>

enum { ALL_BUT_STACK = 0xffff & ~(1 << AS_ADDRESS_REG_SP) };
enum { PLACES_MOST = 48 }; /* instructions that a record may come later */
enum { NAMED_MOST = 6 };   /* registers, and those of one more instruction: two are left */

/* ---- Operands ------------------------------------------------------------------------------- */

static bool is_narrow_address(const struct as_clone_assembly *a, const struct as_insn *insn)
{
    uint64_t have_b;
    const uint8_t *bytes = as_object_bytes(a->p->object, insn->address, &have_b);
    for (unsigned i = 0; bytes && i < insn->length && i < have_b; i++) {
        if (bytes[i] == 0x67)
            return true;
        if (!memchr("\x66\xf2\xf3\x2e\x36\x3e\x26\x64\x65", bytes[i], 9))
            break;
    }
    return !bytes;
}

/* Accesses of an instruction that are recorded: explicit ones, and those of string instructions.
 * The stack that push, pop and call use is in the first level nearly always. */
static int recorded_memory(const struct as_clone_assembly *a, const struct as_insn *insn,
                           struct as_memory out[2])
{
    const unsigned class = as_form_of(insn)->insn_class;
    if (class == AS_CLASS_NOP || class == AS_CLASS_CACHE)
        return 0;
    const int n = as_insn_memory(&a->p->code, insn, out);
    int kept = 0;
    for (int i = 0; i < n; i++) {
        const bool is_string = class == AS_CLASS_STRING;
        const bool is_explicit = insn->bits & AS_INSN_MEM && i == 0;
        if ((is_string || is_explicit) && out[i].access & (AS_ACCESS_READ | AS_ACCESS_WRITE))
            out[kept++] = out[i];
    }
    return kept;
}

static bool is_recordable(const struct as_clone_assembly *a, const struct as_insn *insn,
                          const struct as_memory *m)
{
    const bool known = m->base < 16 || m->base == AS_REG_NONE || m->rip_relative;
    return known && (m->index < 16 || m->index == AS_REG_NONE) && m->segment == AS_REG_NONE &&
           m->width_b > 0 && !is_narrow_address(a, insn);
}

static bool is_repeated(const struct as_insn *insn)
{
    return as_form_of(insn)->insn_class == AS_CLASS_STRING &&
           as_form_of(insn)->traits & AS_TRAIT_REP;
}

/* The word of the block with that value, added if need be; AS_ADDRESS_NONE: no space. */
static uint16_t word_of(struct as_address_block *b, const struct as_address_word *word)
{
    for (uint32_t w = 0; w < b->words; w++) {
        const struct as_address_word *it = &b->word[w];
        if (it->is_anchor == word->is_anchor &&
            (word->is_anchor || (it->base == word->base && it->index == word->index &&
                                 (it->index == AS_PATCH_NONE || it->scale == word->scale))))
            return (uint16_t)w;
    }
    if (b->words == AS_ADDRESS_WORDS_MOST)
        return AS_ADDRESS_NONE;
    b->word[b->words] = *word;
    return (uint16_t)b->words++;
}

/* Adds an operand; `offset`, `step`: of its registers. False: no space. */
static bool add_operand(struct as_address_block *b, const struct as_insn *insn,
                        const struct as_memory *m, int64_t offset, int64_t step)
{
    struct as_address_operand it = {.insn = insn->address,
                                    .offset = m->disp + offset,
                                    .step = step,
                                    .width_b = m->width_b,
                                    .word = AS_ADDRESS_NONE,
                                    .times = AS_ADDRESS_NONE,
                                    .access = m->access,
                                    .streams = as_form_of(insn)->traits & AS_TRAIT_NONTEMPORAL &&
                                               m->access & AS_ACCESS_WRITE};
    const struct as_address_word word = {.base = m->base < 16 ? m->base : AS_PATCH_NONE,
                                         .index = m->index < 16 ? m->index : AS_PATCH_NONE,
                                         .scale = m->scale ? m->scale : 1,
                                         .is_anchor = m->rip_relative,
                                         .anchor = m->rip_relative ? (uint64_t)m->disp : 0};
    const struct as_address_word count = {.base = 1, .index = AS_PATCH_NONE, .scale = 1};
    if (b->operands == AS_ADDRESS_WORDS_MOST)
        return false;
    if (word.is_anchor || word.base != AS_PATCH_NONE || word.index != AS_PATCH_NONE) {
        it.word = word_of(b, &word);
        if (it.word == AS_ADDRESS_NONE)
            return false;
        it.offset -= (int64_t)b->word[it.word].anchor;
    }
    if (is_repeated(insn)) {
        it.times = word_of(b, &count);
        if (it.times == AS_ADDRESS_NONE)
            return false;
    }
    b->operand[b->operands++] = it;
    return true;
}

static int note_missed(const struct as_clone_assembly *a, uint32_t block,
                       const struct as_insn *insn)
{
    struct as_patch_maker *m = a->clone->maker;
    return as_vec_push(&m->addresses.missed, (struct as_address_missed){
                                                 insn->address, (uint32_t)m->module.n - 1,
                                                 a->p->block[block].body, a->p->block[block].loop});
}

/* ---- Records ------------------------------------------------------------------------------- */

/* Adds a record in `block`; `at` NULL: of a walk. */
static int add_record(struct as_clone_assembly *a, uint32_t block, const struct as_address_block *b,
                      const struct as_address_place *at, uint32_t *number)
{
    struct as_patch_maker *m = a->clone->maker;
    const struct as_address_record record = {.module = (uint32_t)m->module.n - 1,
                                             .body = a->p->block[block].body,
                                             .loop = a->p->block[block].loop,
                                             .words = b->words,
                                             .first_operand = (uint32_t)m->addresses.operand.n,
                                             .operands = b->operands,
                                             .walks = !at,
                                             .is_sampled = at && at->is_sampled,
                                             .dropped = at ? at->dropped : 0};
    *number = (uint32_t)m->addresses.record.n;
    for (uint32_t i = 0; i < b->operands; i++)
        AS_TRY(as_vec_push(&m->addresses.operand, b->operand[i]));
    return as_vec_push(&m->addresses.record, record);
}

bool as_clone_records(const struct as_clone_assembly *a)
{
    return a->counter && a->clone->maker->wish.addresses_b;
}

/* ---- Walks ---------------------------------------------------------------------------------- */

/* A walk as it is found. */
struct address_walk {
    const struct as_clone_assembly *a;
    uint32_t loop;
    struct as_patch_step step[16];
    struct as_address_block block;
};

/* Returns true if instruction `step` is done before `insn` of `block`, in one iteration. */
static bool is_done_before(const struct address_walk *w, uint32_t step, uint32_t block,
                           uint32_t insn)
{
    const struct as_block *b = &w->a->p->block[block];
    if (step - b->first_insn < b->insns)
        return step < insn;
    const uint32_t from =
        as_patch_block_at(w->a->clone->area->code, w->a->p->code.insn[step].address);
    return as_patch_dominates(w->a->p, from, block);
}

/* Adds the step of a register in an iteration; `before`: that of instructions before `i`. */
static bool add_step(const struct address_walk *w, unsigned reg, uint32_t block, uint32_t i,
                     int64_t times, int64_t *before, int64_t *sum)
{
    if (reg >= 16)
        return true;
    const struct as_patch_step *step = &w->step[reg];
    if (!step->is_known)
        return false;
    *sum += times * step->by;
    if (step->insn != AS_NONE && is_done_before(w, step->insn, block, i))
        *before += times * step->by;
    return true;
}

/* Adds the accesses of a block; false: some are not of a walk. */
static bool add_walked_block(struct address_walk *w, uint32_t block)
{
    const struct as_clone_assembly *a = w->a;
    const struct as_block *b = &a->p->block[block];
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
        const struct as_insn *insn = &a->p->code.insn[i];
        struct as_memory memory[2];
        const int n = recorded_memory(a, insn, memory);
        for (int k = 0; k < n; k++) {
            int64_t before = 0, sum = 0;
            if (!is_recordable(a, insn, &memory[k]) ||
                !as_patch_in_every_iteration(a->p, w->loop, NULL, block) ||
                as_form_of(insn)->insn_class == AS_CLASS_STRING ||
                !add_step(w, memory[k].base, block, i, 1, &before, &sum) ||
                !add_step(w, memory[k].index, block, i, memory[k].scale, &before, &sum) ||
                !add_operand(&w->block, insn, &memory[k], before, sum))
                return false;
        }
    }
    return true;
}

/* The accesses of the loop as a walk; false: it is none. */
static bool fill_walk(struct address_walk *w)
{
    const struct as_program *p = w->a->p;
    const struct as_loop *loop = &p->loop[w->loop];
    as_patch_steps_of(w->a->clone->area->code, NULL, w->loop, p->loop_block + loop->first_block,
                      loop->blocks, w->step);
    if (!add_walked_block(w, loop->header))
        return false;
    for (uint32_t k = 0; k < loop->blocks; k++) {
        const uint32_t block = p->loop_block[loop->first_block + k];
        if (block != loop->header && !add_walked_block(w, block))
            return false;
    }
    return w->block.operands > 0;
}

/* The block that all ways out of the loop begin in; AS_NONE: there are several. */
static uint32_t only_exit(const struct as_program *p, uint32_t loop)
{
    const struct as_loop *l = &p->loop[loop];
    uint32_t exit = AS_NONE;
    for (uint32_t k = 0; k < l->blocks; k++) {
        const uint32_t block = p->loop_block[l->first_block + k];
        const struct as_block *b = &p->block[block];
        for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++) {
            if (as_loop_holds(p, loop, p->succ[e].block) || exit == block)
                continue;
            if (exit != AS_NONE)
                return AS_NONE;
            exit = block;
        }
    }
    return exit;
}

/* The register that counts iterations, and how many it misses. False: there is none. */
static bool find_walk_count(const struct as_clone_assembly *a, struct as_clone_tally *t,
                            uint32_t *more)
{
    const struct as_program *p = a->p;
    const uint32_t exit = only_exit(p, t->loop);
    for (unsigned i = 0; i < t->n; i++) {
        const uint32_t block = a->clone->area->block[t->block[i]];
        const bool is_header = block == p->loop[t->loop].header;
        t->walk_reg = t->reg[i];
        *more = !is_header && exit != AS_NONE && !as_patch_dominates(p, block, exit);
        if (is_header || (exit != AS_NONE && as_patch_in_every_iteration(p, t->loop, NULL, exit) &&
                          as_patch_in_every_iteration(p, t->loop, NULL, block)))
            return true;
    }
    return false;
}

int as_clone_walk_find(struct as_clone_assembly *a, struct as_clone_tally *t)
{
    struct address_walk w = {.a = a, .loop = t->loop};
    const struct as_address_place at = {.live = 0};
    unsigned scratch[2];
    uint32_t more;
    t->walk = AS_NONE;
    if (!as_clone_records(a) || !find_walk_count(a, t, &more) || !fill_walk(&w) ||
        !as_address_choose_scratch(&w.block, &at, 2, scratch))
        return 0;
    AS_TRY(add_record(a, a->p->loop[t->loop].header, &w.block, NULL, &t->walk));
    a->clone->maker->addresses.record.at[t->walk].more = more;
    return 0;
}

int as_clone_walk_enter(struct as_clone_assembly *a, const struct as_clone_tally *t,
                        uint64_t address)
{
    struct address_walk w = {.a = a, .loop = t->loop};
    const struct as_address_place at = {
        .address = address, .live = as_live_at(a->clone->area->code, a->p->loop[t->loop].header)};
    if (t->walk == AS_NONE)
        return 0;
    fill_walk(&w);
    return as_address_emit_record(a, &w.block, &at, t->walk, true);
}

/* ---- Parts of blocks ------------------------------------------------------------------------ */

/* Changes of registers from an instruction on: by constants, and how often by something else. */
struct address_registers {
    int64_t by[16];
    uint32_t unknown[16];
};

static void note_changes(const struct as_insn *insn, struct address_registers *r)
{
    struct as_effects effects;
    as_insn_effects(insn, &effects);
    for (unsigned reg = 0; reg < 16; reg++) {
        uint8_t width_b = 0;
        if (!(effects.written.word[0] >> reg & 1))
            continue;
        const int64_t by = as_patch_step_of(insn, reg, &width_b);
        if (by && width_b == 8)
            r->by[reg] += by;
        else
            r->unknown[reg]++;
    }
}

static bool ends_part(const struct as_insn *insn)
{
    const unsigned class = as_form_of(insn)->insn_class;
    return class == AS_CLASS_CALL || class == AS_CLASS_SYSCALL;
}

/* Adds `times` the change of a register between the record and an access; false: not known. */
static bool add_change(const struct address_registers *at_access,
                       const struct address_registers *at_record, unsigned reg, int64_t times,
                       int64_t *offset)
{
    if (reg >= 16)
        return true;
    *offset += times * (at_access->by[reg] - at_record->by[reg]);
    return at_access->unknown[reg] == at_record->unknown[reg];
}

static bool is_count_known(const struct address_registers *at_access,
                           const struct address_registers *at_record)
{
    return at_access->unknown[1] == at_record->unknown[1] && at_access->by[1] == at_record->by[1];
}

/*
 * Fills `out` with the accesses from instruction `from` on, as a record before instruction `place`
 * sees their registers. Returns the instruction that the next part begins with, or the end of the
 * block. With `notes` accesses that no record can have are noted.
 */
static uint32_t fill_part(struct as_clone_assembly *a, uint32_t block, uint32_t from,
                          uint32_t place, bool notes, struct as_address_block *out, int *rc)
{
    const struct as_block *b = &a->p->block[block];
    struct address_registers r = {.by = {0}}, at_record = {.by = {0}};
    out->words = out->operands = 0;
    for (uint32_t i = from; i < place; i++)
        note_changes(&a->p->code.insn[i], &at_record);
    for (uint32_t i = from; i < b->first_insn + b->insns; i++) {
        const struct as_insn *insn = &a->p->code.insn[i];
        struct as_memory memory[2];
        const int n = recorded_memory(a, insn, memory);
        for (int k = 0; k < n; k++) {
            int64_t offset = 0;
            if (!is_recordable(a, insn, &memory[k])) {
                *rc = notes ? note_missed(a, block, insn) : 0;
                continue;
            }
            if (!add_change(&r, &at_record, memory[k].base, 1, &offset) ||
                !add_change(&r, &at_record, memory[k].index, memory[k].scale, &offset) ||
                (is_repeated(insn) && !is_count_known(&r, &at_record)) ||
                out->operands + 2 > AS_ADDRESS_WORDS_MOST ||
                __builtin_popcount(as_address_named_registers(out)) > NAMED_MOST)
                return k == 0 ? i : i + 1;
            add_operand(out, insn, &memory[k], offset, 0);
        }
        if (ends_part(insn))
            return i + 1;
        note_changes(insn, &r);
    }
    return b->first_insn + b->insns;
}

/* Returns the place with most accesses in one record; of equal ones where flags are dead. */
static uint32_t best_place(struct as_clone_assembly *a, uint32_t block, uint32_t from)
{
    const struct as_block *b = &a->p->block[block];
    const uint32_t end = b->first_insn + b->insns;
    uint32_t best = from, most = 0;
    bool best_keeps = true;
    for (uint32_t place = from; place < end && place - from < PLACES_MOST; place++) {
        struct as_address_block part;
        int rc = 0;
        const uint32_t next = fill_part(a, block, from, place, false, &part, &rc);
        const bool keeps = as_live_before(a->clone->area->code, block, place) & AS_LIVE_STATUS;
        if (next > place &&
            (part.operands > most || (part.operands == most && best_keeps && !keeps))) {
            best = place;
            most = part.operands;
            best_keeps = keeps;
        }
        if (ends_part(&a->p->code.insn[place]))
            break;
    }
    return best;
}

/* Returns the registers that instructions of the loop write, as bits. */
static uint32_t written_registers(const struct as_clone_assembly *a, uint32_t loop)
{
    const struct as_loop *l = &a->p->loop[loop];
    uint32_t written = 0;
    for (uint32_t k = 0; k < l->blocks; k++) {
        const struct as_block *b = &a->p->block[a->p->loop_block[l->first_block + k]];
        for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
            struct as_effects effects;
            as_insn_effects(&a->p->code.insn[i], &effects);
            written |= (uint32_t)effects.written.word[0] & 0xffff;
        }
    }
    return written;
}

int as_clone_addresses_at(struct as_clone_assembly *a, uint32_t block, uint32_t i)
{
    const struct as_clone_tally *t = as_clone_tally_around(a, block);
    const bool has_cursor = t && t->cursor != AS_PATCH_NONE;
    struct as_address_block part;
    uint32_t number;
    int rc = 0;
    if (!as_clone_records(a) || (t && t->walk != AS_NONE))
        return 0;
    if (i == a->next_record) {
        a->part_from = i;
        a->part_place = has_cursor ? best_place(a, block, i) : i;
    }
    if (i != a->part_place)
        return 0;
    a->next_record = fill_part(a, block, a->part_from, i, true, &part, &rc);
    a->part_place = AS_NONE;
    if (rc < 0 || part.operands == 0)
        return rc;
    struct as_address_place at = {.address = a->p->code.insn[i].address,
                                  .live = as_live_before(a->clone->area->code, block, i),
                                  .is_lowered = t && as_clone_tally_pushes(t)};
    for (unsigned k = 0; t && k < t->n; k++)
        at.kept |= 1u << t->reg[k];
    at.kept |= has_cursor ? 1u << t->cursor : 0;
    at.varies = t ? written_registers(a, t->loop) : ALL_BUT_STACK;
    at.is_sampled = as_address_can_sample(&part, &at);
    if (at.is_sampled)
        AS_TRY(as_clone_count(a, block, at.address, AS_PATCH_DROPPED, &at.dropped));
    AS_TRY(add_record(a, block, &part, &at, &number));
    return has_cursor ? as_address_emit_cursor_record(a, &part, &at, t->cursor, number)
                      : as_address_emit_record(a, &part, &at, number, false);
}

void as_address_plan_fini(struct as_address_plan *plan)
{
    as_vec_fini(&plan->record);
    as_vec_fini(&plan->operand);
    as_vec_fini(&plan->missed);
}
