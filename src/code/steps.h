/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of a view with what they read and write, in the order of the view. A call
 * writes what the callee destroys, as far as known, so that nobody seems to read from before.
 */
#ifndef AS_CODE_STEPS_H
#define AS_CODE_STEPS_H

#include "code/iteration.h"
#include "isa/form.h"

struct as_steps {
    const struct as_iteration_view *view;
    uint32_t n;
    uint32_t *insn; /* into program.code.insn */
    struct assay_effects *effects;
};

/* 0 or ASSAY_ERR_NOMEM. */
int as_steps_make(const struct as_iteration_view *view, struct as_arena *arena,
                  struct as_steps *out);

static inline const struct assay_insn *as_step_insn(const struct as_steps *steps, uint32_t step)
{
    return &steps->view->iteration->program->code.insn[steps->insn[step]];
}

/*
 * assay_insn_effects, and the registers and flags that a call destroys: what the ABI lets it, or
 * less when it goes to a small function of the same file that calls nothing.
 */
void as_step_effects(const struct assay_program *program, const struct assay_insn *insn,
                     struct assay_effects *out);

enum {
    AS_FLAGS_ARITHMETIC =
        ASSAY_FLAG_C | ASSAY_FLAG_P | ASSAY_FLAG_A | ASSAY_FLAG_Z | ASSAY_FLAG_S | ASSAY_FLAG_O
};

#endif
