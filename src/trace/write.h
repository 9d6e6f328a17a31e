/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a stream inside the traced program, without allocation, locks or an open descriptor.
 * System calls are made only when a block is full. A writer belongs to one thread, or the caller
 * locks it. Written records stay in the file if the program is killed. A signal handler may
 * interrupt the writing of a record. Its own record then counts as lost, but its sample is
 * deferred.
 */
#ifndef AS_TRACE_WRITE_H
#define AS_TRACE_WRITE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "trace/record.h"

/* Max bytes of a record without texts and lists. */
#define AS_TRACE_SLACK_B   128u
#define AS_TRACE_FIELDS_N  8u
#define AS_TRACE_CALLERS_N 16u
#define AS_TRACE_POLLS_N   4u  /* max routines with pending polls */
#define AS_TRACE_SUMS_N    24u /* the same after as_trace_writer_sum */

/* Polls: successive calls of one routine that found nothing. They become one record. */
struct as_trace_polls {
    uint64_t name, n;
    uint64_t inside, longest; /* ticks within all calls; within the longest call */
    uint64_t sent_b, received_b;
    /* Further record of the first call, and its callers; kind 0: no record. */
    unsigned kind, field_n, callers_n;
    uint64_t field[AS_TRACE_FIELDS_N];
    uint64_t caller[AS_TRACE_CALLERS_N];
};

struct as_trace_writer {
    uint8_t *at, *limit; /* NULL if the writer has stopped, or never started */
    uint64_t tick;       /* of the last record */
    uint32_t clock;
    volatile uint8_t state; /* as_trace_writer_states; 0: a record can be written at once */
    /* Number of words of deferred samples: stored, and written since. Both only grow. */
    volatile uint32_t aside_put, aside_told;
    struct as_trace_block *block;
    struct as_trace_head *head;
    uint64_t records_n;
    _Atomic int64_t *budget_b; /* bytes left for the run, shared by its writers; NULL: no limit */
    uint64_t handlers_lost;    /* lost records of handlers; the next block writes the number */
    void (*counted)(struct as_trace_writer *w); /* reads counters after an ENTER or LEAVE */
    uint64_t caller; /* first address of the latest CALLERS in this block; 0: none */
    /* Pending polls, which are written before the next record of another kind. */
    struct as_trace_polls poll[AS_TRACE_SUMS_N];
    unsigned polls_n, polls_most;
    bool are_sums;                   /* all calls are summed: as_trace_writer_sum */
    uint64_t polls_begin, polls_end; /* stamps of the first enter and the last leave */
    uint64_t gap_most, span_most;    /* max ticks between two polls; from the first to the last */
    uint64_t *aside;                 /* words of deferred samples, a ring of aside_n; NULL: none */
    uint32_t aside_n;                /* a power of 2 */
    uint32_t stack_n;
    uint64_t stack[AS_TRACE_STACK_N]; /* of the latest SAMPLE in this block */
    char path[PATH_MAX];
};
enum as_trace_writer_states {
    AS_TRACE_BUSY = 1,  /* a record is being written */
    AS_TRACE_POLLED = 2 /* polls are pending */
};

struct as_trace_writing {
    const char *path; /* of the new file */
    uint32_t pid, tid, parent_tid;
    uint32_t clock; /* as_trace_clock */
    uint32_t ring_n;
    uint64_t tick_hz;
    uint64_t begin_tick; /* first time of clock AS_TRACE_GIVEN */
    _Atomic int64_t *budget_b;
    const char *name;
    uint64_t *aside; /* memory for deferred samples, a power of 2 of words; or NULL */
    uint32_t aside_n;
};

/* Makes the file with its first block. Returns 0 or -errno. After an error, the writer ignores all
 * records. */
int as_trace_writer_open(struct as_trace_writer *w, const struct as_trace_writing *how);
/* Marks the stream as complete with the reason `end`, and releases all memory. */
void as_trace_writer_close(struct as_trace_writer *w, enum as_trace_end end);
/* Releases the parent's block in the child after a fork. The writer then ignores all records. */
void as_trace_writer_forget(struct as_trace_writer *w);
/* Updates the latest pair of clock readings, for a reader before the end of the stream. */
void as_trace_writer_stamp(struct as_trace_writer *w);
/* Begins the next block with a record at `tick`. Returns false if the writer has stopped. */
bool as_trace_writer_turn(struct as_trace_writer *w, uint64_t tick);

/* Write a record with a text or a list, after the fields of its kind. `text` of a FACT is
 * "key\0value". Return false if the record is too long, or if the writer has stopped. */
bool as_trace_emit_text(struct as_trace_writer *w, unsigned kind, uint64_t tick,
                        const uint64_t *field, unsigned n, const char *text);
bool as_trace_emit_list(struct as_trace_writer *w, unsigned kind, uint64_t tick,
                        const uint64_t *field, unsigned n, const uint64_t *list, size_t list_n);

