/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the cost of instructions without a table entry by their class. Such instructions are
 * marked and counted. The figures are rounded and valid for most cores of the last ten years (Fog,
 * "Instruction tables"). So one such instruction does not spoil the prediction.
 */
#include "predict/internal.h"

struct class_cost {
    uint8_t insn_class;
    float slots, latency, latency_fp, own;
};

static const struct class_cost class_costs[] = {{AS_CLASS_NOP, 1, 0, 0, 0},
                                                {AS_CLASS_MOVE, 1, 1, 1, 0},
                                                {AS_CLASS_MUL, 1, 3, 4, 0},
                                                {AS_CLASS_FMA, 1, 4, 4, 0},
                                                {AS_CLASS_ADD, 1, 1, 3, 0},
                                                {AS_CLASS_DIV, 4, 15, 13, 5},
                                                {AS_CLASS_SQRT, 1, 18, 18, 6},
                                                {AS_CLASS_RCP, 1, 4, 4, 0},
                                                {AS_CLASS_RSQRT, 1, 4, 4, 0},
                                                {AS_CLASS_DOT, 2, 10, 10, 1},
                                                {AS_CLASS_ROUND, 1, 6, 6, 0},
                                                {AS_CLASS_CONVERT, 1, 5, 5, 0},
                                                {AS_CLASS_MINMAX, 1, 1, 3, 0},
                                                {AS_CLASS_STRING, 8, 5, 5, 4},
                                                {AS_CLASS_EXCHANGE, 3, 2, 2, 1},
                                                {AS_CLASS_CALL, 2, 0, 0, 0},
                                                {AS_CLASS_RETURN, 2, 0, 0, 0},
                                                {AS_CLASS_GATHER, 8, 10, 10, 4},
                                                {AS_CLASS_SCATTER, 12, 10, 10, 8},
                                                {AS_CLASS_COMPRESS, 2, 4, 4, 2},
                                                {AS_CLASS_TRANSCENDENTAL, 50, 60, 60, 50},
                                                {AS_CLASS_CRYPTO, 1, 4, 4, 0},
                                                {AS_CLASS_TILE, 8, 16, 16, 16},
                                                {AS_CLASS_SYSCALL, 100, 100, 100, 100},
                                                {AS_CLASS_FENCE, 2, 5, 5, 20},
                                                {AS_CLASS_CACHE, 2, 5, 5, 10},
                                                {AS_CLASS_STATE, 4, 4, 4, 4},
                                                {AS_CLASS_TIME, 20, 25, 25, 25},
                                                {AS_CLASS_RANDOM, 20, 300, 300, 300},
                                                {AS_CLASS_SYSTEM, 20, 30, 30, 30}};

/* Cost of a locked read-modify-write of any kind. The store waits for everything before it, and
 * later instructions wait for the store. Most cores need 17 to 20 cycles (Fog; own measurements
 * agree). */
#define LOCKED_CYCLES 18
#define LOCKED_SLOTS  8

static void add_use(struct as_op *op, int group, float n, bool address)
{
    if (group >= 0 && op->use_n < AS_USES)
        op->use[op->use_n++] = (struct as_op_use){(uint8_t)group, address, n};
}

static bool has_memory(const struct as_form *form, unsigned access)
{
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_MEM && form->operand[i].access & access)
            return form->insn_class != AS_CLASS_NOP;
    for (unsigned i = 0; i < form->memories; i++)
        if (form->memory[i].access & access)
            return true;
    return false;
}

static void estimate_memory(const struct as_predictor *p, const struct as_form *form,
                            struct as_op *op)
{
    if (has_memory(form, AS_ACCESS_READ) || form->insn_class == AS_CLASS_PREFETCH)
        add_use(op, op->vector && p->group_load_fp >= 0 ? p->group_load_fp : p->group_load, 1,
                true);
    if (!has_memory(form, AS_ACCESS_WRITE))
        return;
    add_use(op, p->group_store_address, 1, true);
    add_use(op, p->group_store_data, 1, false);
}

static void estimate_class(const struct as_predictor *p, const struct as_form *form,
                           struct as_op *op)
{
    const bool fp = form->traits & AS_TRAIT_FP;
    op->slots = 1;
    op->latency = op->vector && !fp ? 2 : 1;
    for (size_t i = 0; i < sizeof class_costs / sizeof *class_costs; i++)
        if (class_costs[i].insn_class == form->insn_class) {
            op->slots = class_costs[i].slots;
            op->latency = fp ? class_costs[i].latency_fp : class_costs[i].latency;
            op->own = class_costs[i].own;
        }
    if (form->traits & AS_TRAIT_LOCK) {
        op->slots = LOCKED_SLOTS;
        op->own = LOCKED_CYCLES;
    }
    op->worst = op->latency;
    if (form->insn_class == AS_CLASS_NOP)
        return;
    const bool moves = form->insn_class == AS_CLASS_MOVE || form->insn_class == AS_CLASS_PUSH ||
                       form->insn_class == AS_CLASS_POP || form->insn_class == AS_CLASS_PREFETCH;
    if (moves && (has_memory(form, AS_ACCESS_READ) || has_memory(form, AS_ACCESS_WRITE) ||
                  form->insn_class == AS_CLASS_PREFETCH))
        op->latency = op->worst = 0;
    else if (op->branch)
        add_use(op, p->group_branch >= 0 ? p->group_branch : p->group_alu, 1, false);
    else
        add_use(op, op->vector ? p->group_fp : p->group_alu, op->slots < 4 ? op->slots : 4, false);
}

/* Estimates a floating-point division or root on the divider of the core. The divider is assumed to
 * be 16 bytes wide, as on all cores without table entries. */
static void estimate_division(const struct as_predictor *p, const struct as_form *form,
                              struct as_op *op)
{
    const int unit = as_uarch_group_find(p->uarch, "FDIV");
    const float parts = form->vector_b > 16 ? (float)form->vector_b / 16 : 1;

    if (form->insn_class != AS_CLASS_DIV && form->insn_class != AS_CLASS_SQRT)
        return;
    if (unit < 0 || !(form->traits & AS_TRAIT_FP))
        return;
    op->slots = 1;
    op->use_n = 0;
    add_use(op, p->group_fp, 1, false);
    add_use(op, unit, parts * op->own, false);
    op->own = 0;
}

void as_estimate_op(const struct as_predictor *p, const struct as_form *form, struct as_op *op,
                    bool memory_alone)
{
    if (!memory_alone) {
        estimate_class(p, form, op);
        estimate_division(p, form, op);
        op->flags |= AS_TIMING_ESTIMATED;
    } else {
        op->flags &= (uint8_t) ~(AS_TIMING_MOVE | AS_TIMING_ZERO);
    }
    estimate_memory(p, form, op);
}
