/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that saturate one resource of a core, with instances of a form spread over them.
 */
#ifndef AS_MEASURE_MIXTURE_H
#define AS_MEASURE_MIXTURE_H

#include "measure/timing.h"

#define AS_MIXTURE_MOST_B 4000 /* that a block may have */
#define AS_MIXTURE_MOST_N 1000
#define AS_MIXTURE_FULL_N 250 /* more instances than one: twelve copies fit into an op cache */
#define AS_MIXTURE_NOPS   4   /* kinds of nops that kernels of slots are made of */
#define AS_MIXTURE_IDLE   8   /* and of zero idioms behind them, where nops share slots */

/* A saturating kernel, so often, with `n` instances of a form spread over it. */
struct as_mixture {
    enum as_saturated probe;
    unsigned repeats, n;
    unsigned nop;     /* kind of what fills slots */
    bool fills_lines; /* nops alone, between two instances that do not share a line with them */
    const struct as_form_case *one; /* NULL: none */
};

/* Its bytes, 0: cannot be. */
size_t as_mixture_build(const struct as_mixture *m, uint8_t out[AS_MIXTURE_MOST_B]);
/* Instructions of two saturating kernels, spread over each other; `a_n` is not 0. */
size_t as_mixture_pair(enum as_saturated a, unsigned a_n, enum as_saturated b, unsigned b_n,
                       uint8_t out[AS_MIXTURE_MOST_B]);
/* Whether nops of that kind can fill the lines of a cache of decoded instructions between `n`. */
bool as_mixture_can_fill(const struct as_mixture *m);
/* The kinds that slots of a core are counted among: from *first to before *end. */
void as_mixture_kinds(const struct as_probe_rates *rates, unsigned *first, unsigned *end);
/* Nops in a kernel of slots. */
unsigned as_mixture_nops(const struct as_mixture *m);

#endif
