/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that come together: at the end of a parallel region, at its barriers, at barriers of
 * threads. Who comes is listed; with the first that goes on all have come.
 */
#ifndef AS_ANALYTICS_OMP_TEAMS_H
#define AS_ANALYTICS_OMP_TEAMS_H

#include <stdbool.h>

#include "analytics/match/collectives.h"
#include "base/vec.h"

struct as_team_barrier {
    AS_VEC(struct as_collective_member) member; /* in the order in which they came */
};

/* A region that goes on. */
struct as_open_team {
    int64_t region;
    uint64_t place;        /* behind the call that began it; 0: not known */
    uint32_t master, site; /* who began it; AS_WAIT_UNKNOWN: not seen */
    int64_t begin_ns;
    int64_t threads;                     /* 0: nobody said yet */
    bool has_work;                       /* that is shared, as far as the runtime told */
    int64_t closed_ns;                   /* its master goes on; INT64_MIN: not yet */
    struct as_team_barrier barrier, end; /* at its barrier; at its end */
};

/* Of a process. */
struct as_open_teams {
    AS_VEC(struct as_open_team) team; /* the innermost are the latest */
};

#endif
