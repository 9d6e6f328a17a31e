/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbours in a communicator with a topology, from the definitions of its members. Lists are
 * collected on first use.
 */
#ifndef AS_ANALYTICS_NEIGHBOURS_H
#define AS_ANALYTICS_NEIGHBOURS_H

#include "analytics/match/collectives.h"
#include "trace/read.h"

struct as_neighbour_table;

/* Returns 0 or AS_ERR_NOMEM. The caller keeps `trace` open. */
int as_neighbours_new(struct as_neighbour_table **out, const struct as_trace *trace);
void as_neighbours_free(struct as_neighbour_table **table);

/* Finds the neighbours of a communicator with this global number and size. `*out` is NULL if the
 * definition of a member is missing. It is valid until the next call. Returns 0 or
 * AS_ERR_NOMEM. */
int as_neighbours_of(struct as_neighbour_table *table, uint64_t comm, uint32_t size,
                     const struct as_neighbours **out);

#endif
