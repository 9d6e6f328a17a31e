/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the limits of ports. A set of ports needs at least the port-cycles that fit nowhere
 * else, divided by its size. The busiest set is a union of used groups, so all unions are tried.
 * Sources: Abel and Reineke (uiCA), ICS 2022; Ritter and Hack, PLDI 2020.
 */
#include <math.h>
#include <string.h>

#include "predict/internal.h"

struct port_demand {
    uint64_t ports;
    double n;
};

static double width_of_ports(uint64_t ports)
{
    return (double)__builtin_popcountll(ports);
}

/* Adds up the port-cycles of each set of ports. Returns the number of sets. */
static unsigned sum_demand(const struct as_piece_of_code *block,
                           struct port_demand out[AS_UARCH_GROUPS])
{
    unsigned n = 0;
    for (uint32_t i = 0; i < block->op_n; i++)
        for (unsigned k = 0; k < block->op[i].use_n; k++) {
            const struct as_op_use *use = &block->op[i].use[k];
            const uint64_t ports = block->uarch->group[use->group].ports;
            unsigned at = 0;
            while (at < n && out[at].ports != ports)
                at++;
            if (at == n)
                out[n++] = (struct port_demand){ports, 0};
            out[at].n += (double)use->n;
        }
    return n;
}

static double load_of_set(const struct port_demand *demand, unsigned n, uint64_t ports)
{
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        if (!(demand[i].ports & ~ports))
            sum += demand[i].n;
    return sum / width_of_ports(ports);
}

/* Tries all unions of connected sets that include `ports`. */
static void try_unions(const struct port_demand *demand, unsigned n, unsigned from, uint64_t ports,
                       double *best, uint64_t *best_ports)
{
    const double load = ports ? load_of_set(demand, n, ports) : 0;
    if (load > *best) {
        *best = load;
        *best_ports = ports;
    }
    for (unsigned i = from; i < n; i++)
        if (!ports || (demand[i].ports & ports && demand[i].ports & ~ports))
            try_unions(demand, n, i + 1, ports | demand[i].ports, best, best_ports);
}

double as_ports_busiest(const struct as_piece_of_code *block, uint64_t *ports)
{
    struct port_demand demand[AS_UARCH_GROUPS];
    const unsigned n = sum_demand(block, demand);
    double best = 0;
    *ports = 0;
    for (unsigned i = 0; i + 1 < n; i++) /* small sets first: their unions start from them */
        for (unsigned k = i + 1; k < n; k++)
            if (width_of_ports(demand[k].ports) < width_of_ports(demand[i].ports)) {
                const struct port_demand keep = demand[i];
                demand[i] = demand[k];
                demand[k] = keep;
            }
    try_unions(demand, n, 0, 0, &best, ports);
    return best;
}

/* Returns true if two consecutive stores write one cache line, as far as their addresses are known.
 * Unknown bases are assumed to be aligned to lines. */
static bool same_line(const struct as_piece_of_code *block, const struct as_op *a,
                      const struct as_op *b)
{
    const int64_t line_b = (int64_t)block->uarch->set[AS_UARCH_line_b];
    return (a->stack && b->stack) ||
           (a->address_base == b->address_base &&
            (a->address_offset & -line_b) == (b->address_offset & -line_b));
}

/* Returns the cache lines that stores write per iteration, averaged over 8 iterations. Two
 * consecutive stores to one line count as one, and so do two of one instruction. */
double as_store_lines(const struct as_piece_of_code *block)
{
    enum { ROUNDS = 8 };
    const struct as_op *last = NULL;
    double lines = 0;
    bool paired = true;
    for (unsigned round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < block->op_n; i++) {
            const struct as_op *op = &block->op[i];
            if (!op->stores)
                continue;
            paired = last && !paired && (last == op || same_line(block, last, op));
            lines += paired ? 0 : 1;
            last = op;
        }
    return lines / ROUNDS;
}

/*
 * Adds port use for loads that cross cache lines. Bases are assumed to be aligned to lines. Vectors
 * at unaligned offsets cross a line in one of (line / width) iterations.
 */
void as_ports_split(struct as_piece_of_code *block)
{
    const double *set = block->uarch->set;
    const double line_b = set[AS_UARCH_line_b];
    if (block->without & AS_WITHOUT_CROSSINGS)
        return;
    for (uint32_t i = 0; i < block->op_n; i++) {
        struct as_op *op = &block->op[i];
        const uint32_t width_b = op->memory_n == 1 ? op->memory[0].width_b : 0;
        if (!op->loads || op->stores || !op->vector || op->stack || width_b < 16 ||
            width_b > line_b || op->address_offset % width_b == 0)
            continue;
        for (unsigned k = 0; k < op->use_n; k++)
            if (op->use[k].address)
                op->use[k].n += (float)(set[AS_UARCH_split_load] * width_b / line_b);
    }
}

