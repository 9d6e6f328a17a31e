/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a report as a workbook (Office Open XML): the summary on the first sheet, then one sheet
 * per view with typed cells. Only xlsx.c uses libxlsxwriter.
 */
#ifndef AS_REPORT_XLSX_H
#define AS_REPORT_XLSX_H

#include "report/report.h"

/*
 * Writes the workbook of a run to the existing file `path`; `name` names it in errors. Rows go
 * through temporary files in the directory of `path`. Errors: IO (a full disk), NOMEM, those of
 * reading.
 */
int as_report_xlsx(struct as_experiment *experiment, int64_t run_id, bool no_inline,
                   const char *path, const char *name, struct as_error *err);

/*
 * Checks whether the sheets of a workbook are complete: sheet i (from 0) has `row_n[i]` rows. The
 * library does not detect a failed write to its temporary files. Returns 0, IO or NOMEM.
 */
int as_xlsx_verify(const char *path, const char *name, const size_t *row_n, size_t sheet_n,
                   struct as_error *err);

#endif
