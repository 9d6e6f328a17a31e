/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the calls of a loop by the name of the callee. Compilers compute a square root inline and
 * call the library only to set errno for a negative argument. This rare call keeps the loop scalar.
 * Compilers call functions for complex products and quotients to handle infinities.
 */
#include "quality/callee.h"

#include <assert.h>
#include <string.h>

#include "base/search.h"
#include "base/str.h"

/* Returns the name of the function that starts at `address`, without "@plt"; empty if none does.
 * Functions ascend by address. */
static struct as_view callee_at(const struct as_catalogue_module *module, uint64_t address)
{
    const struct as_function *at = module->function;
    const size_t i = as_first_not(k, module->function_n, at[k].start < address);
    assert(i + 1 >= module->function_n || at[i].start <= at[i + 1].start); /* functions ascend */

    if (i == module->function_n || at[i].start != address || !at[i].name)
        return (struct as_view){0};
    return (struct as_view){at[i].name, strcspn(at[i].name, "@")};
}

static bool is_one_of(struct as_view name, const char *const *names)
{
    for (; *names; names++)
        if (as_view_equal(name, as_view_of(*names)))
            return true;
    return false;
}

static void count_name(struct as_quality_calls *calls, struct as_view name)
{
    static const char *const roots[] = {"sqrt", "sqrtf", NULL};
    static const char *const complex_names[] = {"__divdc3", "__muldc3", "__divsc3", "__mulsc3",
                                                "__divxc3", "__mulxc3", NULL};
    /* Functions with a vector version in libmvec of glibc 2.36 (manual of glibc, libmvec). */
    static const char *const math_names[] = {
        "acos",  "acosf",  "acosh", "acoshf", "asin",   "asinf",   "asinh", "asinhf",
        "atan",  "atanf",  "atan2", "atan2f", "atanh",  "atanhf",  "cbrt",  "cbrtf",
        "cos",   "cosf",   "cosh",  "coshf",  "erf",    "erff",    "erfc",  "erfcf",
        "exp",   "expf",   "exp10", "exp10f", "exp2",   "exp2f",   "expm1", "expm1f",
        "hypot", "hypotf", "log",   "logf",   "log10",  "log10f",  "log1p", "log1pf",
        "log2",  "log2f",  "pow",   "powf",   "sin",    "sinf",    "sinh",  "sinhf",
        "tan",   "tanf",   "tanh",  "tanhf",  "sincos", "sincosf", NULL};

    calls->root_n += is_one_of(name, roots);
    calls->complex_n += is_one_of(name, complex_names);
    calls->math_n += is_one_of(name, math_names);
}

struct as_quality_calls as_quality_count_calls(const struct as_catalogue_module *module,
                                               uint32_t loop)
{
    const struct as_program *program = module->program;
    const struct as_loop *from = &program->loop[loop];
    struct as_quality_calls calls = {0};

    for (uint32_t i = 0; i < from->blocks; i++) {
        const struct as_block *block = &program->block[program->loop_block[from->first_block + i]];

        for (uint32_t k = 0; block->loop == loop && k < block->insns; k++) {
            const struct as_insn *insn = &program->code.insn[block->first_insn + k];
            uint64_t target;

            if (as_form_get(insn->form)->insn_class != AS_CLASS_CALL)
                continue;
            if (as_insn_target(insn, &target))
                count_name(&calls, callee_at(module, target));
            else
                calls.pointer_n += !as_insn_memory_address(insn, &target);
        }
    }
    return calls;
}
