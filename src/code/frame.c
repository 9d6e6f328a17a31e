/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds slots: words of the function's frame that a loop addresses directly (base register plus
 * constant). Examples are spilled registers and variables of unoptimised code. Words that overlap a
 * word with another start are left out. So only instructions with the slot's own address write a
 * slot.
 */
#include "code/evaluate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"

enum { PROLOGUE_INSNS = 16 };

/* Returns true if the function sets rbp from rsp at its start. */
static bool sets_frame_pointer(const struct as_program *program, uint32_t loop)
{
    const struct as_body *body = &program->body[program->loop[loop].body];
    const struct as_block *entry = &program->block[body->entry_block];
    for (uint32_t i = 0; i < entry->insns && i < PROLOGUE_INSNS; i++) {
        const struct as_insn *insn = &program->code.insn[entry->first_insn + i];
        unsigned insn_class = as_form_of(insn)->insn_class;
        if (insn->reg[0] != AS_REG_BP)
            continue;
        if ((insn_class == AS_CLASS_MOVE && insn->reg[1] == AS_REG_SP) ||
            (insn_class == AS_CLASS_LEA && insn->base == AS_REG_SP))
            return true;
    }
    return false;
}

static bool is_call(const struct as_insn *insn)
{
    return as_form_of(insn)->insn_class == AS_CLASS_CALL;
}

/* Returns true if the effects of a block matter: blocks of the view, or all blocks if there are
 * inner loops. */
static bool counts(const struct as_iteration_view *view, uint32_t node)
{
    return view->iteration->has_inner || view->index[node] != AS_NONE;
}

typedef AS_VEC(struct as_slot) slot_vec;

/* Lists the words based on register `frame` in one block. Returns 0 or AS_ERR_NOMEM. */
static int list_words(const struct as_program *program, uint32_t block, unsigned frame,
                      slot_vec *out)
{
    const struct as_block *b = &program->block[block];
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
        const struct as_insn *insn = &program->code.insn[i];
        struct as_memory m[2];
        if (!(insn->bits & AS_INSN_STACKMEM) || insn->base != frame || insn->index != AS_REG_NONE ||
            insn->segment != AS_REG_NONE)
            continue;
        if (as_insn_memory(&program->code, insn, m) < 1 || !m[0].access)
            continue;
        AS_TRY(as_vec_push(out, (struct as_slot){insn->disp, m[0].width_b}));
    }
    return 0;
}

static int compare_slots(const void *a, const void *b)
{
    const struct as_slot *x = a, *y = b;
    return x->disp < y->disp ? -1 : x->disp > y->disp;
}

/* Makes one slot per start, as wide as its widest access. Words that overlap others are dropped. */
static void choose(struct as_evaluation *e, slot_vec *words)
{
    size_t n = 0;
    for (size_t i = 0; i < words->n; i++) {
        if (n && words->at[n - 1].disp == words->at[i].disp) {
            if (words->at[n - 1].width_b < words->at[i].width_b)
                words->at[n - 1].width_b = words->at[i].width_b;
        } else {
            words->at[n++] = words->at[i];
        }
    }
    int64_t covered = INT64_MIN; /* end of all words before */
    uint32_t slot_n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct as_slot *w = &words->at[i];
        int64_t end = (int64_t)w->disp + w->width_b;
        bool alone = w->disp >= covered && (i + 1 == n || end <= words->at[i + 1].disp);
        if (alone && (w->width_b == 4 || w->width_b == 8) && slot_n < AS_SLOTS_MOST)
            e->slot[slot_n++] = *w;
        if (end > covered)
            covered = end;
    }
    e->locations = AS_GPRS + slot_n;
}

