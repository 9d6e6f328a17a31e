/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interpreter of call frame instructions (DW_CFA_*). It runs the programs of a CIE and an FDE. Each
 * row gives the CFA and the rules of registers for a range of addresses. Only rules of the sixteen
 * general registers and the return address are kept.
 * Sources: DWARF 5 section 6.4.2; LSB 5.0 core (GNU extensions); AMD64 supplement table 3.36.
 */
#include "object/cfi.h"

#include <dwarf.h>
#include <string.h>

/* Max nesting of DW_CFA_remember_state. Compilers use one or two levels; libgcc has no limit. */
#define REMEMBER_MOST 32
/* Internal kind of a register without a rule. */
#define UNSPECIFIED 0xff

struct cfi_state {
    int32_t cfa_value;
    uint8_t cfa_kind, cfa_register;
    uint8_t kind[AS_UNWIND_REGISTERS];
    int32_t value[AS_UNWIND_REGISTERS];
};

struct cfi_machine {
    const struct as_frame_table *table;
    const struct as_frame_cie *cie;
    const struct as_frame_fde *fde;
    struct as_cfi_rows *out; /* NULL while the CIE's program runs */
    uint64_t at;             /* start address of the current row */
    bool nomem;
    struct cfi_state now, initial;
    struct cfi_state remembered[REMEMBER_MOST];
    unsigned remembered_n;
};

static bool same_rules(const struct as_cfi_rows *out, const struct as_cfi_row *row,
                       const struct as_unwind_rule *rule, unsigned n)
{
    return row->rule_n == n &&
           (n == 0 || memcmp(&out->rule.at[row->first_rule], rule, n * sizeof *rule) == 0);
}

static unsigned rules_of(const struct cfi_state *state, struct as_unwind_rule *rule)
{
    unsigned n = 0;
    for (unsigned i = 0; i < AS_UNWIND_REGISTERS && state->cfa_kind != AS_CFA_NONE; i++)
        if (state->kind[i] != UNSPECIFIED)
            rule[n++] = (struct as_unwind_rule){
                .reg = (uint8_t)i, .kind = state->kind[i], .value = state->value[i]};
    return n;
}

