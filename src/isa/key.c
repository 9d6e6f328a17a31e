/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes a form in words: prefixes, mnemonic, operands by kind and width, and other differences
 * between forms with the same operands. The text depends on the form alone, not on the order of
 * decoding or the process.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/fnv.h"
#include "isa/internal.h"

struct text {
    char *p;
    size_t cap, n;
};

static void append_key(struct text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append_key(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(t->n < t->cap ? t->p + t->n : NULL, t->n < t->cap ? t->cap - t->n : 0,
                            format, args);
    va_end(args);
    t->n += n > 0 ? (size_t)n : 0;
}

static void append_register(struct text *t, const struct as_operand *o)
{
    static const char *const any[] = {
        [AS_FILE_NONE] = "?",       [AS_FILE_GPR8] = "r8",     [AS_FILE_GPR16] = "r16",
        [AS_FILE_GPR32] = "r32",    [AS_FILE_GPR64] = "r64",   [AS_FILE_MMX] = "mm",
        [AS_FILE_XMM] = "xmm",      [AS_FILE_YMM] = "ymm",     [AS_FILE_ZMM] = "zmm",
        [AS_FILE_MASK] = "k",       [AS_FILE_X87] = "st",      [AS_FILE_TILE] = "tmm",
        [AS_FILE_SEGMENT] = "sreg", [AS_FILE_OTHER] = "system"};
    _Static_assert(sizeof any / sizeof *any == AS_FILE_OTHER + 1,
                   "an entry for each of the enumeration");
    static const uint8_t width_b[] = {
        [AS_FILE_GPR8] = 1, [AS_FILE_GPR16] = 2, [AS_FILE_GPR32] = 4, [AS_FILE_GPR64] = 8,
        [AS_FILE_XMM] = 16, [AS_FILE_YMM] = 32,  [AS_FILE_ZMM] = 64,  [AS_FILE_OTHER] = 0};
    _Static_assert(sizeof width_b / sizeof *width_b == AS_FILE_OTHER + 1,
                   "an entry for each of the enumeration");
    append_key(t, "%s", o->fixed ? as_reg_name(o->fixed - 1u, width_b[o->file]) : any[o->file]);
}

static void append_operand(struct text *t, const struct as_operand *o)
{
    switch (o->kind) {
    case AS_OPERAND_REG:
        append_register(t, o);
        break;
    case AS_OPERAND_MEM:
        append_key(t, "m%u", 8u * o->width_b);
        break;
    case AS_OPERAND_ADDRESS:
        append_key(t, "address%u", 8u * o->width_b);
        break;
    case AS_OPERAND_REL:
        append_key(t, "rel%u", 8u * o->width_b);
        break;
    default:
        if (o->fixed)
            append_key(t, "%u", o->fixed);
        else
            append_key(t, "imm%u", 8u * o->width_b);
    }
}

/* Returns true for string instructions and loops that count in 32-bit registers (address-size
 * prefix). */
static bool counts_in_32_bits(const struct as_form *form)
{
    const struct as_regset *clear = &form->implicit_clear;
    return (form->insn_class == AS_CLASS_STRING || form->insn_class == AS_CLASS_BRANCH) &&
           (as_regset_has(*clear, AS_REG_GPR + 1) || as_regset_has(*clear, AS_REG_GPR + 6) ||
            as_regset_has(*clear, AS_REG_GPR + 7));
}

static void append_implicit(struct text *t, const struct as_form *form)
{
    if (counts_in_32_bits(form))
        append_key(t, " {a32}");
    if (as_regset_has(form->implicit_merge, AS_REG_GPR + 8))
        append_key(t, " {rex.b}"); /* pause, which exchanges registers on some CPUs */
    for (unsigned i = 0; i < form->memories; i++) {
        const struct as_form_memory *m = &form->memory[i];
        if (m->segment != AS_REG_NONE)
            append_key(t, " {%s}", as_reg_name(m->segment, 2));
        if (form->traits & AS_TRAIT_STACK && m->width_b != 8)
            append_key(t, " {stack%u}", 8u * m->width_b);
    }
}

static void append_encoding(struct text *t, const struct as_form *form)
{
    const bool says_vex = form->mnemonic[0] == 'v' || form->mnemonic[0] == 'k';
    if (form->traits & AS_TRAIT_EVEX)
        append_key(t, " {evex}");
    else if (form->traits & AS_TRAIT_VEX && !says_vex)
        append_key(t, " {vex}");
    if (form->traits & AS_TRAIT_MASKED)
        append_key(t, " {k}");
    if (form->traits & AS_TRAIT_MASK_ZEROES)
        append_key(t, " {z}");
    if (form->traits & AS_TRAIT_BROADCAST)
        append_key(t, " {broadcast}");
    if (form->traits & AS_TRAIT_RIP_RELATIVE)
        append_key(t, " {rip}");
}

int as_form_text(const struct as_form *form, char *buf, size_t buf_b)
{
    struct text t = {buf, buf_b, 0};
    if (buf_b)
        buf[0] = 0;
    if (form->traits & AS_TRAIT_LOCK)
        append_key(&t, "lock ");
    if (form->traits & AS_TRAIT_REP)
        append_key(&t, "rep ");
    append_key(&t, "%s", form->mnemonic);
    for (unsigned i = 0; i < form->operands; i++) {
        append_key(&t, i ? "," : " ");
        append_operand(&t, &form->operand[i]);
    }
    append_encoding(&t, form);
    append_implicit(&t, form);
    return (int)(t.n < buf_b ? t.n : buf_b ? buf_b - 1 : 0);
}

uint64_t as_form_key(const struct as_form *form)
{
    char text[AS_FORM_TEXT_B];
    const int n = as_form_text(form, text, sizeof text);
    return as_fnv_mix(AS_FNV_BASIS, text, n > 0 ? (size_t)n : 0);
}
