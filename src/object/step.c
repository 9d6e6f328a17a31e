/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step of unwinding: computes the registers of the caller from those of a frame, by a row. A
 * callback reads memory, so the step works for live processes, stack snapshots and tests.
 * Expressions are those of DWARF 5 section 2.5 that need neither a unit nor a frame base.
 */
#include <dwarf.h>
#include <string.h>

#include "base/read.h"
#include "object/internal.h"

#define STACK_MOST 32
/* Max operations of one expression, to stop loops (DW_OP_skip backwards). */
#define STEPS_MOST 1024
/* rbx, rbp, r12 to r15: the registers that a callee preserves (AMD64 supplement, figure 3.4). */
#define PRESERVED ((1u << 3) | (1u << 6) | (0xfu << 12))

struct eval {
    const struct as_unwind_frame *frame;
    as_unwind_read *read;
    void *context;
    uint64_t bias;
    uint64_t stack[STACK_MOST];
    unsigned n;
    enum as_unwind_result result; /* reason of a failure */
};

static void push_value(struct eval *e, struct as_read *r, uint64_t value)
{
    if (e->n == STACK_MOST)
        as_read_fail(r);
    else
        e->stack[e->n++] = value;
}

static uint64_t pop(struct eval *e, struct as_read *r)
{
    if (e->n == 0) {
        as_read_fail(r);
        return 0;
    }
    return e->stack[--e->n];
}

/* Returns the value `depth` entries below the top of the stack. Fails if there is none. */
static uint64_t peek(struct eval *e, struct as_read *r, unsigned depth)
{
    if (depth >= e->n) {
        as_read_fail(r);
        return 0;
    }
    return e->stack[e->n - 1 - depth];
}

static uint64_t register_value(struct eval *e, struct as_read *r, uint64_t reg)
{
    if (reg >= AS_UNWIND_REGISTERS || !(e->frame->known >> reg & 1)) {
        as_read_fail(r);
        return 0;
    }
    return e->frame->reg[reg];
}

static void dereference(struct eval *e, struct as_read *r, unsigned size_b)
{
    uint64_t word = 0, address = pop(e, r);
    if (size_b == 0 || size_b > 8) {
        as_read_fail(r);
        return;
    }
    if (!r->bad && !e->read(e->context, address, &word)) {
        e->result = AS_UNWIND_NO_MEMORY;
        as_read_fail(r);
    }
    push_value(e, r, size_b == 8 ? word : word & ((1ull << 8 * size_b) - 1));
}

static void jump_by(struct as_read *r, int16_t by)
{
    int64_t to = (int64_t)as_read_offset(r) + by;
    if (to < 0)
        as_read_fail(r);
    else
        as_read_seek(r, (uint64_t)to);
}

/* Runs an operation that pushes its operand. Returns false for other operations. */
static bool run_constant(struct eval *e, struct as_read *r, uint8_t op)
{
    switch (op) {
    case DW_OP_addr:
        push_value(e, r, as_read_u64(r) + e->bias);
        return true;
    case DW_OP_const1u:
        push_value(e, r, as_read_u8(r));
        return true;
    case DW_OP_const1s:
        push_value(e, r, (uint64_t)as_read_i8(r));
        return true;
    case DW_OP_const2u:
        push_value(e, r, as_read_u16(r));
        return true;
    case DW_OP_const2s:
        push_value(e, r, (uint64_t)as_read_i16(r));
        return true;
    case DW_OP_const4u:
        push_value(e, r, as_read_u32(r));
        return true;
    case DW_OP_const4s:
        push_value(e, r, (uint64_t)as_read_i32(r));
        return true;
    case DW_OP_const8u:
    case DW_OP_const8s:
        push_value(e, r, as_read_u64(r));
        return true;
    case DW_OP_constu:
        push_value(e, r, as_read_uleb(r));
        return true;
    case DW_OP_consts:
        push_value(e, r, (uint64_t)as_read_sleb(r));
        return true;
    default:
        return false;
    }
}

