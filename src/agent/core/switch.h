/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a trace is recorded now: switched by the program (<assay/assay.h>), by a signal, or from
 * outside by who started it (a delay, a limit of time, a file). What is recorded looks at it with
 * each event; when it was switched is kept, so that each thread can say so later.
 */
#ifndef AS_AGENT_SWITCH_H
#define AS_AGENT_SWITCH_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/shared/trace_part.h"

#define AS_SWITCH_KEPT_N 64u

/* Switch number k, from 0 on, turns off where k is even. */
struct as_switch_time {
    uint64_t tick;
    uint32_t why; /* as_trace_off */
};

/* Of the process. Written under `looking`, read at any time. */
struct as_switches {
    _Atomic uint32_t n; /* odd: off */
    _Atomic int own_off;
    _Atomic uint32_t changes; /* from outside, that are known here */
    const _Atomic uint32_t *outside;
    _Atomic int looking;
    struct as_switch_time at[AS_SWITCH_KEPT_N]; /* by number modulo theirs */
};
extern struct as_switches as_switches;

/* The process begins; stamps are of this as_trace_clock. */
void as_switch_begin(uint32_t clock);
/* Something was switched: notes when. */
void as_switch_look(void);

/* The signal that switches, as the program sees it. */
bool as_switch_has(int signal);
int as_switch_action(int signal, const struct sigaction *action, struct sigaction *old);

#endif
