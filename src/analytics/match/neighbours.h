/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who needs whom in a communicator with a topology: what each of its members said in its
 * definitions, gathered when it is first asked for.
 */
#ifndef AS_ANALYTICS_NEIGHBOURS_H
#define AS_ANALYTICS_NEIGHBOURS_H

#include "analytics/match/collectives.h"
#include "trace/read.h"

struct as_neighbour_table;

/* 0 or ASSAY_ERR_NOMEM. `trace` stays open. */
int as_neighbours_new(struct as_neighbour_table **out, const struct as_trace *trace);
void as_neighbours_free(struct as_neighbour_table **table);

/* Of a communicator by its global number, with so many members. NULL: a member said nothing.
 * 0 or ASSAY_ERR_NOMEM; valid until the next call. */
int as_neighbours_of(struct as_neighbour_table *table, uint64_t comm, uint32_t size,
                     const struct as_neighbours **out);

#endif
