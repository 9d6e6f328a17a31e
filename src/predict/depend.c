/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes edges between operations: min distance in cycles between two starts, through registers,
 * flags and memory. The second start may be in a later iteration.
 */
#include <string.h>

#include "base/error.h"
#include "predict/internal.h"

struct last_write {
    int32_t op; /* below 0: not written yet */
    float latency;
    float extra;  /* rsp: cycles of synchronisation since the write */
    uint16_t ago; /* iterations since the write */
};

struct depending {
    struct as_piece_of_code *block;
    struct last_write last[AS_VALUE_PLACES];
    const struct as_memory_edge *memory;
    bool stack_moved; /* a push or pop since the last synchronisation of rsp */
    bool keeps;       /* the round stores edges: the second round */
};

static float bypass_of(const struct as_piece_of_code *block, const struct as_op *from,
                       const struct as_op *to)
{
    if (block->without & AS_WITHOUT_BYPASS)
        return 0;
    return block->uarch->bypass[from->bypass][to->bypass];
}

static int store_edge(struct depending *d, struct as_dependence_edge edge)
{
    if (edge.weight < 0)
        edge.weight = 0;
    return d->keeps ? as_vec_push(&d->block->edge, edge) : 0;
}

static bool load_is_renamed(const struct depending *d, uint32_t i)
{
    return (d->memory[2 * i].from >= 0 && d->memory[2 * i].kind == AS_FORWARD_RENAMED) ||
           (d->memory[2 * i + 1].from >= 0 && d->memory[2 * i + 1].kind == AS_FORWARD_RENAMED);
}

static int read_edge(struct depending *d, uint32_t i, const struct as_op_read *r)
{
    const struct as_op *op = &d->block->op[i];
    const struct last_write *last = &d->last[r->place];
    const bool ready = d->block->ready && op->insn < d->block->insn_n &&
                       as_regset_has(d->block->ready[op->insn], r->place);
    if (last->op < 0 || ready)
        return 0;
    const struct as_op *from = &d->block->op[last->op];
    const double *set = d->block->uarch->set;
    const bool in_order = set[AS_UARCH_in_order] > 0;
    float weight = last->latency + last->extra + bypass_of(d->block, from, op) + r->earlier;
    if (r->kind == AS_READ_ADDRESS) {
        if ((!op->loads && !in_order) || load_is_renamed(d, i))
            return 0;
        /* In order, an address is needed some cycles before the instruction could use a value. */
        const float wait = (float)set[AS_UARCH_address_wait] - from->load_latency;
        if (in_order && weight < wait)
            weight = wait;
        weight += op->load_latency;
    }
    return store_edge(d, (struct as_dependence_edge){.from = (uint32_t)last->op,
                                                     .to = i,
                                                     .weight = weight,
                                                     .distance = last->ago,
                                                     .address = r->kind == AS_READ_ADDRESS});
}

static float forward_latency(const struct as_piece_of_code *block, const struct as_op *from,
                             const struct as_op *to, unsigned kind)
{
    const double *set = block->uarch->set;
    if (kind == AS_FORWARD_RENAMED || (from->locked && to->locked))
        return 0;
    if (kind == AS_FORWARD_FAILED)
        return (float)set[AS_UARCH_forward_failed];
    if (from->vector != to->vector)
        return (float)set[AS_UARCH_forward_mixed];
    return (float)set[to->vector ? AS_UARCH_forward_fp : AS_UARCH_forward_int];
}

static int memory_edges(struct depending *d, uint32_t i)
{
    for (unsigned k = 0; k < d->block->op[i].memory_n; k++) {
        const struct as_memory_edge *m = &d->memory[2 * i + k];
        if (m->from < 0)
            continue;
        const struct as_op *from = &d->block->op[m->from], *op = &d->block->op[i];
        const float weight = from->latency + forward_latency(d->block, from, op, m->kind);
        AS_TRY(store_edge(d, (struct as_dependence_edge){.from = (uint32_t)m->from,
                                                         .to = i,
                                                         .weight = weight,
                                                         .distance = m->distance,
                                                         .memory = true}));
        /* A failed forwarding waits until the store is in the cache. The next such store retires
         * after the load. */
        d->block->forward_failed_n += d->keeps && m->kind == AS_FORWARD_FAILED;
        if (m->kind == AS_FORWARD_FAILED)
            AS_TRY(store_edge(d, (struct as_dependence_edge){.from = i,
                                                             .to = (uint32_t)m->from,
                                                             .distance = (uint32_t)m->from <= i,
                                                             .memory = true}));
    }
    return 0;
}

/* Adds the operation that updates rsp if an instruction reads rsp after a push or pop. */
static void make_stack_whole(struct depending *d, struct as_op *op)
{
    bool reads = false;
    for (unsigned k = 0; k < op->read_n; k++)
        reads |= op->read[k].place == AS_REG_GPR + 4;
    if (op->stack)
        d->stack_moved = true;
    if (op->stack || !reads || !d->stack_moved)
        return;
    d->stack_moved = false;
    d->last[AS_REG_GPR + 4].extra += 1;
    if (d->keeps)
        op->slots += (float)d->block->uarch->set[AS_UARCH_stack_sync];
}

static int depend_round(struct depending *d)
{
    for (uint32_t i = 0; i < d->block->op_n; i++) {
        struct as_op *op = &d->block->op[i];
        make_stack_whole(d, op);
        op->renamed_load = load_is_renamed(d, i);
        for (unsigned k = 0; k < op->read_n; k++)
            AS_TRY(read_edge(d, i, &op->read[k]));
        AS_TRY(memory_edges(d, i));
        for (unsigned k = 0; k < op->write_n; k++)
            d->last[op->write[k].place] =
                (struct last_write){(int32_t)i, op->write[k].latency, 0, 0};
    }
    return 0;
}

