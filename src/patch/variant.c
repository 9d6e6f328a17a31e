/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the variants of a region: selects the possible ones among the wanted ones and builds their
 * templates.
 */
#include "patch/variant.h"

const char *as_variant_refusal_text(unsigned refusal)
{
    static const char *const text[] = {
#define AS_VARIANT_REFUSAL_TEXT(name, text) text,
        AS_VARIANT_REFUSAL_LIST(AS_VARIANT_REFUSAL_TEXT)
#undef AS_VARIANT_REFUSAL_TEXT
    };
    return refusal < AS_VARIANT_REFUSALS ? text[refusal] : "";
}

bool as_variant_is_nested(unsigned refusal)
{
    return refusal == AS_UNVARIED_NESTED;
}

const char *as_variant_name(unsigned kind)
{
    return kind < AS_VARIANT_KINDS ? as_variant_rules[kind].name : "";
}

/* Returns the reason why no variant of the region is possible, or 0. */
static unsigned refusal_of_all(const struct as_patch_area *area,
                               const struct as_variant_facts *facts)
{
    const struct as_program *p = area->code->program;
    if (area->loop == AS_NONE || area->bare)
        return AS_UNVARIED_CALLS;
    if (area->place.n > 1)
        return AS_UNVARIED_CALLS;
    for (uint32_t k = 0; k < area->blocks; k++) {
        const struct as_block *b = &p->block[area->block[k]];
        const unsigned last = as_form_of(&p->code.insn[b->first_insn + b->insns - 1])->insn_class;
        if (last == AS_CLASS_CALL || last == AS_CLASS_RETURN)
            return AS_UNVARIED_CALLS;
    }
    /* A branch could read a value that was not stored, and nothing would detect it. */
    if (!facts->notes && (facts->decides || facts->chains))
        return AS_UNVARIED_UNNOTED;
    if (facts->decides_by_stores)
        return AS_UNVARIED_DECIDED;
    return facts->refusal;
}

static unsigned refusal_of_kind(const struct as_variant_facts *facts, unsigned kind)
{
    if (as_variant_rules[kind].writes && !facts->notes)
        return AS_UNVARIED_UNNOTED;
    if (((kind == AS_VARIANT_NODIV || kind == AS_VARIANT_DL1_NODIV) && !facts->divides) ||
        ((kind == AS_VARIANT_NORED || kind == AS_VARIANT_DL1_NORED) && !facts->reduces) ||
        (as_variant_rules[kind].lines && !facts->walks))
        return AS_UNVARIED_USELESS;
    return 0;
}

static uint32_t bits_of(const struct as_variant_facts *facts, unsigned kind)
{
    uint32_t bits = as_variant_rules[kind].writes && facts->stores ? AS_VARIANT_WRITES : 0;
    if (facts->decides)
        bits |= AS_VARIANT_DECIDES;
    if (facts->slots)
        bits |= AS_VARIANT_SPILLS;
    if (facts->nests)
        bits |= AS_VARIANT_NESTS;
    const unsigned index = as_variant_rules[kind].action[AS_VARIED_INDEX];
    if (facts->chains && (index == AS_DO_NOTHING || index == AS_DO_SLOT))
        bits |= AS_VARIANT_CHAINS;
    return bits;
}

/* Returns true if the branches do not depend on memory, except the thread's own stack. */
static bool decides_alone(const struct as_variant_facts *facts)
{
    bool alone = !facts->decides;
    for (uint32_t s = 0; s < facts->slots; s++)
        alone &= facts->slot[s].base == AS_VARIANT_STACK_POINTER;
    return alone;
}

static int make_variant(struct as_patch_maker *m, const struct as_variant_facts *facts,
                        unsigned kind, uint8_t *unvaried)
{
    struct as_variant variant = {.facts = facts,
                                 .rule = &as_variant_rules[kind],
                                 .kind = kind,
                                 .bits = bits_of(facts, kind)};
    if (kind == AS_VARIANT_REC) {
        variant.bits |= facts->is_read ? AS_VARIANT_READS : 0;
        as_variant_note_registers(&variant);
        if (variant.note.tally != AS_PATCH_NONE && facts->is_calm && !facts->nests &&
            decides_alone(facts))
            variant.bits |= AS_VARIANT_BOUNDED;
    }
    const struct as_patch_clone clone = {.maker = m,
                                         .area = facts->area,
                                         .region = (uint32_t)m->region.n,
                                         .variant = &variant,
                                         .slice = facts->slice};
    struct as_patch_variant made = {
        .kind = kind, .bits = variant.bits, .tally = AS_PATCH_NONE, .log = AS_PATCH_NONE};
    uint32_t header;
    unsigned refusal = 0;
    AS_TRY(as_patch_clone_make(&clone, &made.code, &header, &refusal));
    if (refusal) {
        unvaried[kind] = variant.refusal ? variant.refusal : AS_UNVARIED_ENCODING;
        return 0;
    }
    made.enter = variant.enter;
    if (kind == AS_VARIANT_REC) {
        made.tally = variant.note.tally;
        made.log = variant.note.log;
    }
    unvaried[kind] = 0;
    return as_vec_push(&m->variant, made);
}

static int make_variants(struct as_patch_maker *m, const struct as_variant_facts *facts,
                         uint8_t *unvaried)
{
    AS_TRY(make_variant(m, facts, AS_VARIANT_REC, unvaried));
    for (unsigned kind = AS_VARIANT_REF; kind < AS_VARIANT_KINDS && !unvaried[AS_VARIANT_REC];
         kind++) {
        if (!(m->wish.variants & 1u << kind))
            continue;
        unvaried[kind] = (uint8_t)refusal_of_kind(facts, kind);
        if (!unvaried[kind])
            AS_TRY(make_variant(m, facts, kind, unvaried));
    }
    return 0;
}

int as_variant_region(struct as_patch_maker *m, const struct as_patch_area *area,
                      const struct as_patch_slice *slice, struct as_patch_region *region,
                      uint8_t *unvaried, unsigned *refusal)
{
    struct as_variant_facts facts;
    const size_t first = m->variant.n;
    for (unsigned kind = 0; kind < AS_VARIANT_KINDS; kind++)
        unvaried[kind] = AS_UNVARIED_UNASKED;
    int rc = as_variant_facts_find(area, slice, &facts);
    const unsigned reason = rc == 0 ? refusal_of_all(area, &facts) : 0;
    region->first_stream = (uint32_t)m->stream.n;
    if (rc == 0 && !reason)
        rc = make_variants(m, &facts, unvaried);
    if (rc == 0 && !reason && facts.streams)
        rc = as_variant_streams_add(m, &facts);
    region->streams = (uint32_t)m->stream.n - region->first_stream;
    for (uint32_t s = 0; rc == 0 && !reason && s < facts.slots; s++)
        rc = as_vec_push(&m->stream, facts.slot[s]);
    region->slots = (uint32_t)m->stream.n - region->first_stream - region->streams;
    as_variant_facts_fini(&facts);
    if (rc < 0)
        return rc;
    const unsigned of_all = reason ? reason : unvaried[AS_VARIANT_REC];
    if (of_all) {
        for (unsigned kind = 0; kind < AS_VARIANT_KINDS; kind++)
            unvaried[kind] = (uint8_t)of_all;
        *refusal = AS_PATCH_REFUSED_VARIANTS;
        return 0;
    }
    unvaried[AS_VARIANT_ORIG] = 0;
    region->first_variant = (uint32_t)first;
    region->variants = (uint32_t)(m->variant.n - first);
    return 0;
}