/* Runs an operation that replaces two values by one. Returns false for other operations. */
static bool run_binary(struct eval *e, struct as_read *r, uint8_t op)
{
    uint64_t b = peek(e, r, 0), a = peek(e, r, 1), v;
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    switch (op) {
    case DW_OP_and:
        v = a & b;
        break;
    case DW_OP_or:
        v = a | b;
        break;
    case DW_OP_xor:
        v = a ^ b;
        break;
    case DW_OP_plus:
        v = a + b;
        break;
    case DW_OP_minus:
        v = a - b;
        break;
    case DW_OP_mul:
        v = a * b;
        break;
    case DW_OP_div:
        v = sb == 0 ? 0 : sb == -1 ? -a : (uint64_t)(sa / sb);
        if (sb == 0)
            as_read_fail(r);
        break;
    case DW_OP_mod:
        v = b ? a % b : 0;
        if (b == 0)
            as_read_fail(r);
        break;
    case DW_OP_shl:
        v = b < 64 ? a << b : 0;
        break;
    case DW_OP_shr:
        v = b < 64 ? a >> b : 0;
        break;
    case DW_OP_shra:
        v = (uint64_t)(sa >> (b < 64 ? b : 63));
        break;
    case DW_OP_eq:
        v = a == b;
        break;
    case DW_OP_ne:
        v = a != b;
        break;
    case DW_OP_lt:
        v = sa < sb;
        break;
    case DW_OP_le:
        v = sa <= sb;
        break;
    case DW_OP_gt:
        v = sa > sb;
        break;
    case DW_OP_ge:
        v = sa >= sb;
        break;
    default:
        return false;
    }
    pop(e, r);
    pop(e, r);
    push_value(e, r, v);
    return true;
}

/* Runs an operation that rearranges the stack or changes one value. Returns false for other
 * operations. */
static bool run_stack(struct eval *e, struct as_read *r, uint8_t op)
{
    uint64_t a, b, c;
    switch (op) {
    case DW_OP_dup:
        push_value(e, r, peek(e, r, 0));
        return true;
    case DW_OP_drop:
        pop(e, r);
        return true;
    case DW_OP_over:
        push_value(e, r, peek(e, r, 1));
        return true;
    case DW_OP_pick:
        push_value(e, r, peek(e, r, as_read_u8(r)));
        return true;
    case DW_OP_swap:
        a = pop(e, r);
        b = pop(e, r);
        push_value(e, r, a);
        push_value(e, r, b);
        return true;
    case DW_OP_rot:
        a = pop(e, r);
        b = pop(e, r);
        c = pop(e, r);
        push_value(e, r, a);
        push_value(e, r, c);
        push_value(e, r, b);
        return true;
    case DW_OP_abs:
        a = pop(e, r);
        push_value(e, r, (int64_t)a < 0 ? -a : a);
        return true;
    case DW_OP_neg:
        push_value(e, r, -pop(e, r));
        return true;
    case DW_OP_not:
        push_value(e, r, ~pop(e, r));
        return true;
    case DW_OP_plus_uconst:
        push_value(e, r, pop(e, r) + as_read_uleb(r));
        return true;
    default:
        return false;
    }
}

static void run_one(struct eval *e, struct as_read *r)
{
    uint8_t op = as_read_u8(r);
    uint64_t value;
    int16_t by;
    if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
        push_value(e, r, op - DW_OP_lit0);
        return;
    }
    if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
        value = register_value(e, r, op - DW_OP_breg0);
        push_value(e, r, value + (uint64_t)as_read_sleb(r));
        return;
    }
    switch (op) {
    case DW_OP_nop:
        return;
    case DW_OP_bregx:
        value = register_value(e, r, as_read_uleb(r));
        push_value(e, r, value + (uint64_t)as_read_sleb(r));
        return;
    case DW_OP_deref:
        dereference(e, r, 8);
        return;
    case DW_OP_deref_size:
        dereference(e, r, as_read_u8(r));
        return;
    case DW_OP_skip:
        jump_by(r, as_read_i16(r));
        return;
    case DW_OP_bra:
        by = as_read_i16(r);
        if (pop(e, r))
            jump_by(r, by);
        return;
    default:
        if (!run_constant(e, r, op) && !run_stack(e, r, op) && !run_binary(e, r, op))
            as_read_fail(r);
    }
}

/* Evaluates the expression at `at`. For the rule of a register, *cfa is pushed first; `cfa` is NULL
 * for the expression of the CFA. Returns false on failure and sets e->result. */
static bool evaluate_expression(struct eval *e, const struct as_object *object,
                                const struct as_unwind_row *row, int32_t at, const uint64_t *cfa,
                                uint64_t *out)
{
    size_t n;
    const uint8_t *p = as_object_unwind_expression(object, row, at, &n);
    struct as_read r = as_read_of(p, p ? n : 0);
    e->n = 0;
    e->result = AS_UNWIND_DAMAGED;
    if (cfa)
        push_value(e, &r, *cfa);
    for (unsigned steps = 0; as_read_left(&r) && steps < STEPS_MOST; steps++)
        run_one(e, &r);
    if (r.bad || as_read_left(&r) || e->n == 0)
        return false;
    *out = e->stack[e->n - 1];
    return true;
}

