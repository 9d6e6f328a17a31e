/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds groups of operations that share ports, from the rates of each group and of each pair. It
 * does not measure.
 */
#ifndef AS_MEASURE_PORTS_H
#define AS_MEASURE_PORTS_H

#include <stdbool.h>
#include <stdint.h>

enum { AS_SETS_MOST = 16 };

struct as_port_sets {
    unsigned n;
    struct {
        unsigned ports; /* number of ports of this set */
        uint64_t known; /* ports if known from elsewhere; 0: to be found */
    } set[AS_SETS_MOST];
    /* Measured ports of the union of sets i < j; 0: unknown. */
    double together[AS_SETS_MOST][AS_SETS_MOST];
    /* Max number of operations that start per cycle; more ports cannot be observed. */
    double most;
};

/* Chooses the ports of each set as bit sets from bit 0, so that each union has the measured size.
 * `known` ports stay. Returns false if no choice matches all measured numbers within one port. */
bool as_port_sets_find(const struct as_port_sets *sets, uint64_t out[AS_SETS_MOST]);

#endif
