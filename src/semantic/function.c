/* SPDX-License-Identifier: Apache-2.0 */
#include "semantic/function.h"

#include "base/error.h"

const struct as_semantic_function *as_functions(enum as_function_family family, size_t *n)
{
    const struct {
        const struct as_semantic_function *row;
        size_t n;
    } tables[AS_FUNCTION_FAMILIES_N] = {
        [AS_FUNCTION_THREAD] = {as_thread_functions, as_thread_functions_n},
        [AS_FUNCTION_ABOVE] = {as_above_functions, as_above_functions_n},
        [AS_FUNCTION_CPU] = {as_cpu_functions, as_cpu_functions_n},
        [AS_FUNCTION_COMPOSE] = {as_compose_functions, as_compose_functions_n},
        [AS_FUNCTION_DERIVED] = {as_derived_functions, as_derived_functions_n},
    };
    *n = tables[family].n;
    return tables[family].row;
}

const struct as_semantic_function *as_function_find(enum as_function_family family,
                                                    struct as_view name)
{
    size_t n;
    const struct as_semantic_function *row = as_functions(family, &n);
    for (size_t i = 0; i < n; i++)
        if (as_view_equal(as_view_of(row[i].name), name))
            return &row[i];
    return NULL;
}

unsigned as_function_parameters_n(const struct as_semantic_function *function)
{
    unsigned n = *function->parameters != 0;
    for (const char *c = function->parameters; *c; c++)
        n += *c == '|';
    return n;
}

int as_function_defaults(const struct as_semantic_function *function, struct as_parameters *out)
{
    struct as_view rest = as_view_of(function->defaults), part;
    for (unsigned i = 0; i < AS_PARAMETERS_MAX && as_view_split(&rest, '|', &part); i++) {
        struct as_quantity value;
        out->list[i].n = 0;
        if (as_quantity_read(part, &value))
            AS_TRY(as_vec_push(&out->list[i], value));
    }
    return 0;
}
