/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measuring the forms of a table on several cores at once.
 */
#ifndef AS_MEASURE_WORKERS_H
#define AS_MEASURE_WORKERS_H

#include "measure/table.h"

/*
 * As as_table_forms, by one process for each core that is ours, eight at most: such that the
 * control group grants, and that a canary shows to be cores of their own. With one core: here.
 * Errors: IO, NOMEM, and those of the meter; lines that are measured are in the file then.
 */
int as_table_forms_by_workers(struct as_table_work *w, struct assay_error *err);

/* By `n` processes, eight at most, which have every n-th of these cores. */
int as_table_forms_on(struct as_table_work *w, size_t n, const int *cpu, size_t cpu_n,
                      struct assay_error *err);

#endif