static uint32_t written_registers(const struct as_evaluation *e)
{
    const struct as_iteration_view *view = e->steps->view;
    const struct as_iteration *it = view->iteration;
    uint64_t written = 0;
    for (uint32_t i = 0; i < e->steps->n; i++) {
        uint64_t w = e->steps->effects[i].written.word[0];
        if (w & 1u << AS_REG_SP && is_call(as_step_insn(e->steps, i)))
            w &= ~(uint64_t)(1u << AS_REG_SP);
        written |= w;
    }
    for (uint32_t u = 0; it->has_inner && u < it->nodes; u++) {
        const struct as_block *b = &it->program->block[it->block[u]];
        if (view->index[u] != AS_NONE)
            continue;
        for (uint32_t i = 0; i < b->insns; i++)
            written |= as_frame_writes(e, &it->program->code.insn[b->first_insn + i], NULL);
    }
    return (uint32_t)written & 0xffff;
}

static int list_loop_words(const struct as_iteration_view *view, unsigned frame, slot_vec *out)
{
    const struct as_iteration *it = view->iteration;
    for (uint32_t u = 0; u < it->nodes; u++)
        if (counts(view, u))
            AS_TRY(list_words(it->program, it->block[u], frame, out));
    return 0;
}

/* A function with a frame pointer may also address its frame by the stack pointer: gcc does so if
 * it aligns the stack. A loop that uses both gets slots of the frame pointer alone. */
int as_frame_find(struct as_evaluation *e)
{
    const struct as_iteration_view *view = e->steps->view;
    const struct as_iteration *it = view->iteration;
    slot_vec words = {0};
    int rc = 0;
    e->frame = AS_REG_NONE;
    e->locations = AS_GPRS;
    e->bp_is_frame = sets_frame_pointer(it->program, it->loop);
    const uint32_t written = written_registers(e);
    const uint8_t bases[] = {AS_REG_BP, AS_REG_SP};
    for (unsigned i = e->bp_is_frame ? 0 : 1; i < 2 && rc == 0 && !words.n; i++) {
        if (written & 1u << bases[i])
            continue;
        rc = list_loop_words(view, bases[i], &words);
        e->frame = rc == 0 && words.n ? bases[i] : AS_REG_NONE;
    }
    if (rc == 0 && words.n) {
        qsort(words.at, words.n, sizeof *words.at, compare_slots);
        choose(e, &words);
    }
    as_vec_fini(&words);
    return rc;
}

uint8_t as_frame_location(const struct as_evaluation *e, const struct as_memory *memory)
{
    if (memory->base != e->frame || e->frame == AS_REG_NONE || memory->index != AS_REG_NONE ||
        memory->segment != AS_REG_NONE)
        return UINT8_MAX;
    const uint32_t slots = e->locations - AS_GPRS;
    const uint32_t at = as_first_not(k, slots, e->slot[k].disp < memory->disp);
    assert(at + 1 >= slots || e->slot[at].disp < e->slot[at + 1].disp); /* slots ascend */
    return at < slots && e->slot[at].disp == memory->disp ? (uint8_t)(AS_GPRS + at) : UINT8_MAX;
}

uint64_t as_frame_writes(const struct as_evaluation *e, const struct as_insn *insn,
                         const struct as_effects *effects)
{
    struct as_effects own;
    if (!effects) {
        as_step_effects(e->steps->view->iteration->program, insn, &own);
        effects = &own;
    }
    uint64_t written = effects->written.word[0] & 0xffff;
    if (is_call(insn)) {
        uint64_t slots = ~(uint64_t)0 << AS_GPRS;
        if (e->locations < AS_LOCATIONS_MOST)
            slots &= ((uint64_t)1 << e->locations) - 1;
        return (written & ~(uint64_t)(1u << AS_REG_SP)) | slots;
    }
    struct as_memory m[2];
    if (insn->bits & AS_INSN_STACKMEM &&
        as_insn_memory(&e->steps->view->iteration->program->code, insn, m) > 0 &&
        m[0].access & AS_ACCESS_WRITE) {
        uint8_t location = as_frame_location(e, &m[0]);
        if (location != UINT8_MAX)
            written |= (uint64_t)1 << location;
    }
    return written;
}
