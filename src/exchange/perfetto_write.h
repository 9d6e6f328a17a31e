/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that write traces for Perfetto. */
#ifndef AS_EXCHANGE_PERFETTO_WRITE_H
#define AS_EXCHANGE_PERFETTO_WRITE_H

#include <stddef.h>

#include "base/map.h"
#include "base/out.h"
#include "exchange/ordered.h"
#include "exchange/perfetto.h"

enum as_perfetto_kind {
    AS_PERFETTO_BEGIN,
    AS_PERFETTO_END,
    AS_PERFETTO_SENT,
    AS_PERFETTO_RECEIVED,
    AS_PERFETTO_INTEGER,
    AS_PERFETTO_REAL,
    AS_PERFETTO_SAMPLE /* fields as BEGIN */
};

/* Order at equal times: a message is received before the call is left, and sent after it is
 * entered. */
enum as_perfetto_place {
    AS_PERFETTO_BEFORE,
    AS_PERFETTO_AT,
    AS_PERFETTO_AFTER,
    AS_PERFETTO_PLACES_N
};

struct as_perfetto_record {
    int64_t order; /* ns since the start times AS_PERFETTO_PLACES_N, plus as_perfetto_place */
    uint32_t kind, track;
    union {
        struct {
            uint32_t name, category;
        } begin;
        struct {
            int64_t sent_b, received_b, moved_b;
        } end;
        struct {
            uint64_t flow;
            int64_t partner, tag, size_b; /* partner: world rank */
        } message;
        int64_t value; /* of a counter: the value or the bits of a double */
    };
};
_Static_assert(offsetof(struct as_perfetto_record, order) == 0, "ordered by its first number");

/* An open slice. Its end event has the bytes that it moved. */
struct as_perfetto_frame {
    int64_t name; /* name number in the process; -kind for slices without a routine */
    int64_t sent_b, received_b, moved_b;
};

struct as_perfetto_thread {
    uint32_t process, thread;
    AS_VEC(struct as_perfetto_frame) frame;
};

/* A counter of a thread. */
struct as_perfetto_counter {
    uint32_t location, name; /* index of its text */
};

struct as_perfetto_writer {
    const struct as_trace *trace;
    struct as_perfetto_counts *counts;
    int64_t begin_ns;
    struct as_ordered_store *records;
    AS_VEC(struct as_perfetto_thread) thread; /* by location number */
    /* By process: name number -> text; 0: not numbered yet. */
    AS_VEC(uint32_t *) name;
    AS_VEC(const char *) text; /* index 0: none */
    struct as_map_view texts;
    AS_VEC(struct as_perfetto_counter) counter;
    struct as_error *err;
};

/* Track ids from 1: processes, then threads by location number, then counters. */
static inline uint64_t as_perfetto_process_track(uint32_t process)
{
    return (uint64_t)process + 1;
}

static inline uint64_t as_perfetto_thread_track(const struct as_perfetto_writer *w, uint32_t at)
{
    return w->trace->process.n + (uint64_t)at + 1;
}

static inline uint64_t as_perfetto_counter_track(const struct as_perfetto_writer *w, uint32_t at)
{
    return w->trace->process.n + w->thread.n + (uint64_t)at + 1;
}

/* ---- perfetto_collect.c: content of the file ---- */
int as_perfetto_collect(struct as_perfetto_writer *writer, struct as_error *err);

/* ---- perfetto_tracks.c: names and tracks; 0 or NOMEM ---- */
int as_perfetto_write_tracks(const struct as_perfetto_writer *writer, struct as_out *out);

/* Numbers of the annotation names of end events and messages, from 1. */
enum as_perfetto_note {
    AS_PERFETTO_NOTE_SENT = 1,
    AS_PERFETTO_NOTE_RECEIVED,
    AS_PERFETTO_NOTE_MOVED,
    AS_PERFETTO_NOTE_PARTNER,
    AS_PERFETTO_NOTE_TAG,
    AS_PERFETTO_NOTE_SIZE
};

/* Fields of TracePacket. All packets belong to one sequence. */
enum as_perfetto_packet {
    AS_PERFETTO_TIMESTAMP = 8,
    AS_PERFETTO_SEQUENCE = 10,
    AS_PERFETTO_EVENT = 11,
    AS_PERFETTO_INTERNED = 12,
    AS_PERFETTO_FLAGS = 13,
    AS_PERFETTO_TRACK = 60
};
#define AS_PERFETTO_SEQUENCE_ID 1u
#define AS_PERFETTO_CLEARED     1u /* flag: names begin here */
#define AS_PERFETTO_NEEDED      2u /* flag: names are needed */

#endif
