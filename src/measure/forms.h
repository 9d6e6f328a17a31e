/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruction forms to be measured, each with an instance that stands for it: all that the decoder
 * knows, or those of code that is given; and further instances with chosen registers.
 */
#ifndef AS_MEASURE_FORMS_H
#define AS_MEASURE_FORMS_H

#include <assay/isa.h>
#include <assay/uarch.h>

#include "base/vec.h"
#include "isa/encode.h"

struct as_form_case {
    char key[ASSAY_UARCH_KEY_B]; /* as tables of cores have it */
    uint8_t bytes[AS_ENCODE_B];
    uint8_t n;
    struct assay_insn insn; /* of these bytes, at address 0 */
};

struct as_form_list {
    AS_VEC(struct as_form_case) cases;
    uint32_t *seen; /* by form: bits of the variants that are there */
};

int as_forms_init(struct as_form_list *list);
void as_forms_fini(struct as_form_list *list);
/* Those of all instructions in `bytes`. Errors: NOMEM. */
int as_forms_of_code(struct as_form_list *list, const uint8_t *bytes, size_t size_b);
/* Those of every opcode, without masks (but of gathers and scatters) and embedded broadcasts.
 * Errors: NOMEM. */
int as_forms_of_decoder(struct as_form_list *list);

/* How many instances write registers of their own; 8 where nothing is written. */
unsigned as_form_copies(const struct as_form_case *one);
/* Gathers and scatters: what stands before each instance sets its indices and its mask. */
bool as_form_gathers(const struct assay_form *form);
/* Mask registers are written or read. */
bool as_form_has_masks(const struct assay_form *form);
/* Instructions that give what a form reads without naming it (and writes too) values that wait for
 * nothing, so that its instances do not wait for each other; their bytes. Most need none. */
size_t as_form_breaker(const struct as_form_case *one, uint8_t out[4 * AS_ENCODE_B]);

/*
 * Instance `number` (0 to 7) of a case: what it writes is another register in each, what it reads
 * alone are others than those, memory is near rbx (and r10). `chained`: the explicit operand that
 * is to be the register written, -1 none; the register written is then that of instance 0. 0:
 * cannot be.
 */
size_t as_form_instance(const struct as_form_case *one, unsigned number, int chained,
                        uint8_t out[AS_ENCODE_B]);

#endif
