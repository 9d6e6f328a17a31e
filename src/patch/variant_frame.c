/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds slots: counters and pointers of a loop in memory. A slot has a constant distance from a
 * register that the loop does not write, or is in the module. Branches or addresses depend on it,
 * and the loop stores to it. Slots are treated like registers: their code remains in every variant,
 * and they are restored before the next variant. The agent checks that nothing else stores there. A
 * slot outside of the stack is restored only if the loop stored to it.
 */
#include "patch/variant.h"

enum { WIDEST_B = 8 };

static const struct as_insn *insn_at(const struct as_variant_facts *facts, uint32_t i)
{
    return &facts->area->code->program->code.insn[i];
}

/* Sets `out` to the memory that an instruction accesses. Returns false if it cannot be a slot. */
static bool find_place(const struct as_variant_facts *facts, const struct as_insn *insn,
                       struct as_patch_stream *out)
{
    const bool of_module = insn->base == AS_REG_IP;
    uint64_t address = 0;
    if (insn->index != AS_REG_NONE || insn->wrap || !as_variant_access(insn) ||
        (of_module ? !as_insn_memory_address(insn, &address)
                   : insn->base >= 16 || !as_variant_register_stays(facts, insn->base)))
        return false;
    *out = (struct as_patch_stream){.offset = of_module ? (int64_t)address : insn->disp,
                                    .width_b = as_variant_width(insn),
                                    .base = of_module ? AS_PATCH_NONE : insn->base,
                                    .index = AS_PATCH_NONE,
                                    .of_module = of_module};
    return out->width_b > 0 && out->width_b <= WIDEST_B;
}

static bool places_overlap(const struct as_patch_stream *a, const struct as_patch_stream *b)
{
    return a->base == b->base && a->offset < b->offset + b->width_b &&
           b->offset < a->offset + a->width_b;
}

bool as_variant_is_slot(const struct as_variant_facts *facts, const struct as_insn *insn)
{
    struct as_patch_stream place;
    if (!find_place(facts, insn, &place))
        return false;
    for (uint32_t s = 0; s < facts->slots; s++)
        if (places_overlap(&facts->slot[s], &place))
            return true;
    return false;
}

/* Extends the slot that overlaps `place`, or adds a new one. */
static void add_slot(struct as_variant_facts *facts, const struct as_patch_stream *place)
{
    for (uint32_t s = 0; s < facts->slots; s++) {
        struct as_patch_stream *it = &facts->slot[s];
        if (!places_overlap(it, place))
            continue;
        const int64_t end = it->offset + it->width_b > place->offset + place->width_b
                                ? it->offset + it->width_b
                                : place->offset + place->width_b;
        it->offset = it->offset < place->offset ? it->offset : place->offset;
        it->width_b = (uint32_t)(end - it->offset);
        /* More bytes than a slot can hold. */
        facts->decides_by_stores |= it->width_b > AS_VARIANT_FRAME_B;
        return;
    }
    if (facts->slots < AS_VARIANT_FRAME_MOST)
        facts->slot[facts->slots++] = *place;
}

/* Accesses to memory with fixed addresses. More than PLACES_MOST are an array, which cannot be a
 * slot. */
#define PLACES_MOST 256u
struct place_accesses {
    /* Loaded by instructions that branches or addresses depend on, without duplicates. */
    struct as_patch_stream loaded[PLACES_MOST];
    struct as_patch_stream stored[PLACES_MOST]; /* stored by instruction `store` */
    uint32_t store[PLACES_MOST];
    uint32_t loaded_n, stored_n;
};

static bool is_loaded(const struct place_accesses *a, const struct as_patch_stream *place)
{
    for (uint32_t p = 0; p < a->loaded_n; p++)
        if (a->loaded[p].base == place->base && a->loaded[p].offset == place->offset &&
            a->loaded[p].width_b == place->width_b)
            return true;
    return false;
}

/* Lists the memory accesses of instruction `i`. Returns false if there are too many. */
static bool note_access(struct as_variant_facts *facts, uint32_t i, struct place_accesses *a)
{
    const struct as_insn *insn = insn_at(facts, i);
    const uint8_t decides = AS_MARK_CONTROL | AS_MARK_STORES | AS_MARK_ADDRESS;
    const unsigned access = as_variant_access(insn);
    struct as_patch_stream place;
    if (!access || !find_place(facts, insn, &place))
        return true;
    if (access & AS_ACCESS_WRITE &&
        as_patch_area_holds(facts->area, as_patch_block_at(facts->area->code, insn->address))) {
        if (a->stored_n == PLACES_MOST)
            return false;
        a->stored[a->stored_n] = place;
        a->store[a->stored_n++] = i;
    }
    if (access & AS_ACCESS_READ && facts->mark[i - facts->first] & decides &&
        !is_loaded(a, &place)) {
        if (a->loaded_n == PLACES_MOST)
            return false;
        a->loaded[a->loaded_n++] = place;
    }
    return true;
}

/* Adds stores to loaded memory to the slice of the branches. Returns true if the
 * slice has grown. */
static bool mark_control_stores(struct as_variant_facts *facts, const struct place_accesses *a,
                                const struct as_patch_stream *loaded)
{
    bool changed = false;
    for (uint32_t s = 0; s < a->stored_n; s++) {
        uint8_t *mark = &facts->mark[a->store[s] - facts->first];
        if (!places_overlap(&a->stored[s], loaded))
            continue;
        if (!(*mark & AS_MARK_CONTROL)) {
            *mark |= AS_MARK_CONTROL;
            changed = true;
        }
        add_slot(facts, &a->stored[s]);
    }
    return changed;
}

bool as_variant_slots_find(struct as_variant_facts *facts)
{
    struct place_accesses accesses = {.loaded_n = 0};
    bool changed = false;
    for (uint32_t i = facts->first; i < facts->first + facts->n; i++)
        if (!note_access(facts, i, &accesses)) {
            facts->decides_by_stores = true;
            return false;
        }
    for (uint32_t p = 0; p < accesses.loaded_n; p++)
        changed |= mark_control_stores(facts, &accesses, &accesses.loaded[p]);
    return changed;
}
