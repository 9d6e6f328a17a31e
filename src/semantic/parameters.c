/* SPDX-License-Identifier: Apache-2.0 */
#include "semantic/function.h"

void as_parameters_fini(struct as_parameters *parameters)
{
    for (unsigned i = 0; i < AS_PARAMETERS_MAX; i++)
        as_vec_fini(&parameters->list[i]);
}

struct as_quantity as_parameter(const struct as_parameters *parameters, unsigned list, size_t at)
{
    return at < parameters->list[list].n ? parameters->list[list].at[at] : as_whole(0);
}

bool as_parameter_has(const struct as_parameters *parameters, unsigned list,
                      struct as_quantity value)
{
    as_vec_foreach (&parameters->list[list], one)
        if (as_quantity_compare(*one, value) == 0)
            return true;
    return false;
}
