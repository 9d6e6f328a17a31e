/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits an instruction's bytes into fields and a key. The key has everything except register
 * numbers, displacements and immediates. This is part of the fast path of decoding (fast.h).
 * Specification: Intel SDM volume 2, chapter 2 (instruction format), appendix A (opcode maps).
 */
#ifndef AS_ISA_SPLIT_H
#define AS_ISA_SPLIT_H

#include <string.h>

#include "isa/internal.h"

/* Bits of the key. The finer key uses the rest of the 64. */
enum {
    KEY_MAP = 8,       /* 4 bits; the bits below hold the opcode */
    KEY_ENCODING = 12, /* 2 bits: 0 legacy, 1 VEX, 2 EVEX, 3 XOP */
    KEY_PP = 14,       /* VEX, EVEX, XOP: 2 bits; legacy: bits for 66, F3, F2, lock */
    KEY_W = 18,
    KEY_REX = 19,
    KEY_ADDRESS = 20, /* prefix 67 */
    KEY_SEGMENT = 21, /* 3 bits: which override */
    KEY_MOD3 = 24,
    KEY_RIP = 25,
    KEY_REG = 26, /* 3 bits: ModRM.reg if it extends the opcode */
    KEY_RM = 29,  /* 3 bits: ModRM.rm if it extends the opcode */
    KEY_L = 32,   /* 2 bits */
    KEY_B = 34,
    KEY_Z = 35,
    KEY_MASKED = 36,
    KEY_NO_V = 37, /* vvvv is all ones, as required without a third register */
    KEY_FINE = 38,
    KEY_USED = 63,
};

struct as_split {
    uint64_t key;
    uint8_t field[AS_ENCODED_COUNT];
    uint8_t mask; /* EVEX.aaa */
    uint8_t x, b; /* extension bits of index and base, shifted by 3 */
    uint8_t modrm;
    uint8_t has_modrm;
    uint8_t at; /* offset of the ModRM byte, or of the byte after the opcode */
    uint8_t is_evex;
};

/*
 * ModRM by opcode: '.' none, 'm' present, 'g' its reg field extends the opcode, 'G' reg and rm
 * extend it. A field that a wrong entry omits from the key makes different instructions equal: with
 * f7 as 'm', `test eax, 1` could decode as `neg`. So tools/check-decoder.c compares every entry
 * with the reference decoder at build time.
 */
static const char modrm_one[] = "mmmm....mmmm...."
                                "mmmm....mmmm...."
                                "mmmm....mmmm...."
                                "mmmm....mmmm...."
                                "................"
                                "................"
                                "...m.....m.m...."
                                "................"
                                "ggggmmmmmmmmmmmg"
                                "................"
                                "................"
                                "................"
                                "gg....GG........"
                                "gggg....GGGGGGGG"
                                "................"
                                "......gg......gg";
static const char modrm_0f[] = "gGmm.........g.."
                               "mmmmmmmmGGGGGGGG"
                               "mmmmmmmmmmmmmmmm"
                               "................"
                               "mmmmmmmmmmmmmmmm"
                               "mmmmmmmmmmmmmmmm"
                               "mmmmmmmmmmmmmmmm"
                               "mgggmmm.GGmmmmmm"
                               "................"
                               "mmmmmmmmmmmmmmmm"
                               "...mmmGG...mmmGm"
                               "mmmmmmmmmmgmmmmm"
                               "mmmmmmmG........"
                               "mmmmmmmmmmmmmmmm"
                               "mmmmmmmmmmmmmmmm"
                               "mmmmmmmmmmmmmmmm";

/* Returns the ModRM kind of an opcode after a VEX, EVEX or XOP prefix. */
static inline char modrm_kind(unsigned encoding, unsigned map, unsigned opcode)
{
    if (map == 1)
        return opcode == 0x77                         ? '.'
               : opcode - 0x71u < 3 || opcode == 0x18 ? 'g'
               : opcode == 0xae                       ? 'G'
                                                      : 'm';
    if (encoding == 3)
        return 'g';
    return map == 2 && (opcode == 0xf3 || opcode - 0xc6u < 2 || opcode == 0x49) ? 'G' : 'm';
}

/* Bits of the key and the REX byte. */
struct prefixes {
    uint32_t key, rex;
};

enum { KEY_ALL_PP = 15 << KEY_PP, KEY_ALL_SEGMENT = 7 << KEY_SEGMENT };

