/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clocks of the system in nanoseconds. Times of a run use the monotonic clock, like the records
 * of perf and of the agent. Wall time is for display only. Inline and stateless: the agent uses it
 * in signal handlers (clock_gettime is async-signal-safe).
 */
#ifndef AS_BASE_CLOCK_H
#define AS_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t as_timespec_ns(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* 0 for a clock that this kernel has not. */
static inline int64_t as_clock_ns(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return as_timespec_ns(t);
}

static inline int64_t as_monotonic_ns(void)
{
    return as_clock_ns(CLOCK_MONOTONIC);
}

/* Returns the offset from the monotonic clock to wall time, now. */
static inline int64_t as_clock_offset_ns(void)
{
    const int64_t real_ns = as_clock_ns(CLOCK_REALTIME);
    return real_ns - as_monotonic_ns();
}

#endif
