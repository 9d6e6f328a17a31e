/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the file of a core table: its head and the measured lines. */
#ifndef AS_MEASURE_CORE_TABLE_H
#define AS_MEASURE_CORE_TABLE_H

#include "machine/machine.h"
#include "measure/measure.h"
#include "measure/parameters.h"
#include "measure/timing.h"

struct as_core_table {
    const struct as_host *host;
    const struct as_meter *meter;
    const struct as_probe_rates *rates;
    const struct as_parameter_list *parameters;
    const char *base; /* name of the built-in table with the missing lines; NULL: none */
};

/* Writes the head and the lines of the file `part` to `path` and removes `part`. Errors: IO. */
int as_core_table_finish(const struct as_core_table *table, const char *part, const char *path,
                         struct as_error *err);

#endif
