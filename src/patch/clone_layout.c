/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lays out the parts of a clone and makes its template: bytes, relocations, and spans that map to
 * the original code. Branches remain short if they reach their targets.
 */
#include "patch/clone.h"

#include <string.h>

static uint32_t target_of(const struct as_clone_assembly *a, const struct as_clone_part *part)
{
    const uint32_t to = part->label & AS_CLONE_TO_WAY
                            ? a->way.at[part->label & ~AS_CLONE_TO_WAY].part
                            : a->label[part->label];
    return a->part.at[to].at;
}

static uint8_t wide_b(const struct as_clone_part *part)
{
    return part->condition == AS_CLONE_ALWAYS ? 5 : part->condition < AS_CLONE_COUNTED ? 6 : 9;
}

static uint8_t short_code(const struct as_clone_part *part)
{
    if (part->condition >= AS_CLONE_COUNTED)
        return (uint8_t)(0xe0 | (part->condition & 3));
    return part->condition == AS_CLONE_ALWAYS ? 0xeb : (uint8_t)(0x70 | part->condition);
}

uint32_t as_clone_lay_out(struct as_clone_assembly *a)
{
    uint32_t at;
    bool grown = true;
    for (at = 0; grown;) {
        grown = false;
        at = 0;
        as_vec_foreach (&a->part, part) {
            if (part->kind == AS_CLONE_BRANCH)
                part->length = part->wide ? wide_b(part) : 2;
            if (part->kind == AS_CLONE_PAD) /* the part of its label precedes it */
                part->length =
                    (uint8_t)((a->part.at[a->label[part->label]].at - at) % AS_CLONE_LINE_B);
            part->at = at;
            at += part->length;
        }
        as_vec_foreach (&a->part, part) {
            if (part->kind != AS_CLONE_BRANCH || part->wide)
                continue;
            const int64_t distance = (int64_t)target_of(a, part) - (part->at + 2);
            if (distance < INT8_MIN || distance > INT8_MAX)
                part->wide = grown = true;
        }
    }
    return at;
}

static void write_branch(const struct as_clone_assembly *a, const struct as_clone_part *part,
                         uint8_t *out)
{
    const uint32_t distance = target_of(a, part) - (part->at + part->length);
    if (!part->wide) {
        out[0] = short_code(part);
        out[1] = (uint8_t)distance;
        return;
    }
    unsigned n = 0;
    if (part->condition >= AS_CLONE_COUNTED) { /* jumps over a jump over the far jump */
        const uint8_t over[] = {short_code(part), 2, 0xeb, 5};
        memcpy(out, over, sizeof over);
        n = sizeof over;
    }
    if (part->condition == AS_CLONE_ALWAYS || n) {
        out[n++] = 0xe9;
    } else {
        out[n++] = 0x0f;
        out[n++] = (uint8_t)(0x80 | part->condition);
    }
    memcpy(out + n, &distance, sizeof distance);
}

/* Returns true if `part` directly follows `span` in both codes and both have had the same length so
 * far. */
static bool goes_on(const struct as_patch_span *span, const struct as_clone_part *part,
                    uint32_t original_b)
{
    return span->original_b == span->size_b && part->length == original_b &&
           span->depth_b == part->depth_b && span->address + span->original_b == part->address &&
           span->at + span->size_b == part->at;
}

/* Adds a span. Parts that are adjacent in both codes make one span. */
static int add_span(struct as_patch_maker *m, const struct as_clone_part *part, uint32_t original_b,
                    uint32_t first)
{
    if (m->span.n > first && goes_on(&m->span.at[m->span.n - 1], part, original_b)) {
        struct as_patch_span *last = &m->span.at[m->span.n - 1];
        last->size_b += part->length;
        last->original_b += original_b;
        return 0;
    }
    return as_vec_push(&m->span, (struct as_patch_span){part->address, part->at, part->length,
                                                        original_b, part->depth_b});
}

#define LOWER_B    5u /* lea rsp,[rsp-128] */
#define HEIGHTEN_B 8u

/* Adds a span for bytes `from` to `to` of a part that was inserted before `part->address`.
 * `depth_b` is the stack depth in addition to that at the part's start. */
