/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills a record from the fields of an instruction's bytes (split.h) by the recipe of their key:
 * the fast path of decoding. decode.c includes this header and keeps the recipes.
 * tools/check-decoder.c includes it too and compares keys and recipes with the reference decoder at
 * build time.
 */
#ifndef AS_ISA_FAST_H
#define AS_ISA_FAST_H

#include <stddef.h>
#include <string.h>

#include "isa/split.h"

static inline int32_t load32(const uint8_t *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Memory operand of a record under construction. */
struct filled {
    unsigned base, index, scale, bits;
    int32_t disp;
};

/* Reads base, index and displacement of a ModRM memory operand. Returns the offset after it. */
static inline unsigned fill_memory(const uint8_t *p, const struct as_split *s,
                                   const struct as_recipe *recipe, struct filled *out)
{
    unsigned mod = s->modrm >> 6, rm = s->modrm & 7, at = s->at + 1u;
    unsigned base = rm | s->b;
    out->disp = 0;
    if (rm == 4) {
        unsigned sib = p[at++];
        unsigned i = (sib >> 3 & 7) | s->x;
        rm = sib & 7;
        base = rm | s->b;
        if (i != 4) {
            out->index = i;
            out->scale = 1u << (sib >> 6);
        }
        if (mod == 0 && rm == 5) {
            base = AS_REG_NONE;
            out->disp = load32(p + at);
            at += 4;
        }
    } else if (mod == 0 && rm == 5) {
        base = AS_REG_IP;
        out->disp = load32(p + at);
        at += 4;
    }
    if (mod == 1) {
        out->disp = (int32_t)((uint32_t)(int8_t)p[at] << recipe->disp_shift);
        at += 1;
    } else if (mod == 2) {
        out->disp = load32(p + at);
        at += 4;
    }
    out->base = base;
    out->bits = AS_INSN_MEM | (base == 4 || base == 5 ? AS_INSN_STACKMEM : 0);
    return at;
}

static inline unsigned skip_memory(const uint8_t *p, const struct as_split *s)
{
    unsigned mod = s->modrm >> 6, rm = s->modrm & 7, at = s->at + 1u;
    if (mod == 3)
        return at;
    if (rm == 4)
        rm = p[at++] & 7;
    return at + (mod == 1 ? 1 : mod == 2 || rm == 5 ? 4 : 0);
}

/* Reads the immediate at p[*at] and moves `*at` after it. Each case adds a constant, so the CPU may
 * continue with the next instruction before it knows the recipe. */
static inline int64_t load_immediate(const uint8_t *p, const struct as_recipe *recipe, unsigned *at)
{
    const bool extend = recipe->flags & AS_RECIPE_SIGNED;
    uint64_t v = 0;
    p += *at;
    switch (recipe->imm_b) {
    case 1:
        *at += 1;
        return extend ? (int8_t)p[0] : p[0];
    case 2:
        *at += 2;
        v = (uint64_t)p[0] | (uint64_t)p[1] << 8;
        return extend ? (int16_t)v : (int64_t)v;
    case 4:
        *at += 4;
        return extend ? load32(p) : (int64_t)(uint32_t)load32(p);
    case 8:
        *at += 8;
        memcpy(&v, p, sizeof v);
        return (int64_t)v;
    default:
        *at += recipe->imm_b;
        return 0;
    }
}

/* Returns the four register slots, one byte each. */
static inline uint32_t registers_of(const struct as_split *s, const struct as_recipe *recipe)
{
    uint32_t reg = 0;
    for (unsigned i = 0; i < AS_SLOTS; i++) {
        unsigned pick = recipe->pick[i];
        reg |= ((recipe->base[i] + (s->field[pick & 7] & pick >> 3)) & 0xffu) << 8 * i;
    }
    return reg;
}

/* Subtracts 4 from slots that hold ah ... bh: byte registers 4 to 7 without REX. Returns a bit mask
 * of these slots. */
static inline unsigned rebase_high_bytes(uint32_t *reg, unsigned bytes)
{
    unsigned high = 0;
    for (unsigned i = 0; i < AS_SLOTS; i++) {
        if (!(bytes >> i & 1) || (*reg >> 8 * i & 0xff) < 4)
            continue;
        *reg -= (uint32_t)4 << 8 * i;
        high |= 1u << i;
    }
    return high;
}

/* Stores the whole record with four stores, because this is the hottest code of decoding. The
 * asserts check that the fields are bytes of these words. */
_Static_assert(offsetof(struct as_insn, form) == 8 && offsetof(struct as_insn, length) == 10 &&
                   offsetof(struct as_insn, bits) == 11 && offsetof(struct as_insn, reg) == 12,
               "second word of a record");
_Static_assert(offsetof(struct as_insn, base) == 16 && offsetof(struct as_insn, index) == 17 &&
                   offsetof(struct as_insn, scale) == 18 &&
                   offsetof(struct as_insn, segment) == 19 &&
                   offsetof(struct as_insn, mask) == 20 && offsetof(struct as_insn, high) == 21 &&
                   offsetof(struct as_insn, wrap) == 22,
               "third word");
_Static_assert(offsetof(struct as_insn, disp) == 24 && offsetof(struct as_insn, imm) == 28,
               "fourth word");

static inline void store_words(struct as_insn *insn, uint64_t second, uint64_t third, int32_t disp,
                               int32_t imm)
{
    uint8_t *to = (uint8_t *)insn;
    memcpy(to + 8, &second, sizeof second);
    memcpy(to + 16, &third, sizeof third);
    insn->disp = disp;
    insn->imm = imm;
}

/* Fills the record except for the address. Sets `*imm` to the whole immediate, which the caller
 * needs for IMM64 only. Returns the length in bytes. */
static inline __attribute__((always_inline)) unsigned
as_recipe_fill(const uint8_t *p, struct as_split *s, const struct as_recipe *recipe,
               struct as_insn *insn, int64_t *imm)
{
    struct filled f = {.base = AS_REG_NONE, .index = AS_REG_NONE};
    unsigned at, segment = AS_REG_NONE, wrap = 0, high = 0;
    const unsigned flags = recipe->flags;
    int32_t value = (int32_t)(flags >> 7); /* AS_RECIPE_ONE */
    *imm = 0;
    if (flags & AS_RECIPE_MEM) {
        at = fill_memory(p, s, recipe, &f);
        segment = recipe->segment;
    } else {
        at = s->has_modrm ? skip_memory(p, s) : s->at;
    }
    if (recipe->imm_b) {
        s->field[AS_ENCODED_IS4] = (uint8_t)(p[at] >> 4);
        *imm = load_immediate(p, recipe, &at);
        if (flags & (AS_RECIPE_IMM | AS_RECIPE_REL)) {
            int64_t whole = flags & AS_RECIPE_REL ? *imm + at : *imm;
            value = (int32_t)(uint32_t)(uint64_t)whole;
            if (flags & AS_RECIPE_REL && whole > INT32_MAX)
                wrap |= AS_WRAP_IMM;
            else if (recipe->imm_b == 8 && whole != value)
                f.bits |= AS_INSN_IMM64;
        }
    }
    if (f.base == AS_REG_IP) {
        int64_t disp = (int64_t)f.disp + at;
        f.disp = (int32_t)(uint32_t)(uint64_t)disp;
        if (disp > INT32_MAX)
            wrap |= AS_WRAP_DISP;
    }
    uint32_t reg = registers_of(s, recipe);
    if (recipe->bytes)
        high = rebase_high_bytes(&reg, recipe->bytes);
    if (flags & AS_RECIPE_IDIOM &&
        ((reg >> 8 * (recipe->idiom & 15)) & 0xff) == ((reg >> 8 * (recipe->idiom >> 4)) & 0xff))
        f.bits |= AS_INSN_IDIOM;
    const unsigned mask = s->mask ? AS_REG_MASK + (unsigned)s->mask : AS_REG_NONE;
    store_words(insn,
                recipe->form | (uint64_t)(at & 0xff) << 16 | (uint64_t)f.bits << 24 |
                    (uint64_t)reg << 32,
                f.base | f.index << 8 | f.scale << 16 | (uint64_t)segment << 24 |
                    (uint64_t)mask << 32 | (uint64_t)high << 40 | (uint64_t)wrap << 48,
                f.disp, value);
    return at;
}

#endif
