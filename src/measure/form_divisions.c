/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divisions by their values: the cycles for a quotient of one, as the registers have here, and for
 * a quotient with all digits. Programs clear or extend the upper half of the dividend, so it is
 * zero in both.
 */
#include <string.h>

#include "base/error.h"
#include "measure/table.h"

/* Smaller ratios are noise between two blocks with some different instructions. */
#define DIFFERENT 1.08

static bool divides_registers(const struct as_form_case *one)
{
    const struct as_form *form = as_form_get(one->insn.form);
    const struct as_operand *o = &form->operand[0];

    return form->insn_class == AS_CLASS_DIV && form->operands == 1 && o->kind == AS_OPERAND_REG &&
           o->file >= AS_FILE_GPR32 && o->file <= AS_FILE_GPR64;
}

/* Encodes a dividend in rax that gives all digits when divided by three. `waits`: it depends on the
 * old rax. */
static size_t encode_dividend(const struct as_form_case *one, bool waits, uint8_t *out)
{
    const bool is_signed = strncmp(one->key, "idiv", 4) == 0;
    const bool is_wide = as_form_get(one->insn.form)->operand[0].file == AS_FILE_GPR64;
    size_t at = as_encode_text("mov ebp,3", out);

    at += as_encode_text(waits ? "or rax,-1" : "mov rax,-1", out + at);
    if (is_signed)
        at += as_encode_text(is_wide ? "shr rax,1" : "shr eax,1", out + at);
    return at + as_encode_text("xor edx,edx", out + at);
}

/* Measures dividend and division, dependent (`waits`) or independent. */
static int hard_cycles(struct as_table_work *w, const struct as_form_case *one, bool waits,
                       double *cycles, struct as_error *err)
{
    uint8_t bytes[6 * AS_ENCODE_B];
    struct as_cycles out;
    const size_t before = encode_dividend(one, waits, bytes);
    const size_t n = as_form_instance(one, 0, -1, bytes + before);

    *cycles = 0;
    if (!n)
        return 0;
    AS_TRY(as_table_chain(w, bytes, before + n, &out, err));
    *cycles = out.status == AS_METER_OK ? out.cycles : 0;
    return 0;
}

/* Measures vector divisions: a number by itself gives one; two registers give an endless
 * quotient. */
static int easy_vectors(struct as_table_work *w, const struct as_form_case *one,
                        struct as_timing *t, struct as_error *err)
{
    const struct as_form *form = as_form_get(one->insn.form);
    struct as_encode_choice choice = {.base = AS_ENCODE_KEEP, .index = AS_ENCODE_KEEP};
    uint8_t bytes[8 * AS_ENCODE_B], other[AS_ENCODE_B];
    struct as_cycles out;
    size_t at = 0;

    if (form->insn_class != AS_CLASS_DIV || !form->vector_b || form->operands != 3 ||
        form->memories || form->operand[2].kind != AS_OPERAND_REG)
        return 0;
    memset(choice.reg, AS_ENCODE_KEEP, sizeof choice.reg);
    choice.reg[1] = choice.reg[2] = 8;
    for (unsigned i = 0; i < t->copies; i++) {
        const size_t n = as_form_instance(one, i, -1, other);
        const size_t more = n ? as_encode_again(other, n, &choice, bytes + at) : 0;
        if (!more)
            return 0;
        at += more;
    }
    AS_TRY(as_table_cycles(w, bytes, at, &out, err));
    if (out.status == AS_METER_OK && out.cycles > 0)
        AS_TRY(as_table_settle(w, bytes, at, &out, err));
    if (out.status == AS_METER_OK && out.cycles > 0 &&
        t->each > DIFFERENT * out.cycles / t->copies) {
        t->hard_each = t->each;
        t->each = out.cycles / t->copies;
    }
    return 0;
}

int as_form_divisions(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                      struct as_error *err)
{
    const bool is_signed = strncmp(one->key, "idiv", 4) == 0;
    double each, chain;

    if (!divides_registers(one))
        return easy_vectors(w, one, t, err);
    AS_TRY(hard_cycles(w, one, false, &each, err));
    AS_TRY(hard_cycles(w, one, true, &chain, err));
    chain -= is_signed ? 2 : 1; /* makes the dividend from the last quotient */
    if (each > DIFFERENT * t->each)
        t->hard_each = each;
    if (t->implied_latency > 0 && chain > DIFFERENT * t->implied_latency)
        t->hard_latency = chain;
    return 0;
}
