/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See state.h. Knows which instructions need care: counts of repeated strings, dividends, bit
 * offsets into memory, indices of gathers, images of MXCSR and RFLAGS.
 */
#include "state.h"

#include <string.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

static uint64_t element_f32(uint64_t r)
{
    return (r & 0x80000000807fffffu & ~0x8000000000000000u) | 0x3f000000u | (r >> 33 & 3) << 23;
}

static uint64_t draw_word(enum hx_fill fill, uint64_t *random)
{
    const uint64_t r = hx_random(random);
    switch (fill) {
    case HX_FILL_SMALL:
        return r >> 63 ? r & 63 : r & 3; /* counts, and values that meet */
    case HX_FILL_F32:
        return element_f32(r) | element_f32(hx_random(random)) << 32;
    case HX_FILL_F64:
        return (r & 0x800fffffffffffffu) | 0x3fe0000000000000u | (r >> 60 & 1) << 52;
    case HX_FILL_ZERO:
        return 0;
    case HX_FILL_ONES:
        return UINT64_MAX;
    case HX_FILL_F16:
        return (r & 0x83ff83ff83ff83ffu) | 0x3800380038003800u | (hx_random(random) & 1) << 10;
    case HX_FILL_DENORMAL:
        return r & 0x800fffff807fffffu;
    case HX_FILL_SMALL8:
        return r & 0x0707070707070707u;
    case HX_FILL_SMALL16:
        return r >> 63 ? r & 0x000f000f000f000fu : r & 0x0001000100010001u;
    case HX_FILL_SMALL32:
        return r >> 63 ? r & 0x0000001f0000001fu : r & 0x0000000300000003u;
    default:
        return r;
    }
}

static void fill_bytes(enum hx_fill fill, uint64_t equal, uint64_t *random, void *at, size_t n)
{
    const enum hx_fill given = fill;
    for (size_t i = 0; i < n; i += 8) {
        if (given == HX_FILL_MIXED && i % 64 == 0 && (n < HX_MEM_B || !i))
            fill = (enum hx_fill)(hx_random(random) % HX_FILL_MIXED);
        const uint64_t word = fill == HX_FILL_EQUAL ? equal : draw_word(fill, random);
        memcpy((uint8_t *)at + i, &word, 8);
    }
}

static void draw_x87(const struct hx_case *c, enum hx_fill fill, uint64_t equal, unsigned shifted,
                     uint64_t *random, uint8_t *fx)
{
    const struct as_form *form = as_form_get(c->insn.form);
    const uint64_t r = hx_random(random);
    memset(fx, 0, 512);
    fx[HX_FX_CW] = 0x7f;
    fx[HX_FX_CW + 1] = (uint8_t)(0x03 | (shifted ? (r & 3) << 2 : 0));
    /* With st(7) empty a push does not overflow; the draw sees both. */
    fx[HX_FX_TAG] = (r & 4) && !(form->traits & AS_TRAIT_X87) ? 0xff : 0x7f;
    if (form->traits & AS_TRAIT_X87 && (r & 24) == 24)
        fx[HX_FX_TAG] = 0xff;
    fx[HX_FX_MXCSR] = 0x80;
    fx[HX_FX_MXCSR] |= shifted ? 0x40 : 0;
    fx[HX_FX_MXCSR + 1] = (uint8_t)(0x1f | (shifted ? (r >> 8 & 7) << 5 : 0));
    for (unsigned i = 0; i < 8; i++) {
        uint8_t *st = fx + HX_FX_ST + 16 * i;
        const uint64_t mantissa =
            form->traits & AS_TRAIT_X87 ? hx_random(random) | UINT64_C(1) << 63
            : fill == HX_FILL_EQUAL
                ? equal
                : draw_word(hx_random(random) & 1 ? fill : HX_FILL_SMALL, random);
        const uint64_t e = hx_random(random);
        memcpy(st, &mantissa, 8);
        st[8] = (uint8_t)(0xfd + (e & 7));
        st[9] = (uint8_t)((e & 7) < 3 ? 0x3f : 0x40);
        st[9] |= (uint8_t)(e >> 8 & 0x80);
    }
}

static void aim(struct hx_state *s, const struct as_memory *m, uint64_t target, uint64_t *random)
{
    if (m->rip_relative || m->base >= 16)
        return;
    uint64_t offset = 0;
    if (m->index < 16) {
        if (m->index != m->base && m->index != RSP)
            s->gpr[m->index] = (hx_random(random) & 1) * 64;
        offset = s->gpr[m->index] * m->scale;
        if (m->index == m->base) { /* base * (1 + scale) + disp = target, about */
            s->gpr[m->base] = (target - (uint64_t)m->disp) / (1u + m->scale);
            return;
        }
    }
    s->gpr[m->base] = target - offset - (uint64_t)m->disp;
}

static void limit_indices(struct hx_state *s, const struct as_insn *insn, uint64_t *random)
{
    uint8_t *v = s->vec[insn->index - AS_REG_VEC];
    for (unsigned i = 0; i < 64; i += 8) {
        const uint64_t small = hx_random(random) & 31;
        memcpy(v + i, &small, 8);
    }
}

