/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the microarchitecture of a CPU by the family, model and stepping of cpuid. */
#include <string.h>

#include "machine/machine.h"
#include "machine/microarchitectures.h"

const char *as_microarchitecture_of(const char *vendor, int64_t family, int64_t model,
                                    int64_t stepping, const char **words)
{
    if (words)
        *words = NULL;
    for (size_t i = 0; vendor && i < as_microarchitecture_n; i++) {
        const struct as_microarchitecture *m = &as_microarchitectures[i];
        if (strcmp(m->vendor, vendor) != 0 || family != m->family || model < m->model_first ||
            model > m->model_last ||
            (stepping >= 0 && (stepping < m->stepping_first || stepping > m->stepping_last)))
            continue;
        if (words)
            *words = m->words;
        return m->name;
    }
    return NULL;
}
