/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions as they would be on whole vectors, and with registers in place of memory: records
 * for lists that no assembler has seen. Forms are found through the encoder, each once; which
 * mnemonic stands for which is data (data/isa/x86-packed.tsv).
 */
#ifndef AS_ISA_PACKED_H
#define AS_ISA_PACKED_H

#include <stdbool.h>
#include <stdint.h>

#include <assay/isa.h>

/*
 * `insn` on vectors that together hold `lanes` of its elements, registers and addresses as they
 * are; what it does on fewer lanes than it has is not asked for. A general register stays one: only
 * the order of values is kept. False when there is no such form. Thread-safe.
 */
bool as_insn_packed(const struct assay_insn *insn, unsigned lanes, struct assay_insn *out);
/* With register `reg` in place of its explicit memory operand; false when there is no such form. */
bool as_insn_registers(const struct assay_insn *insn, uint8_t reg, struct assay_insn *out);

/* Bytes of a vector register that an instruction works on: lanes times element; scalars: one. */
unsigned as_insn_width(const struct assay_form *form);

enum as_part {
    AS_PART_FIRST, /* the first element of 16 bytes */
    AS_PART_NEXT,  /* a further one */
    AS_PART_JOIN,  /* two halves to one vector */
    AS_PART_SPLIT, /* the upper half */
    AS_PART_PUT_FIRST,
    AS_PART_PUT_NEXT,
    AS_PART_GATHER,
    AS_PART_SCATTER,
    AS_PART_LOAD,
    AS_PART_STORE,
    AS_PART_ADD,
    AS_PART_MUL,
    AS_PART_FMA,
    AS_PART_ADD_INTEGERS,
    AS_PARTS
};
/*
 * A step of putting vectors together, elements and vectors of so many bytes: registers xmm0 for the
 * result (of what is stored: the value), xmm1 and xmm2 for what goes in, [rdi] for memory. False
 * when there is no such step. Thread-safe.
 */
bool as_insn_part(enum as_part part, unsigned element_b, unsigned width_b, struct assay_insn *out);

/* Number of the explicit operand that a fused multiply-add adds; below 0: it is none. */
int as_form_addend(const struct assay_form *form);
/* Touches vector or x87 registers. */
bool as_form_is_vector(const struct assay_form *form);

#endif