/*
 * Writes a sample from a signal handler on the writer's thread. `stack` has the address of the
 * sample and its callers, innermost first, at most AS_TRACE_STACK_N. The sample is deferred while a
 * record is written, or while polls are pending. It is also deferred if it `waits`: the record of
 * the current call follows, and begins earlier. Returns false if the sample is lost; it is counted.
 */
bool as_trace_sample(struct as_trace_writer *w, uint64_t tick, uint64_t period_ns,
                     const uint64_t *stack, unsigned n, bool waits);

/*
 * Adds a poll: a call from `enter` to `leave` that found nothing. Polls of at most AS_TRACE_POLLS_N
 * routines become one record for each routine. They are less than 1 us apart, within 100 ms. The
 * record is written before the next other record, or at the end. Returns the first poll of a
 * routine, so that the caller can add to it; else NULL.
 */
struct as_trace_polls *as_trace_poll(struct as_trace_writer *w, uint64_t name, uint64_t enter,
                                     uint64_t leave);
/* Adds bytes sent and received to the latest polls of this routine. */
void as_trace_poll_traffic(struct as_trace_writer *w, uint64_t name, uint64_t sent_b,
                           uint64_t received_b);
/* Makes as_trace_poll sum all calls from now on. A sum ends if the next call comes more than `gap`
 * ticks later, or after one second. Only longer times between calls stay visible. */
void as_trace_writer_sum(struct as_trace_writer *w, uint64_t gap, uint64_t tick_hz);
/* Writes pending polls and deferred samples. Returns false in a handler that interrupted the
 * writing of a record; the record of the caller then counts as lost. */
bool as_trace_settle(struct as_trace_writer *w);

/* Counts a call that the user's filter leaves out. */
static inline void as_trace_leave_out(struct as_trace_writer *w)
{
    if (w->head)
        w->head->filtered++;
}

static inline uint64_t as_trace_now(const struct as_trace_writer *w)
{
    struct timespec t;
    if (w->clock == AS_TRACE_TSC)
        return __rdtsc();
    if (w->clock == AS_TRACE_GIVEN)
        return w->tick;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t as_trace_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline uint8_t *as_trace_number(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

/* Writes kind and time of a record at `at`, which must have space. Returns the position after them.
 * A time before the previous record counts as equal. */
static inline uint8_t *as_trace_lead(struct as_trace_writer *w, uint8_t *at, unsigned kind,
                                     uint64_t tick)
{
    const uint64_t since = tick > w->tick ? tick - w->tick : 0;
    const unsigned code = since == 0 ? 0 : since <= UINT16_MAX ? 1 : since <= UINT32_MAX ? 2 : 3;
    w->tick += since;
    *at = (uint8_t)(kind | code << 6);
    memcpy(at + 1, &since, sizeof since);
    return at + 1 + (code ? 1u << code : 0);
}

/* Publishes the record up to `at`, so that a reader of the file sees only complete records. */
static inline void as_trace_commit(struct as_trace_writer *w, uint8_t *at)
{
    w->at = at;
    w->records_n++;
    atomic_store_explicit(&w->block->used_b, (uint32_t)(at - (uint8_t *)w->block),
                          memory_order_release);
}

/* Acquires the writer. Returns false in a handler that interrupted the writing of a record. */
static inline bool as_trace_acquire(struct as_trace_writer *w)
{
    if ((w->state || w->aside_put != w->aside_told) && !as_trace_settle(w))
        return false;
    w->state = AS_TRACE_BUSY;
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

static inline void as_trace_release(struct as_trace_writer *w)
{
    atomic_signal_fence(memory_order_seq_cst);
    w->state = 0;
}

/* Does the work of as_trace_emit. The caller has acquired the writer. */
static inline void as_trace_emit_owned(struct as_trace_writer *w, unsigned kind, uint64_t tick,
                                       const uint64_t *field, unsigned n)
{
    if (w->at < w->limit || as_trace_writer_turn(w, tick ? tick : w->tick)) {
        uint8_t *at = as_trace_lead(w, w->at, kind, tick);
        for (unsigned i = 0; i < n; i++)
            at = as_trace_number(at, field[i]);
        as_trace_commit(w, at);
    }
}

/* Writes a record with numbers only; signed ones are zigzag. `tick` 0: the time of the previous
 * record. */
static inline void as_trace_emit(struct as_trace_writer *w, unsigned kind, uint64_t tick,
                                 const uint64_t *field, unsigned n)
{
    if (!as_trace_acquire(w))
        return;
    as_trace_emit_owned(w, kind, tick, field, n);
    as_trace_release(w);
    if ((kind == AS_TRACE_ENTER || kind == AS_TRACE_LEAVE) && w->counted)
        w->counted(w);
}

#endif
