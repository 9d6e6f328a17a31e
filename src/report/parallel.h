/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parallel behaviour of a traced run as text and JSON: efficiency, wait states, delay costs and
 * the critical path (doc/internals/analytics.md).
 */
#ifndef AS_REPORT_PARALLEL_H
#define AS_REPORT_PARALLEL_H

#include <assay/error.h>

#include "analytics/state/sums.h"
#include "base/json.h"
#include "report/page.h"

/* Returns the code position of a call, such as "MPI_Recv" with the position of its address, or
 * NULL. */
typedef const char *as_parallel_place(void *context, const struct as_site *site);

/* Writes the report as text. Returns 0 or ASSAY_ERR_NOMEM. */
int as_parallel_text(const struct as_wait_sums *sums, struct as_page *page,
                     as_parallel_place *place, void *context, struct assay_error *err);
/* Writes the report as an object; doc/reference/json.md describes its members. */
void as_parallel_json(const struct as_wait_sums *sums, struct as_json *json,
                      as_parallel_place *place, void *context);

#endif
