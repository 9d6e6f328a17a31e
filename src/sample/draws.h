/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All registers of a random selection of the samples of an instruction. They give the addresses of
 * each memory operand nearby (doc/internals/sample.md).
 */
#ifndef AS_SAMPLE_DRAWS_H
#define AS_SAMPLE_DRAWS_H

#include <stdint.h>

#include "base/vec.h"
#include "sample/sample.h"

enum {
    AS_DRAWS_MOST = 66,
    AS_DRAW_REGISTERS = 16,
    AS_DRAW_STACK_POINTER = 7, /* DWARF number of rsp */
    /* Max draws per text: the text with its prefix fits 4096 bytes. */
    AS_DRAWS_TEXT_N = 11,
    AS_DRAWS_TEXT_B = 4032
};

struct as_register_draw {
    uint32_t tid;
    uint64_t time_ns;                /* CLOCK_MONOTONIC */
    uint64_t reg[AS_DRAW_REGISTERS]; /* by DWARF number */
};

/* A zeroed struct is empty. */
struct as_register_draws {
    AS_VEC(struct as_register_draw) at;
    uint64_t sample_n;
};

/*
 * Returns the slot below `capacity` for sample number `seen` (from 0), or `capacity` if the sample
 * is not kept. Each sample has the same chance to be kept (J. S. Vitter, ACM TOMS 11 (1985) 37,
 * algorithm R).
 */
uint32_t as_draw_place(uint64_t *random, uint64_t seen, uint32_t capacity);

/* Adds a sample with registers, if it is drawn. Returns 0 or NOMEM. */
int as_draws_add(struct as_register_draws *draws, uint64_t *random,
                 const struct as_sample_record *sample);

/* Writes "TID@TIME:REGISTER,REGISTER,... ..." in hexadecimal digits to `out`. Writes at most
 * AS_DRAWS_TEXT_N draws, from number `from` on. `out` has AS_DRAWS_TEXT_B bytes. */
void as_draws_text(const struct as_register_draws *draws, size_t from, char *out);

#endif
