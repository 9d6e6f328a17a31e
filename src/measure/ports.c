/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places the sets of ports one by one: known ones first, then those with the most measurements.
 * Each set gets the ports that best match the measured unions with the sets already placed. The
 * idea that two kernels with shared ports slow each other down is from Abel and Reineke, uops.info,
 * ASPLOS 2019.
 */
#include "measure/ports.h"

#include <math.h>
#include <string.h>

enum { PORTS_MOST = 20 };
#define LOST      0.78 /* share that additions reach beside products (Granite Rapids: 0.81) */
#define SEEN_MOST 0.95
#define APART     0.75  /* a larger distance means another set */
#define NEW_PORT  0.001 /* prefers the choice with fewer new ports */

static double together_of(const struct as_port_sets *sets, unsigned a, unsigned b)
{
    return a < b ? sets->together[a][b] : sets->together[b][a];
}

/* Returns how far two sets are from their measured union. The union has at least the size of the
 * larger set: a measured value slightly below was lost. */
static double pair_distance(const struct as_port_sets *sets, unsigned a, uint64_t of_a, unsigned b,
                            uint64_t of_b)
{
    const double measured = together_of(sets, a, b);
    const double larger = fmax(sets->set[a].ports, sets->set[b].ports);
    const double ports = fmin(__builtin_popcountll(of_a | of_b), sets->most);

    if (!(measured > 0))
        return 0;
    return fabs(ports -
                fmin(measured > LOST * larger ? fmax(measured, larger) : measured, sets->most));
}

static double distance_of(const struct as_port_sets *sets, const uint64_t *out, uint32_t placed,
                          unsigned one, uint64_t ports)
{
    double sum = 0;

    for (unsigned i = 0; i < sets->n; i++)
        if (placed >> i & 1) {
            const double apart = pair_distance(sets, one, ports, i, out[i]);
            sum += apart * apart;
            /* At the max of the observation: both sets are probably disjoint. */
            if (together_of(sets, one, i) >= SEEN_MOST * sets->most)
                sum += 2 * NEW_PORT * __builtin_popcountll(ports & out[i]);
        }
    return sum;
}

/* Returns the next larger number with the same count of bits. */
static uint64_t next_choice(uint64_t choice)
{
    const uint64_t lowest = choice & -choice, carried = choice + lowest;

    return carried | (((choice ^ carried) >> 2) / lowest);
}

static uint64_t nearest_ports(const struct as_port_sets *sets, const uint64_t *out, uint32_t placed,
                              unsigned one)
{
    const unsigned ports = sets->set[one].ports;
    uint64_t there = 0, best = 0;
    double least = INFINITY;

    for (unsigned i = 0; i < sets->n; i++)
        there |= placed >> i & 1 ? out[i] : 0;
    const unsigned used = there ? 64 - (unsigned)__builtin_clzll(there) : 0;
    const unsigned all = used + ports > PORTS_MOST ? PORTS_MOST : used + ports;
    for (uint64_t choice = (UINT64_C(1) << ports) - 1; choice < UINT64_C(1) << all;
         choice = next_choice(choice)) {
        const uint64_t fresh = choice & ~there;
        const double apart = distance_of(sets, out, placed, one, choice) +
                             NEW_PORT * __builtin_popcountll(fresh) +
                             NEW_PORT / 1000 * (double)(fresh >> used);
        if (apart < least) {
            least = apart;
            best = choice;
        }
    }
    return best;
}

static unsigned pairs_of(const struct as_port_sets *sets, unsigned one)
{
    unsigned n = 0;

    for (unsigned i = 0; i < sets->n; i++)
        n += i != one && together_of(sets, one, i) > 0;
    return n;
}

/* Returns the next set to place: first known ones, then those with the most measurements, of these
 * the largest. A placed set is not moved again. */
static unsigned next_to_place(const struct as_port_sets *sets, uint32_t placed)
{
    unsigned best = sets->n, most = 0;

    for (unsigned i = 0; i < sets->n; i++) {
        const unsigned rank = (sets->set[i].known ? 1u << 16 : 0) | pairs_of(sets, i) << 8 |
                              (sets->set[i].ports & 0xff);
        if (!(placed >> i & 1) && (best == sets->n || rank > most)) {
            best = i;
            most = rank;
        }
    }
    return best;
}

bool as_port_sets_find(const struct as_port_sets *sets, uint64_t out[AS_SETS_MOST])
{
    uint32_t placed = 0;

    memset(out, 0, AS_SETS_MOST * sizeof *out);
    for (unsigned k = 0; k < sets->n; k++) {
        const unsigned one = next_to_place(sets, placed);
        const uint64_t known = sets->set[one].known;
        if (sets->set[one].ports == 0 || sets->set[one].ports > PORTS_MOST)
            return false;
        out[one] = known ? known : nearest_ports(sets, out, placed, one);
        if (!out[one] || (unsigned)__builtin_popcountll(out[one]) != sets->set[one].ports)
            return false;
        placed |= 1u << one;
    }
    for (unsigned i = 0; i < sets->n; i++)
        for (unsigned j = i + 1; j < sets->n; j++)
            if (pair_distance(sets, i, out[i], j, out[j]) > APART)
                return false;
    return true;
}
