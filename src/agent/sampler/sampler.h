/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the sampler, the agent's client that takes samples by timers and tells of all it sees. */
#ifndef AS_AGENT_SAMPLER_H
#define AS_AGENT_SAMPLER_H

#include "agent/core/agent.h"
#include "agent/shared/ring.h"

struct as_sampler_state {
    struct as_agent_sampling *sampling;
    struct as_agent_ring *_Atomic ring; /* NULL: this process is not observed */
    uint8_t *data;                      /* mapped twice in a row: a record is never in two parts */
    uint64_t data_b;
};
extern struct as_sampler_state as_sampler_state;

/* ---- sampler_ring.c ---- */

/* Of a new process, with its maps; 0 or -errno. */
int as_sampler_ring_make(bool forked);
/* Gives up that of the parent, in the child of a fork. */
void as_sampler_ring_drop(void);
/* Room for a record of `size_b`, rounded up, or NULL. `spare_b` stays free. Lock-free. */
void *as_sampler_reserve(uint32_t size_b, uint32_t spare_b);
/* Fills the head and makes the record seen. */
void as_sampler_commit(void *record, uint32_t size_b, uint32_t kind, uint64_t time_ns);
void as_sampler_mark(uint32_t kind); /* a record without more */

/* ---- sampler_write.c ---- */

/* Installs the handler on as_agent.signal. */
int as_sampler_handle(void);
/* Returns true if the page of an address can be read. */
bool as_sampler_readable(uintptr_t address);

/* ---- sampler_python.c ---- */

/* Looks for an interpreter of Python when none was found yet. Not from a handler. */
void as_sampler_python_look(void);
/* Return true if there is one, of any version; and if its frames are read, now or later. */
bool as_sampler_python_is_here(void);
bool as_sampler_python_is_wanted(void);
void as_sampler_python_forked(void);
/* Reads the frames of Python of the calling thread, with its stack pointer at `sp`. Returns their
 * number; `*out` has them until the next call. From the handler only. */
uint32_t as_sampler_python_walk(uintptr_t sp, struct as_agent_python_frame **out);

/* ---- sampler_timers.c ---- */

/* The timer of the calling thread; counts it missed when there can be none. */
void as_sampler_arm(void);
void as_sampler_missed(int error);
bool as_sampler_disarm(void); /* that of the calling thread; whether it had one */
/* Those of all threads; returns when no thread is in the handler, or after a second. */
void as_sampler_disarm_all(void);
void as_sampler_timers_forked(void);

/* ---- sampler_maps.c ---- */

/* Records of all code now mapped, as of `time_ns`. */
void as_sampler_maps(uint64_t time_ns);
void as_sampler_maps_forked(void);

#endif
