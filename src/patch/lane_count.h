/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that do as much as a mask or a count says when they run: AVX-512 masks, masks in
 * vector registers (vmaskmov, gathers of AVX2, maskmovdqu), repeated string instructions. What the
 * maker of a plan and who reads its counters must agree on.
 */
#ifndef AS_PATCH_LANE_COUNT_H
#define AS_PATCH_LANE_COUNT_H

#include <assay/isa.h>

enum as_amount_kind {
    AS_AMOUNT_FIXED,   /* all that its code says */
    AS_AMOUNT_MASK,    /* lanes by a mask register */
    AS_AMOUNT_SIGNS,   /* lanes by the sign bits of a vector register */
    AS_AMOUNT_REPEATS, /* what rcx loses while it runs */
    AS_AMOUNT_UNKNOWN  /* masked in a way that is not counted: at most all lanes */
};

struct as_amount {
    uint8_t kind;      /* as_amount_kind */
    uint8_t reg;       /* number of the mask or vector register */
    uint8_t element_b; /* SIGNS: of whose elements the signs are */
    bool wide;         /* SIGNS: in a ymm register */
    bool ends_early;   /* REPEATS: rcx may be left above 0 */
    uint16_t lanes;    /* that the mask has bits for */
};

struct as_amount as_amount_of(const struct assay_insn *insn);

#endif
