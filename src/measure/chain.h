/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two stretches of code whose length in core cycles is known: a chain of dependent multiplications,
 * which nobody on the other hardware thread can slow down, gives the frequency; independent
 * increments, which a busy neighbour slows down at once, give the gate. And the estimator over
 * samples.
 */
#ifndef AS_MEASURE_CHAIN_H
#define AS_MEASURE_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A share of the best canary that a clean sample reaches at least; how far two chains around a
 * sample may differ: both proved themselves on 2,357 blocks, of which 97.6 % repeat to 2 %. */
#define AS_CANARY_PASSES 0.965
#define AS_CHAIN_DRIFT   0.006

uint64_t as_chain_ticks(void); /* of AS_CHAIN_N dependent multiplications */
/* The same at the frequency of heavy operations of 64 bytes, one of which stands in every hundred:
 * a core that has done some is slower until it has done none for 2.4 us, and stands still for 1.4
 * us to leave that state (Granite Rapids). On processors with AVX-512 alone. */
uint64_t as_chain_held_ticks(void);
/* Whether a plain chain (`ticks`: as_chain_ticks) behind `run` sees such a change: of nine more
 * than half, each held to the second one behind it. */
bool as_chain_is_left(void (*run)(void *context), uint64_t (*ticks)(void), void *context);
uint64_t as_chain_adds(void);   /* of AS_CHAIN_N dependent additions, a cycle each */
uint64_t as_chain_none(void);   /* of no addition: what reading the counter twice takes */
uint64_t as_canary_ticks(void); /* of AS_CANARY_N independent increments */
#define AS_CHAIN_N  7000
#define AS_CANARY_N 16000

/* Who says how long they take; tests have a core of their own. */
struct as_gate_clock {
    uint64_t (*chain)(void), (*adds)(void), (*canary)(void);
};

struct as_gate {
    const struct as_gate_clock *clock; /* NULL: this processor */
    double chain_cycles; /* of one multiplication: 3 on most, 4 on Zen 1, 5 on Knights Landing */
    double best;         /* increments a cycle when calm */
};

/* Tries `tries` times and keeps the best that three reach; a gate that is better known already
 * stays. */
void as_gate_calibrate(struct as_gate *gate, unsigned tries);

/* Core cycles that the chain takes. */
static inline double as_gate_cycles(const struct as_gate *gate)
{
    return gate->chain_cycles * AS_CHAIN_N;
}

/* Increments a cycle, of a canary beside a chain. */
static inline double as_gate_rate(const struct as_gate *gate, uint64_t canary, uint64_t chain)
{
    return AS_CANARY_N / ((double)canary * as_gate_cycles(gate) / (double)chain);
}

/* How many of `tries` canaries pass. */
unsigned as_gate_passes(const struct as_gate *gate, unsigned tries);

/* Sorts; the value below which `share` (0 to 1) of them lie. NAN of none. */
double as_sample_quantile(double *value, size_t n, double share);

#endif
