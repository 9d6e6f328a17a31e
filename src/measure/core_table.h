/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a table of a core: its head, and the lines that were measured. */
#ifndef AS_MEASURE_CORE_TABLE_H
#define AS_MEASURE_CORE_TABLE_H

#include <assay/machine.h>
#include <assay/measure.h>

#include "measure/parameters.h"
#include "measure/timing.h"

struct as_core_table {
    const struct assay_host *host;
    const struct assay_meter *meter;
    const struct as_probe_rates *rates;
    const struct as_parameter_list *parameters;
    const char *base; /* table of the program that has what was not measured; NULL: none */
};

/* Head and the lines of `part` as one file in the place of `path`; `part` goes. Errors: IO. */
int as_core_table_finish(const struct as_core_table *table, const char *part, const char *path,
                         struct assay_error *err);

#endif
