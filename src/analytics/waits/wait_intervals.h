/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals in which wait states cover time. Waits may overlap: MPI_Waitall waits for several
 * messages at once. */
#ifndef AS_ANALYTICS_WAIT_INTERVALS_H
#define AS_ANALYTICS_WAIT_INTERVALS_H

#include "analytics/waits/waits.h"

/* Returns the group that a wait state counts for; AS_WAIT_UNKNOWN: the wait state is skipped. */
typedef uint32_t as_wait_owner(const void *context, const struct as_wait *wait);
/* Receives an interval that wait states of `owner` cover. Intervals of one owner do not overlap.
 * `first` is the wait state that begins the interval. */
typedef void as_wait_covered(void *context, uint32_t owner, const struct as_wait *first,
                             int64_t begin_ns, int64_t end_ns);

/* Reports all covered intervals by owner, then by time. Returns 0 or AS_ERR_NOMEM. */
int as_waits_cover(const struct as_wait_list *waits, as_wait_owner *owner, as_wait_covered *covered,
                   void *context);

#endif
