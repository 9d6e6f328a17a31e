/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build-time program: compares the fast path of decoding (src/isa/fast.h) with the reference
 * decoder. A recipe is learnt from the first instance of a key and serves all later ones. So the
 * recipe of each instance must give the record of every other instance of its key. It must not
 * accept bytes that are not an instruction. The program tries the opcodes of the legacy and VEX
 * maps, with ModRM, prefixes and lengths. As a test ("all", TAP) it tries more of them, and EVEX.
 * Usage: check-decoder [all]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/fast.h"

enum { READ_B = 32, MEMBERS = 8192, SHOWN = 20 };

/* Instances that can share a key: those of one opcode under the same prefixes. */
struct member {
    uint8_t bytes[READ_B];
    struct as_split split;
    struct as_decoded ref;
    bool fast; /* its recipe gives its own record, so it may be learnt */
};

static struct {
    struct member at[MEMBERS];
    unsigned n;
    unsigned long instances, compared, wrong;
} group;

static void add(const uint8_t *bytes, unsigned n)
{
    static const uint8_t tail[READ_B] = {0x8b, 0x12, 0x34, 0x56, 0x71, 0x9a, 0xbc, 0xde, 0x21};
    struct member *m = &group.at[group.n];
    struct as_insn again;
    memset(m->bytes, 0, sizeof m->bytes);
    memcpy(m->bytes, bytes, n);
    memcpy(m->bytes + n, tail, sizeof m->bytes - n);
    if (!as_split_bytes(m->bytes, &m->split))
        return; /* to the reference decoder each time */
    if (as_reference_decode(m->bytes, AS_INSN_MAX_B, 0, false, &m->ref) < 0 ||
        group.n + 1 == MEMBERS) {
        fprintf(stderr, "check-decoder: no room\n");
        exit(2);
    }
    group.instances++;
    group.n++;
    m->fast = !(m->ref.recipe.flags & AS_RECIPE_SLOW);
    if (!m->fast)
        return;
    memset(&again, 0, sizeof again);
    as_recipe_fill(m->bytes, &m->split, &m->ref.recipe, &again, &(int64_t){0});
    m->fast = memcmp(&again, &m->ref.insn, sizeof again) == 0;
}

static uint64_t key_of(const struct member *m, bool fine)
{
    return fine ? as_split_fine_key(&m->split) : m->split.key;
}

static void complain(const struct member *by, const struct member *m)
{
    char text[2][96];
    if (group.wrong++ >= SHOWN)
        return;
    as_insn_format(m->bytes, AS_INSN_MAX_B, 0, AS_SYNTAX_INTEL, text[0], sizeof text[0]);
    as_insn_format(by->bytes, AS_INSN_MAX_B, 0, AS_SYNTAX_INTEL, text[1], sizeof text[1]);
    fprintf(stderr, "check-decoder:");
    for (unsigned i = 0; i < 12; i++)
        fprintf(stderr, " %02x", m->bytes[i]);
    fprintf(stderr, ": \"%s\" would be decoded as \"%s\", whose key it shares: src/isa/split.h\n",
            text[0], text[1]);
}

/* Compares the recipe learnt from `by` with another instance of its key. */
static void compare(const struct member *by, struct member *m)
{
    struct as_insn insn;
    memset(&insn, 0, sizeof insn);
    group.compared++;
    as_recipe_fill(m->bytes, &m->split, &by->ref.recipe, &insn, &(int64_t){0});
    if (memcmp(&insn, &m->ref.insn, sizeof insn) != 0)
        complain(by, m);
}

/* Returns whether an earlier instance of the group has the same recipe under the same key. */
static bool seen(unsigned i)
{
    const struct member *m = &group.at[i];
    const bool fine = m->ref.recipe.flags & AS_RECIPE_FINE;
    for (unsigned j = i; j-- > 0;) {
        const struct member *o = &group.at[j];
        if (o->fast && key_of(o, fine) == key_of(m, fine) &&
            memcmp(&o->ref.recipe, &m->ref.recipe, sizeof m->ref.recipe) == 0)
            return true;
    }
    return false;
}

static void close_group(void)
{
    for (unsigned i = 0; i < group.n; i++) {
        const struct member *by = &group.at[i];
        const bool fine = by->ref.recipe.flags & AS_RECIPE_FINE;
        if (!by->fast || seen(i))
            continue;
        for (unsigned j = 0; j < group.n; j++)
            if (j != i && key_of(&group.at[j], fine) == key_of(by, fine))
                compare(by, &group.at[j]);
    }
    group.n = 0;
}

/* ---- Instructions to try --------------------------------------------------------------------- */

/* Adds `bytes` up to the opcode with every ModRM. Without `all`, it adds every register, and the
 * memory operands with a special rm. */
static void add_modrm(uint8_t *bytes, unsigned n, bool all)
{
    for (unsigned modrm = 0; modrm < 256; modrm++) {
        const unsigned mod = modrm >> 6, rm = modrm & 7;
        if (!all && mod < 3 && rm != 3 && rm != 4 && rm != 5)
            continue;
        bytes[n] = (uint8_t)modrm;
        add(bytes, n + 1);
    }
}

