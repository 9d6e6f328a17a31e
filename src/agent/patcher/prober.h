/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads do at points of probes: the agent's side of patch/probe_plan.h. prober.c prepares
 * it (libraries of the user's, the area and the file of each thread), prober_slow.c does it in the
 * middle of the program, with general registers alone.
 */
#ifndef AS_AGENT_PROBER_H
#define AS_AGENT_PROBER_H

#include "agent/patcher/patcher.h"
#include "patch/probe_plan.h"

/* States of vector registers that a thread has room for, one in use at a time: those of an event
 * that a jump out of a handler left behind stay as they are until their turn comes again. */
enum { AS_PROBER_STATES = 4, AS_PROBER_STATE_B = 16384 };

struct as_prober_area {
    uint8_t state[AS_PROBER_STATES][AS_PROBER_STATE_B] __attribute__((aligned(64)));
    struct as_probed *file;
    struct as_probe_timer *timer;
    struct as_probe_values *values;
    struct as_probe_tally *tally;
    struct as_probe_timer measure; /* of time with nothing in it */
    int *error;                    /* the thread's errno */
    uintptr_t busy;                /* stack pointer of the event at hand; 0: none is */
    unsigned states;               /* used so far */
};

typedef void as_prober_function(const void *hit);
struct as_prober {
    as_prober_function **function; /* of the plan's table `called`; NULL: not there */
    uint64_t timers, values, tallies, missing;
    bool keeps_state; /* there is room for all that vector registers hold */
};
extern struct as_prober as_prober;

#ifndef AS_AGENT_BARE
extern AS_AGENT_LOCAL struct as_prober_area *as_prober_self;
extern uint8_t as_prober_clears;   /* the processor has vzeroupper */
extern uint8_t as_prober_compacts; /* and xsavec, which leaves out what is as it began */
#endif

/* ---- prober.c ---- */

/* False: this plan cannot be carried out here. */
bool as_prober_begin(void);
void as_prober_thread_begin(void);
void as_prober_thread_end(void);
void as_prober_forked(void);

/* ---- prober_slow.c ---- */

/* Where points lead, by `call`, with 128 bytes of the red zone above: keeps everything. */
void as_prober_enter(void);
/* Writes what leads there from everywhere. */
const uint8_t *as_prober_stub(struct as_patcher_code *code);
/* Time that begins and ends with nothing in between, by points of number ~1 and ~0. */
void as_prober_pair(void);

#endif
