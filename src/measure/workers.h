/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the forms of a table on several cores at once.
 */
#ifndef AS_MEASURE_WORKERS_H
#define AS_MEASURE_WORKERS_H

#include "measure/table.h"

/*
 * As as_table_forms, with one process for each usable core, at most eight. Respects the quota of
 * the control group. Uses only cores that a canary shows to be separate. With one core it measures
 * here. Errors: IO, NOMEM, and those of the meter. Finished lines are in the file even after an
 * error.
 */
int as_table_forms_by_workers(struct as_table_work *w, struct as_error *err);

/* As above with `n` processes, at most eight; each uses every n-th of these CPUs. */
int as_table_forms_on(struct as_table_work *w, size_t n, const int *cpu, size_t cpu_n,
                      struct as_error *err);

#endif
