/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of what memory operands touch: the variable of the source through which the address of an
 * operand was formed. Proved by the code and by DWARF's places of variables, or not said.
 */
#ifndef AS_CODE_BASES_H
#define AS_CODE_BASES_H

#include "object/variables.h"
#include <assay/code.h>

struct as_bases; /* the bases of one body; borrows the program; read-only */

/*
 * Follows pointers through the instructions of a body. `*out` becomes NULL if the body has no
 * variables, or too much code; as_bases_free releases it. Errors: NOMEM.
 */
int as_bases_new(const struct assay_program *program, uint32_t body, struct as_bases **out,
                 struct assay_error *err);
void as_bases_free(struct as_bases **bases); /* nulls the pointer; NULL is fine */

enum { AS_BASE_TEXT_B = 256 };

struct as_base_name {
    char text[AS_BASE_TEXT_B]; /* "a", "grid%u", "g->u", "rows[]" */
    struct as_type_ref type;   /* of the variable; of a pointer what it points to */
    bool through;              /* it is a pointer: more than one of `type` may follow */
};

/* The variable that memory operand `operand` (of assay_insn_memory) of an instruction of the body
 * belongs to; false: none is proved. */
bool as_bases_name(const struct as_bases *bases, uint32_t insn, unsigned operand,
                   struct as_base_name *out);

/* A stride in words of the source: `factor_b` bytes times the text. */
struct as_extent_name {
    char text[AS_BASE_TEXT_B]; /* "lda", "n*m", "n + 2", "g->ld" */
    int64_t factor_b;
};

/* The variables that a stride in registers is made of, before an instruction of the body; false:
 * it is not proved. The stride must not be 0. */
bool as_bases_extent(const struct as_bases *bases, uint32_t insn,
                     const struct assay_held_stride *stride, struct as_extent_name *out);

#ifdef __cplusplus
}
#endif
#endif