static bool only_stores(const struct as_op *op)
{
    return op->stores && !op->loads;
}

/* Returns the nearest operation before or after `i`, around the loop, that accesses memory. With
 * `must_load` it must load. Returns operation `i` if there is none. */
static const struct as_op *memory_beside(const struct as_piece_of_code *block, uint32_t i,
                                         bool before, bool must_load)
{
    for (uint32_t k = 1; k < block->op_n; k++) {
        const uint32_t at = (before ? i + block->op_n - k : i + k) % block->op_n;
        const struct as_op *op = &block->op[at];
        if (op->loads || (op->stores && !must_load))
            return op;
    }
    return &block->op[i];
}

/*
 * Adds the cost of consecutive stores on Zen 5. A store next to another store, with no load
 * between, blocks the two vector-load ports for 0.44 port-cycles. This was measured for 1 to 4
 * loads per store in runs of 2 to 12 stores. Width, addresses and other instructions do not matter.
 * The core seems to assign entries of the four address queues in order, not by load. Loops with
 * four integer loads per cycle lose nothing.
 */
void as_ports_runs(const struct as_predictor *p, struct as_piece_of_code *block)
{
    const double n = block->uarch->set[AS_UARCH_store_run];
    if (!(n > 0) || p->group_load_fp < 0)
        return;
    for (uint32_t i = 0; i < block->op_n; i++) {
        struct as_op *op = &block->op[i];
        const struct as_op *before = memory_beside(block, i, true, false);
        const struct as_op *behind = memory_beside(block, i, false, false);
        const struct as_op *load = memory_beside(block, i, true, true);
        if (only_stores(op) && op->use_n < AS_USES && load->loads && load->vector &&
            ((before != op && only_stores(before)) || (behind != op && only_stores(behind))))
            op->use[op->use_n++] = (struct as_op_use){(uint8_t)p->group_load_fp, true, (float)n};
    }
}

/*
 * Returns the cycles of loads and stores in code that loads both integers and vectors. Zen 5 has
 * four address queues. But 1 to 2 integer loads with 1 to 3 vector loads reached only 2.6 to 3.4
 * accesses per cycle, with or without a store. If one kind is less than a quarter of the loads,
 * nothing was measured. Then ports and runs of stores alone count.
 */
double as_memory_mixed(const struct as_piece_of_code *block)
{
    const double width = block->uarch->set[AS_UARCH_memory_mixed];
    double integer = 0, vector = 0, stores = 0;
    for (uint32_t i = 0; i < block->op_n; i++) {
        const struct as_op *op = &block->op[i];
        *(op->vector ? &vector : &integer) += op->loads && !op->renamed_load;
        stores += op->stores;
    }
    return width > 0 && 4 * fmin(integer, vector) >= integer + vector
               ? (integer + vector + stores) / width
               : 0;
}

double as_memory_bytes(const struct as_piece_of_code *block, const char **name)
{
    const double *set = block->uarch->set;
    double loaded = 0, stored = 0;
    for (uint32_t i = 0; i < block->op_n; i++)
        for (unsigned k = 0; k < block->op[i].memory_n; k++) {
            const struct as_memory *memory = &block->op[i].memory[k];
            loaded += block->op[i].loads && memory->access & AS_ACCESS_READ ? memory->width_b : 0;
            stored += memory->access & AS_ACCESS_WRITE ? memory->width_b : 0;
        }
    const double load_cy = set[AS_UARCH_load_b] > 0 ? loaded / set[AS_UARCH_load_b] : 0;
    const double store_cy = set[AS_UARCH_store_b] > 0 ? stored / set[AS_UARCH_store_b] : 0;
    *name = load_cy > store_cy ? "loads, by bytes" : "stores, by bytes";
    return fmax(load_cy, store_cy);
}

/* Returns the cycles of loads from the busiest bank of the first-level cache. Registers are assumed
 * to hold line-aligned addresses. */
double as_bank_busiest(const struct as_piece_of_code *block)
{
    enum { BANKS_MOST = 16 };
    const double *set = block->uarch->set;
    const uint64_t bank_b = (uint64_t)set[AS_UARCH_load_bank_b];
    const uint64_t line_b = (uint64_t)set[AS_UARCH_line_b];
    double loads[BANKS_MOST] = {0}, most = 0;
    if (!bank_b || line_b / bank_b > BANKS_MOST)
        return 0;
    for (uint32_t i = 0; i < block->op_n; i++) {
        const struct as_op *op = &block->op[i];
        if (!op->loads || op->stack)
            continue;
        double *bank = &loads[((uint64_t)op->address_offset & (line_b - 1)) / bank_b];
        *bank += 1;
        most = *bank > most ? *bank : most;
    }
    return most / set[AS_UARCH_load_bank];
}

