/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enumerates legacy, VEX and EVEX encodings (Intel SDM volume 2, chapter 2). For every form of the
 * decoder it keeps one instance per way of drawing registers. Left out: XOP and 3DNow!,
 * address-size and segment prefixes. Instructions that could leave the harness (system calls,
 * segment loads, transactions) are excluded here by their bytes, without any classification.
 */
#include "corpus.h"

#include <stdlib.h>
#include <string.h>

#include "run.h"

/* One point of the encoding space. */
struct point {
    uint8_t opcode, map, pp, reg;
    uint8_t kind; /* 0 legacy, 1 VEX, 2 EVEX */
    bool w, memory, second, broadcast, zeroes;
    uint8_t length; /* VEX.L, EVEX.LL */
    uint8_t mask;
};

struct build {
    struct hx_corpus *out;
    uint64_t random, memory;
    uint8_t seen[65536]; /* bit = hx_draw, by form */
};

uint64_t hx_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

static bool has_modrm(unsigned map, unsigned op)
{
    if (map == 0) {
        if (op < 0x40)
            return (op & 7) < 4;
        return op == 0x63 || op == 0x69 || op == 0x6b || (op >= 0x80 && op < 0x90) ||
               (op >= 0xc0 && op < 0xc8 && op != 0xc2 && op != 0xc3) ||
               (op >= 0xd0 && op < 0xe0 && (op < 0xd4 || op > 0xd7)) || op == 0xf6 || op == 0xf7 ||
               op >= 0xfe;
    }
    if (map == 1)
        return !((op >= 0x04 && op <= 0x0b) || op == 0x0e || (op >= 0x30 && op < 0x38) ||
                 op == 0x77 || (op >= 0x80 && op < 0x90) || (op >= 0xa0 && op <= 0xa2) ||
                 (op >= 0xa8 && op <= 0xaa) || (op >= 0xc8 && op <= 0xcf));
    return true;
}

static bool is_relative(unsigned map, unsigned op)
{
    if (map == 1)
        return op >= 0x80 && op < 0x90;
    return map == 0 && ((op >= 0x70 && op < 0x80) || (op >= 0xe0 && op < 0xe4) || op == 0xe8 ||
                        op == 0xe9 || op == 0xeb);
}

/* Legacy encodings that enter the kernel, change segments, or leave to where we have no exit. */
static bool is_forbidden(const struct point *p, const uint8_t *after_opcode)
{
    const unsigned op = p->opcode;
    const unsigned reg = after_opcode[0] >> 3 & 7;
    if (p->kind)
        return false;
    if (p->map == 0)
        return op == 0x8e || (op >= 0xca && op <= 0xcf) || op == 0xf1 ||
               (op == 0xff && (reg == 3 || reg == 5)) || op == 0xc2 || op == 0xc3 ||
               (op == 0xc7 && reg == 7) || (op == 0xc6 && reg == 7);
    if (p->map != 1)
        return false;
    switch (op) {
    case 0x01: /* only xgetbv, xtest, serialize, rdpkru, rdtscp */
        return after_opcode[0] >= 0xc0 && after_opcode[0] != 0xd0 && after_opcode[0] != 0xd6 &&
               after_opcode[0] != 0xe8 && after_opcode[0] != 0xee && after_opcode[0] != 0xf9;
    case 0xae: /* wrfsbase, wrgsbase, xrstor, fxrstor and the shadow-stack family */
        return !(p->memory ? reg == 2 || reg == 3 || reg == 7 : reg >= 5) && reg != 0 && reg != 4;
    case 0xc7: /* xrstors and the like; rdrand, rdseed, cmpxchg8b stay */
        return reg != 1 && reg < 6;
    case 0x00:
    case 0x05:
    case 0x07:
    case 0x08:
    case 0x09:
    case 0x34:
    case 0x35:
    case 0x37:
    case 0x20:
    case 0x21:
    case 0x22:
    case 0x23:
    case 0xa1:
    case 0xa9:
    case 0xaa:
    case 0xb2:
    case 0xb4:
    case 0xb5:
        return true;
    default:
        return false;
    }
}

/* Registers of one instance: five-bit numbers. */
struct draw {
    unsigned reg, rm, base, index, v;
};

static struct draw draw_registers(struct build *b, const struct point *p, enum hx_draw how)
{
    struct draw d = {p->reg, 7, 7, 6, 5};
    if (how == HX_DRAW_HIGH) {
        const unsigned up = p->kind == 2 && hx_random(&b->random) & 1 ? 16 : 0;
        d = (struct draw){p->reg | 8 | up, 7 | 8 | up, 7 | 8, 6 | 8 | up, 5 | 8 | up};
    } else if (how == HX_DRAW_ANY) {
        const unsigned mask = p->kind == 2 ? 31 : 15;
        const uint64_t r = hx_random(&b->random);
        d.reg = (p->reg | (unsigned)(r & 24)) & mask;
        d.rm = (unsigned)(r >> 5) & mask;
        d.base = (unsigned)(r >> 10) & 15;
        d.index = (unsigned)(r >> 15) & mask;
        d.v = (unsigned)(r >> 20) & mask;
        if (p->map == 0 && p->opcode == 0x8f) /* pop [rsp]: the address is formed after the pop */
            d.base = 4;
        if (p->map == 0 && (d.index & 15) == 4)
            d.index ^= 8;
    }
    return d;
}