static bool find_cfa(struct eval *e, const struct as_object *object,
                     const struct as_unwind_row *row, uint64_t *cfa)
{
    if (row->cfa_kind == AS_CFA_EXPRESSION)
        return evaluate_expression(e, object, row, row->cfa_value, NULL, cfa);
    e->result = AS_UNWIND_DAMAGED;
    if (row->cfa_kind != AS_CFA_REGISTER || !(e->frame->known >> row->cfa_register & 1))
        return false;
    *cfa = e->frame->reg[row->cfa_register] + (uint64_t)row->cfa_value;
    return true;
}

/*
 * Returns true if a preserved register was popped already. GCC epilogues pop registers without
 * unwind information. The saved word is then below the stack pointer, where a copy of the stack has
 * no data. The register has the caller's value again.
 */
static bool is_popped(const struct as_unwind_frame *frame, unsigned reg, uint64_t address)
{
    return (PRESERVED >> reg & 1) && (frame->known >> reg & 1) &&
           address < frame->reg[AS_UNWIND_RSP];
}

/*
 * Computes the caller's value of one register by its rule. `*known` is false for a lost value. The
 * caller fails only if that is the return address; other registers are still computed.
 */
static enum as_unwind_result apply_rule(struct eval *e, const struct as_object *object,
                                        const struct as_unwind_row *row,
                                        const struct as_unwind_rule *rule, uint64_t cfa,
                                        uint64_t *value, bool *known)
{
    uint64_t address;
    *known = true;
    switch (rule->kind) {
    case AS_RULE_SAME:
    case AS_RULE_REGISTER: {
        unsigned from = rule->kind == AS_RULE_SAME ? rule->reg : (unsigned)rule->value;
        *value = e->frame->reg[from];
        *known = e->frame->known >> from & 1;
        return AS_UNWIND_CALLER;
    }
    case AS_RULE_OFFSET:
        address = cfa + (uint64_t)rule->value;
        *known = e->read(e->context, address, value);
        if (!*known && is_popped(e->frame, rule->reg, address)) {
            *value = e->frame->reg[rule->reg];
            *known = true;
        }
        return *known ? AS_UNWIND_CALLER : AS_UNWIND_NO_MEMORY;
    case AS_RULE_VAL_OFFSET:
        *value = cfa + (uint64_t)rule->value;
        return AS_UNWIND_CALLER;
    case AS_RULE_EXPRESSION:
        *known = evaluate_expression(e, object, row, rule->value, &cfa, &address);
        if (!*known)
            return e->result;
        *known = e->read(e->context, address, value);
        return *known ? AS_UNWIND_CALLER : AS_UNWIND_NO_MEMORY;
    case AS_RULE_VAL_EXPRESSION:
        *known = evaluate_expression(e, object, row, rule->value, &cfa, value);
        return *known ? AS_UNWIND_CALLER : e->result;
    default:
        *known = false;
        return AS_UNWIND_OUTERMOST;
    }
}

enum as_unwind_result as_object_unwind_step(const struct as_object *object,
                                            const struct as_unwind_row *row, uint64_t bias,
                                            struct as_unwind_frame *frame, as_unwind_read *read,
                                            void *context)
{
    struct eval e;
    e.frame = frame;
    e.read = read;
    e.context = context;
    e.bias = bias;
    uint64_t cfa;
    if (!find_cfa(&e, object, row, &cfa))
        return e.result;
    struct as_unwind_frame caller = *frame;
    caller.known = (frame->known & PRESERVED) | 1u << AS_UNWIND_RSP;
    caller.reg[AS_UNWIND_RSP] = cfa;
    caller.signal_frame = row->signal_frame;
    enum as_unwind_result result = AS_UNWIND_OUTERMOST;
    for (unsigned i = 0; i < row->rule_n; i++) {
        const struct as_unwind_rule *rule = &row->rule[i];
        bool known;
        enum as_unwind_result one =
            apply_rule(&e, object, row, rule, cfa, &caller.reg[rule->reg], &known);
        caller.known = (caller.known & ~(1u << rule->reg)) | (uint32_t)known << rule->reg;
        if (rule->reg == AS_UNWIND_RA)
            result = one;
    }
    if (result != AS_UNWIND_CALLER)
        return result;
    if (!(caller.known >> AS_UNWIND_RA & 1))
        return AS_UNWIND_DAMAGED; /* the register with the return address is lost */
    if (caller.reg[AS_UNWIND_RA] == 0)
        return AS_UNWIND_OUTERMOST;
    *frame = caller;
    return AS_UNWIND_CALLER;
}