/* Returns the offset of the opcode, or -1 if the order or repetition of prefixes is unusual. */
static inline int parse_prefixes(const uint8_t *p, struct prefixes *out)
{
    uint32_t key = 0, repeat;
    for (int i = 0; i < AS_INSN_MAX_B - 1; i++) {
        switch (p[i]) {
        case 0x66:
            key |= (uint32_t)1 << KEY_PP;
            continue;
        case 0x67:
            key |= (uint32_t)1 << KEY_ADDRESS;
            continue;
        case 0xf0:
            key |= (uint32_t)8 << KEY_PP;
            continue;
        case 0xf2:
        case 0xf3:
            repeat = (uint32_t)(p[i] == 0xf3 ? 2 : 4) << KEY_PP;
            if (key & ((uint32_t)6 << KEY_PP) & ~repeat)
                return -1;
            key |= repeat;
            continue;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
            if (key & KEY_ALL_SEGMENT)
                return -1;
            key |= (1u + (p[i] >> 3 & 3)) << KEY_SEGMENT;
            continue;
        case 0x64:
        case 0x65:
            if (key & KEY_ALL_SEGMENT)
                return -1;
            key |= (p[i] - 0x64u + 5) << KEY_SEGMENT;
            continue;
        default:
            out->key = key;
            if ((p[i] & 0xf0) == 0x40)
                out->rex = p[i++];
            return i;
        }
    }
    return -1;
}

/* Returns true if the byte is a legacy prefix. */
static inline bool is_prefix(unsigned byte)
{
    const uint64_t low =
        (uint64_t)1 << 0x26 | (uint64_t)1 << 0x2e | (uint64_t)1 << 0x36 | (uint64_t)1 << 0x3e;
    const uint64_t middle = (uint64_t)0xf << (0x64 - 0x40);
    const uint64_t high = (uint64_t)0xd << (0xf0 - 0xc0);
    const uint64_t word = byte < 0x40 ? low : byte < 0x80 ? middle : byte < 0xc0 ? 0 : high;
    return word >> (byte & 63) & 1;
}

/* Reads the ModRM byte after the opcode into fields and key. */
static inline void parse_modrm(const uint8_t *p, unsigned at, char kind, struct as_split *s)
{
    s->at = (uint8_t)at;
    s->has_modrm = kind != '.';
    if (!s->has_modrm)
        return;
    uint8_t modrm = p[at];
    unsigned reg = modrm >> 3 & 7, rm = modrm & 7, mod3 = modrm >= 0xc0;
    s->modrm = modrm;
    s->field[AS_ENCODED_REG] = (uint8_t)(s->field[AS_ENCODED_REG] | reg);
    s->field[AS_ENCODED_RM] = (uint8_t)(s->field[AS_ENCODED_RM] | rm);
    s->key |= (uint64_t)mod3 << KEY_MOD3 | (uint64_t)((modrm & 0xc7) == 5) << KEY_RIP;
    /* No branch is needed: bit 3 of a kind is clear in 'g' and 'G', bit 5 in 'G' alone. */
    s->key |= (uint64_t)(reg & (((unsigned)kind >> 3 & 1) - 1)) << KEY_REG;
    s->key |= (uint64_t)(rm & (((unsigned)kind >> 5 & 1) - 1) & (0 - mod3)) << KEY_RM;
}

static inline bool split_legacy(const uint8_t *p, unsigned at, const struct prefixes *pre,
                                struct as_split *s)
{
    unsigned map = 0, opcode = p[at++], rex = pre->rex;
    char kind = modrm_one[opcode];
    if (opcode == 0x0f) {
        map = 1;
        opcode = p[at++];
        kind = modrm_0f[opcode];
        if (opcode == 0x38 || opcode == 0x3a) {
            map = opcode == 0x38 ? 2 : 3;
            opcode = p[at++];
            kind = opcode < 0xd0 ? 'm' : 'G';
        } else if (opcode == 0x0f) {
            return false;
        }
    }
    unsigned r = rex >> 2 & 1, x = rex >> 1 & 1, b = rex & 1;
    s->x = (uint8_t)(x << 3);
    s->b = (uint8_t)(b << 3);
    s->field[AS_ENCODED_REG] = (uint8_t)(r << 3);
    s->field[AS_ENCODED_RM] = (uint8_t)(b << 3);
    s->field[AS_ENCODED_OPCODE] = (uint8_t)(b << 3 | (opcode & 7));
    s->key = (uint64_t)opcode | (uint64_t)map << KEY_MAP | pre->key |
             (uint64_t)(rex >> 3 & 1) << KEY_W | (uint64_t)(rex != 0) << KEY_REX;
    if (!map && opcode == 0x90) /* nop, pause or xchg */
        s->key |= (uint64_t)b << KEY_RM;
    parse_modrm(p, at, kind, s);
    return true;
}

