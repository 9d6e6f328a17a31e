/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time stamp counter beside the clock of the system that runs as evenly (CLOCK_MONOTONIC_RAW).
 * Inline and without state, for the agent as well.
 */
#ifndef AS_BASE_TICKS_H
#define AS_BASE_TICKS_H

#include <x86intrin.h>

#include "base/clock.h"

/* Reads both clocks at one moment: the closest of some tries, because an interrupt or another
 * thread may come between. */
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
