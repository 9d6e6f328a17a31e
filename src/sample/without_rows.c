/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes instructions from the file. Code that the program changes at run time is not detected. */
#include "sample/without_rows.h"

#include <assert.h>
#include <string.h>

#include "base/search.h"
#include "isa/form.h"
#include "isa/isa.h"

/* Max size of a decoded function: hand-written leaf functions are short. */
#define LEAF_MOST_B (64u << 10)

#define RSP (AS_REG_GPR + 4)

static const struct as_function *function_at(struct as_object *object, uint64_t address)
{
    const struct as_function *f;
    size_t n;
    if (as_object_functions(object, false, &f, &n, NULL) < 0)
        return NULL;
    const size_t at = as_first_not(i, n, f[i].start <= address);
    assert(at < 2 || f[at - 2].start <= f[at - 1].start); /* functions ascend */
    return at && address < f[at - 1].end ? &f[at - 1] : NULL;
}

static bool moves_stack(const struct as_insn *insn, const struct as_form *form)
{
    if (form->insn_class == AS_CLASS_RETURN)
        return false;
    if (as_form_flows[insn->form] & (AS_FORM_STACKS | AS_FORM_CALLS))
        return true;
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_REG &&
            (form->operand[i].access & AS_ACCESS_WRITE) && insn->reg[form->operand[i].slot] == RSP)
            return true;
    return false;
}

static bool is_steady(struct as_object *object, const struct as_function *f)
{
    uint64_t have_b = 0;
    const uint8_t *bytes = as_object_bytes(object, f->start, &have_b);
    const uint64_t size_b = f->end - f->start;
    struct as_code code = {0};
    if (!bytes || size_b > have_b || size_b > LEAF_MOST_B ||
        as_decode(bytes, size_b, f->start, &code, NULL) < 0)
        return false;
    bool steady = code.invalid_n == 0;
    for (size_t i = 0; i < code.n && steady; i++)
        steady = !moves_stack(&code.insn[i], as_form_of(&code.insn[i]));
    as_code_free(&code);
    return steady;
}

bool as_leaf_is_steady(struct as_leaf *last, struct as_object *object, uint64_t address)
{
    if (last->object != object || address < last->start || address >= last->end) {
        const struct as_function *f = function_at(object, address);
        if (!f)
            return false;
        *last = (struct as_leaf){object, f->start, f->end, is_steady(object, f)};
    }
    return last->is_steady;
}

/* Returns true behind E8 with an offset, or FF /2 with any operand. */
static bool is_behind_call(const uint8_t *end)
{
    static const uint8_t lengths[] = {2, 3, 4, 6, 7};
    if (end[-5] == 0xe8)
        return true;
    for (size_t i = 0; i < sizeof lengths; i++)
        if (end[-lengths[i]] == 0xff && (end[1 - lengths[i]] >> 3 & 7) == 2)
            return true;
    return false;
}

bool as_is_return_address(struct as_modules *modules, const struct as_space *space, uint64_t value)
{
    enum { BEFORE_B = 7 };
    uint64_t address, have_b = 0;
    const struct as_mapping *map = as_space_at(space, value);
    struct as_object *object =
        map && map->module > AS_MODULE_ID_ANON ? as_module_object(modules, map->module) : NULL;
    if (!object || value - map->start < BEFORE_B ||
        !as_object_address_of(object, value - map->start + map->offset, &address))
        return false;
    const uint8_t *bytes = as_object_bytes(object, address - BEFORE_B, &have_b);
    return bytes && have_b >= BEFORE_B && is_behind_call(bytes + BEFORE_B);
}
