/* SPDX-License-Identifier: Apache-2.0 */
/* Balance of the time of a loop over threads and processes. */
#ifndef AS_VPROF_SHARES_H
#define AS_VPROF_SHARES_H

#include "vprof/instances.h"

/* Ratios of maximum to mean time of those that entered the loop; 1 is balanced. */
struct as_shares {
    unsigned threads, processes; /* number of those that entered the loop */
    double by_thread;            /* over all threads */
    double by_process;           /* over processes, with the sum of their threads */
    double within;               /* over the threads of the process with the highest ratio */
};

/* Computes the balance of a loop. Errors: NOMEM. */
int as_shares_find(const struct as_instances *all, uint32_t loop, struct as_shares *out,
                   struct as_error *err);

#endif
