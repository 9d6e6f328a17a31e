/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes instructions with an amount of work that depends on a mask or a count: AVX-512 masks,
 * masks in vector registers (vmaskmov, AVX2 gathers, maskmovdqu), and repeated string instructions.
 * The maker of a plan and the reader of its counters share this file.
 */
#ifndef AS_PATCH_LANE_COUNT_H
#define AS_PATCH_LANE_COUNT_H

#include "isa/isa.h"

enum as_amount_kind {
    AS_AMOUNT_FIXED,   /* the instruction alone determines the amount */
    AS_AMOUNT_MASK,    /* lanes that a mask register enables */
    AS_AMOUNT_SIGNS,   /* lanes that the sign bits of a vector register enable */
    AS_AMOUNT_REPEATS, /* the decrease of rcx while it runs */
    AS_AMOUNT_UNKNOWN  /* masked in a way that is not counted: at most all lanes */
};

struct as_amount {
    uint8_t kind;      /* as_amount_kind */
    uint8_t reg;       /* number of the mask or vector register */
    uint8_t element_b; /* SIGNS: bytes of the elements with the sign bits */
    bool wide;         /* SIGNS: the mask is in a ymm register */
    bool ends_early;   /* REPEATS: rcx may be above 0 at the end */
    uint16_t lanes;    /* number of lanes with mask bits */
};

struct as_amount as_amount_of(const struct as_insn *insn);

#endif
