/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a loop calls, by name. Compilers compute a square root in place and call the library's only
 * to set errno for a negative number, and the call, which hardly ever happens, keeps the loop
 * scalar.
 */
#include "quality/callee.h"

#include <string.h>

/* "sqrt" of "sqrt@plt" and "sqrt@GLIBC_2.2.5"; functions are by ascending address. */
static bool is_root_at(const struct assay_catalogue_module *module, uint64_t address)
{
    size_t low = 0, high = module->function_n;

    while (low < high) {
        const size_t at = low + (high - low) / 2;

        if (module->function[at].start < address)
            low = at + 1;
        else
            high = at;
    }
    if (low == module->function_n || module->function[low].start != address)
        return false;
    const char *name = module->function[low].name;
    const size_t n = name ? strcspn(name, "@") : 0;
    return (n == 4 && strncmp(name, "sqrt", n) == 0) || (n == 5 && strncmp(name, "sqrtf", n) == 0);
}

uint32_t as_quality_root_calls(const struct assay_catalogue_module *module, uint32_t loop)
{
    const struct assay_program *program = module->program;
    const struct assay_loop *from = &program->loop[loop];
    uint32_t n = 0;

    for (uint32_t i = 0; i < from->blocks; i++) {
        const struct assay_block *block =
            &program->block[program->loop_block[from->first_block + i]];

        for (uint32_t k = 0; block->loop == loop && k < block->insns; k++) {
            const struct assay_insn *insn = &program->code.insn[block->first_insn + k];
            uint64_t target;

            n += assay_form_get(insn->form)->insn_class == ASSAY_CLASS_CALL &&
                 assay_insn_target(insn, &target) && is_root_at(module, target);
        }
    }
    return n;
}
