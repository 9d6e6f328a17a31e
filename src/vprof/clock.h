/* SPDX-License-Identifier: Apache-2.0 */
/* What the time stamp counter of this machine means. */
#ifndef AS_VPROF_CLOCK_H
#define AS_VPROF_CLOCK_H

struct as_tick {
    double overhead; /* ticks that an empty instance seems to take */
    double cycles;   /* core cycles in a tick, of a core that is busy */
    double ns;       /* in a tick */
};

/* Measures for some 30 ms. */
struct as_tick as_tick_calibrate(void);

#endif
