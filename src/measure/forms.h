/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruction forms to measure, each with a representative instruction. The forms are all forms of
 * the decoder or those of given code. Also encodes further instances with chosen registers.
 */
#ifndef AS_MEASURE_FORMS_H
#define AS_MEASURE_FORMS_H

#include "base/vec.h"
#include "isa/encode.h"
#include "isa/isa.h"
#include "machine/uarch.h"

struct as_form_case {
    char key[AS_UARCH_KEY_B]; /* as in core tables */
    uint8_t bytes[AS_ENCODE_B];
    uint8_t n;
    struct as_insn insn; /* decoded from `bytes`, at address 0 */
};

struct as_form_list {
    AS_VEC(struct as_form_case) cases;
    uint32_t *seen; /* by form: bit set of the variants in the list */
};

/* Begins an empty list; as_forms_fini releases it. Returns 0 or NOMEM. */
int as_forms_init(struct as_form_list *list);
void as_forms_fini(struct as_form_list *list);
/* Adds the forms of all instructions in `bytes`. Errors: NOMEM. */
int as_forms_of_code(struct as_form_list *list, const uint8_t *bytes, size_t size_b);
/* Adds the forms of every opcode, without embedded broadcasts and without masks except those of
 * gathers and scatters. Errors: NOMEM. */
int as_forms_of_decoder(struct as_form_list *list);

/* Returns how many instances write different registers; 8 if the form writes no register. */
unsigned as_form_copies(const struct as_form_case *one);
/* Returns true for gathers and scatters. Code before each instance must set their indices and
 * mask. */
bool as_form_gathers(const struct as_form *form);
/* Returns true if the form reads or writes a mask register. */
bool as_form_has_masks(const struct as_form *form);
/* Encodes instructions that set the implied registers of a form to independent values. Instances
 * then do not wait for each other. Returns the length in bytes; 0 for most forms. */
size_t as_form_breaker(const struct as_form_case *one, uint8_t out[4 * AS_ENCODE_B]);

/*
 * Encodes instance `number` (0 to 7) of a form. Each instance writes another register; source
 * registers differ from all of them; memory is near rbx (and r10). `chained` is the explicit
 * operand that becomes the written register, or -1. A chained instance writes the register of
 * instance 0. Returns the length in bytes, or 0 if this is impossible.
 */
size_t as_form_instance(const struct as_form_case *one, unsigned number, int chained,
                        uint8_t out[AS_ENCODE_B]);

#endif
