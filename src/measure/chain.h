/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two pieces of code with a known length in core cycles, and the estimator over samples. A chain of
 * dependent multiplications gives the frequency; the other hardware thread cannot slow it down.
 * Independent increments (the canary) are slowed down at once by a busy hardware thread. They give
 * the gate, which accepts or refuses a sample.
 */
#ifndef AS_MEASURE_CHAIN_H
#define AS_MEASURE_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Min share of the best canary rate for a clean sample, and max difference of its two chains. Both
 * were validated on 2,357 blocks, of which 97.6 % repeat to 2 %. */
#define AS_CANARY_PASSES 0.965
#define AS_CHAIN_DRIFT   0.006

uint64_t as_chain_ticks(void); /* ticks of AS_CHAIN_N dependent multiplications */
/* As as_chain_ticks, at the frequency of heavy 64-byte operations: one such operation stands in
 * every hundred. A core that executes them runs slower until it has executed none for 2.4 us. It
 * also halts for 1.4 us when it leaves this state (Granite Rapids). Needs AVX-512. */
uint64_t as_chain_held_ticks(void);
/* Returns true if a plain chain (`ticks`: as_chain_ticks) behind `run` shows such a change of
 * state. More than half of nine chains must be slower than the second chain behind them. */
bool as_chain_is_left(void (*run)(void *context), uint64_t (*ticks)(void), void *context);
uint64_t as_chain_adds(void);   /* ticks of AS_CHAIN_N dependent additions of one cycle */
uint64_t as_chain_none(void);   /* ticks of no addition: the cost of two clock reads */
uint64_t as_canary_ticks(void); /* ticks of AS_CANARY_N independent increments */
#define AS_CHAIN_N  7000
#define AS_CANARY_N 16000

/* The functions that measure; tests replace them by a simulated core. */
struct as_gate_clock {
    uint64_t (*chain)(void), (*adds)(void), (*canary)(void);
};

struct as_gate {
    const struct as_gate_clock *clock; /* NULL: this CPU */
    /* Cycles of one multiplication: 3 on most cores, 4 on Zen 1, 5 on Knights Landing. */
    double chain_cycles;
    double best; /* increments per cycle without external load */
};

/* Measures `tries` canaries and sets `best` to the third best rate. A better earlier rate stays. */
void as_gate_calibrate(struct as_gate *gate, unsigned tries);

/* Returns the length of the chain in core cycles. */
static inline double as_gate_cycles(const struct as_gate *gate)
{
    return gate->chain_cycles * AS_CHAIN_N;
}

/* Returns the increments per cycle of a canary measured beside a chain. */
static inline double as_gate_rate(const struct as_gate *gate, uint64_t canary, uint64_t chain)
{
    return AS_CANARY_N / ((double)canary * as_gate_cycles(gate) / (double)chain);
}

/* Returns how many of `tries` canaries pass the gate. */
unsigned as_gate_passes(const struct as_gate *gate, unsigned tries);

/* Sorts the values and returns the quantile at `share` (0 to 1). Returns NAN if `n` is 0. */
double as_sample_quantile(double *value, size_t n, double share);

#endif
