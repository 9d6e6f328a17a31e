/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers are named as whole architectural registers (rax, zmm3): the widths of the accesses
 * stand with the operands, and a dependence does not care for them.
 */
#include "insn_words.h"

#include <inttypes.h>

static void separate(struct as_str *out, size_t begin, char separator)
{
    if (out->n > begin)
        as_str_append(out, &separator, 1);
}

/* The widest name of a register. */
static const char *whole_name(unsigned reg)
{
    return as_reg_name(reg, reg >= AS_REG_VEC && reg < AS_REG_MASK ? 64 : 8);
}

void as_words_registers(struct as_str *out, struct as_regset set, char separator)
{
    const size_t begin = out->n;

    for (unsigned reg = 0; reg < AS_REG_COUNT; reg++) {
        if (!as_regset_has(set, reg))
            continue;
        separate(out, begin, separator);
        as_str_appendz(out, whole_name(reg));
    }
}

void as_words_flags(struct as_str *out, unsigned flags, char separator)
{
    static const char *const word[] = {"cf", "pf", "af", "zf", "sf", "df", "of", "system"};
    const size_t begin = out->n;

    for (unsigned i = 0; i < 8; i++) {
        if (!(flags >> i & 1))
            continue;
        separate(out, begin, separator);
        as_str_appendz(out, word[i]);
    }
}

static void address_words(struct as_str *out, const struct as_memory *m)
{
    const char *plus = "";

    as_str_append(out, "[", 1);
    if (m->segment != AS_REG_NONE)
        as_str_appendf(out, "%s:", as_reg_name(m->segment, 2));
    if (m->base != AS_REG_NONE && !m->rip_relative) {
        as_str_appendz(out, whole_name(m->base));
        plus = "+";
    }
    if (m->index != AS_REG_NONE) {
        as_str_appendf(out, "%s%s*%u", plus, whole_name(m->index), m->scale);
        plus = "+";
    }
    if (m->rip_relative || (m->disp && !*plus))
        as_str_appendf(out, "0x%" PRIx64, (uint64_t)m->disp);
    else if (m->disp < 0)
        as_str_appendf(out, "-0x%" PRIx64, -(uint64_t)m->disp);
    else if (m->disp)
        as_str_appendf(out, "+0x%" PRIx64, (uint64_t)m->disp);
    as_str_append(out, "]", 1);
}

void as_words_memory(struct as_str *out, const struct as_code *code, const struct as_insn *insn,
                     char separator)
{
    struct as_memory memory[2];
    const int n = as_insn_memory(code, insn, memory);
    const size_t begin = out->n;

    for (int i = 0; i < n; i++) {
        const unsigned access = memory[i].access;

        if (!(access & (AS_ACCESS_READ | AS_ACCESS_WRITE)))
            continue;
        separate(out, begin, separator);
        as_str_appendz(out, !(access & AS_ACCESS_WRITE)  ? "load"
                            : !(access & AS_ACCESS_READ) ? "store"
                                                         : "update");
        if (memory[i].width_b)
            as_str_appendf(out, " %" PRIu32, memory[i].width_b);
        as_str_append(out, " ", 1);
        address_words(out, &memory[i]);
    }
}

const char *as_element_word(unsigned element)
{
    static const char *const word[AS_ELEMENT_COUNT] = {NULL,  "int", "f16", "bf16",
                                                       "f32", "f64", "f80", "bcd"};

    return element < AS_ELEMENT_COUNT ? word[element] : NULL;
}
