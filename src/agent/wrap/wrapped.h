/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the libraries of wrappers of threads and of OpenMP share: the way to the tracer, numbers of
 * routines, and waiting for what another thread has. Who waits is counted by the address of the
 * lock, so that giving a lock back is told only where somebody waits: a lock that is free costs an
 * attempt to take it, one that is given back a look at a counter.
 */
#ifndef AS_AGENT_WRAPPED_H
#define AS_AGENT_WRAPPED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/tracer/tracer.h"

#define AS_WRAPPER __attribute__((visibility("default")))
/* Two arguments of those below: behind the program's call of the wrapper, and the wrapper's frame.
 */
#define AS_CALLED       __builtin_return_address(0), __builtin_frame_address(0)
#define AS_WRAPPED_ROOM 4096u

/* A routine that is named in traces. */
struct as_wrapped {
    const char *name;
    uint32_t group;          /* as_trace_group */
    _Atomic uint32_t number; /* 0: not named yet */
};

/* The tracer's, when it wants this group; else NULL. Set as the library begins. */
extern const struct as_tracer_hooks *as_wrapped_hooks;
void as_wrapped_begin(uint32_t group_bit);

/* This thread's stream; NULL: nothing is recorded now. */
struct as_tracer_thread *as_wrapped_thread(void);
/* The same for a routine, which the user's filter may leave out; that is counted. */
struct as_tracer_thread *as_wrapped_thread_of(struct as_wrapped *routine);
/* Of numbers alone, at this moment; for threads that record. */
void as_wrapped_emit(unsigned kind, unsigned n, uint64_t a, uint64_t b, uint64_t c);

void as_wrapped_enter(struct as_tracer_thread *t, struct as_wrapped *routine, const void *behind,
                      const void *frame, uint64_t tick);
void as_wrapped_leave(struct as_tracer_thread *t, struct as_wrapped *routine, uint64_t tick);

/* The innermost caller that is the program's code, and its module is told. */
uint64_t as_wrapped_place(const void *behind, const void *frame);

/* ---- Locks -------------------------------------------------------------------------------- */

/* How many threads wait for a lock, or more: addresses share counters. */
extern _Atomic uint32_t as_wrapped_waiting[AS_WRAPPED_ROOM];

static inline _Atomic uint32_t *as_wrapped_waiters(const void *lock)
{
    return &as_wrapped_waiting[((uint64_t)(uintptr_t)lock * 0x9e3779b97f4a7c15u) >> 52];
}

/* This thread is about to wait. Answers what the end needs; NULL: it is not recorded. */
struct as_tracer_thread *as_wrapped_wait(struct as_wrapped *routine, const void *lock,
                                         unsigned kind, const void *behind, const void *frame);
/* It waited, and has the lock or what it waited for. */
void as_wrapped_waited(struct as_tracer_thread *t, struct as_wrapped *routine, const void *lock,
                       unsigned kind, bool has_it);
/* Somebody waits for what is given back now. */
void as_wrapped_emit_release(struct as_wrapped *routine, const void *lock, unsigned kind,
                             const void *behind, const void *frame);

static inline void as_wrapped_release(struct as_wrapped *routine, const void *lock, unsigned kind,
                                      const void *behind, const void *frame)
{
    if (atomic_load_explicit(as_wrapped_waiters(lock), memory_order_relaxed))
        as_wrapped_emit_release(routine, lock, kind, behind, frame);
}

#endif
