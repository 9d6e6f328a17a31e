/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions to execute: byte patterns over the whole opcode space that the decoder accepts,
 * a few per form. Which registers an instance uses is drawn from the seed.
 */
#ifndef HX_CORPUS_H
#define HX_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/isa.h"

/* How the registers of an instance were drawn. */
enum hx_draw {
    HX_DRAW_LOW,  /* all different, numbers below 8 */
    HX_DRAW_HIGH, /* all different, numbers from 8 */
    HX_DRAW_ANY,  /* anything, so an instance may name one register twice */
    HX_DRAWS
};

struct hx_case {
    uint8_t bytes[15];
    uint8_t draw; /* hx_draw */
    struct as_insn insn;
    int64_t disp, imm; /* in full width */
};

struct hx_corpus {
    struct hx_case *at;
    size_t n, cap;
    size_t tried, forbidden;
};

/*
 * Fills `out` (zero-initialised by the caller). `memory` is the address that absolute operands
 * get. Returns 0 or an assay error code. Free out->at with free().
 */
int hx_corpus_build(uint64_t seed, uint64_t memory, struct hx_corpus *out);

/* xorshift64*: the one random source of the harness. */
uint64_t hx_random(uint64_t *state);

#endif
