/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what agents left of the regions, events and data that programs name. */
#ifndef AS_AGENT_REGIONS_READ_H
#define AS_AGENT_REGIONS_READ_H

#include <stdbool.h>

#include "agent/shared/regions.h"
#include "base/error.h"
#include "base/vec.h"

/* Of a name in a thread of a process, from one execution to the next. */
struct as_region_fact {
    char name[AS_REGIONS_NAME_B];
    uint32_t kind; /* as_region_kind */
    uint32_t pid, tid;
    uint64_t n, ns;
    uint64_t unmatched; /* ends without a beginning */
    bool open;          /* the program ended within it */
    double sum, least, most;
};

struct as_region_facts {
    AS_VEC(struct as_region_fact) at;
    uint64_t lost;    /* calls that found no room */
    uint64_t damaged; /* files and rows that make no sense */
};

/* Reads and removes all files of regions in `directory`. Errors: NOMEM. */
int as_regions_read(const char *directory, struct as_region_facts *out, struct as_error *err);
void as_region_facts_fini(struct as_region_facts *facts);

#endif