static uint8_t *put_prefixes(const struct point *p, const struct draw *d, uint8_t *at)
{
    static const uint8_t vex_pp[] = {0, 1, 3, 2}; /* none, 66, F2, F3 in our order */
    const unsigned v = p->second ? d->v : 0;
    const unsigned b = p->memory ? d->base : d->rm;
    const unsigned x = p->memory ? d->index : p->kind == 2 ? d->rm >> 1 : 0;
    if (p->kind == 2) {
        *at++ = 0x62;
        *at++ =
            (uint8_t)((~d->reg & 8) << 4 | (~x & 8) << 3 | (~b & 8) << 2 | (~d->reg & 16) | p->map);
        *at++ = (uint8_t)(p->w << 7 | (~v & 15) << 3 | 4 | vex_pp[p->pp]);
        const unsigned v_high = p->second ? d->v : p->memory ? d->index : 0;
        *at++ = (uint8_t)(p->zeroes << 7 | p->length << 5 | p->broadcast << 4 |
                          (~v_high & 16) >> 1 | p->mask);
        return at;
    }
    if (p->kind == 1) {
        *at++ = 0xc4;
        *at++ = (uint8_t)((~d->reg & 8) << 4 | (~x & 8) << 3 | (~b & 8) << 2 | p->map);
        *at++ = (uint8_t)(p->w << 7 | (~v & 15) << 3 | p->length << 2 | vex_pp[p->pp]);
        return at;
    }
    static const uint8_t legacy[][2] = {{0},          {0x66},       {0xf2}, {0xf3},
                                        {0x66, 0xf2}, {0x66, 0xf3}, {0xf0}};
    for (unsigned i = 0; i < 2 && legacy[p->pp][i]; i++)
        *at++ = legacy[p->pp][i];
    const unsigned rex = (unsigned)p->w << 3 | (d->reg & 8) >> 1 | (x & 8) >> 2 | (b & 8) >> 3;
    if (rex)
        *at++ = (uint8_t)(0x40 | rex);
    if (p->map)
        *at++ = 0x0f;
    if (p->map > 1)
        *at++ = p->map == 2 ? 0x38 : 0x3a;
    return at;
}

/* Bytes of one instance; returns where ModRM (or what follows the opcode) stands. */
static const uint8_t *put(struct build *b, const struct point *p, enum hx_draw how,
                          uint8_t bytes[15])
{
    const struct draw d = draw_registers(b, p, how);
    uint8_t *at = put_prefixes(p, &d, bytes);
    *at++ = p->opcode;
    uint8_t *after = at;
    if (p->kind || has_modrm(p->map, p->opcode)) {
        if (p->memory) {
            *at++ = (uint8_t)(0x44 | (d.reg & 7) << 3);
            const unsigned scale = (unsigned)(hx_random(&b->random) >> 40) & 3;
            *at++ = (uint8_t)(scale << 6 | (d.index & 7) << 3 | (d.base & 7));
            *at++ = 0x01;
        } else {
            *at++ = (uint8_t)(0xc0 | (d.reg & 7) << 3 | (d.rm & 7));
        }
    }
    static const uint8_t immediates[8] = {1, 3, 5, 0x13, 0x1a, 0x55, 0xa4, 7};
    uint8_t tail[12] = {immediates[hx_random(&b->random) >> 61], 0, 0, 0, 1};
    if (is_relative(p->map, p->opcode) && !p->kind)
        tail[0] = HX_BRANCH;
    else if (p->map == 0 && p->opcode == 0xc8 && !p->kind) /* enter: 16 bytes, level 0 */
        tail[0] = 16;
    else if (p->map == 0 && p->opcode >= 0xa0 && p->opcode < 0xa4 && !p->kind)
        memcpy(tail, &b->memory, sizeof b->memory);
    memcpy(at, tail, (size_t)(bytes + 15 - at) < sizeof tail ? (size_t)(bytes + 15 - at) : 12);
    return after;
}

static int keep(struct build *b, const struct hx_case *c)
{
    struct hx_corpus *out = b->out;
    if (out->n == out->cap) {
        out->cap = out->cap ? out->cap * 2 : 4096;
        struct hx_case *grown = realloc(out->at, out->cap * sizeof *grown);
        if (!grown)
            return AS_ERR_NOMEM;
        out->at = grown;
    }
    out->at[out->n++] = *c;
    return 0;
}

