/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a stream from inside a program: no allocation, no lock, no descriptor kept; system calls
 * only when a block is full. One writer belongs to one thread, or to who holds a lock for it. What
 * was written is in the file whatever becomes of the program. A record that a signal's handler
 * would write into the middle of another is counted as lost; a sample is put aside until then.
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

/* Any record without texts and lists fits. */
#define AS_TRACE_SLACK_B   128u
#define AS_TRACE_FIELDS_N  8u
#define AS_TRACE_CALLERS_N 16u
#define AS_TRACE_POLLS_N   4u  /* usual */
#define AS_TRACE_SUMS_N    24u /* where all calls are summed */

/* Calls of one routine that found nothing, with nothing else in between: one record at its end. */
struct as_trace_polls {
    uint64_t name, n;
    uint64_t inside, longest; /* ticks within all, and within one */
    uint64_t sent_b, received_b;
    /* What the first said of itself besides; kind 0: nothing. */
    unsigned kind, field_n, callers_n;
    uint64_t field[AS_TRACE_FIELDS_N];
    uint64_t caller[AS_TRACE_CALLERS_N];
};

struct as_trace_writer {
    uint8_t *at, *limit; /* NULL, NULL: nothing is written (any more) */
    uint64_t tick;       /* of the last record */
    uint32_t clock;
    volatile uint8_t state; /* as_trace_writer_states; 0: records can be written at once */
    /* Words of samples that were put aside, and of those that were told since; both only grow. */
    volatile uint32_t aside_put, aside_told;
    struct as_trace_block *block;
    struct as_trace_head *head;
    uint64_t records_n;
    _Atomic int64_t *budget_b;                  /* of the run, shared; NULL: without limit */
    uint64_t handlers_lost;                     /* told by the next block */
    void (*counted)(struct as_trace_writer *w); /* reads counters behind a call's begin or end */
    uint64_t caller; /* the first of the latest CALLERS in this block; 0: there is none */
    /* What is told by the next record of another kind. */
    struct as_trace_polls poll[AS_TRACE_SUMS_N];
    unsigned polls_n, polls_most;
    bool are_sums;                   /* all calls, with bytes: as_trace_writer_sum */
    uint64_t polls_begin, polls_end; /* stamps of the first's enter and the last's leave */
    uint64_t gap_most, span_most;    /* ticks between two polls, and from the first to the last */
    uint64_t *aside;                 /* words, by their number modulo aside_n; NULL: no room */
    uint32_t aside_n;                /* a power of 2 */
    uint32_t stack_n;
    uint64_t stack[AS_TRACE_STACK_N]; /* of the latest SAMPLE in this block */
    char path[PATH_MAX];
};
enum as_trace_writer_states {
    AS_TRACE_BUSY = 1,  /* a record is being written */
    AS_TRACE_POLLED = 2 /* polls wait to be told */
};

struct as_trace_writing {
    const char *path; /* of a new file */
    uint32_t pid, tid, parent_tid;
    uint32_t clock; /* as_trace_clock */
    uint32_t ring_n;
    uint64_t tick_hz;
    uint64_t begin_tick; /* of AS_TRACE_GIVEN */
    _Atomic int64_t *budget_b;
    const char *name;
    uint64_t *aside; /* where samples wait while a record is written: a power of 2 of words, or
                        NULL */
    uint32_t aside_n;
};

/* Makes the file with its first block. 0, or -errno; then nothing will be written. */
int as_trace_writer_open(struct as_trace_writer *w, const struct as_trace_writing *how);
/* Says that the stream is whole (`end`), and gives back all memory. */
void as_trace_writer_close(struct as_trace_writer *w, enum as_trace_end end);
/* After a fork: what is the parent's is let go, and nothing is written. */
void as_trace_writer_forget(struct as_trace_writer *w);
/* The latest pair of clocks, for who reads it before the end. */
void as_trace_writer_stamp(struct as_trace_writer *w);
/* The next block, of a record at `tick`. False: there is none. */
bool as_trace_writer_turn(struct as_trace_writer *w, uint64_t tick);

/* A record with text or list, fields in the order of its kind. `text` for both t of a FACT is
 * "key\0value". False: it is too long, or nothing is written. */
bool as_trace_emit_text(struct as_trace_writer *w, unsigned kind, uint64_t tick,
                        const uint64_t *field, unsigned n, const char *text);
bool as_trace_emit_list(struct as_trace_writer *w, unsigned kind, uint64_t tick,
                        const uint64_t *field, unsigned n, const uint64_t *list, size_t list_n);

/*
 * A sample, by a handler of signals on the writer's thread: where it is and its callers, the
 * innermost first, at most AS_TRACE_STACK_N. It is written, or put aside where it fell into the
 * writing of a record, where polls are to be told first, or where it `waits`, for a call is going
 * on that will be told from its beginning on. False: it is lost, which is counted.
 */
bool as_trace_sample(struct as_trace_writer *w, uint64_t tick, uint64_t period_ns,
                     const uint64_t *stack, unsigned n, bool waits);

/*
 * A call that found nothing, from `enter` to `leave`. Such calls of at most AS_TRACE_POLLS_N
 * routines that follow each other within a microsecond, for at most 100 ms, are told as one call
 * each, when something else is recorded or the stream ends. The first of its routine is handed out,
 * for the caller to say more; else NULL.
 */
struct as_trace_polls *as_trace_poll(struct as_trace_writer *w, uint64_t name, uint64_t enter,
                                     uint64_t leave);
/* The latest of this name sent and received so much. */
void as_trace_poll_traffic(struct as_trace_writer *w, uint64_t name, uint64_t sent_b,
                           uint64_t received_b);
/* From now on all calls are told as above, until one comes `gap` ticks or more after that before,
 * or after a second: only what is between calls for longer is seen by itself. */
void as_trace_writer_sum(struct as_trace_writer *w, uint64_t gap, uint64_t tick_hz);
/* Writes what waits; false: a record is just being written, that of the caller is lost. */
bool as_trace_settle(struct as_trace_writer *w);

/* A call that the user's filter leaves out. */
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

/* Kind and time. There is room for it. A clock that went back stands still. */
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

/* All before is in the file: who reads it after a kill sees whole records. */
static inline void as_trace_commit(struct as_trace_writer *w, uint8_t *at)
{
    w->at = at;
    w->records_n++;
    atomic_store_explicit(&w->block->used_b, (uint32_t)(at - (uint8_t *)w->block),
                          memory_order_release);
}

/* False: this is a handler that interrupted the writing. */
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

/* As below, by who has taken the writer. */
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

/* A record of numbers alone; signed ones as zigzag. `tick` 0: the time of the record before. */
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
