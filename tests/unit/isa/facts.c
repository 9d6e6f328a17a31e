/* SPDX-License-Identifier: Apache-2.0 */
#include "facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *p;
    size_t n, max;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(t->p + t->n, t->max - t->n, fmt, args);
    va_end(args);
    if (n > 0)
        t->n = t->n + (size_t)n < t->max ? t->n + (size_t)n : t->max - 1;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t facts_bytes(const char *hex, uint8_t *out, size_t max)
{
    size_t n = 0;
    while (n < max) {
        while (*hex == ' ')
            hex++;
        if (digit(hex[0]) < 0 || digit(hex[1]) < 0)
            break;
        out[n++] = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
        hex += 2;
    }
    return n;
}

static void put_regs(struct text *t, const char *name, const struct as_regset *set)
{
    const char *sep = "";
    if (!set->word[0] && !set->word[1])
        return;
    put(t, " %s=", name);
    for (unsigned r = 0; r < AS_REG_COUNT; r++)
        if (as_regset_has(*set, r)) {
            put(t, "%s%s", sep, as_reg_name(r, 64));
            sep = ",";
        }
}

static void put_flags(struct text *t, const char *name, unsigned flags)
{
    if (!flags)
        return;
    put(t, " %s=", name);
    for (unsigned i = 0; i < 8; i++)
        if (flags >> i & 1)
            put(t, "%c", "cpazsdo*"[i]);
}

static void put_traits(struct text *t, uint32_t traits)
{
    static const char *const names[] = {
        "packed",   "scalar",      "packable", "fp",         "x87",         "lock",
        "rep",      "serialising", "zeroing",  "ones",       "regmove",     "conditional",
        "indirect", "masked",      "zeroes",   "broadcast",  "nontemporal", "aligned",
        "vex",      "evex",        "ends",     "privileged", "rip",         "stack"};
    const char *sep = " traits=";
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (traits >> i & 1) {
            put(t, "%s%s", sep, names[i]);
            sep = ",";
        }
}

static void put_access(struct text *t, unsigned access)
{
    put(t, "%s%s%s%s", access & AS_ACCESS_READ ? "r" : "", access & AS_ACCESS_WRITE ? "w" : "",
        access & AS_ACCESS_MAYBE ? "?" : "", access & AS_ACCESS_MERGE ? "m" : "");
}

static void put_operands(struct text *t, const struct as_insn *insn, const struct as_form *form)
{
    static const char *const kinds[] = {"none", "reg", "mem", "imm", "rel", "address"};
    for (unsigned i = 0; i < form->operands; i++) {
        const struct as_operand *o = &form->operand[i];
        put(t, " %s:",
            o->kind == AS_OPERAND_REG ? as_reg_name(insn->reg[o->slot], o->width_b)
                                      : kinds[o->kind]);
        put_access(t, o->access);
        put(t, "%u", o->width_b);
    }
}

static void put_memory(struct text *t, const struct as_insn *insn)
{
    struct as_memory m[2];
    int n = as_insn_memory(NULL, insn, m);
    for (int i = 0; i < n; i++) {
        put(t, " [%s+%s*%u%+lld]:", as_reg_name(m[i].base, 8), as_reg_name(m[i].index, 64),
            m[i].scale, (long long)m[i].disp);
        put_access(t, m[i].access);
        put(t, "%u%s", m[i].width_b, m[i].stack ? "/stack" : "");
    }
}

static void put_element(struct text *t, const struct as_form *form)
{
    static const char *const elements[] = {"-", "int", "f16", "bf16", "f32", "f64", "f80", "bcd"};
    put(t, " %s", elements[form->element]);
    if (form->element == AS_ELEMENT_INT)
        put(t, "%u", form->element_b * 8);
    if (form->source_element != form->element || form->source_element_b != form->element_b)
        put(t, "<%s", elements[form->source_element]);
    if (form->source_element == AS_ELEMENT_INT && form->source_element_b != form->element_b)
        put(t, "%u", form->source_element_b * 8);
    put(t, " lanes=%u vector=%u flops=%u intops=%u", form->lanes, form->vector_b, form->flops,
        form->intops);
}

void facts_line(const uint8_t *bytes, size_t n, char *buf, size_t buf_b)
{
    static const char *const isas[] = {"base",       "x87",   "mmx",    "sse",     "sse2",
                                       "sse3",       "ssse3", "sse4",   "avx",     "f16c",
                                       "fma",        "avx2",  "avx512", "avxvnni", "avx512bf16",
                                       "avx512fp16", "amx",   "bmi",    "aes",     "other"};
    struct text t = {buf, 0, buf_b};
    struct as_code code;
    struct as_effects e;
    buf[0] = 0;
    if (as_decode(bytes, n, 0x1000, &code, NULL) < 0 || !code.n) {
        put(&t, "failed");
        return;
    }
    const struct as_insn *insn = &code.insn[0];
    const struct as_form *form = as_form_get(insn->form);
    as_insn_effects(insn, &e);
    put(&t, "%s %s %s", form->mnemonic, as_class_name(form->insn_class), isas[form->isa]);
    put_element(&t, form);
    put_operands(&t, insn, form);
    put_memory(&t, insn);
    if (insn->mask != AS_REG_NONE)
        put(&t, " mask=%s", as_reg_name(insn->mask, 8));
    put_regs(&t, "read", &e.read);
    put_regs(&t, "written", &e.written);
    put_regs(&t, "merged", &e.merged);
    put_regs(&t, "cleared", &e.cleared);
    put_flags(&t, "fread", e.flags_read);
    put_flags(&t, "fwritten", e.flags_written);
    put_flags(&t, "fundefined", e.flags_undefined);
    put_flags(&t, "fmaybe", e.flags_maybe);
    put_traits(&t, form->traits);
    if (insn->bits & AS_INSN_IDIOM)
        put(&t, " idiom");
    as_code_free(&code);
}
