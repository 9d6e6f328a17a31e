/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulates an in-order core with two pipes (Knights Corner). Operations issue in program order.
 * Two issue together if the first fits the first pipe and the second fits the second pipe. Neither
 * may depend on the other. A thread issues at most every second cycle; all cycles are those of one
 * thread.
 *
 * The rules are those of the Pentium, as in Intel's "Xeon Phi Coprocessor System Software
 * Developers Guide" (328207). The groups of the table define the pipe of each operation
 * (doc/reference/uarch.md): ALU uses both pipes, FANY only the first, BR only the second.
 */
#include <math.h>

#include "predict/internal.h"

enum { ORDERED_KEPT = 64, ORDERED_MOST = 24000 };

enum as_pairing { AS_PAIR_ANY, AS_PAIR_FIRST, AS_PAIR_SECOND, AS_PAIR_NONE };

struct as_ordered {
    const struct as_piece_of_code *block;
    uint64_t pipes, second; /* bit masks of ports */
    double gap;
    double *start; /* by operation, for the last iterations */
    struct as_edges_to edges;
    double unit_free[AS_UARCH_PORTS];
    double at;                  /* cycle of the current issue */
    double next;                /* first cycle of the next issue */
    const struct as_op *leader; /* operation that another may join, or NULL */
};

static enum as_pairing pairing_of(const struct as_ordered *o, const struct as_op *op)
{
    bool first = false, second = false;
    for (unsigned k = 0; k < op->use_n; k++) {
        const uint64_t ports = o->block->uarch->group[op->use[k].group].ports & o->pipes;
        first |= ports && !(ports & o->second);
        second |= ports && !(ports & ~o->second);
    }
    return first && second ? AS_PAIR_NONE
           : first         ? AS_PAIR_FIRST
           : second        ? AS_PAIR_SECOND
                           : AS_PAIR_ANY;
}

/* Returns the cycles for which an operation blocks its pipe and all later operations. */
static double pipe_cycles(const struct as_ordered *o, const struct as_op *op)
{
    double most = (double)op->own;
    for (unsigned k = 0; k < op->use_n; k++)
        if (o->block->uarch->group[op->use[k].group].ports & o->pipes)
            most = fmax(most, (double)op->use[k].n);
    return most;
}

static bool write_the_same(const struct as_op *a, const struct as_op *b)
{
    for (unsigned i = 0; i < a->write_n; i++)
        for (unsigned k = 0; k < b->write_n; k++)
            if (a->write[i].place == b->write[k].place && a->write[i].place < AS_REG_COUNT)
                return true;
    return false;
}

static bool may_join(const struct as_ordered *o, const struct as_op *op, double ready)
{
    const enum as_pairing kind = pairing_of(o, op);
    if (!o->leader || ready > o->at + 1e-9 || op->own > 0)
        return false;
    if (o->block->without & AS_WITHOUT_PORTS)
        return true;
    return (kind == AS_PAIR_ANY || kind == AS_PAIR_SECOND) && !write_the_same(o->leader, op);
}

/* Returns the cycle in which the sources of an operation are ready. Branches are predicted, so they
 * do not wait. */
static double sources_ready_at(const struct as_ordered *o, uint32_t i, uint32_t iteration)
{
    const struct as_piece_of_code *block = o->block;
    const struct as_op *op = &block->op[i];
    double ready = 0;
    if (op->branch || block->without & AS_WITHOUT_LATENCY)
        return 0;
    for (uint32_t k = o->edges.first[i]; k < o->edges.first[i + 1]; k++) {
        const struct as_dependence_edge *e = &block->edge.at[o->edges.order[k]];
        if (e->distance > iteration)
            continue;
        const uint32_t row = (iteration - e->distance) % ORDERED_KEPT;
        const double start = o->start[(size_t)row * block->op_n + e->from] + (double)e->weight;
        ready = fmax(ready, op->loads ? start - (double)op->load_latency : start);
    }
    return ready;
}

/* Returns the cycle in which the units outside of the pipes are free. Each is busy for the table's
 * number of cycles. */
static double units_free_at(const struct as_ordered *o, const struct as_op *op)
{
    double at = 0;
    for (unsigned k = 0; k < op->use_n; k++) {
        const uint64_t ports = o->block->uarch->group[op->use[k].group].ports;
        if (!(ports & o->pipes) && !(o->block->without & AS_WITHOUT_PORTS))
            at = fmax(at, o->unit_free[__builtin_ctzll(ports)]);
    }
    return at;
}

