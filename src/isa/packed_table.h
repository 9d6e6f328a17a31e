/* SPDX-License-Identifier: Apache-2.0 */
/* data/isa/x86-packed.tsv as C, made by tools/gen-packed.py. */
#ifndef AS_ISA_PACKED_TABLE_H
#define AS_ISA_PACKED_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct as_packed_row {
    const char *mnemonic;
    const char *by_element[4]; /* 1, 2, 4, 8 bytes; NULL: none */
    const char *wide;          /* with 64 bytes; NULL: the same */
};
extern const struct as_packed_row as_packed_row[];
extern const size_t as_packed_row_n;

struct as_part_row {
    uint8_t part, element_b, width_b;
    const char *text;
};
extern const struct as_part_row as_part_row[];
extern const size_t as_part_row_n;

#endif
