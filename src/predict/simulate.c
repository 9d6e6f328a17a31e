/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulates an out-of-order core. Operations are handled in program order. Each gets its cycle of
 * dispatch, limited by the width and by free entries of the buffers. It issues in the first cycle
 * after its sources are ready in which a port of its group is free. Then it retires. Ports are
 * reserved for the oldest operation first, so a younger operation never delays an older one. This
 * is the order of a scheduler that picks the oldest ready operation.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "predict/internal.h"
#include "predict/rooms.h"

enum {
    WORDS = 256,     /* words of 64 cycles: the range of a port's calendar */
    OPS_MOST = 9000, /* max number of simulated operations */
    ITERATIONS_KEPT = 64
};

struct calendar {
    uint64_t busy[WORDS];
    int64_t tag[WORDS]; /* number of the 64 cycles that the word stands for */
};

struct as_simulation {
    struct calendar port[AS_UARCH_PORTS];
    double unit_free[AS_UARCH_PORTS];
    uint32_t port_count[AS_UARCH_PORTS];
    struct as_scheduler_entries scheduler[3];
    struct as_queue_entries loads, stores;
    double slot_freed[AS_QUEUE_MOST]; /* reorder buffer: cycle in which the operation retired */
    float slot_n[AS_QUEUE_MOST];
    unsigned slot_head, slot_count;
    double slots_held;
    double dispatch_at; /* in slots since the start */
    double retired_at;  /* in slots since the start */
    /* Arrays of the block: start of each operation in the last iterations. */
    double *start;
    double *carry; /* fractions of port-cycles by operation and use */
    /* By operation: cycle in which its own unit is free; operations with one form share it. */
    double *own_free;
    uint32_t *own_of;
    struct as_edges_to edges;
    const struct as_piece_of_code *block;
    /* Ports are chosen at rename, which is in cycle `dispatched`. */
    bool binds;
    double dispatched;
    /* Cycles that dispatch waited for each buffer: in all, and up to the middle of the run. */
    double waited[AS_BUFFERS], waited_middle[AS_BUFFERS];
    double measured; /* number of iterations in the second half */
};

/* ---- Ports --------------------------------------------------------------------------------- */

static uint64_t *busy_word(struct calendar *c, int64_t word)
{
    const unsigned at = (unsigned)(word & (WORDS - 1));
    if (c->tag[at] != word) {
        c->tag[at] = word;
        c->busy[at] = 0;
    }
    return &c->busy[at];
}

/* Returns the first cycle from `ready` on in which one of `ports` is free. */
static int64_t first_free(struct as_simulation *s, uint64_t ports, int64_t ready)
{
    for (int64_t word = ready >> 6, tries = 0; tries < WORDS; word++, tries++) {
        uint64_t all = ~(uint64_t)0;
        for (uint64_t left = ports; left; left &= left - 1)
            all &= *busy_word(&s->port[__builtin_ctzll(left)], word);
        if (word == ready >> 6)
            all |= ((uint64_t)1 << (ready & 63)) - 1;
        if (~all)
            return (word << 6) + __builtin_ctzll(~all);
    }
    return ready;
}

/* Reserves one port-cycle on the least used of the free ports. Returns the cycle. */
static int64_t book_port(struct as_simulation *s, uint64_t ports, int64_t ready)
{
    const int64_t cycle = first_free(s, ports, ready);
    unsigned best = AS_UARCH_PORTS;
    for (uint64_t left = ports; left; left &= left - 1) {
        const unsigned port = (unsigned)__builtin_ctzll(left);
        if (!(*busy_word(&s->port[port], cycle >> 6) >> (cycle & 63) & 1) &&
            (best == AS_UARCH_PORTS || s->port_count[port] < s->port_count[best]))
            best = port;
    }
    if (best == AS_UARCH_PORTS)
        return cycle;
    *busy_word(&s->port[best], cycle >> 6) |= (uint64_t)1 << (cycle & 63);
    s->port_count[best]++;
    return cycle;
}

/* Returns the number of port-cycles reserved on a port from `cycle` on, in the next three words. */
static unsigned pending_on(struct as_simulation *s, unsigned port, int64_t cycle)
{
    unsigned n = 0;
    for (int64_t word = cycle >> 6; word < (cycle >> 6) + 3; word++) {
        uint64_t busy = *busy_word(&s->port[port], word);
        if (word == cycle >> 6)
            busy &= ~(uint64_t)0 << (cycle & 63);
        n += (unsigned)__builtin_popcountll(busy);
    }
    return n;
}

/* Reserves one port-cycle on the port that has the fewest waiting operations at rename. Returns the
 * cycle. */