static double issue_in_order(struct as_ordered *o, const struct as_op *op, double ready)
{
    const double pipe = pipe_cycles(o, op);
    if (!op->use_n && op->slots < 0.5F)
        return ready; /* an ablation has removed it */
    if (may_join(o, op, ready)) {
        o->leader = NULL;
        o->next = fmax(o->next, o->at + pipe);
    } else {
        const enum as_pairing kind = pairing_of(o, op);
        o->at = fmax(o->next, ceil(ready - 1e-9));
        o->next = o->at + fmax(o->gap, pipe);
        o->leader =
            kind == AS_PAIR_ANY || kind == AS_PAIR_FIRST || o->block->without & AS_WITHOUT_PORTS
                ? op
                : NULL;
    }
    if (op->jump_taken || op->own > 0)
        o->leader = NULL;
    for (unsigned k = 0; k < op->use_n; k++) {
        const uint64_t ports = o->block->uarch->group[op->use[k].group].ports;
        if (!(ports & o->pipes))
            o->unit_free[__builtin_ctzll(ports)] = o->at + (double)op->use[k].n;
    }
    return o->at;
}

static void run_in_order(struct as_ordered *o, uint32_t i, uint32_t iteration,
                         struct as_timeline_entry *entry)
{
    const struct as_op *op = &o->block->op[i];
    const double ready = sources_ready_at(o, i, iteration);
    const double first = o->leader ? o->at : o->next;
    const double at = issue_in_order(o, op, fmax(ready, units_free_at(o, op)));
    const double start = at + (op->loads ? (double)op->load_latency : 0);
    const double done = start + (op->latency >= 1 || op->loads ? (double)op->latency : 1);
    o->start[(size_t)(iteration % ORDERED_KEPT) * o->block->op_n + i] = start;
    if (entry)
        *entry = (struct as_timeline_entry){.iteration = iteration,
                                            .insn = op->insn,
                                            .dispatch = (int32_t)first,
                                            .ready = (int32_t)ready,
                                            .issue = (int32_t)at,
                                            .done = (int32_t)done,
                                            .retire = (int32_t)done};
}

static bool find_pipes(const struct as_predictor *p, struct as_ordered *o)
{
    if (p->group_alu < 0 || p->group_branch < 0)
        return false;
    o->pipes = p->uarch->group[p->group_alu].ports;
    o->second = p->uarch->group[p->group_branch].ports & o->pipes;
    o->gap = p->block.without & AS_WITHOUT_FRONT_END ? 1 : p->uarch->set[AS_UARCH_in_order];
    o->block = &p->block;
    return true;
}

double as_in_order_pipe(const struct as_predictor *p, uint64_t *port)
{
    struct as_ordered o = {.gap = 0};
    double alone = 0;
    if (!find_pipes(p, &o))
        return 0;
    for (uint32_t i = 0; i < p->block.op_n; i++) {
        const struct as_op *op = &p->block.op[i];
        const enum as_pairing kind = pairing_of(&o, op);
        if (op->use_n && (kind == AS_PAIR_FIRST || kind == AS_PAIR_NONE))
            alone += fmax(o.gap, pipe_cycles(&o, op));
    }
    *port = o.pipes & ~o.second;
    return alone;
}

int as_simulate_in_order(struct as_predictor *p, unsigned timeline_n, double *cycles,
                         struct as_timeline_entry **timeline, size_t *entries)
{
    const struct as_piece_of_code *block = &p->block;
    struct as_ordered o = {.at = 0};
    /* The numbers are divisible by the usual periods, because pairs cross iterations. */
    const uint32_t half = 240 * block->op_n <= ORDERED_MOST  ? 120
                          : 48 * block->op_n <= ORDERED_MOST ? 24
                                                             : 4;
    double middle = 0;
    if (timeline_n > half)
        timeline_n = half;
    *entries = (size_t)timeline_n * block->op_n;
    *timeline = as_arena_array(&p->arena, struct as_timeline_entry, *entries + 1);
    o.start = as_arena_array(&p->arena, double, (size_t)block->op_n *ORDERED_KEPT);
    if (!*timeline || !o.start || !as_edges_by_user(block, &p->arena, &o.edges))
        return AS_ERR_NOMEM;
    *cycles = 0;
    if (!find_pipes(p, &o))
        return 0;
    for (uint32_t iteration = 0; iteration < 2 * half; iteration++) {
        for (uint32_t i = 0; i < block->op_n; i++)
            run_in_order(&o, i, iteration,
                         iteration < timeline_n ? &(*timeline)[iteration * block->op_n + i] : NULL);
        if (iteration + 1 == half)
            middle = o.next;
    }
    *cycles = (o.next - middle) / half;
    return 0;
}