/* Splits VEX and XOP; p[at] is c4, c5 or 8f. */
static inline bool split_vex(const uint8_t *p, unsigned at, struct as_split *s)
{
    unsigned first = p[at], encoding = first == 0x8f ? 3 : 1;
    unsigned one = p[at + 1], two, map;
    if (first == 0xc5) {
        two = one & 0x7f;
        one |= 0x60;
        map = 1;
        at += 2;
    } else {
        two = p[at + 2];
        map = one & 31;
        at += 3;
        if (map > 15)
            return false;
    }
    unsigned opcode = p[at++];
    unsigned r = ~one >> 7 & 1, x = ~one >> 6 & 1, b = ~one >> 5 & 1, vvvv = ~two >> 3 & 15;
    s->x = (uint8_t)(x << 3);
    s->b = (uint8_t)(b << 3);
    s->field[AS_ENCODED_REG] = (uint8_t)(r << 3);
    s->field[AS_ENCODED_RM] = (uint8_t)(b << 3);
    s->field[AS_ENCODED_VVVV] = (uint8_t)vvvv;
    s->key = (uint64_t)opcode | (uint64_t)map << KEY_MAP | (uint64_t)encoding << KEY_ENCODING |
             (uint64_t)(two & 3) << KEY_PP | (uint64_t)(two >> 7) << KEY_W |
             (uint64_t)(two >> 2 & 1) << KEY_L | (uint64_t)!vvvv << KEY_NO_V;
    parse_modrm(p, at, modrm_kind(encoding, map, opcode), s);
    return true;
}

static inline bool split_evex(const uint8_t *p, unsigned at, struct as_split *s)
{
    unsigned p0 = p[at + 1], p1 = p[at + 2], p2 = p[at + 3], opcode = p[at + 4];
    if (p0 & 8 || !(p1 & 4))
        return false;
    unsigned r = ~p0 >> 7 & 1, x = ~p0 >> 6 & 1, b = ~p0 >> 5 & 1, r2 = ~p0 >> 4 & 1;
    unsigned vvvv = (~p1 >> 3 & 15) | (~p2 >> 3 & 1) << 4, map = p0 & 7;
    s->x = (uint8_t)(x << 3);
    s->b = (uint8_t)(b << 3);
    s->is_evex = 1;
    s->mask = p2 & 7;
    s->field[AS_ENCODED_REG] = (uint8_t)(r << 3 | r2 << 4);
    s->field[AS_ENCODED_RM] = (uint8_t)(b << 3 | x << 4);
    s->field[AS_ENCODED_VVVV] = (uint8_t)vvvv;
    s->key = (uint64_t)opcode | (uint64_t)map << KEY_MAP | (uint64_t)2 << KEY_ENCODING |
             (uint64_t)(p1 & 3) << KEY_PP | (uint64_t)(p1 >> 7) << KEY_W |
             (uint64_t)(p2 >> 5 & 3) << KEY_L | (uint64_t)(p2 >> 4 & 1) << KEY_B |
             (uint64_t)(p2 >> 7) << KEY_Z | (uint64_t) !!s->mask << KEY_MASKED |
             (uint64_t)!vvvv << KEY_NO_V;
    parse_modrm(p, at + 5, modrm_kind(2, map, opcode), s);
    return true;
}

/* Splits the bytes at `p`, of which at most 16 are read. Returns false for unusual encodings, which
 * the reference decoder handles. */
static inline bool as_split_bytes(const uint8_t *p, struct as_split *s)
{
    struct prefixes pre = {0, 0};
    int at = 0;
    memset(s, 0, sizeof *s);
    if (__builtin_expect(!is_prefix(p[0]), 1)) {
        if ((p[0] & 0xf0) == 0x40)
            pre.rex = p[at++];
    } else {
        at = parse_prefixes(p, &pre);
        if (at < 0 || at > 8)
            return false;
    }
    unsigned first = p[at];
    bool ok;
    if (first == 0xc4 || first == 0xc5 || first == 0x62 ||
        (first == 0x8f && (p[at + 1] & 31) > 7)) {
        if ((pre.key & KEY_ALL_PP) | pre.rex)
            return false;
        ok = first == 0x62 ? split_evex(p, (unsigned)at, s) : split_vex(p, (unsigned)at, s);
        s->key |= pre.key;
    } else {
        ok = split_legacy(p, (unsigned)at, &pre, s);
    }
    s->key |= (uint64_t)1 << KEY_USED;
    return ok;
}

/* Returns the finer key, for encodings that are valid only with some register numbers. */
static inline uint64_t as_split_fine_key(const struct as_split *s)
{
    const unsigned rm = s->has_modrm && s->modrm >= 0xc0 ? s->modrm & 7u : 0;
    const uint64_t fine = (uint64_t)s->field[AS_ENCODED_REG] |
                          (uint64_t)s->field[AS_ENCODED_VVVV] << 5 | (uint64_t)s->mask << 10 |
                          (uint64_t)rm << 13 | (uint64_t)s->x << 13 | (uint64_t)s->b << 14;
    return s->key | fine << (KEY_FINE + 1) | (uint64_t)1 << KEY_FINE;
}

#endif
