/* SPDX-License-Identifier: Apache-2.0 */
/* What the time stamp counter of this machine means. */
#ifndef AS_VPROF_CLOCK_H
#define AS_VPROF_CLOCK_H

#include <stdint.h>

struct as_tick {
    double overhead; /* ticks that an empty instance seems to take */
    double cycles;   /* core cycles in a tick, of a core that is busy */
    double ns;       /* in a tick */
    uint64_t at;     /* ticks when CLOCK_MONOTONIC said `at_ns` */
    int64_t at_ns;
    double passed_ns, timed_ns; /* what an instance costs that is not timed, and one that is */
};

/* Measures for some 30 ms. */
struct as_tick as_tick_calibrate(void);

#endif
