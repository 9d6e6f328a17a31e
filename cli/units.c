/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool as_unit_parse(const char *text, const struct as_unit_factor *unit, size_t n, double *out)
{
    char *end;
    const double number = strtod(text, &end);
    if (end == text || !isfinite(number))
        return false;
    for (size_t i = 0; i < n; i++)
        if (strcmp(end, unit[i].word) == 0) {
            *out = number * unit[i].times;
            return true;
        }
    return false;
}
