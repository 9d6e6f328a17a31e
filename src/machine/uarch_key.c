/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the keys of table lines, and computes the distance between two keys. A key is the text of
 * an instruction form and other parts that affect its cost: an index register, equal sources of an
 * idiom, the parts of lea.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/uarch_table.h"

static int append_lea(const struct as_insn *insn, char *buf, size_t buf_b)
{
    const bool base = insn->base != AS_REG_NONE, disp = insn->disp || insn->wrap;
    if (insn->base == AS_REG_IP)
        return snprintf(buf, buf_b, " [d]");
    return snprintf(buf, buf_b, " [%s%s%s%s]", base ? "b" : "",
                    insn->index != AS_REG_NONE ? "i" : "", insn->scale > 1 ? "s" : "",
                    disp ? "d" : "");
}

int as_uarch_key(const struct as_insn *insn, char *buf, size_t buf_b)
{
    const struct as_form *form = as_form_get(insn->form);
    int n = as_form_text(form, buf, buf_b);
    char *rip = strstr(buf, " {rip}");
    if (rip) {
        memmove(rip, rip + 6, strlen(rip + 6) + 1);
        n -= 6;
    }
    char *end = buf + n;
    const size_t left = buf_b - (size_t)n;
    int more = 0;
    if (form->insn_class == AS_CLASS_LEA)
        more = append_lea(insn, end, left);
    else if (insn->bits & AS_INSN_MEM && insn->index != AS_REG_NONE)
        more = snprintf(end, left, " [i]");
    else if (insn->bits & AS_INSN_IDIOM)
        more = snprintf(end, left, " [same]");
    return (size_t)more < left ? n + more : (int)buf_b - 1;
}

/* ---- Parts of a key ------------------------------------------------------------------------ */

static bool starts_digit(const char *text)
{
    return isdigit((unsigned char)*text);
}

/* Parses the number at `text`, a width in bits. */
static unsigned digits_at(const char *text)
{
    return (unsigned)strtoul(text, NULL, 10);
}

/* Returns the width of a general register in bits, or 0 if the name is not one. */
static uint16_t width_of_name(const char *name, size_t n)
{
    if (n == 3 && name[0] == 'r')
        return 64;
    if (n == 3 && name[0] == 'e')
        return 32;
    if (n == 2 && (name[1] == 'l' || name[1] == 'h'))
        return 8;
    return n == 2 && (name[1] == 'x' || name[1] == 'p' || name[1] == 'i') ? 16 : 0;
}

static struct as_key_operand split_operand(const char *p, size_t n)
{
    static const struct {
        const char *word;
        char kind;
        uint16_t bits;
    } known[] = {{"xmm", 'v', 128}, {"ymm", 'v', 256}, {"zmm", 'v', 512},
                 {"mm", 'M', 64},   {"st", 't', 80},   {"tmm", 'T', 8192}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t word = strlen(known[i].word);
        if (n >= word && strncmp(p, known[i].word, word) == 0 &&
            (n == word || starts_digit(p + word)))
            return (struct as_key_operand){known[i].kind, n > word, known[i].bits};
    }
    if (starts_digit(p))
        return (struct as_key_operand){'i', true, 8};
    if (n > 3 && strncmp(p, "imm", 3) == 0)
        return (struct as_key_operand){'i', false, (uint16_t)digits_at(p + 3)};
    if (n > 3 && strncmp(p, "rel", 3) == 0)
        return (struct as_key_operand){'j', false, (uint16_t)digits_at(p + 3)};
    if (n > 7 && strncmp(p, "address", 7) == 0)
        return (struct as_key_operand){'a', false, (uint16_t)digits_at(p + 7)};
    if (n > 1 && (*p == 'r' || *p == 'm') && starts_digit(p + 1) &&
        (*p == 'm' || digits_at(p + 1) <= 64)) {
        const uint16_t bits = (uint16_t)digits_at(p + 1);
        return (struct as_key_operand){*p, false, bits};
    }
    if (*p == 'k' && n <= 2)
        return (struct as_key_operand){'k', n > 1, 64};
    return (struct as_key_operand){width_of_name(p, n) ? 'r' : 'x', true, width_of_name(p, n)};
}

static uint32_t bits_of_word(const char *word, size_t n)
{
    static const struct {
        const char *word;
        uint32_t bits;
    } known[] = {{"{evex}", AS_KEY_EVEX},          {"{vex}", AS_KEY_VEX},   {"{k}", AS_KEY_MASKED},
                 {"{z}", AS_KEY_ZEROED},           {"[i]", AS_KEY_INDEXED}, {"[same]", AS_KEY_SAME},
                 {"{broadcast}", AS_KEY_BROADCAST}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].word) == n && strncmp(word, known[i].word, n) == 0)
            return known[i].bits;
    uint32_t bits = 0;
    if (*word != '[')
        return AS_KEY_OTHER;
    for (size_t i = 1; i + 1 < n; i++)
        bits |= word[i] == 'b'   ? AS_KEY_LEA_BASE
                : word[i] == 'i' ? AS_KEY_LEA_INDEX
                : word[i] == 's' ? AS_KEY_LEA_SCALE
                                 : AS_KEY_LEA_DISP;
    return bits;
}

