/* SPDX-License-Identifier: Apache-2.0 */
/* Inter-communicators: the sizes of their two groups, from the definitions of the trace. */
#ifndef AS_ANALYTICS_GROUPS_H
#define AS_ANALYTICS_GROUPS_H

#include <stdint.h>

#include "trace/read.h"

struct as_groups;

/* Reads all communicators of the trace at once. Returns 0 or AS_ERR_NOMEM. */
int as_groups_new(struct as_groups **out, const struct as_trace *trace);
void as_groups_free(struct as_groups **groups);

/* Returns the size of the first group of a communicator, which has the lowest ranks. `comm` is a
 * global number, `member_n` the members of both groups. 0: the communicator has one group, or its
 * members disagree. */
uint32_t as_groups_first_n(const struct as_groups *groups, uint64_t comm, uint32_t member_n);

#endif
