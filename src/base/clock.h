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

/* Returns the time of `clock` in ns, or 0 if the kernel does not have this clock. */
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

/* Returns the current difference of wall time and monotonic time in ns. */
static inline int64_t as_clock_offset_ns(void)
{
    const int64_t real_ns = as_clock_ns(CLOCK_REALTIME);
    return real_ns - as_monotonic_ns();
}

#endif