static unsigned put_map(uint8_t *bytes, unsigned n, unsigned map)
{
    if (map)
        bytes[n++] = 0x0f;
    if (map > 1)
        bytes[n++] = map == 2 ? 0x38 : 0x3a;
    return n;
}

static bool is_opcode(unsigned map, unsigned opcode)
{
    if (map == 1)
        return opcode != 0x38 && opcode != 0x3a && opcode != 0x0f;
    if (map)
        return true;
    return opcode != 0x0f && (opcode & 0xf0) != 0x40 && (opcode & 0xe7) != 0x26 &&
           !(opcode >= 0x64 && opcode <= 0x67) && opcode != 0x62 && opcode != 0xc4 &&
           opcode != 0xc5 && opcode != 0xf0 && opcode != 0xf2 && opcode != 0xf3;
}

/* One opcode under one set of legacy prefixes: those of REX that share keys together. */
static void legacy(const uint8_t *prefixes, unsigned prefix_n, unsigned map, unsigned opcode,
                   bool all)
{
    static const uint8_t rex[][2] = {{0, 0}, {0x48, 0x4f}, {0x40, 0x47}};
    for (unsigned i = 0; i < (all ? 3u : 2u); i++) {
        for (unsigned k = 0; k < 2; k++) {
            uint8_t bytes[READ_B];
            unsigned n = prefix_n;
            if (k && (!rex[i][1] || !all))
                continue;
            memcpy(bytes, prefixes, prefix_n);
            if (rex[i][k])
                bytes[n++] = rex[i][k];
            n = put_map(bytes, n, map);
            bytes[n++] = (uint8_t)opcode;
            add_modrm(bytes, n, all);
        }
        close_group();
    }
}

static void all_legacy(bool all)
{
    static const uint8_t prefixes[][2] = {{0},          {0x66},       {0xf2}, {0xf3},
                                          {0x66, 0xf2}, {0x66, 0xf3}, {0xf0}, {0x67}};
    for (unsigned i = 0; i < (all ? 8u : 4u); i++)
        for (unsigned code = 0; code < 4 * 256; code++)
            if (is_opcode(code >> 8, code & 255))
                legacy(prefixes[i], (unsigned)strlen((const char *)prefixes[i]), code >> 8,
                       code & 255, all);
}

/* Extensions and the third register: without, with, and with all registers high. An opcode has no
 * third register in one of the two. */
static const struct {
    uint8_t extend, vvvv;
} extensions[] = {{0xe0, 0x78}, {0xe0, 0x28}, {0x00, 0x28}};

/* `first` is c4 or 8f; `code`: opcode, pp, length, W. */
static void vex(unsigned first, unsigned map, unsigned code, bool all)
{
    for (unsigned i = 0; i < (all ? 3u : 2u); i++) {
        uint8_t bytes[READ_B] = {
            (uint8_t)first, (uint8_t)(extensions[i].extend | map),
            (uint8_t)((code >> 11) << 7 | extensions[i].vvvv | (code >> 8 & 7)), (uint8_t)code};
        add_modrm(bytes, 4, all);
    }
    close_group();
}

static void all_vex(bool all)
{
    for (unsigned map = 1; map < (all ? 8u : 4u); map++)
        for (unsigned code = 0; code < 16 * 256; code++)
            vex(0xc4, map, code, all);
    for (unsigned map = 8; map < 11; map++)
        for (unsigned code = 0; code < 16 * 256; code++)
            vex(0x8f, map, code, all);
}

/* `code`: opcode, W, pp, length, b. */
static void evex(unsigned map, unsigned code)
{
    const unsigned w = code >> 8 & 1, pp = code >> 9 & 3, last = code >> 11 & 7;
    for (unsigned i = 0; i < 3; i++) {
        uint8_t bytes[READ_B] = {
            0x62, (uint8_t)(extensions[i].extend | (extensions[i].extend ? 0x10 : 0) | map),
            (uint8_t)(w << 7 | extensions[i].vvvv | 4 | pp),
            (uint8_t)((last & 3) << 5 | (last & 4) << 2 | 8), (uint8_t)code};
        add_modrm(bytes, 5, false);
    }
    close_group();
}

static void all_evex(void)
{
    for (unsigned map = 1; map < 7; map++)
        for (unsigned code = 0; code < 1u << 14; code++)
            evex(map, code);
}

int main(int argc, char **argv)
{
    const bool all = argc > 1 && strcmp(argv[1], "all") == 0;
    all_legacy(all);
    all_vex(all);
    if (all)
        all_evex();
    if (all)
        printf("%sok 1 - %lu instances: every recipe gives the records of its key\n1..1\n",
               group.wrong ? "not " : "", group.instances);
    if (group.wrong)
        fprintf(stderr, "check-decoder: %lu of %lu comparisons fail\n", group.wrong,
                group.compared);
    return group.wrong > 0;
}
