/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time that a recorded run saves if all ranks compute for as long as the mean: simulated, so
 * that waiting which has other causes stays.
 */
#ifndef AS_SIMULATE_EVEN_H
#define AS_SIMULATE_EVEN_H

#include "simulate/simulation.h"

/* Longer programs are simulated on the ideal network alone. */
#define AS_EVEN_FITTED_ACTIONS_N 2000000u

struct as_even_gain {
    int64_t saved_ns;        /* middle of the interval */
    int64_t low_ns, high_ns; /* over the networks, and their distance from the recorded time */
    uint32_t network_n;      /* simulated networks; 0: unknown */
};

/*
 * `ideal` is the result of `program` on the ideal network, `recorded_ns` its recorded time. Two
 * more networks are fitted to that time: one with latency, one with a bandwidth. The saving is
 * simulated on each. Errors: those of as_simulate_program.
 */
int as_even_gain_of(struct as_simulated_program *program, const struct as_simulated *ideal,
                    int64_t recorded_ns, struct as_even_gain *out, struct as_error *err);

#endif
