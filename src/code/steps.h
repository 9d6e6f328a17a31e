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
    struct as_effects *effects;
};

/* Lists the instructions of a view. `arena` owns the lists. Returns 0 or AS_ERR_NOMEM. */
int as_steps_make(const struct as_iteration_view *view, struct as_arena *arena,
                  struct as_steps *out);

static inline const struct as_insn *as_step_insn(const struct as_steps *steps, uint32_t step)
{
    return &steps->view->iteration->program->code.insn[steps->insn[step]];
}

/*
 * Sets `out` to the effects of as_insn_effects plus the registers and flags that a call
 * destroys. These are all registers that the ABI allows. A call of a small function in the same
 * file that calls nothing destroys only the registers that it writes.
 */
void as_step_effects(const struct as_program *program, const struct as_insn *insn,
                     struct as_effects *out);

enum {
    AS_FLAGS_ARITHMETIC = AS_FLAG_C | AS_FLAG_P | AS_FLAG_A | AS_FLAG_Z | AS_FLAG_S | AS_FLAG_O
};

#endif
