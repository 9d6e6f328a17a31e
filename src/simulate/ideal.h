/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorded run on the ideal network: no latency, infinite bandwidth, nothing limited. Its time
 * divides the communication of the run into transfer and serialisation (doc/reference/pop.md).
 */
#ifndef AS_SIMULATE_IDEAL_H
#define AS_SIMULATE_IDEAL_H

#include "simulate/even.h"
#include "trace/read.h"

struct as_ideal_run {
    uint32_t rank_n;
    int64_t recorded_ns; /* from the first return of MPI_Init to the last call of MPI_Finalize */
    int64_t ideal_ns;    /* the same on the ideal network */
    int64_t longest_ns;  /* longest computation of a rank in it */
    struct as_even_gain even;
};

/* Communication efficiency, divided. T is the elapsed time of the run. T1 is T without MPI_Init
 * and MPI_Finalize. Ti is T1 on the ideal network. */
struct as_ideal_shares {
    double startup;       /* T1 / T */
    double transfer;      /* Ti / T1 */
    double serialisation; /* longest time outside MPI / Ti; the product is longest / T */
    double lost_startup, lost_transfer, lost_serialisation; /* parts of T; they add up */
};
/* `longest_ns` is the longest time of a rank outside MPI in `elapsed_ns`, which is positive. */
struct as_ideal_shares as_ideal_shares_of(const struct as_ideal_run *run, double elapsed_ns,
                                          double longest_ns);

/* Further results of a simulation. */
struct as_ideal_wish {
    bool even; /* fills as_ideal_run.even */
    /* `mark` gets the time on the ideal network at which these regions begin and end, as
     * as_recorded_mark_regions has it. */
    const char *const *region;
    size_t region_n;
    int (*mark)(void *context, uint32_t rank, const struct as_action *mark, int64_t now_ns,
                struct as_error *err);
    void *mark_context;
};

/*
 * Reads the whole trace, several times if `wish` (NULL: none) asks for more; its streams are at
 * their ends afterwards. `trace` is open. Errors: NOT_FOUND (no ranks of MPI), UNSUPPORTED (a trace
 * that cannot be replayed: lost records, one-sided access, collectives of neighbours, several
 * threads that call MPI), CORRUPT (deadlock), IO, NOMEM.
 */
int as_ideal_run_of(const struct as_trace *trace, const struct as_ideal_wish *wish,
                    struct as_ideal_run *out, struct as_error *err);

#endif
