/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds blocks that saturate one resource of a core, with instances of a form spread over them.
 */
#ifndef AS_MEASURE_MIXTURE_H
#define AS_MEASURE_MIXTURE_H

#include "measure/timing.h"

#define AS_MIXTURE_MOST_B 4000 /* max bytes of a block */
#define AS_MIXTURE_MOST_N 1000
/* Max instructions with several instances: twelve copies fit into an op cache. */
#define AS_MIXTURE_FULL_N 250
#define AS_MIXTURE_NOPS   4 /* kinds of nops in kernels of slots */
/* End of the kinds with zero idioms, for cores where nops share slots. */
#define AS_MIXTURE_IDLE 8

/* A saturating kernel, repeated `repeats` times, with `n` instances of a form spread over it. */
struct as_mixture {
    enum as_saturated probe;
    unsigned repeats, n;
    unsigned nop;     /* kind of the nop in kernels of slots */
    bool fills_lines; /* nops between two instances fill complete lines of the op cache */
    const struct as_form_case *one; /* NULL: no instances */
};

/* Encodes a mixture. Returns its length in bytes, or 0 if it is impossible. */
size_t as_mixture_build(const struct as_mixture *m, uint8_t out[AS_MIXTURE_MOST_B]);
/* Encodes the instructions of two saturating kernels, spread over each other. `a_n` must not be
 * 0. */
size_t as_mixture_pair(enum as_saturated a, unsigned a_n, enum as_saturated b, unsigned b_n,
                       uint8_t out[AS_MIXTURE_MOST_B]);
/* Returns true if this kind of nop can fill the op cache lines between `n` instances. */
bool as_mixture_can_fill(const struct as_mixture *m);
/* Sets the range [*first, *end) of the nop kinds that measure the slots of this core. */
void as_mixture_kinds(const struct as_probe_rates *rates, unsigned *first, unsigned *end);
/* Returns the number of nops in a kernel of slots. */
unsigned as_mixture_nops(const struct as_mixture *m);

#endif
