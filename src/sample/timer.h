/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the reader of timer samples: the ring of each process, and the records of all rings that
 * wait for their turn in time order. agent/shared/ring.h is the writer.
 */
#ifndef AS_SAMPLE_TIMER_H
#define AS_SAMPLE_TIMER_H

#include "agent/inject/session.h"
#include "agent/shared/ring.h"
#include "base/map.h"
#include "base/vec.h"
#include "sample/python_code.h"
#include "sample/recorder.h"
#include "sample/sample.h"

/* Records that the reader adds to those of the agent. */
enum {
    AS_TIMER_BEGIN = 100, /* a ring was found */
    AS_TIMER_DEAD         /* the process ended or executed another program */
};

struct as_timer_thread {
    uint32_t tid;
    bool sampled;
};

/* A process from one exec or fork to the next. */
struct as_timer_ring {
    struct as_agent_ring *head; /* NULL: free slot */
    uint8_t *data;
    uint64_t data_b;
    uint32_t serial; /* number of its address space; a pid may be reused */
    uint32_t pid;
    bool replaced;         /* an earlier program of the same process had a ring */
    bool executed;         /* another program replaced it at `end_ns` */
    bool dead;             /* nothing more will be written */
    bool is_reported;      /* an AS_TIMER_DEAD record waits for its turn */
    uint64_t end_ns;       /* time of its end or exec */
    uint64_t lost, missed; /* counts of the ring as last reported */
    /* Python frames are read since then; 0: they are not read. */
    uint64_t python_ns;
    uint64_t looked;                       /* number of the pump that last read /proc/PID/maps */
    AS_VEC(struct as_timer_thread) thread; /* running threads */
};

/* A record that waits for its turn; its bytes are in `bytes`. */
struct as_timer_item {
    uint64_t time_ns;
    uint32_t order, ring;
    size_t at;
};

struct as_timer_sampler {
    struct as_sample_options options;
    struct as_sample_choice choice;
    struct as_sample_counts counts;
    struct as_timer_facts facts;
    struct as_agent_session session;
    struct as_agent_sampling *sampling; /* a part of the control file */
    uint32_t woken;                     /* count in the control file at the last check */
    AS_VEC(struct as_timer_ring) ring;
    AS_VEC(struct as_timer_item) item;
    AS_VEC(uint64_t) bytes, spare; /* words, to align records */
    struct as_spaces spaces;
    struct as_python_codes python;
    struct as_map_view files; /* mapped files, to detect new ones */
    uint32_t file_n;
    size_t done; /* items that were delivered */
    struct as_arena arena;
    uint64_t pumps, barrier_ns, handed_ns;
    uint32_t serials;
    /* A process began or a file was mapped: they must be read before they disappear. */
    bool hurry;
};

/* ---- timer_ring.c ---- */

/* Opens the new rings in the directory. */
int as_timer_find(struct as_timer_sampler *s, struct as_error *err);
/* Moves the records of a ring to the waiting records. `last`: no more records will come. Returns 0
 * or NOMEM. */
int as_timer_drain(struct as_timer_sampler *s, uint32_t ring, bool last);
/* Adds a record of the reader, which is only a head. Returns 0 or NOMEM. */
int as_timer_add(struct as_timer_sampler *s, uint32_t ring, uint32_t kind, uint64_t time_ns);
void as_timer_ring_close(struct as_timer_ring *ring);

#endif
