/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random states in which an instruction is likely to do its work: addresses point into the scratch
 * memory, counts are small, floating-point values are mostly ordinary numbers.
 */
#ifndef HX_STATE_H
#define HX_STATE_H

#include "corpus.h"
#include "run.h"

/* The content of data registers and memory; the numbers are used in turn. */
enum hx_fill {
    HX_FILL_RANDOM,
    HX_FILL_SMALL, /* integers 0..63 */
    HX_FILL_F32,
    HX_FILL_F64,
    HX_FILL_EQUAL, /* one byte value everywhere */
    HX_FILL_ZERO,
    HX_FILL_ONES,
    HX_FILL_F16,
    HX_FILL_DENORMAL,
    HX_FILL_SMALL8, /* small in every byte, 16-bit or 32-bit element */
    HX_FILL_SMALL16,
    HX_FILL_SMALL32,
    HX_FILL_MIXED, /* each register, and the memory, one of the above */
};

/* Offsets of an explicit and an implicit memory operand from the start of the scratch memory. */
#define HX_TARGET_FIRST  1536
#define HX_TARGET_SECOND 2560
#define HX_TARGET_STACK  3328

/*
 * Registers and memory for `c`. Both states of a pair (`shifted` = 0 and 64) have valid addresses,
 * `shifted` bytes apart.
 */
void hx_state_draw(const struct hx_case *c, enum hx_fill fill, unsigned shifted, uint64_t *random,
                   struct hx_state *state, uint8_t memory[HX_MEM_B]);

#endif
