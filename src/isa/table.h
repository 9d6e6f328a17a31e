/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classification of mnemonics, generated at build time from data/isa/x86-mnemonics.tsv and
 * indexed by the decoder library's mnemonic number.
 */
#ifndef AS_ISA_TABLE_H
#define AS_ISA_TABLE_H

#include <assay/isa.h>

/* Table only: a legacy vector memory operand of it does not fault when unaligned. */
#define AS_TRAIT_UNALIGNED (1u << 31)

struct as_isa_row {
    const char *mnemonic;
    uint32_t traits;
    uint8_t insn_class;
    uint8_t element, element_b; /* size 0: as wide as the first operand */
    uint8_t source, source_b;
    uint8_t flops, intops; /* per lane */
};

extern const struct as_isa_row as_isa_rows[];
extern const unsigned as_isa_rows_n;

#endif