static int64_t bind_port(struct as_simulation *s, uint64_t ports, int64_t ready)
{
    unsigned best = 0, least = UINT32_MAX;
    for (uint64_t left = ports; left; left &= left - 1) {
        const unsigned port = (unsigned)__builtin_ctzll(left);
        const unsigned n = pending_on(s, port, (int64_t)s->dispatched);
        if (n < least || (n == least && s->port_count[port] < s->port_count[best])) {
            best = port;
            least = n;
        }
    }
    return book_port(s, (uint64_t)1 << best, ready);
}

/* Reserves the port-cycles of one use. Returns the cycle of the first one. */
static double book_use(struct as_simulation *s, const struct as_op_use *use, double *carry,
                       double ready)
{
    const uint64_t ports = s->block->uarch->group[use->group].ports;
    if (s->block->without & AS_WITHOUT_PORTS)
        return ready;
    if (!(ports & (ports - 1)) && use->n > 1) { /* one port for several cycles */
        double *free = &s->unit_free[__builtin_ctzll(ports)];
        const double at = *free > ready ? *free : ready;
        *free = at + (double)use->n;
        return at;
    }
    double issued = -1;
    for (*carry += (double)use->n; *carry > 0.999; *carry -= 1) {
        const int64_t from = (int64_t)ceil(ready - 1e-9);
        const bool binds = s->binds && ports & (ports - 1) && !use->address;
        const double at = (double)(binds ? bind_port(s, ports, from) : book_port(s, ports, from));
        if (issued < 0)
            issued = at;
    }
    return issued < 0 ? ready : issued;
}

/* ---- Entries ------------------------------------------------------------------------------- */

static double reorder_room(struct as_simulation *s, double slots, double cycle)
{
    const double cap = s->block->uarch->set[AS_UARCH_rob];
    while (s->slot_count && (s->slots_held + slots > cap || s->slot_count == AS_QUEUE_MOST)) {
        if (s->slot_freed[s->slot_head] > cycle)
            cycle = s->slot_freed[s->slot_head];
        s->slots_held -= (double)s->slot_n[s->slot_head];
        s->slot_head = (s->slot_head + 1) % AS_QUEUE_MOST;
        s->slot_count--;
    }
    return cycle;
}

static void reorder_insert(struct as_simulation *s, double slots, double freed)
{
    assert(s->slot_count < AS_QUEUE_MOST);
    const unsigned at = (s->slot_head + s->slot_count++) % AS_QUEUE_MOST;
    s->slot_freed[at] = freed;
    s->slot_n[at] = (float)slots;
    s->slots_held += slots;
}

/* ---- One operation ------------------------------------------------------------------------- */

/* Returns the scheduler of an operation: 0 integers, 1 vectors, 2 memory. */
static unsigned scheduler_of(const struct as_simulation *s, const struct as_op *op)
{
    bool address = op->memory_n != 0, data = false;
    for (unsigned i = 0; i < op->use_n; i++)
        data |= !op->use[i].address;
    if (address && !data && s->scheduler[2].cap)
        return 2;
    return op->vector && s->scheduler[1].cap ? 1 : 0;
}

/* Counts the wait from `cycle` until cycle `room`, in which the buffer has a free entry. Returns
 * `room`. */
static double waited_for(struct as_simulation *s, enum as_buffer buffer, double cycle, double room)
{
    s->waited[buffer] += room - cycle;
    return room;
}

static double dispatch(struct as_simulation *s, const struct as_op *op, double not_before)
{
    const double width = s->block->uarch->set[AS_UARCH_dispatch_width];
    const bool alone = as_front_begins_group(s->block, op);
    const double slots = alone      ? floor((double)op->slots + 0.5)
                         : op->move ? (double)op->slots * s->block->uarch->set[AS_UARCH_move_slots]
                                    : (double)op->slots;
    double cycle =
        alone ? ceil(s->dispatch_at / width - 1e-9) : floor(s->dispatch_at / width + 1e-9);
    if (cycle < not_before)
        cycle = ceil(not_before);
    cycle = waited_for(s, AS_BUFFER_REORDER, cycle, reorder_room(s, slots, cycle));
    if (op->use_n)
        cycle = waited_for(s, AS_BUFFER_SCHEDULER, cycle,
                           as_scheduler_room(&s->scheduler[scheduler_of(s, op)], cycle));
    if (op->loads)
        cycle = waited_for(s, AS_BUFFER_LOADS, cycle, as_queue_room(&s->loads, cycle));
    if (op->stores)
        cycle = waited_for(s, AS_BUFFER_STORES, cycle, as_queue_room(&s->stores, cycle));
    cycle = ceil(cycle - 1e-9);
    if (cycle * width > s->dispatch_at)
        s->dispatch_at = cycle * width;
    s->dispatch_at += s->block->without & AS_WITHOUT_FRONT_END ? 0 : slots;
    return cycle;
}