/* Ends the current row at `end` and appends it. Extends the previous row if both are equal. */
static int emit_row(struct cfi_machine *m, uint64_t end)
{
    struct as_cfi_rows *out = m->out;
    struct as_unwind_rule rule[AS_UNWIND_REGISTERS];
    struct as_cfi_row row = {.start = m->at,
                             .end = end,
                             .cfa_kind = m->now.cfa_kind,
                             .cfa_register = m->now.cfa_register,
                             .cfa_value = m->now.cfa_value};
    if (end <= m->at)
        return 0;
    m->at = end;
    unsigned n = rules_of(&m->now, rule);
    row.rule_n = (uint8_t)n;
    row.first_rule = (uint32_t)out->rule.n;
    struct as_cfi_row *last = out->row.n ? &out->row.at[out->row.n - 1] : NULL;
    if (last && same_rules(out, last, rule, n)) {
        if (last->cfa_kind == row.cfa_kind && last->cfa_register == row.cfa_register &&
            last->cfa_value == row.cfa_value) {
            last->end = end;
            return 0;
        }
        row.first_rule = last->first_rule;
    } else {
        for (unsigned i = 0; i < n; i++)
            AS_TRY(as_vec_push(&out->rule, rule[i]));
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the push allocates, or fails */
    return as_vec_push(&out->row, row);
}

static void advance(struct cfi_machine *m, struct as_read *r, uint64_t units)
{
    uint64_t by_b, to;
    if (__builtin_mul_overflow(units, m->cie->code_align, &by_b) ||
        __builtin_add_overflow(m->at, by_b, &to) || !m->out) {
        as_read_fail(r); /* the program of a CIE has no addresses, so it cannot advance */
        return;
    }
    if (emit_row(m, to < m->fde->end ? to : m->fde->end) < 0)
        m->nomem = true;
}

static void set_location(struct cfi_machine *m, struct as_read *r)
{
    uint64_t to = as_frame_pointer(m->table, r, m->cie->fde_encoding, m->fde->start);
    if (r->bad || to < m->at || !m->out)
        as_read_fail(r);
    else if (emit_row(m, to < m->fde->end ? to : m->fde->end) < 0)
        m->nomem = true;
}

static int32_t narrow_offset(struct as_read *r, int64_t value)
{
    if (value != (int32_t)value)
        as_read_fail(r);
    return (int32_t)value;
}

/* Multiplies a factored offset by the data alignment factor. Fails on overflow. */
static int32_t scaled_offset(struct cfi_machine *m, struct as_read *r, int64_t units)
{
    int64_t value;
    if (__builtin_mul_overflow(units, m->cie->data_align, &value))
        as_read_fail(r);
    return r->bad ? 0 : narrow_offset(r, value);
}

/* Reads an unsigned LEB128 offset. Fails for a value of more than 63 bits. */
static int64_t read_cfi_unsigned(struct as_read *r)
{
    uint64_t value = as_read_uleb(r);
    if (value <= INT64_MAX)
        return (int64_t)value;
    as_read_fail(r);
    return 0;
}

static void rule(struct cfi_machine *m, uint64_t reg, uint8_t kind, int32_t value)
{
    if (reg >= AS_UNWIND_REGISTERS)
        return;
    m->now.kind[reg] = kind;
    m->now.value[reg] = value;
}

/* Skips an expression. Returns the table offset of its length field. */
static int32_t read_expression_offset(struct cfi_machine *m, struct as_read *r)
{
    int32_t at = narrow_offset(r, (int64_t)as_read_offset(r));
    (void)m;
    as_read_skip(r, as_read_uleb(r));
    return at;
}

static void define_cfa(struct cfi_machine *m, struct as_read *r, uint64_t reg, int32_t value)
{
    if (reg >= AS_UNWIND_REGISTERS) {
        as_read_fail(r);
        return;
    }
    m->now.cfa_kind = AS_CFA_REGISTER;
    m->now.cfa_register = (uint8_t)reg;
    m->now.cfa_value = value;
}

/* Returns the register of the CFA. Fails unless the CFA is a register plus an offset. */
static uint64_t cfa_register(struct cfi_machine *m, struct as_read *r)
{
    if (m->now.cfa_kind != AS_CFA_REGISTER)
        as_read_fail(r);
    return m->now.cfa_register;
}

static void restore(struct cfi_machine *m, uint64_t reg)
{
    if (reg < AS_UNWIND_REGISTERS)
        rule(m, reg, m->initial.kind[reg], m->initial.value[reg]);
}

static void remember_state(struct cfi_machine *m, struct as_read *r)
{
    if (m->remembered_n == REMEMBER_MOST)
        as_read_fail(r);
    else
        m->remembered[m->remembered_n++] = m->now;
}

static void restore_state(struct cfi_machine *m, struct as_read *r)
{
    if (m->remembered_n == 0)
        as_read_fail(r);
    else
        m->now = m->remembered[--m->remembered_n];
}

/* Runs an instruction that defines the CFA. Returns false for other instructions. */
static bool run_cfa(struct cfi_machine *m, struct as_read *r, uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case DW_CFA_def_cfa:
        reg = as_read_uleb(r);
        define_cfa(m, r, reg, narrow_offset(r, read_cfi_unsigned(r)));
        return true;
    case DW_CFA_def_cfa_sf:
        reg = as_read_uleb(r);
        define_cfa(m, r, reg, scaled_offset(m, r, as_read_sleb(r)));
        return true;
    case DW_CFA_def_cfa_register:
        cfa_register(m, r);
        define_cfa(m, r, as_read_uleb(r), m->now.cfa_value);
        return true;
    case DW_CFA_def_cfa_offset:
        define_cfa(m, r, cfa_register(m, r), narrow_offset(r, read_cfi_unsigned(r)));
        return true;
    case DW_CFA_def_cfa_offset_sf:
        define_cfa(m, r, cfa_register(m, r), scaled_offset(m, r, as_read_sleb(r)));
        return true;
    case DW_CFA_def_cfa_expression:
        m->now.cfa_kind = AS_CFA_EXPRESSION;
        m->now.cfa_register = 0;
        m->now.cfa_value = read_expression_offset(m, r);
        return true;
    default:
        return false;
    }
}

