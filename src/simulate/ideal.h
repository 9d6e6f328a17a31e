/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorded run on the ideal network: no latency, infinite bandwidth, nothing limited. Its time
 * divides the communication of the run into transfer and serialisation (doc/reference/pop.md).
 */
#ifndef AS_SIMULATE_IDEAL_H
#define AS_SIMULATE_IDEAL_H

#include "trace/read.h"

struct as_ideal_run {
    uint32_t rank_n;
    int64_t recorded_ns; /* from the first return of MPI_Init to the last call of MPI_Finalize */
    int64_t ideal_ns;    /* the same on the ideal network */
};

/*
 * Reads the whole trace once; its streams are at their ends afterwards. `trace` is open.
 * Errors: NOT_FOUND (no ranks of MPI), UNSUPPORTED (a trace that cannot be replayed: lost records,
 * one-sided access, collectives of neighbours, several threads that call MPI), CORRUPT (deadlock),
 * IO, NOMEM.
 */
int as_ideal_run_of(const struct as_trace *trace, struct as_ideal_run *out,
                    struct assay_error *err);

#endif
