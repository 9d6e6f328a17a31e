/* SPDX-License-Identifier: Apache-2.0 */
/* How evenly threads and processes share the time of a loop. */
#ifndef AS_VPROF_SHARES_H
#define AS_VPROF_SHARES_H

#include "vprof/instances.h"

/* Time of the one with most to the mean of those that were in the loop; 1: balanced. */
struct as_shares {
    unsigned threads, processes; /* that were in it */
    double by_thread;            /* of all threads */
    double by_process;           /* of processes, their threads together */
    double within;               /* of the threads of one process, where that is most */
};

/* Errors: NOMEM. */
int as_shares_find(const struct as_instances *all, uint32_t loop, struct as_shares *out,
                   struct assay_error *err);

#endif
