/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures observed time, for time limits. The time between two calls of as_looks_count counts up
 * to AS_LOOKS_MOST_NS. A longer gap means that the machine was suspended, or that this process had
 * no CPU. The observed program may have had none then either.
 */
#ifndef AS_BASE_ACTIVE_TIMER_H
#define AS_BASE_ACTIVE_TIMER_H

#include "base/clock.h"

#define AS_LOOKS_MOST_NS INT64_C(500000000)

struct as_looks {
    int64_t last_ns; /* CLOCK_MONOTONIC */
    int64_t all_ns;
};

static inline void as_looks_begin(struct as_looks *looks)
{
    *looks = (struct as_looks){.last_ns = as_monotonic_ns()};
}

static inline void as_looks_count(struct as_looks *looks)
{
    const int64_t now_ns = as_monotonic_ns(), took_ns = now_ns - looks->last_ns;
    looks->all_ns += took_ns < AS_LOOKS_MOST_NS ? took_ns : AS_LOOKS_MOST_NS;
    looks->last_ns = now_ns;
}

#endif