/* Runs an instruction that sets the rule of one register. Returns false for other instructions. */
static bool run_rule(struct cfi_machine *m, struct as_read *r, uint8_t op)
{
    uint64_t reg = as_read_uleb(r), from;
    switch (op) {
    case DW_CFA_offset_extended:
        rule(m, reg, AS_RULE_OFFSET, scaled_offset(m, r, read_cfi_unsigned(r)));
        return true;
    case DW_CFA_GNU_negative_offset_extended:
        rule(m, reg, AS_RULE_OFFSET, scaled_offset(m, r, -read_cfi_unsigned(r)));
        return true;
    case DW_CFA_offset_extended_sf:
        rule(m, reg, AS_RULE_OFFSET, scaled_offset(m, r, as_read_sleb(r)));
        return true;
    case DW_CFA_val_offset:
        rule(m, reg, AS_RULE_VAL_OFFSET, scaled_offset(m, r, read_cfi_unsigned(r)));
        return true;
    case DW_CFA_val_offset_sf:
        rule(m, reg, AS_RULE_VAL_OFFSET, scaled_offset(m, r, as_read_sleb(r)));
        return true;
    case DW_CFA_restore_extended:
        restore(m, reg);
        return true;
    case DW_CFA_undefined:
        rule(m, reg, AS_RULE_UNDEFINED, 0);
        return true;
    case DW_CFA_same_value:
        rule(m, reg, AS_RULE_SAME, 0);
        return true;
    case DW_CFA_register:
        from = as_read_uleb(r);
        if (from < AS_UNWIND_REGISTERS)
            rule(m, reg, AS_RULE_REGISTER, (int32_t)from);
        else /* saved in a vector register, which samples do not contain */
            rule(m, reg, AS_RULE_UNDEFINED, 0);
        return true;
    case DW_CFA_expression:
        rule(m, reg, AS_RULE_EXPRESSION, read_expression_offset(m, r));
        return true;
    case DW_CFA_val_expression:
        rule(m, reg, AS_RULE_VAL_EXPRESSION, read_expression_offset(m, r));
        return true;
    default:
        return false;
    }
}

static void run_one(struct cfi_machine *m, struct as_read *r)
{
    uint8_t op = as_read_u8(r), low = op & 0x3f;
    switch (op & 0xc0) {
    case DW_CFA_advance_loc:
        advance(m, r, low);
        return;
    case DW_CFA_offset:
        rule(m, low, AS_RULE_OFFSET, scaled_offset(m, r, read_cfi_unsigned(r)));
        return;
    case DW_CFA_restore:
        restore(m, low);
        return;
    default:
        break;
    }
    switch (op) {
    case DW_CFA_nop:
        return;
    case DW_CFA_set_loc:
        set_location(m, r);
        return;
    case DW_CFA_advance_loc1:
        advance(m, r, as_read_u8(r));
        return;
    case DW_CFA_advance_loc2:
        advance(m, r, as_read_u16(r));
        return;
    case DW_CFA_advance_loc4:
        advance(m, r, as_read_u32(r));
        return;
    case DW_CFA_MIPS_advance_loc8:
        advance(m, r, as_read_u64(r));
        return;
    case DW_CFA_remember_state:
        remember_state(m, r);
        return;
    case DW_CFA_restore_state:
        restore_state(m, r);
        return;
    case DW_CFA_GNU_args_size: /* the CFA does not depend on it */
        as_read_uleb(r);
        return;
    default:
        if (!run_cfa(m, r, op) && !run_rule(m, r, op))
            as_read_fail(r);
    }
}

static bool run_program(struct cfi_machine *m, struct as_read program)
{
    while (as_read_left(&program) && !m->nomem) {
        struct cfi_state before = m->now;
        run_one(m, &program);
        if (program.bad) {
            m->now = before;
            return false;
        }
        if (m->out && m->at >= m->fde->end)
            return true;
    }
    return true;
}

int as_cfi_rows_of(const struct as_frame_table *table, const struct as_frame_cie *cie,
                   const struct as_frame_fde *fde, struct as_cfi_rows *out)
{
    struct cfi_machine
        m; /* `remembered` is not cleared: entries are written before they are read */
    m.table = table;
    m.cie = cie;
    m.fde = fde;
    m.at = fde->start;
    m.out = NULL;
    m.nomem = false;
    m.remembered_n = 0;
    m.now = (struct cfi_state){.cfa_kind = AS_CFA_NONE};
    memset(m.now.kind, UNSPECIFIED, sizeof m.now.kind);
    m.initial = m.now;
    out->row.n = out->rule.n = 0;
    bool good = run_program(&m, cie->program) && cie->return_column == AS_UNWIND_RA;
    m.initial = m.now;
    m.out = out;
    good = good && run_program(&m, fde->program);
    if (!good) { /* the effect of the failing instruction is unknown */
        m.now.cfa_kind = AS_CFA_NONE;
        m.now.cfa_register = 0;
        m.now.cfa_value = 0;
    }
    if (m.nomem)
        return AS_ERR_NOMEM;
    return emit_row(&m, fde->end);
}
