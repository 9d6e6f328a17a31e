/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes records of instructions with vector operands, and with registers instead of memory. They
 * are for lists that no assembler has seen. The encoder finds each form once.
 * data/isa/x86-packed.tsv maps the mnemonics.
 */
#ifndef AS_ISA_PACKED_H
#define AS_ISA_PACKED_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"

/*
 * Makes `insn` work on vectors with `lanes` times its elements. Registers and addresses do not
 * change. The caller must not pass fewer lanes than the instruction has. A general register remains
 * general, because only dependences matter. Returns false if the form does not exist. Thread-safe.
 */
bool as_insn_packed(const struct as_insn *insn, unsigned lanes, struct as_insn *out);
/* Replaces the explicit memory operand by register `reg`. Returns false if the form does not
 * exist. Thread-safe. */
bool as_insn_registers(const struct as_insn *insn, uint8_t reg, struct as_insn *out);

/* Returns the bytes of a vector register that an instruction uses: lanes times element. A scalar
 * instruction uses one element. */
unsigned as_insn_width(const struct as_form *form);

enum as_part {
    AS_PART_FIRST, /* inserts the first element of 16 bytes */
    AS_PART_NEXT,  /* inserts a further element */
    AS_PART_JOIN,  /* joins two halves to one vector */
    AS_PART_SPLIT, /* extracts the upper half */
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
 * Makes a record for one step that builds or stores a vector. Elements have `element_b` bytes,
 * vectors `width_b`. The result is in xmm0, which is the value for a store. The inputs are xmm1 and
 * xmm2, and memory is at [rdi]. Returns false if the step does not exist. Thread-safe.
 */
bool as_insn_part(enum as_part part, unsigned element_b, unsigned width_b, struct as_insn *out);

/* Returns the number of the explicit operand that is the addend of an FMA, or -1
 * for other forms. */
int as_form_addend(const struct as_form *form);
/* Returns true if the form uses vector or x87 registers. */
bool as_form_is_vector(const struct as_form *form);

#endif
