/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with a unit, as options have them: 200ms, 1GB/s. */
#ifndef AS_CLI_UNITS_H
#define AS_CLI_UNITS_H

#include <stdbool.h>
#include <stddef.h>

struct as_unit_factor {
    const char *word; /* "": a number without a unit */
    double times;
};

/* Multiplies the number that the text begins with by its unit. Returns false if it is not finite or
 * its unit is not one of the `n`. */
bool as_unit_parse(const char *text, const struct as_unit_factor *unit, size_t n, double *out);

#endif
