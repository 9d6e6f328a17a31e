/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the reader of timer samples: the ring of each process, and records of all of them waiting
 * for their turn in time. agent/shared/ring.h is the other side.
 */
#ifndef AS_SAMPLE_TIMER_H
#define AS_SAMPLE_TIMER_H

#include <assay/sample.h>

#include "agent/inject/session.h"
#include "agent/shared/ring.h"
#include "base/map.h"
#include "base/vec.h"
#include "sample/python_code.h"
#include "sample/recorder.h"

/* What the reader puts between the agent's records. */
enum {
    AS_TIMER_BEGIN = 100, /* a ring was found */
    AS_TIMER_DEAD         /* its process ended or executed another program */
};

struct as_timer_thread {
    uint32_t tid;
    bool sampled;
};

/* A process from one execution (or fork) to the next. */
struct as_timer_ring {
    struct as_agent_ring *head; /* NULL: the slot is free */
    uint8_t *data;
    uint64_t data_b;
    uint32_t serial; /* its address space's number: a pid comes more than once */
    uint32_t pid;
    bool replaced;                         /* this is an execution in a process that was seen */
    bool executed;                         /* another execution took its place, at `end_ns` */
    bool dead;                             /* nothing more will be written */
    bool is_reported;                      /* that it is dead: it waits for its turn */
    uint64_t end_ns;                       /* when it was dead, or executed */
    uint64_t lost, missed;                 /* as last told */
    uint64_t python_ns;                    /* frames of Python are read from here on; 0: not */
    uint64_t looked;                       /* at /proc/PID/maps: number of the pump */
    AS_VEC(struct as_timer_thread) thread; /* that live */
};

/* A record that waits; its bytes are in `bytes`. */
struct as_timer_item {
    uint64_t time_ns;
    uint32_t order, ring;
    size_t at;
};

struct assay_timer_sampler {
    struct assay_sample_options options;
    struct assay_sample_choice choice;
    struct assay_sample_counts counts;
    struct assay_timer_facts facts;
    struct as_agent_session session;
    struct as_agent_sampling *sampling; /* a part of its control file */
    uint32_t woken;                     /* the control's count when we last looked */
    AS_VEC(struct as_timer_ring) ring;
    AS_VEC(struct as_timer_item) item;
    AS_VEC(uint64_t) bytes, spare; /* words, so that records are aligned */
    struct as_spaces spaces;
    struct as_python_codes python;
    struct as_map_view files; /* of mappings, to tell whether one is new */
    uint32_t file_n;
    size_t done; /* items that were handed out */
    struct as_arena arena;
    uint64_t pumps, barrier_ns, handed_ns;
    uint32_t serials;
    bool hurry; /* a process began, or a file was mapped: they can be looked at while they are there
                 */
};

/* ---- timer_ring.c ---- */

/* Opens the rings that are new in the directory. */
int as_timer_find(struct assay_timer_sampler *s, struct assay_error *err);
/* Takes what is in a ring to the records that wait; `last`: nothing more is awaited. 0 or NOMEM. */
int as_timer_drain(struct assay_timer_sampler *s, uint32_t ring, bool last);
/* Adds a record of our own: the head only. */
int as_timer_add(struct assay_timer_sampler *s, uint32_t ring, uint32_t kind, uint64_t time_ns);
void as_timer_ring_close(struct as_timer_ring *ring);

#endif
