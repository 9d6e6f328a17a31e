/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the instructions of a view with their effects on registers and flags, in the order of the
 * view. A call writes the registers that the callee destroys, so no later read seems to use an
 * earlier value.
 */
#ifndef AS_CODE_STEPS_H
#define AS_CODE_STEPS_H

#include "code/iteration.h"
#include "isa/form.h"

struct as_steps {
    const struct as_iteration_view *view;
    uint32_t n;
    uint32_t *insn; /* indices into program.code.insn */
    struct assay_effects *effects;
};

/* Lists the instructions of a view. `arena` owns the lists. Returns 0 or ASSAY_ERR_NOMEM. */
int as_steps_make(const struct as_iteration_view *view, struct as_arena *arena,
                  struct as_steps *out);

static inline const struct assay_insn *as_step_insn(const struct as_steps *steps, uint32_t step)
{
    return &steps->view->iteration->program->code.insn[steps->insn[step]];
}

/*
 * Sets `out` to the effects of assay_insn_effects plus the registers and flags that a call
 * destroys. These are all registers that the ABI allows. A call of a small function in the same
 * file that calls nothing destroys only the registers that it writes.
 */
void as_step_effects(const struct assay_program *program, const struct assay_insn *insn,
                     struct assay_effects *out);

enum {
    AS_FLAGS_ARITHMETIC =
        ASSAY_FLAG_C | ASSAY_FLAG_P | ASSAY_FLAG_A | ASSAY_FLAG_Z | ASSAY_FLAG_S | ASSAY_FLAG_O
};

#endif
