/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run worked in parallel, from its trace: efficiency, who waited in which calls, who came
 * late, and what the critical path consists of; as text and JSON (doc/internals/analytics.md).
 */
#ifndef AS_REPORT_PARALLEL_H
#define AS_REPORT_PARALLEL_H

#include <assay/error.h>

#include "analytics/state/sums.h"
#include "base/json.h"
#include "report/page.h"

/* Where a call is made: "MPI_Recv", and a place that `place` knows of an address, or NULL. */
typedef const char *as_parallel_place(void *context, const struct as_site *site);

/* 0 or ASSAY_ERR_NOMEM. */
int as_parallel_text(const struct as_wait_sums *sums, struct as_page *page,
                     as_parallel_place *place, void *context, struct assay_error *err);
/* An object: the members are described in doc/reference/json.md. */
void as_parallel_json(const struct as_wait_sums *sums, struct as_json *json,
                      as_parallel_place *place, void *context);

#endif
