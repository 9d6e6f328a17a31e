/* SPDX-License-Identifier: Apache-2.0 */
/* Inter-communicators: how many members are of which of their two groups, by definitions. */
#ifndef AS_ANALYTICS_GROUPS_H
#define AS_ANALYTICS_GROUPS_H

#include <stdint.h>

#include "trace/read.h"

struct as_groups;

/* 0 or ASSAY_ERR_NOMEM; all communicators of the trace are looked at once. */
int as_groups_new(struct as_groups **out, const struct as_trace *trace);
void as_groups_free(struct as_groups **groups);

/* Of a communicator by its global number, with so many members in both groups: those of the first,
 * whose ranks come first. 0: it has one group, or its members do not agree. */
uint32_t as_groups_first_n(const struct as_groups *groups, uint64_t comm, uint32_t member_n);

#endif