struct sources_at {
    double address, data;
};

static struct sources_at sources_ready(const struct as_simulation *s, uint32_t i,
                                       uint32_t iteration)
{
    struct sources_at ready = {0, 0};
    const struct as_op *op = &s->block->op[i];
    if (s->block->without & AS_WITHOUT_LATENCY)
        return ready;
    for (uint32_t k = s->edges.first[i]; k < s->edges.first[i + 1]; k++) {
        const struct as_dependence_edge *e = &s->block->edge.at[s->edges.order[k]];
        if (e->distance > iteration)
            continue;
        const double at =
            s->start[(iteration - e->distance) % ITERATIONS_KEPT * s->block->op_n + e->from] +
            (double)e->weight;
        if (e->address && at - (double)op->load_latency > ready.address)
            ready.address = at - (double)op->load_latency;
        else if (!e->address && at > ready.data)
            ready.data = at;
    }
    return ready;
}

/* Issues all uses. Returns the cycle in which the operation itself starts. */
static double issue(struct as_simulation *s, uint32_t i, struct sources_at ready, double dispatched)
{
    const struct as_op *op = &s->block->op[i];
    double *carry = &s->carry[(size_t)i * AS_USES];
    double addressed = ready.address > dispatched ? ready.address : dispatched;
    double start = ready.data > dispatched || op->move ? ready.data : dispatched;
    bool first = true;
    if (op->loads && op->memory_n) {
        for (unsigned k = 0; k < op->use_n; k++)
            if (op->use[k].address) {
                const double at = book_use(s, &op->use[k], &carry[k], addressed);
                addressed = at > addressed ? at : addressed;
            }
        if (!op->renamed_load && addressed + (double)op->load_latency > start)
            start = addressed + (double)op->load_latency;
    }
    for (unsigned k = 0; k < op->use_n; k++) {
        if (op->use[k].address) {
            if (!op->loads)
                book_use(s, &op->use[k], &carry[k], addressed);
            continue;
        }
        const double at = book_use(s, &op->use[k], &carry[k], start);
        if (first && at > start)
            start = at;
        first = false;
    }
    if (op->own > 0) {
        double *free = &s->own_free[s->own_of[i]];
        start = *free > start ? *free : start;
        *free = start + (double)op->own;
    }
    return start;
}

static double retire(struct as_simulation *s, const struct as_op *op, double done)
{
    const double width = s->block->uarch->set[AS_UARCH_retire_width];
    double cycle = floor(s->retired_at / width + 1e-9);
    if (done > cycle)
        cycle = ceil(done - 1e-9);
    if (cycle * width > s->retired_at)
        s->retired_at = cycle * width;
    s->retired_at += (double)op->slots;
    return cycle;
}

/* Returns the cycle in which the loaded value is ready if a port is free at once. Returns `address`
 * if nothing is loaded. */
static double loaded_at(const struct as_op *op, double address, double from)
{
    return op->loads && op->memory_n && !op->renamed_load
               ? fmax(address, from) + (double)op->load_latency
               : address;
}

static void simulate_op(struct as_simulation *s, uint32_t i, uint32_t iteration, double not_before,
                        struct as_timeline_entry *entry)
{
    const struct as_op *op = &s->block->op[i];
    const double dispatched = dispatch(s, op, not_before);
    const struct sources_at ready = sources_ready(s, i, iteration);
    s->dispatched = dispatched;
    const double start = issue(s, i, ready, dispatched + 1);
    /* A load is done when its value is ready, a store one cycle after its data. */
    const double done = start + (op->latency >= 1        ? (double)op->latency
                                 : op->loads || op->move ? 0
                                                         : 1);
    const double retired = retire(s, op, done);
    s->start[iteration % ITERATIONS_KEPT * s->block->op_n + i] = start;
    if (op->use_n)
        as_heap_push(&s->scheduler[scheduler_of(s, op)], start);
    reorder_insert(s, (double)op->slots, retired + 1);
    if (op->loads)
        as_queue_insert(&s->loads, retired + 1);
    if (op->stores)
        as_queue_insert(&s->stores, retired + 1);
    if (entry)
        *entry = (struct as_timeline_entry){
            .iteration = iteration,
            .insn = op->insn,
            .dispatch = (int32_t)dispatched,
            .ready = (int32_t)fmax(ready.data, loaded_at(op, ready.address, dispatched + 1)),
            .issue = (int32_t)start,
            .done = (int32_t)done,
            .retire = (int32_t)retired};
}

/* ---- A run --------------------------------------------------------------------------------- */

static unsigned capped(double value, unsigned most)
{
    return value < 0 ? 0 : value > most - 1 ? most - 1 : (unsigned)value;
}

