/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run worked in parallel, from its trace: efficiency, who waited in which calls, who came
 * late, and what the critical path consists of; as text and JSON (doc/analytics.md).
 */
#ifndef AS_REPORT_PARALLEL_H
#define AS_REPORT_PARALLEL_H

#include <assay/error.h>

#include "analytics/analysis.h"
#include "base/json.h"
#include "report/page.h"

/* Waits of one kind in one call, of one thread or of all. */
struct as_parallel_wait {
    uint8_t kind; /* as_wait_kind */
    uint32_t site;
    uint32_t location; /* of all: which waited longest */
    uint64_t n;
    int64_t time_ns, most_ns; /* in all, and the longest */
    int64_t location_ns;      /* of `location` */
};

struct as_parallel {
    const struct as_analysis *analysis;
    AS_VEC(struct as_parallel_wait) wait, of_location; /* most time first */
    int64_t *path_ns; /* by location: its part of the critical path */
    int64_t waited_ns;
};

/* 0 or ASSAY_ERR_NOMEM. `analysis` is borrowed. */
int as_parallel_gather(const struct as_analysis *analysis, struct as_parallel *out,
                       struct assay_error *err);
void as_parallel_fini(struct as_parallel *parallel);

/* Where a call is made: "MPI_Recv", and a place that `place` knows of an address, or NULL. */
typedef const char *as_parallel_place(void *context, const struct as_site *site);

/* 0 or ASSAY_ERR_NOMEM. */
int as_parallel_text(const struct as_parallel *parallel, struct as_page *page,
                     as_parallel_place *place, void *context, struct assay_error *err);
/* An object: the members are described in doc/json.md. */
void as_parallel_json(const struct as_parallel *parallel, struct as_json *json,
                      as_parallel_place *place, void *context);

#endif
