/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks of a job on several machines find out, without MPI, which of them are traced: a collective
 * operation that a rank which is not traced never joins would hang the job. Each says in a file
 * that it is here; rank 0 decides with whom clocks are compared, one rank of each other machine.
 * The decision is one link in a directory that all see: it is made once, by rank 0 or by who gave
 * up before, and all find the same.
 */
#ifndef AS_AGENT_RENDEZVOUS_H
#define AS_AGENT_RENDEZVOUS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/shared/trace_part.h"

struct as_rank_rendezvous {
    char directory[AS_RENDEZVOUS_PATH_B]; /* made where it is not there */
    uint32_t role;                        /* as_rendezvous_roles */
    uint32_t rank, size;                  /* by the launcher */
    uint64_t machine;                     /* a number of it */
    int64_t limit_ns;                     /* so long is anybody waited for */
};

/*
 * Says that this rank is here. True: clocks are compared among the `n` ranks of `rank` (of room for
 * `size`), rank 0 first, of which this is one, and all of them know it: each is in this call, or
 * will come back from it with the same answer. False: this rank does nothing more.
 */
bool as_rendezvous_hold(const struct as_rank_rendezvous *meeting, int *rank, int *n);

#endif
