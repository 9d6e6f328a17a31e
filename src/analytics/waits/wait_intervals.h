/* SPDX-License-Identifier: Apache-2.0 */
/* Time that waits cover: MPI_Waitall may wait for several messages at once, whose waits overlap. */
#ifndef AS_ANALYTICS_WAIT_INTERVALS_H
#define AS_ANALYTICS_WAIT_INTERVALS_H

#include "analytics/waits/waits.h"

/* What belongs together; AS_WAIT_UNKNOWN: to nothing that is asked for. */
typedef uint32_t as_wait_owner(const void *context, const struct as_wait *wait);
/* A stretch that waits of `owner` cover, which no other such stretch overlaps; `first` is the one
 * that began it. */
typedef void as_wait_covered(void *context, uint32_t owner, const struct as_wait *first,
                             int64_t begin_ns, int64_t end_ns);

/* By owner, then by time. 0 or ASSAY_ERR_NOMEM. */
int as_waits_cover(const struct as_wait_list *waits, as_wait_owner *owner, as_wait_covered *covered,
                   void *context);

#endif