/* ---- Cost of waiting in a scheduler --------------------------------------------------------- */

/* Returns true for an operation without memory access that takes one cycle on an integer unit. */
static bool is_quick(const struct as_piece_of_code *block, const struct as_op *op, uint64_t alu)
{
    if (op->loads || op->vector || op->latency > 1.01F || op->latency < 0.5F)
        return false;
    for (unsigned k = 0; k < op->use_n; k++)
        if (!(block->uarch->group[op->use[k].group].ports & ~alu))
            return true;
    return false;
}

static bool uses_alu(const struct as_piece_of_code *block, const struct as_op *op, uint64_t alu)
{
    for (unsigned k = 0; k < op->use_n; k++)
        if (!(block->uarch->group[op->use[k].group].ports & ~alu))
            return true;
    return false;
}

/* Flags by operation. It waits for a quick operation of the same iteration or of the previous one.
 * FIRST: the quick operation itself waits for none. */
enum { WAITS_HERE = 1, WAITS_CARRIED = 2, WAITS_FIRST = 4 };

static void mark_waiting(const struct as_piece_of_code *block, uint64_t alu, uint8_t *waits)
{
    for (int round = 0; round < 2; round++)
        for (size_t k = 0; k < block->edge.n; k++) {
            const struct as_dependence_edge *e = &block->edge.at[k];
            if (e->memory || e->distance > 1 || !is_quick(block, &block->op[e->from], alu))
                continue;
            if (!round)
                waits[e->to] |= e->distance ? WAITS_CARRIED : WAITS_HERE;
            else if (!e->distance && !(waits[e->from] & (WAITS_HERE | WAITS_CARRIED)))
                waits[e->to] |= WAITS_FIRST;
        }
}

/* Adds the extra use of integer units by operations that wait for an operation of one cycle.
 * Measured: twelve chains of additions run at 5.3 per cycle on six units, pairs at 4.1. */
static int add_waiting(struct as_predictor *p, struct as_piece_of_code *block)
{
    const double *set = block->uarch->set;
    const uint64_t alu = p->group_alu >= 0 ? block->uarch->group[p->group_alu].ports : 0;
    if (!alu || !(set[AS_UARCH_alu_after_first] > 0))
        return 0;
    uint8_t *waits = as_arena_array(&p->arena, uint8_t, block->op_n + 1);
    if (!waits)
        return AS_ERR_NOMEM;
    mark_waiting(block, alu, waits);
    for (uint32_t i = 0; i < block->op_n; i++) {
        struct as_op *op = &block->op[i];
        const double extra = waits[i] & WAITS_FIRST     ? set[AS_UARCH_alu_after_first]
                             : waits[i] & WAITS_HERE    ? set[AS_UARCH_alu_after_other]
                             : waits[i] & WAITS_CARRIED ? set[AS_UARCH_alu_after_carried]
                                                        : 0;
        if (extra > 0 && op->use_n < AS_USES && uses_alu(block, op, alu))
            op->use[op->use_n++] = (struct as_op_use){(uint8_t)p->group_alu, false, (float)extra};
    }
    return 0;
}

/* Starts the next iteration: its st(i) is the register that the previous iteration
 * left as st(i). */
static void begin_iteration(struct depending *d)
{
    struct last_write stack[8];
    for (unsigned i = 0; i < 8; i++)
        stack[i] = d->last[as_x87_place(&d->block->x87, AS_REG_X87 + i)];
    memcpy(&d->last[AS_REG_X87], stack, sizeof stack);
    for (unsigned place = 0; place < AS_VALUE_PLACES; place++)
        d->last[place].ago++;
}

/* Returns the number of iterations after which each value of the x87 stack has been in all its
 * places. */
static unsigned rounds_of(const struct as_piece_of_code *block)
{
    for (unsigned i = 0; i < 8; i++)
        if (as_x87_place(&block->x87, AS_REG_X87 + i) != AS_REG_X87 + i)
            return 8;
    return 1;
}

int as_block_depend(struct as_predictor *p, struct as_error *err)
{
    struct as_memory_edge *memory =
        as_arena_array(&p->arena, struct as_memory_edge, 2 * p->block.op_n);
    struct depending d = {.block = &p->block, .memory = memory};
    p->block.edge.n = 0;
    if (!memory || as_values_memory(p, memory) < 0)
        return as_error_nomem(err, "the values of a block");
    for (unsigned place = 0; place < AS_VALUE_PLACES; place++)
        d.last[place].op = -1;
    for (unsigned rounds = rounds_of(&p->block); rounds; rounds--) {
        depend_round(&d); /* stores no edge, so it cannot fail */
        begin_iteration(&d);
    }
    d.keeps = true;
    if (depend_round(&d) < 0 || add_waiting(p, &p->block) < 0)
        return as_error_nomem(err, "the dependences of a block");
    return 0;
}

bool as_edges_by_user(const struct as_piece_of_code *block, struct as_arena *arena,
                      struct as_edges_to *out)
{
    out->first = as_arena_array(arena, uint32_t, block->op_n + 2);
    out->order = as_arena_array(arena, uint32_t, block->edge.n + 1);
    if (!out->first || !out->order)
        return false;
    for (size_t k = 0; k < block->edge.n; k++)
        out->first[block->edge.at[k].to + 2]++;
    for (size_t i = 0; i < block->op_n; i++)
        out->first[i + 2] += out->first[i + 1];
    for (size_t k = 0; k < block->edge.n; k++)
        out->order[out->first[block->edge.at[k].to + 1]++] = (uint32_t)k;
    return true;
}
