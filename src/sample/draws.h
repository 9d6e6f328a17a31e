/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All registers of some samples of an instruction, each sample as likely as any other. They give
 * the addresses of every operand near it (doc/internals/sample.md).
 */
#ifndef AS_SAMPLE_DRAWS_H
#define AS_SAMPLE_DRAWS_H

#include <stdint.h>

#include <assay/sample.h>

#include "base/vec.h"

enum {
    AS_DRAWS_MOST = 66,
    AS_DRAW_REGISTERS = 16,
    AS_DRAW_STACK_POINTER = 7, /* number of rsp in DWARF */
    AS_DRAWS_TEXT_N = 11, /* draws of a text, which with what stands before it fits 4096 bytes */
    AS_DRAWS_TEXT_B = 4032
};

struct as_register_draw {
    uint32_t tid;
    uint64_t time_ns;                /* CLOCK_MONOTONIC */
    uint64_t reg[AS_DRAW_REGISTERS]; /* by the numbers of DWARF */
};

/* All zero: none yet. */
struct as_register_draws {
    AS_VEC(struct as_register_draw) at;
    uint64_t sample_n;
};

/*
 * The place of sample number `seen` (from 0) among `capacity` places; `capacity`: it does not stay.
 * Each sample is as likely to stay as any other (J. S. Vitter, ACM TOMS 11 (1985) 37, algorithm R).
 */
uint32_t as_draw_place(uint64_t *random, uint64_t seen, uint32_t capacity);

/* Takes in a sample with registers. 0 or NOMEM. */
int as_draws_add(struct as_register_draws *draws, uint64_t *random,
                 const struct assay_sample_record *sample);

/* "TID@TIME:REGISTER,REGISTER,... ..." in hexadecimal digits, of AS_DRAWS_TEXT_N draws at most from
 * draw number `from` on. `out` has AS_DRAWS_TEXT_B bytes. */
void as_draws_text(const struct as_register_draws *draws, size_t from, char *out);

#endif
