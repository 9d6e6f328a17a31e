/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that wait for each other: at the end of a parallel region, at its barriers, at barriers
 * of threads. Arrivals are collected. The first thread that goes on proves that all arrived.
 */
#ifndef AS_ANALYTICS_OMP_TEAMS_H
#define AS_ANALYTICS_OMP_TEAMS_H

#include <stdbool.h>

#include "analytics/match/collectives.h"
#include "base/vec.h"

struct as_team_barrier {
    AS_VEC(struct as_collective_member) member; /* in order of arrival */
};

/* A parallel region that has not ended. */
struct as_open_team {
    int64_t region;
    uint64_t place;        /* address after the call that began it; 0: unknown */
    uint32_t master, site; /* the thread and call that began it; AS_WAIT_UNKNOWN: unknown */
    int64_t begin_ns;
    int64_t threads;                     /* size of the team; 0: not recorded yet */
    bool has_work;                       /* the runtime recorded work sharing in it */
    int64_t closed_ns;                   /* time at which its master goes on; INT64_MIN: not yet */
    struct as_team_barrier barrier, end; /* arrivals at its barrier; at its end */
};

/* The open regions of a process. */
struct as_open_teams {
    AS_VEC(struct as_open_team) team; /* innermost last */
};

#endif
