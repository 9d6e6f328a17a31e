/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core out of order: operations are taken in program order, each gets its cycle of dispatch
 * (width, reorder buffer, schedulers and queues that must have room), its cycle of issue (the first
 * one after its sources in which a port of its group is free) and of retirement. As ports are
 * booked from the oldest on, an older operation is never held up by a younger one: the order in
 * which a scheduler that picks the oldest ready one works.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "predict/internal.h"

enum {
    WORDS = 256, /* of 64 cycles each: what a port's calendar looks ahead */
    HEAP_MOST = 1024,
    QUEUE_MOST = 1024,
    OPS_MOST = 9000, /* operations simulated at most */
    ITERATIONS_KEPT = 64
};

struct calendar {
    uint64_t busy[WORDS];
    int64_t tag[WORDS]; /* which 64 cycles the word stands for */
};

/* Cycles at which entries become free, the earliest first. */
struct waiting {
    double at[HEAP_MOST];
    unsigned n, cap;
};

/* Entries that are freed in order. */
struct in_order {
    double at[QUEUE_MOST];
    unsigned head, n, cap;
};

struct as_simulation {
    struct calendar port[ASSAY_UARCH_PORTS];
    double unit_free[ASSAY_UARCH_PORTS];
    uint32_t port_count[ASSAY_UARCH_PORTS];
    struct waiting scheduler[3];
    struct in_order loads, stores;
    double slot_freed[QUEUE_MOST]; /* reorder buffer: when the operation retired */
    float slot_n[QUEUE_MOST];
    unsigned slot_head, slot_count;
    double slots_held;
    double dispatch_at; /* in slots since the beginning */
    double retired_at;  /* in slots too */
    /* What belongs to the block: start of each operation in the last iterations. */
    double *start;
    double *carry;    /* fractions of port-cycles, by operation and use */
    double *own_free; /* by operation: its own unit, that of the first with the same form */
    uint32_t *own_of;
    uint32_t *first_edge; /* by operation, into order */
    uint32_t *order;
    const struct as_piece_of_code *block;
    /* Ports are chosen at rename, in this cycle. */
    bool binds;
    double dispatched;
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

/* First cycle from `ready` on in which one of `ports` is free. */
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

/* Books one port-cycle; the port that has done least of those that are free. */
static int64_t book_port(struct as_simulation *s, uint64_t ports, int64_t ready)
{
    const int64_t cycle = first_free(s, ports, ready);
    unsigned best = ASSAY_UARCH_PORTS;
    for (uint64_t left = ports; left; left &= left - 1) {
        const unsigned port = (unsigned)__builtin_ctzll(left);
        if (!(*busy_word(&s->port[port], cycle >> 6) >> (cycle & 63) & 1) &&
            (best == ASSAY_UARCH_PORTS || s->port_count[port] < s->port_count[best]))
            best = port;
    }
    if (best == ASSAY_UARCH_PORTS)
        return cycle;
    *busy_word(&s->port[best], cycle >> 6) |= (uint64_t)1 << (cycle & 63);
    s->port_count[best]++;
    return cycle;
}

/* Port-cycles booked on a port from `cycle` on, as far as a scheduler looks. */
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

/* The port is chosen when the operation is renamed, by what waits for each port at that time. */
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

/* A use of a group: when its first port-cycle is. */
static double book_use(struct as_simulation *s, const struct as_op_use *use, double *carry,
                       double ready)
{
    const uint64_t ports = s->block->uarch->group[use->group].ports;
    if (s->block->without & ASSAY_WITHOUT_PORTS)
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

static void heap_push(struct waiting *w, double value)
{
    unsigned i = w->n++;
    for (; i && w->at[(i - 1) / 2] > value; i = (i - 1) / 2)
        w->at[i] = w->at[(i - 1) / 2];
    w->at[i] = value;
}

static void heap_pop(struct waiting *w)
{
    const double last = w->at[--w->n];
    unsigned i = 0;
    for (;;) {
        unsigned child = 2 * i + 1;
        if (child >= w->n)
            break;
        if (child + 1 < w->n && w->at[child + 1] < w->at[child])
            child++;
        if (w->at[child] >= last)
            break;
        w->at[i] = w->at[child];
        i = child;
    }
    w->at[i] = last;
}

/* The first cycle from `cycle` on in which the scheduler has room. */
static double scheduler_room(struct waiting *w, double cycle)
{
    if (!w->cap)
        return cycle;
    while (w->n && w->at[0] <= cycle)
        heap_pop(w);
    while (w->n >= w->cap) {
        cycle = w->at[0] > cycle ? w->at[0] : cycle;
        heap_pop(w);
    }
    return cycle;
}

static double queue_room(struct in_order *q, double cycle)
{
    if (q->cap && q->n == q->cap) {
        if (q->at[q->head] > cycle)
            cycle = q->at[q->head];
        q->head = (q->head + 1) % QUEUE_MOST;
        q->n--;
    }
    return cycle;
}

static void queue_put(struct in_order *q, double freed)
{
    if (q->cap)
        q->at[(q->head + q->n++) % QUEUE_MOST] = freed;
}

static double reorder_room(struct as_simulation *s, double slots, double cycle)
{
    const double cap = s->block->uarch->set[ASSAY_UARCH_rob];
    while (s->slot_count && (s->slots_held + slots > cap || s->slot_count == QUEUE_MOST)) {
        if (s->slot_freed[s->slot_head] > cycle)
            cycle = s->slot_freed[s->slot_head];
        s->slots_held -= (double)s->slot_n[s->slot_head];
        s->slot_head = (s->slot_head + 1) % QUEUE_MOST;
        s->slot_count--;
    }
    return cycle;
}

static void reorder_put(struct as_simulation *s, double slots, double freed)
{
    const unsigned at = (s->slot_head + s->slot_count++) % QUEUE_MOST;
    s->slot_freed[at] = freed;
    s->slot_n[at] = (float)slots;
    s->slots_held += slots;
}

/* ---- One operation ------------------------------------------------------------------------- */

/* Integers, vectors, memory. */
static unsigned scheduler_of(const struct as_simulation *s, const struct as_op *op)
{
    bool address = op->memory_n != 0, data = false;
    for (unsigned i = 0; i < op->use_n; i++)
        data |= !op->use[i].address;
    if (address && !data && s->scheduler[2].cap)
        return 2;
    return op->vector && s->scheduler[1].cap ? 1 : 0;
}

static double dispatch(struct as_simulation *s, const struct as_op *op, double not_before)
{
    const double width = s->block->uarch->set[ASSAY_UARCH_dispatch_width];
    const double slots = op->move ? (double)op->slots * s->block->uarch->set[ASSAY_UARCH_move_slots]
                                  : (double)op->slots;
    double cycle = floor(s->dispatch_at / width + 1e-9);
    if (cycle < not_before)
        cycle = ceil(not_before);
    cycle = reorder_room(s, slots, cycle);
    if (op->use_n)
        cycle = scheduler_room(&s->scheduler[scheduler_of(s, op)], cycle);
    if (op->loads)
        cycle = queue_room(&s->loads, cycle);
    if (op->stores)
        cycle = queue_room(&s->stores, cycle);
    cycle = ceil(cycle - 1e-9);
    if (cycle * width > s->dispatch_at)
        s->dispatch_at = cycle * width;
    s->dispatch_at += s->block->without & ASSAY_WITHOUT_FRONT_END ? 0 : slots;
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
    if (s->block->without & ASSAY_WITHOUT_LATENCY)
        return ready;
    for (uint32_t k = s->first_edge[i]; k < s->first_edge[i + 1]; k++) {
        const struct as_edge *e = &s->block->edge.at[s->order[k]];
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

/* Issues all uses; gives the cycle in which the operation itself starts. */
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
    const double width = s->block->uarch->set[ASSAY_UARCH_retire_width];
    double cycle = floor(s->retired_at / width + 1e-9);
    if (done > cycle)
        cycle = ceil(done - 1e-9);
    if (cycle * width > s->retired_at)
        s->retired_at = cycle * width;
    s->retired_at += (double)op->slots;
    return cycle;
}

static void simulate_op(struct as_simulation *s, uint32_t i, uint32_t iteration, double not_before,
                        struct assay_timeline_entry *entry)
{
    const struct as_op *op = &s->block->op[i];
    const double dispatched = dispatch(s, op, not_before);
    const struct sources_at ready = sources_ready(s, i, iteration);
    s->dispatched = dispatched;
    const double start = issue(s, i, ready, dispatched + 1);
    /* A load is done when its value is there, a store a cycle after its data. */
    const double done = start + (op->latency >= 1        ? (double)op->latency
                                 : op->loads || op->move ? 0
                                                         : 1);
    const double retired = retire(s, op, done);
    s->start[iteration % ITERATIONS_KEPT * s->block->op_n + i] = start;
    if (op->use_n)
        heap_push(&s->scheduler[scheduler_of(s, op)], start);
    reorder_put(s, (double)op->slots, retired + 1);
    if (op->loads)
        queue_put(&s->loads, retired + 1);
    if (op->stores)
        queue_put(&s->stores, retired + 1);
    if (entry)
        *entry = (struct assay_timeline_entry){
            .iteration = iteration,
            .insn = op->insn,
            .dispatch = (int32_t)dispatched,
            .ready = (int32_t)(ready.data > ready.address ? ready.data : ready.address),
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
    for (unsigned i = 0; i < ASSAY_UARCH_PORTS; i++) {
        if (i < block->uarch->port_n)
            memset(s->port[i].tag, 0xff, sizeof s->port[i].tag);
        s->unit_free[i] = 0;
        s->port_count[i] = 0;
    }
    s->scheduler[0].cap = capped(set[ASSAY_UARCH_sched_int], HEAP_MOST);
    s->scheduler[1].cap = capped(set[ASSAY_UARCH_sched_fp], HEAP_MOST);
    s->scheduler[2].cap = capped(set[ASSAY_UARCH_sched_mem], HEAP_MOST);
    for (unsigned i = 0; i < 3; i++)
        s->scheduler[i].n = 0;
    s->loads.cap = capped(set[ASSAY_UARCH_load_queue], QUEUE_MOST);
    s->stores.cap = capped(set[ASSAY_UARCH_store_queue], QUEUE_MOST);
    s->loads.n = s->stores.n = s->slot_count = 0;
    s->slots_held = s->dispatch_at = s->retired_at = 0;
    s->block = block;
    s->binds = set[ASSAY_UARCH_ports_at_rename] > 0;
}

/* Edges by the operation they lead to, and which operations share a unit of their own. */
static bool prepare_run(struct as_simulation *s, struct as_arena *arena)
{
    const struct as_piece_of_code *block = s->block;
    const size_t n = block->op_n;
    s->start = as_arena_array(arena, double, n *ITERATIONS_KEPT);
    s->carry = as_arena_array(arena, double, n *AS_USES);
    s->own_free = as_arena_array(arena, double, n);
    s->own_of = as_arena_array(arena, uint32_t, n);
    s->first_edge = as_arena_array(arena, uint32_t, n + 2);
    s->order = as_arena_array(arena, uint32_t, block->edge.n + 1);
    if (!s->start || !s->carry || !s->own_free || !s->own_of || !s->first_edge || !s->order)
        return false;
    for (size_t k = 0; k < block->edge.n; k++)
        s->first_edge[block->edge.at[k].to + 2]++;
    for (size_t i = 0; i < n; i++)
        s->first_edge[i + 2] += s->first_edge[i + 1];
    for (size_t k = 0; k < block->edge.n; k++)
        s->order[s->first_edge[block->edge.at[k].to + 1]++] = (uint32_t)k;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k <= i; k++)
            if (block->op[k].timing == block->op[i].timing) {
                s->own_of[i] = k;
                break;
            }
    return true;
}

/* Iterations until the window is full, twice: once to get there, once to measure. */
static uint32_t iterations_of_run(const struct as_piece_of_code *block)
{
    assert(block->op_n);
    const double rob = block->uarch->set[ASSAY_UARCH_rob];
    double slots = 0;
    for (uint32_t i = 0; i < block->op_n; i++)
        slots += (double)block->op[i].slots;
    uint32_t n = (uint32_t)(rob / (slots > 1 ? slots : 1)) + 12;
    if (n > OPS_MOST / 2 / block->op_n)
        n = OPS_MOST / 2 / block->op_n;
    return n < 6 ? 6 : n;
}

int as_simulate(struct assay_predictor *p, unsigned timeline_n, double *cycles,
                struct assay_timeline_entry **timeline, size_t *entries)
{
    struct as_piece_of_code *block = &p->block;
    if (!p->simulation)
        p->simulation = as_calloc(1, sizeof *p->simulation);
    struct as_simulation *s = p->simulation;
    if (!s)
        return ASSAY_ERR_NOMEM;
    clear_simulation(s, block);
    const uint32_t half = iterations_of_run(block);
    if (timeline_n > half)
        timeline_n = half;
    *entries = (size_t)timeline_n * block->op_n;
    *timeline = as_arena_array(&p->arena, struct assay_timeline_entry, *entries + 1);
    if (!*timeline || !prepare_run(s, &p->arena))
        return ASSAY_ERR_NOMEM;
    const double front = fmax(as_front_branch(block),
                              block->without & (ASSAY_WITHOUT_DECODE | ASSAY_WITHOUT_FRONT_END)
                                  ? 0
                                  : as_front_decode(block));
    double middle = 0;
    for (uint32_t iteration = 0; iteration < 2 * half; iteration++) {
        for (uint32_t i = 0; i < block->op_n; i++)
            simulate_op(s, i, iteration, front * iteration,
                        iteration < timeline_n ? &(*timeline)[iteration * block->op_n + i] : NULL);
        if (iteration + 1 == half)
            middle = s->retired_at;
    }
    *cycles = (s->retired_at - middle) / block->uarch->set[ASSAY_UARCH_retire_width] / half;
    return 0;
}

void as_simulation_free(struct as_simulation **simulation)
{
    as_free(*simulation);
    *simulation = NULL;
}