static int add_inserted_span(struct as_patch_maker *m, const struct as_clone_part *part,
                             uint32_t from, uint32_t to, uint32_t depth_b)
{
    const struct as_patch_span span = {part->address, part->at + from, to - from, 0,
                                       part->depth_b + depth_b};
    return from == to ? 0 : as_vec_push(&m->span, span);
}

/* Adds a span for each range of the part with the same stack depth. */
static int add_puts(struct as_patch_maker *m, const struct as_clone_part *part)
{
    const uint32_t first = part->lowers ? LOWER_B : 0, n = part->pushes;
    const uint32_t last = part->length - (part->lowers ? HEIGHTEN_B : 0);
    const uint32_t zone_b = part->lowers ? AS_CLONE_RED_ZONE_B : 0;
    if (!part->lowers && n == 0)
        return add_inserted_span(m, part, 0, part->length, 0);
    AS_TRY(add_inserted_span(m, part, 0, first, 0));
    for (uint32_t i = 0; i < n; i++)
        AS_TRY(add_inserted_span(m, part, first + i, first + i + 1, zone_b + 8 * i));
    AS_TRY(add_inserted_span(m, part, first + n, last - n, zone_b + 8 * n));
    for (uint32_t i = 0; i < n; i++)
        AS_TRY(add_inserted_span(m, part, last - n + i, last - n + i + 1, zone_b + 8 * (n - i)));
    return add_inserted_span(m, part, last, part->length, zone_b);
}

static uint32_t original_b_of(const struct as_clone_assembly *a, const struct as_clone_part *part)
{
    const size_t insn = as_code_find(&a->p->code, part->address);
    return insn == SIZE_MAX ? part->length : a->p->code.insn[insn].length;
}

int as_clone_emit(struct as_clone_assembly *a, struct as_patch_template *out)
{
    struct as_patch_maker *m = a->clone->maker;
    const uint64_t code = m->code.n;
    if (as_vec_reserve(&m->code, code + out->size_b + 64) < 0)
        return AS_ERR_NOMEM;
    m->code.n += (out->size_b + 15) & ~15ull;
    memset(m->code.at + code, 0x90, m->code.n - code);
    out->code = code;
    out->first_reloc = (uint32_t)m->reloc.n;
    out->first_span = (uint32_t)m->span.n;
    as_vec_foreach (&a->part, part) {
        uint8_t *to = m->code.at + code + part->at;
        if (part->kind == AS_CLONE_PAD)
            continue;
        if (part->kind == AS_CLONE_BRANCH)
            write_branch(a, part, to);
        else
            memcpy(to, part->kind == AS_CLONE_COPY ? part->bytes : part->code, part->length);
        for (unsigned f = 0; f < part->fixes; f++) {
            struct as_patch_reloc reloc = part->fix[f];
            reloc.at += part->at;
            AS_TRY(as_vec_push(&m->reloc, reloc));
        }
        const bool is_put_in = part->kind == AS_CLONE_CODE && !part->calls;
        if (is_put_in)
            AS_TRY(add_puts(m, part));
        else
            AS_TRY(add_span(m, part, original_b_of(a, part), out->first_span));
    }
    out->relocs = (uint32_t)m->reloc.n - out->first_reloc;
    out->spans = (uint32_t)m->span.n - out->first_span;
    return 0;
}

uint32_t as_clone_place(const struct as_clone_assembly *a, uint64_t address)
{
    for (size_t i = 0; i + 1 < a->part.n; i++) {
        const struct as_clone_part *part = &a->part.at[i];
        const size_t insn = part->calls ? as_code_find(&a->p->code, part->address) : SIZE_MAX;
        if (insn != SIZE_MAX && part->address + a->p->code.insn[insn].length == address)
            return part[1].at;
    }
    as_vec_foreach (&a->tally, t)
        if (t->entry != AS_NONE && a->p->block[a->p->loop[t->loop].header].start == address)
            return a->part.at[t->entry].at;
    const uint32_t k = as_patch_area_find(a->clone->area, address);
    return k == AS_NONE ? UINT32_MAX : a->part.at[a->label[k]].at;
}