static void clear_simulation(struct as_simulation *s, const struct as_piece_of_code *block)
{
    const double *set = block->uarch->set;
    for (unsigned i = 0; i < AS_UARCH_PORTS; i++) {
        if (i < block->uarch->port_n)
            memset(s->port[i].tag, 0xff, sizeof s->port[i].tag);
        s->unit_free[i] = 0;
        s->port_count[i] = 0;
    }
    s->scheduler[0].cap = capped(set[AS_UARCH_sched_int], AS_HEAP_MOST);
    s->scheduler[1].cap = capped(set[AS_UARCH_sched_fp], AS_HEAP_MOST);
    s->scheduler[2].cap = capped(set[AS_UARCH_sched_mem], AS_HEAP_MOST);
    for (unsigned i = 0; i < 3; i++)
        s->scheduler[i].n = 0;
    s->loads.cap = capped(set[AS_UARCH_load_queue], AS_QUEUE_MOST);
    s->stores.cap = capped(set[AS_UARCH_store_queue], AS_QUEUE_MOST);
    s->loads.n = s->stores.n = s->slot_count = 0;
    s->slots_held = s->dispatch_at = s->retired_at = 0;
    memset(s->waited, 0, sizeof s->waited);
    s->block = block;
    s->binds = set[AS_UARCH_ports_at_rename] > 0;
}

/* Allocates the memory of the run, sorts the edges by target, and finds operations that share an
 * own unit. Returns false if memory is short. */
static bool prepare_run(struct as_simulation *s, struct as_arena *arena)
{
    const struct as_piece_of_code *block = s->block;
    const size_t n = block->op_n;
    s->start = as_arena_array(arena, double, n *ITERATIONS_KEPT);
    s->carry = as_arena_array(arena, double, n *AS_USES);
    s->own_free = as_arena_array(arena, double, n);
    s->own_of = as_arena_array(arena, uint32_t, n);
    if (!s->start || !s->carry || !s->own_free || !s->own_of ||
        !as_edges_by_user(block, arena, &s->edges))
        return false;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k <= i; k++)
            if (block->op[k].timing == block->op[i].timing) {
                s->own_of[i] = k;
                break;
            }
    return true;
}

/* Returns half the number of iterations: enough to fill the window. The first half fills it, the
 * second half is measured. */
static uint32_t iterations_of_run(const struct as_piece_of_code *block)
{
    assert(block->op_n);
    const double rob = block->uarch->set[AS_UARCH_rob];
    double slots = 0;
    for (uint32_t i = 0; i < block->op_n; i++)
        slots += (double)block->op[i].slots;
    uint32_t n = (uint32_t)(rob / (slots > 1 ? slots : 1)) + 12;
    if (n > OPS_MOST / 2 / block->op_n)
        n = OPS_MOST / 2 / block->op_n;
    return n < 6 ? 6 : n;
}

int as_simulate(struct as_predictor *p, unsigned timeline_n, double *cycles,
                struct as_timeline_entry **timeline, size_t *entries)
{
    struct as_piece_of_code *block = &p->block;
    if (!p->simulation)
        p->simulation = as_calloc(1, sizeof *p->simulation);
    struct as_simulation *s = p->simulation;
    if (!s)
        return AS_ERR_NOMEM;
    clear_simulation(s, block);
    const uint32_t half = iterations_of_run(block);
    if (timeline_n > half)
        timeline_n = half;
    *entries = (size_t)timeline_n * block->op_n;
    *timeline = as_arena_array(&p->arena, struct as_timeline_entry, *entries + 1);
    if (!*timeline || !prepare_run(s, &p->arena))
        return AS_ERR_NOMEM;
    const double front = fmax(
        as_front_branch(block),
        block->without & (AS_WITHOUT_DECODE | AS_WITHOUT_FRONT_END) ? 0 : as_front_decode(block));
    double middle = 0;
    for (uint32_t iteration = 0; iteration < 2 * half; iteration++) {
        for (uint32_t i = 0; i < block->op_n; i++)
            simulate_op(s, i, iteration, front * iteration,
                        iteration < timeline_n ? &(*timeline)[iteration * block->op_n + i] : NULL);
        if (iteration + 1 == half) {
            middle = s->retired_at;
            memcpy(s->waited_middle, s->waited, sizeof s->waited);
        }
    }
    s->measured = half;
    *cycles = (s->retired_at - middle) / block->uarch->set[AS_UARCH_retire_width] / half;
    return 0;
}

void as_simulated_waits(const struct as_simulation *s, double *cycles)
{
    for (unsigned i = 0; i < AS_BUFFERS; i++)
        cycles[i] = (s->waited[i] - s->waited_middle[i]) / s->measured;
}

void as_simulation_free(struct as_simulation **simulation)
{
    as_free(*simulation);
    *simulation = NULL;
}