double as_units_busiest(const struct as_piece_of_code *block, const char **name)
{
    double best = 0;
    *name = "";
    for (uint32_t i = 0; i < block->op_n; i++) {
        double sum = 0;
        if (!(block->op[i].own > 0))
            continue;
        for (uint32_t k = 0; k < block->op_n; k++)
            if (block->op[k].timing == block->op[i].timing)
                sum += (double)block->op[k].own;
        if (sum > best) {
            best = sum;
            *name = block->op[i].timing ? block->op[i].timing->key : "estimated";
        }
    }
    return best;
}

/* Returns the cycles on `ports` of loads that can use no other port. */
static double loads_within(const struct as_piece_of_code *block, const double *loads,
                           uint64_t ports)
{
    double sum = 0;

    for (unsigned i = 0; i < block->uarch->group_n; i++)
        if (!(block->uarch->group[i].ports & ~ports))
            sum += loads[i];
    return sum / width_of_ports(ports);
}

void as_ports_of_memory(const struct as_piece_of_code *block, struct as_prediction *out)
{
    double loads[AS_UARCH_GROUPS] = {0}; /* port-cycles of loads by group */

    out->load_cy = out->store_cy = out->store_address_cy = 0;
    for (uint32_t i = 0; i < block->op_n; i++) {
        const struct as_op *op = &block->op[i];

        for (unsigned k = 0; k < op->use_n; k++) {
            const struct as_uarch_group *group = &block->uarch->group[op->use[k].group];
            const double cycles = (double)op->use[k].n / width_of_ports(group->ports);

            if (op->loads && op->use[k].address && strncmp(group->name, "STA", 3) != 0)
                loads[op->use[k].group] += (double)op->use[k].n;
            else if (op->stores && strncmp(group->name, "STD", 3) == 0)
                out->store_cy += cycles;
            else if (op->stores && op->use[k].address)
                out->store_address_cy += cycles;
        }
    }
    for (unsigned i = 0; i < block->uarch->group_n; i++) {
        const double cycles = loads_within(block, loads, block->uarch->group[i].ports);

        out->load_cy = loads[i] > 0 && cycles > out->load_cy ? cycles : out->load_cy;
    }
}

static bool divides(const struct as_piece_of_code *block, const struct as_op *op)
{
    if (op->at == UINT32_MAX)
        return false;
    const struct as_form *form = as_form_get(block->code->insn[op->at].form);
    return form->insn_class == AS_CLASS_DIV || form->insn_class == AS_CLASS_SQRT;
}

void as_units_of_division(const struct as_piece_of_code *block, double *best, double *worst)
{
    *best = *worst = 0;
    for (uint32_t i = 0; i < block->op_n; i++) {
        const struct as_op *op = &block->op[i];
        const struct as_core_timing *timing = op->timing;

        if (!divides(block, op))
            continue;
        *best += (double)op->own;
        *worst += (double)op->own;
        for (unsigned k = 0; !timing && k < op->use_n; k++) /* estimated */
            if (strstr(block->uarch->group[op->use[k].group].name, "DIV")) {
                *best += (double)op->use[k].n;
                *worst += (double)op->use[k].n;
            }
        for (unsigned k = 0; timing && k < timing->use_n; k++)
            if (strstr(block->uarch->group[timing->use[k].group].name, "DIV")) {
                *best += (double)timing->use[k].n;
                *worst += (double)timing->use[k].worst;
            }
    }
}

/* Spreads the uses by water filling: each use goes to the least busy port of its group, in 16
 * shares. */
void as_ports_spread(const struct as_piece_of_code *block, double *port_use, float *insn_port)
{
    const unsigned port_n = block->uarch->port_n;
    for (unsigned share = 0; share < 16; share++)
        for (uint32_t i = 0; i < block->op_n; i++)
            for (unsigned k = 0; k < block->op[i].use_n; k++) {
                const struct as_op_use *use = &block->op[i].use[k];
                unsigned least = AS_UARCH_PORTS;
                for (uint64_t left = block->uarch->group[use->group].ports; left;
                     left &= left - 1) {
                    const unsigned port = (unsigned)__builtin_ctzll(left);
                    if (least == AS_UARCH_PORTS || port_use[port] < port_use[least])
                        least = port;
                }
                port_use[least] += (double)use->n / 16;
                if (block->op[i].insn < block->insn_n)
                    insn_port[block->op[i].insn * port_n + least] += use->n / 16;
            }
}