static void split_operands(struct as_view words, struct as_key_parts *out)
{
    struct as_view part;
    while (as_view_split(&words, ',', &part))
        if (part.n && out->operand_n < AS_OPERANDS_MAX)
            out->operand[out->operand_n++] = split_operand(part.p, part.n);
}

void as_key_split(const char *key, struct as_key_parts *out)
{
    struct as_view rest = as_view_of(key), part;
    memset(out, 0, sizeof *out);
    while (as_view_split(&rest, ' ', &part)) {
        if (!out->mnemonic.n && part.n == 4 && memcmp(part.p, "lock", 4) == 0)
            out->bits |= AS_KEY_LOCK;
        else if (!out->mnemonic.n && part.n == 3 && memcmp(part.p, "rep", 3) == 0)
            out->bits |= AS_KEY_REP;
        else if (!out->mnemonic.n)
            out->mnemonic = part;
        else if (part.n && (*part.p == '{' || *part.p == '['))
            out->bits |= bits_of_word(part.p, part.n);
        else
            split_operands(part, out);
    }
}

/* ---- Distance ------------------------------------------------------------------------------ */

struct as_view as_key_family(struct as_view mnemonic)
{
    /* Operand order and signs do not change the cost of an FMA. */
    if (as_view_starts(mnemonic, "vfmadd") || as_view_starts(mnemonic, "vfmsub"))
        return (struct as_view){mnemonic.p + 1, 2};
    if (as_view_starts(mnemonic, "vfnmadd") || as_view_starts(mnemonic, "vfnmsub"))
        return (struct as_view){mnemonic.p + 1, 3};
    if (mnemonic.n > 2 && mnemonic.p[0] == 'v' && !as_view_starts(mnemonic, "ver"))
        return (struct as_view){mnemonic.p + 1, mnemonic.n - 1};
    if (as_view_starts(mnemonic, "cmov") || as_view_starts(mnemonic, "fcmov"))
        return (struct as_view){mnemonic.p, mnemonic.p[0] == 'f' ? 5 : 4};
    if (as_view_starts(mnemonic, "set"))
        return (struct as_view){mnemonic.p, 3};
    if (mnemonic.n <= 4 && mnemonic.p[0] == 'j' && !as_view_starts(mnemonic, "jmp"))
        return (struct as_view){mnemonic.p, 1};
    return mnemonic;
}

static unsigned width_steps(uint16_t a, uint16_t b)
{
    unsigned steps = 0;
    for (; a && b && a < b; a = (uint16_t)(a * 2))
        steps++;
    for (; a && b && b < a; b = (uint16_t)(b * 2))
        steps++;
    return steps;
}

static unsigned operand_distance(const struct as_key_operand *asked,
                                 const struct as_key_operand *line)
{
    unsigned distance = asked->fixed != line->fixed;
    if (asked->kind != line->kind) {
        if (asked->kind == 'm' && strchr("rvkM", line->kind))
            return 100;
        return 1000;
    }
    /* x87 converts 80-bit operands, so their cost differs */
    if ((asked->bits == 80) != (line->bits == 80))
        return 1000;
    if (asked->kind == 'i')
        return distance + (asked->bits != line->bits);
    return distance + 10 * width_steps(asked->bits, line->bits);
}

unsigned as_key_distance(const struct as_key_parts *asked, const struct as_key_parts *line)
{
    const uint32_t differ = asked->bits ^ line->bits;
    unsigned distance = as_view_equal(asked->mnemonic, line->mnemonic) ? 0 : 5;
    if (differ & (AS_KEY_LOCK | AS_KEY_REP | AS_KEY_SAME))
        return 1000;
    const unsigned most = asked->operand_n > line->operand_n ? asked->operand_n : line->operand_n;
    const unsigned least = asked->operand_n + line->operand_n - most;
    /* AVX forms have a separate destination operand. */
    if (most - least > 1 || (most != least && !distance))
        return 1000;
    const unsigned skip_asked = asked->operand_n > line->operand_n && most > 1,
                   skip_line = line->operand_n > asked->operand_n && most > 1;
    for (unsigned i = 0; i < least; i++)
        distance += operand_distance(&asked->operand[i ? i + skip_asked : 0],
                                     &line->operand[i ? i + skip_line : 0]);
    if (most != least)
        distance += 2;
    distance += (differ & AS_KEY_INDEXED) != 0;
    distance += (differ & (AS_KEY_EVEX | AS_KEY_VEX)) != 0;
    distance += 2 * ((differ & (AS_KEY_MASKED | AS_KEY_ZEROED)) != 0);
    distance += 2 * ((differ & AS_KEY_BROADCAST) != 0);
    distance += (differ & (AS_KEY_LEA_BASE | AS_KEY_LEA_INDEX)) != 0;
    distance += (differ & AS_KEY_LEA_SCALE) != 0;
    distance += (differ & AS_KEY_LEA_DISP) != 0;
    return distance;
}
