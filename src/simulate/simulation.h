/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event-driven simulation of a program of MPI on a machine. Times are whole nanoseconds, and the
 * result does not depend on anything but program and machine. Memory is that of the operations in
 * flight.
 */
#ifndef AS_SIMULATE_SIMULATION_H
#define AS_SIMULATE_SIMULATION_H

#include "simulate/machine.h"
#include "simulate/program.h"

/* How a rank spent its time until its end; the parts add up to `end_ns`. */
struct as_simulated_rank {
    int64_t computing_ns;
    int64_t latency_ns;    /* of its sends */
    int64_t link_ns;       /* waited while its message was queued for a link */
    int64_t bus_ns;        /* and for a bus */
    int64_t transfer_ns;   /* and while it was transferred */
    int64_t collective_ns; /* cost of collectives */
    int64_t blocked_ns;    /* waited for another rank */
    int64_t end_ns;
};

struct as_simulated {
    int64_t total_ns; /* the end of the last rank */
    uint64_t actions_n, messages_n;
    uint64_t unreceived_n;  /* messages without a receive */
    uint64_t in_flight_max; /* messages held at once */
    AS_VEC(struct as_simulated_rank) rank;
};

/* `out` needs as_simulated_fini in any case. Errors: CORRUPT (deadlock: which ranks wait for what;
 * collectives that do not match; times beyond 2^60 ns), LIMIT (stopped), NOMEM, those of the
 * source. */
int as_simulate_program(struct as_simulated_program *program, const struct as_machine_model *model,
                        struct as_simulated *out, struct as_error *err);
void as_simulated_fini(struct as_simulated *simulated);

#endif
