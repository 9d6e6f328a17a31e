/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the code of a function outside its loops. A function that is called often enough is like a
 * loop body.
 */
#include "quality/straight.h"

#include <string.h>

#include "quality/arithmetic.h"

static void count_block(const struct as_program *program, const struct as_block *block,
                        struct as_straight_facts *out)
{
    for (uint32_t k = 0; k < block->insns; k++) {
        const struct as_form *form = as_form_get(program->code.insn[block->first_insn + k].form);

        out->insn_n++;
        if (!as_quality_arithmetic(form))
            continue;
        if (form->traits & AS_TRAIT_PACKED)
            out->fp_packed_n++;
        else
            out->fp_scalar_n++;
    }
}

bool as_quality_straight(const struct as_program *program, uint64_t entry,
                         struct as_straight_facts *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < program->body_n; i++) {
        const struct as_body *body = &program->body[i];

        if (body->entry != entry)
            continue;
        for (uint32_t b = 0; b < body->blocks; b++)
            if (program->block[body->first_block + b].loop == AS_NONE)
                count_block(program, &program->block[body->first_block + b], out);
        return true;
    }
    return false;
}