/* 1 when the bytes are an instruction, 0 when not, or an error code. */
static int try_one(struct build *b, const struct point *p, enum hx_draw how)
{
    struct hx_case c = {.draw = (uint8_t)how};
    const uint8_t *after = put(b, p, how, c.bytes);
    b->out->tried++;
    if (is_forbidden(p, after)) {
        b->out->forbidden++;
        return 0;
    }
    struct as_code code;
    const int rc = as_decode(c.bytes, sizeof c.bytes, (uintptr_t)hx_code_page(), &code, NULL);
    if (rc < 0)
        return rc;
    c.insn = code.insn[0];
    c.disp = as_code_disp(&code, 0);
    c.imm = as_code_imm(&code, 0);
    as_code_free(&code);
    if (c.insn.bits & AS_INSN_INVALID || c.insn.length < (after - c.bytes))
        return 0;
    if (b->seen[c.insn.form] >> how & 1)
        return 1;
    b->seen[c.insn.form] |= (uint8_t)(1u << how);
    const int kept = keep(b, &c);
    return kept < 0 ? kept : 1;
}

static int try_draws(struct build *b, struct point *p)
{
    p->second = p->kind != 0;
    int rc = try_one(b, p, HX_DRAW_LOW);
    if (rc == 0 && p->second) {
        p->second = false;
        rc = try_one(b, p, HX_DRAW_LOW);
    }
    if (rc <= 0)
        return rc;
    rc = try_one(b, p, HX_DRAW_HIGH);
    return rc < 0 ? rc : try_one(b, p, HX_DRAW_ANY);
}

/* Registers first that no instruction uses implicitly. */
static const uint8_t reg_order[8] = {3, 0, 1, 2, 4, 5, 6, 7};

static int enumerate_legacy(struct build *b)
{
    for (unsigned i = 0; i < 7u * 2 * 4 * 256 * 16; i++) {
        struct point p = {
            .memory = i & 1, .reg = reg_order[i >> 1 & 7], .opcode = (uint8_t)(i >> 4)};
        p.map = (uint8_t)(i >> 12 & 3);
        p.w = i >> 14 & 1;
        p.pp = (uint8_t)(i >> 15);
        const bool prefix_byte =
            p.map == 0 &&
            ((p.opcode & 0xf0) == 0x40 || (p.opcode & 0xe7) == 0x26 || p.opcode == 0x0f ||
             (p.opcode >= 0x64 && p.opcode < 0x68) || p.opcode == 0x62 || p.opcode == 0xc4 ||
             p.opcode == 0xc5 || p.opcode == 0xf0 || p.opcode == 0xf2 || p.opcode == 0xf3);
        const bool once = !has_modrm(p.map, p.opcode) && (p.memory || p.reg != 3);
        const bool escape = p.map == 1 && (p.opcode == 0x38 || p.opcode == 0x3a);
        if (prefix_byte || escape || once || (p.pp && is_relative(p.map, p.opcode)))
            continue;
        const int rc = try_draws(b, &p);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int enumerate_vex(struct build *b)
{
    for (unsigned i = 0; i < 3u * 4 * 2 * 2 * 256 * 16; i++) {
        struct point p = {.kind = 1, .memory = i & 1, .reg = reg_order[i >> 1 & 7]};
        p.opcode = (uint8_t)(i >> 4);
        p.length = i >> 12 & 1;
        p.w = i >> 13 & 1;
        p.pp = (uint8_t)(i >> 14 & 3);
        p.map = (uint8_t)((i >> 16) + 1);
        const int rc = try_draws(b, &p);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int enumerate_evex(struct build *b)
{
    static const uint8_t maps[5] = {1, 2, 3, 5, 6};
    for (unsigned i = 0; i < 5u * 3 * 4 * 2 * 4 * 2 * 2 * 256; i++) {
        struct point p = {.kind = 2, .opcode = (uint8_t)i, .memory = i >> 8 & 1};
        p.broadcast = i >> 9 & 1;
        p.length = (uint8_t)(i >> 10 & 3);
        p.w = i >> 12 & 1;
        p.pp = (uint8_t)(i >> 13 & 3);
        const unsigned masking = (i >> 15) % 3;
        p.mask = masking ? 2 : 0;
        p.zeroes = masking == 2;
        p.map = maps[(i >> 15) / 3];
        const bool group = (p.map == 1 && p.opcode >= 0x71 && p.opcode <= 0x73) ||
                           (p.map == 2 && (p.opcode & 0xfe) == 0xc6);
        for (unsigned r = 0; r < (group ? 8u : 1u); r++) {
            p.reg = reg_order[r];
            const int rc = try_draws(b, &p);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

int hx_corpus_build(uint64_t seed, uint64_t memory, struct hx_corpus *out)
{
    struct build *b = calloc(1, sizeof *b);
    if (!b)
        return AS_ERR_NOMEM;
    b->out = out;
    b->random = seed * 2 + 1;
    b->memory = memory;
    int rc = enumerate_legacy(b);
    if (rc >= 0)
        rc = enumerate_vex(b);
    if (rc >= 0)
        rc = enumerate_evex(b);
    free(b);
    return rc;
}