static void limit_operands(const struct hx_case *c, const struct as_form *form, struct hx_state *s,
                           uint64_t *random)
{
    const uint64_t r = hx_random(random);
    const bool general = !form->vector_b && !(form->traits & AS_TRAIT_X87);
    if (form->insn_class == AS_CLASS_STRING || form->insn_class == AS_CLASS_BRANCH)
        s->gpr[RCX] = r & 3;
    if (form->insn_class == AS_CLASS_TIME || form->insn_class == AS_CLASS_STATE) {
        s->gpr[RAX] = form->insn_class == AS_CLASS_TIME ? r & 15 : s->gpr[RAX];
        s->gpr[RCX] = 0;
    }
    if (form->insn_class == AS_CLASS_DIV && general) {
        s->gpr[RDX] = (r & 3) == 0 ? 1 : 0;
        s->gpr[RAX] = r & 0x10 ? s->gpr[RAX] & 0x7fff : s->gpr[RAX] >> 1;
        if ((r & 0x60) == 0)
            s->gpr[RAX] &= 0x3f;
    }
    if (form->insn_class == AS_CLASS_BIT && general && c->insn.bits & AS_INSN_MEM)
        for (unsigned i = 0; i < 4; i++) /* stay within the operand */
            if (c->insn.reg[i] < 16 && c->insn.reg[i] != c->insn.base &&
                c->insn.reg[i] != c->insn.index && form->mnemonic[1] == 't')
                s->gpr[c->insn.reg[i]] &= 0xf;
}

/* Memory images with reserved bits: the CPU faults on them or traps afterwards. */
static void limit_memory(const struct as_form *form, uint64_t *random, uint8_t *memory)
{
    const char *name = form->mnemonic;
    for (size_t i = 0; i < HX_MEM_B; i += 4) {
        uint32_t word;
        memcpy(&word, memory + i, 4);
        if (!strcmp(name, "ldmxcsr") || !strcmp(name, "vldmxcsr"))
            word = (word & 0xffbf) | 0x1f80;
        else if (!strncmp(name, "popf", 4))
            word = ((word ^ (uint32_t)hx_random(random)) & HX_FLAGS) | 0x202;
        else if (!strcmp(name, "fldcw"))
            word = (word & 0x0f000f00) | 0x007f007f;
        else
            return;
        memcpy(memory + i, &word, 4);
    }
}

/* Makes cmpxchg and its kin find what they compare with. */
static void meet_comparison(const struct hx_case *c, struct hx_state *s, uint8_t memory[HX_MEM_B])
{
    struct as_memory m[2] = {{0}};
    if (as_insn_memory(NULL, &c->insn, m) > 0) {
        uint64_t at = s->gpr[m[0].base & 15] + (uint64_t)m[0].disp - (uintptr_t)hx_memory();
        if (m[0].index < 16)
            at += s->gpr[m[0].index] * m[0].scale;
        const bool pair = as_form_get(c->insn.form)->mnemonic[7] != 0;
        const size_t half = pair ? m[0].width_b / 2 : 8;
        if (m[0].base >= 16 || at > HX_MEM_B - 16)
            return;
        memcpy(memory + at, &s->gpr[RAX], half);
        if (pair)
            memcpy(memory + at + half, &s->gpr[RDX], half);
        return;
    }
    if (c->insn.reg[0] < 16) {
        const uint64_t value = s->gpr[c->insn.reg[0]];
        s->gpr[RAX] = c->insn.high & 1 ? value >> 8 : value;
    }
}

void hx_state_draw(const struct hx_case *c, enum hx_fill fill, unsigned shifted, uint64_t *random,
                   struct hx_state *s, uint8_t memory[HX_MEM_B])
{
    const struct as_form *form = as_form_get(c->insn.form);
    const uint64_t start = (uintptr_t)hx_memory();
    const uint64_t equal = (hx_random(random) & 0x7f) * 0x0101010101010101u;
    memset(s, 0, sizeof *s);
    fill_bytes(fill, equal, random, s->gpr, sizeof s->gpr);
    fill_bytes(fill, equal, random, s->vec, sizeof s->vec);
    fill_bytes(fill, equal, random, memory, HX_MEM_B);
    fill_bytes(hx_random(random) & 1 ? HX_FILL_RANDOM : fill, equal, random, s->mask,
               sizeof s->mask);
    s->flags = (hx_random(random) & HX_FLAGS) | 0x202;
    draw_x87(c, fill, equal, shifted, random, s->fx);
    limit_operands(c, form, s, random);
    limit_memory(form, random, memory);
    if (c->insn.index >= AS_REG_VEC && c->insn.index < AS_REG_VEC + 32)
        limit_indices(s, &c->insn, random);
    s->gpr[RSP] = start + HX_TARGET_STACK + shifted;
    if (!strcmp(form->mnemonic, "leave"))
        s->gpr[RBP] = start + HX_TARGET_STACK + 128 + shifted;
    struct as_memory m[2] = {{0}};
    const int n = as_insn_memory(NULL, &c->insn, m);
    for (int i = n - 1; i >= 0; i--)
        if (m[i].base != RSP || c->insn.base == RSP)
            aim(s, &m[i], start + shifted + (i ? HX_TARGET_SECOND : HX_TARGET_FIRST), random);
    if (!strncmp(form->mnemonic, "cmpxchg", 7) && hx_random(random) & 1)
        meet_comparison(c, s, memory);
    if (form->insn_class == AS_CLASS_LEA) /* computed only: any value will do */
        return;
    if (c->insn.bits & AS_INSN_MEM && n == 0) { /* prefetches and the like */
        const struct as_memory own = {
            .base = c->insn.base, .index = c->insn.index, .scale = c->insn.scale, .disp = c->disp};
        aim(s, &own, start + HX_TARGET_FIRST + shifted, random);
    }
}
