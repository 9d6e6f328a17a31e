/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the variable of the source that a memory operand accesses. The code and the DWARF storage
 * of variables prove each name. Without a proof the operand has no name.
 */
#ifndef AS_CODE_BASES_H
#define AS_CODE_BASES_H

#include "code/code.h"
#include "object/variables.h"

struct as_bases; /* bases of one body; they borrow the program and are read-only */

/*
 * Follows pointers through the instructions of a body. Sets `*out` to NULL if the body has no
 * variables or too much code. The caller frees `*out` with as_bases_free. Returns 0 or
 * AS_ERR_NOMEM.
 */
int as_bases_new(const struct as_program *program, uint32_t body, struct as_bases **out,
                 struct as_error *err);
void as_bases_free(struct as_bases **bases); /* sets the pointer to NULL; accepts NULL */

enum { AS_BASE_TEXT_B = 256 };

struct as_base_name {
    char text[AS_BASE_TEXT_B]; /* "a", "grid%u", "g->u", "rows[]" */
    struct as_type_ref type;   /* type of the variable; for a pointer, type of its target */
    bool through; /* the variable is a pointer: several elements of `type` may follow */
};

/* Finds the variable that memory operand `operand` (of as_insn_memory) of instruction `insn`
 * accesses. `insn` is an index into the program's code. Returns false if no variable is proved. */
bool as_bases_name(const struct as_bases *bases, uint32_t insn, unsigned operand,
                   struct as_base_name *out);

/* A stride as text of the source: `factor_b` bytes times the value of the text. */
struct as_extent_name {
    char text[AS_BASE_TEXT_B]; /* "lda", "n*m", "n + 2", "g->ld" */
    int64_t factor_b;
};

/*
 * Names the variables that give a stride in registers before an instruction of the body. The stride
 * is not 0. Returns false if no name is proved.
 */
bool as_bases_extent(const struct as_bases *bases, uint32_t insn,
                     const struct as_register_stride *stride, struct as_extent_name *out);
#endif
