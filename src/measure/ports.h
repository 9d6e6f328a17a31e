/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sets of operations share ports, from how many go through in a cycle, of each and of two
 * together. Nothing here measures.
 */
#ifndef AS_MEASURE_PORTS_H
#define AS_MEASURE_PORTS_H

#include <stdbool.h>
#include <stdint.h>

enum { AS_SETS_MOST = 16 };

struct as_port_sets {
    unsigned n;
    struct {
        unsigned ports; /* of this set */
        uint64_t known; /* which they are, by somebody else; 0: to be found */
    } set[AS_SETS_MOST];
    /* Ports of two sets together, as they were measured (of i < j); 0: not known. */
    double together[AS_SETS_MOST][AS_SETS_MOST];
    /* Ports beyond this are not seen: so many operations begin in a cycle. */
    double most;
};

/* Ports of each set, bits from 0, so that two together have as many as were measured; what is
 * `known` stays. False: there is no such choice, all measured numbers within a port. */
bool as_port_sets_find(const struct as_port_sets *sets, uint64_t out[AS_SETS_MOST]);

#endif
