/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the time stamp counter together with CLOCK_MONOTONIC_RAW, which runs as evenly. Inline and
 * stateless, so that the agent can use it.
 */
#ifndef AS_BASE_TICKS_H
#define AS_BASE_TICKS_H

#include <x86intrin.h>

#include "base/clock.h"

/* Returns the time stamp counter at the moment `*raw_ns`. Uses the shortest of `tries` readings,
 * because an interrupt or another thread may come between. */
static inline uint64_t as_ticks_at(unsigned tries, int64_t *raw_ns)
{
    uint64_t least = UINT64_MAX, tick = 0;
    for (unsigned i = 0; i < tries; i++) {
        const uint64_t before = __rdtsc();
        const int64_t ns = as_clock_ns(CLOCK_MONOTONIC_RAW);
        const uint64_t took = __rdtsc() - before;
        if (took >= least)
            continue;
        least = took;
        tick = before + took / 2;
        *raw_ns = ns;
    }
    return tick;
}

#endif
