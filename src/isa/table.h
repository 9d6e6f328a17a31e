/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies mnemonics: tables generated at build time from data/isa/x86-mnemonics.tsv. The decoder
 * library's mnemonic number is the index.
 */
#ifndef AS_ISA_TABLE_H
#define AS_ISA_TABLE_H

#include "isa/isa.h"

/* Only in the table: a legacy vector memory operand does not fault if unaligned. */
#define AS_TRAIT_UNALIGNED (1u << 31)

struct as_isa_row {
    const char *mnemonic;
    uint32_t traits;
    uint8_t insn_class;
    uint8_t element, element_b; /* element_b 0: as wide as the first operand */
    uint8_t source, source_b;
    uint8_t flops, intops; /* per lane */
};

extern const struct as_isa_row as_isa_rows[];
extern const unsigned as_isa_rows_n;

#endif
