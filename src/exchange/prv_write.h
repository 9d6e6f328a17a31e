/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that write Paraver traces. */
#ifndef AS_EXCHANGE_PRV_WRITE_H
#define AS_EXCHANGE_PRV_WRITE_H

#include <stddef.h>
#include <string.h>

#include "base/index.h"
#include "base/map.h"
#include "base/out.h"
#include "exchange/lane.h"
#include "exchange/ordered.h"
#include "exchange/prv.h"
#include "exchange/prv_names.h"
#include "exchange/prv_states.h"

enum as_prv_kind { AS_PRV_STATE = 1, AS_PRV_EVENT = 2, AS_PRV_MESSAGE = 3 };

/*
 * Lines of the file are sorted by time; lines of equal times keep the order in which they were
 * found. Events are found in this order and are stored packed. States and communications are found
 * at their end, and `number` is their position among all findings.
 */
struct as_prv_event {
    int64_t since_ns; /* time since the last event */
    uint32_t location;
    uint32_t type; /* index in `type` of the writer */
    int64_t value;
};

/* Most events take one word. The time AS_PRV_LONG marks that the four numbers follow. */
#define AS_PRV_SINCE_BITS 22u
#define AS_PRV_PLACE_BITS 14u
#define AS_PRV_TYPE_BITS  8u
#define AS_PRV_VALUE_BITS 20u
_Static_assert(AS_PRV_SINCE_BITS + AS_PRV_PLACE_BITS + AS_PRV_TYPE_BITS + AS_PRV_VALUE_BITS == 64,
               "an event is a word");
#define AS_PRV_LONG ((UINT64_C(1) << AS_PRV_SINCE_BITS) - 1)

static inline uint8_t *as_prv_event_encode(uint8_t *at, const struct as_prv_event *e)
{
    const uint64_t word = (uint64_t)e->since_ns | (uint64_t)e->location << AS_PRV_SINCE_BITS |
                          (uint64_t)e->type << (AS_PRV_SINCE_BITS + AS_PRV_PLACE_BITS) |
                          (uint64_t)e->value << (64 - AS_PRV_VALUE_BITS);
    const bool fits = (uint64_t)e->since_ns < AS_PRV_LONG && !(e->location >> AS_PRV_PLACE_BITS) &&
                      !(e->type >> AS_PRV_TYPE_BITS) && !((uint64_t)e->value >> AS_PRV_VALUE_BITS);
    memcpy(at, fits ? &word : &(uint64_t){AS_PRV_LONG}, sizeof word);
    if (fits)
        return at + sizeof word;
    memcpy(at + sizeof word, e, sizeof *e);
    return at + sizeof word + sizeof *e;
}

static inline const uint8_t *as_prv_event_get(const uint8_t *at, struct as_prv_event *e)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    if ((word & AS_PRV_LONG) == AS_PRV_LONG) {
        memcpy(e, at + sizeof word, sizeof *e);
        return at + sizeof word + sizeof *e;
    }
    e->since_ns = (int64_t)(word & AS_PRV_LONG);
    e->location = word >> AS_PRV_SINCE_BITS & ((1u << AS_PRV_PLACE_BITS) - 1);
    e->type = word >> (AS_PRV_SINCE_BITS + AS_PRV_PLACE_BITS) & ((1u << AS_PRV_TYPE_BITS) - 1);
    e->value = (int64_t)(word >> (64 - AS_PRV_VALUE_BITS));
    return at + sizeof word;
}

#define AS_PRV_NO_STATE UINT32_MAX /* state of an open interval that is none */

struct as_prv_message {
    int64_t ns, sent_ns; /* logical and physical send: begun, complete */
    uint64_t number;
    int64_t asked_ns, received_ns, size_b, tag;
    uint32_t location, to;
};
_Static_assert(offsetof(struct as_prv_message, ns) == 0, "ordered by its first number");

/* The number of a state or communication has two parts. The bits above AS_PRV_FOUND_BITS count the
 * events found before. The lower bits count findings since the last event, up to a million. */

/* An event type. */
struct as_prv_event_type {
    int64_t type;
    char text[24]; /* ":type:" */
    uint32_t text_n;
};
/* Cache of recently used types. */
#define AS_PRV_TYPES_KNOWN 64u
struct as_prv_type_known {
    int64_t type; /* 0: free slot */
    uint32_t at;  /* index in `type` of the writer */
};

/* A task and thread with file numbers from 1. */
struct as_prv_thread {
    uint32_t process, task, thread, node;
    /* ":cpu:application:task:thread:"; the CPU is unknown. */
    char text[32];
    uint32_t text_n;
    int64_t routine; /* name number of the last entered routine */
};

/* A routine without a public number. */
struct as_prv_extra {
    uint32_t type, number;
    const char *text; /* owned by the trace */
};

/* File numbers of a name of a process. */
struct as_prv_call {
    uint32_t type, value; /* type 0: such calls are not written */
    uint32_t kernel;      /* value of the name of a kernel on a queue; otherwise 0 */
    bool is_known;
};

/* A separate event type from AS_PRV_COUNTERS on, or the public type of a hardware counter. */
struct as_prv_counter {
    const char *text; /* owned by the trace */
    bool is_real;     /* values are millionths */
    int64_t type;
    const char *public_name; /* NULL: none */
    /* By thread: last value, because the file has increments; NULL: it has values. */
    int64_t *latest;
};

/* Cache of counters by the address of their text: there are many events and few names. */
#define AS_PRV_COUNTED_KNOWN 64u
struct as_prv_counted {
    const char *text; /* NULL: free slot */
    bool is_real;
    uint32_t at; /* index in `counter` of the writer */
};

/* A rank of MPI. */
struct as_prv_rank {
    uint64_t rank;
    uint32_t task;
};

/* File values of an address of a process. */
struct as_prv_place {
    uint64_t address;
    uint32_t process;
    bool is_return;
    int64_t function, line; /* values */
};

/* Names; index k has value k + AS_PRV_FIRST_PLACE. */
struct as_prv_texts {
    const char **at;
    size_t n, cap; /* as in a vector */
};

/* An open parallel region. */
struct as_prv_region {
    uint32_t process;
    int64_t number, function;
};

#define AS_PRV_STATES_KNOWN 64u
struct as_prv_state_known {
    const char *routine; /* owned by the analysis: equal texts have equal addresses */
    int64_t state;
};

struct as_prv_writer {
    const struct as_trace *trace;
    struct as_prv_counts *counts;
    int64_t begin_ns, end_ns;
    struct as_lane events;
    struct as_prv_states *states;
    struct as_ordered_store *messages;
    int64_t event_ns;       /* time of the last event */
    uint64_t since_event_n; /* states and communications found since the last event */
    /* By location number: the last interval, which may still be extended. */
    struct as_prv_interval *open_state;
    AS_VEC(struct as_prv_event_type) type;
    struct as_prv_type_known type_known[AS_PRV_TYPES_KNOWN]; /* by some bits of the type */
    AS_VEC(struct as_prv_thread) thread;                     /* by location number */
    AS_VEC(uint32_t) task; /* by process; 0: no thread in the trace */
    uint32_t task_n;
    AS_VEC(struct as_prv_rank) rank;
    AS_VEC(uint64_t) comm; /* global numbers; the file counts from 1 */
    AS_VEC(const char *) node;
    AS_VEC(struct as_prv_extra) extra;
    bool *routine_used;                /* by row of as_prv_routines */
    AS_VEC(struct as_prv_call *) call; /* by process, then by name number */
    AS_VEC(struct as_prv_counter) counter;
    AS_VEC(struct as_prv_region) region;
    AS_VEC(int64_t) function; /* addresses of parallel functions; index k has value k + 1 */
    /* Rows of the vectors above. */
    struct as_index types, ranks, comms, extras, counters, functions;
    struct as_prv_counted counted[AS_PRV_COUNTED_KNOWN];
    struct as_prv_texts functions_named, lines_named; /* of callers and samples, by value */
    struct as_map_view function_texts, line_texts;    /* text -> index in these */
    AS_VEC(struct as_prv_place) place;
    struct as_index places;        /* rows of `place` */
    uint32_t callers_n, sampled_n; /* levels in the file */
    AS_VEC(char *) owned;
    struct as_map_u64 requests; /* nonblocking collectives by process: open or done */
    uint8_t *levels_n;          /* by location number: levels of the last sample */
    struct as_prv_state_known state_known[AS_PRV_STATES_KNOWN];
    struct as_error *err;
};

/* ---- prv_collect.c: content of the file ---- */
int as_prv_collect(struct as_prv_writer *writer, struct as_error *err);

/* ---- prv_keep.c ---- */
int as_prv_store_event(struct as_prv_writer *writer, uint32_t location, int64_t ns, int64_t type,
                       int64_t value);

/* ---- prv_body.c: lines of the file ---- */
int as_prv_write_body(struct as_prv_writer *writer, struct as_out *out, struct as_error *err);

/* ---- prv_threads.c: OpenMP ---- */
int as_prv_store_threads(struct as_prv_writer *writer, uint32_t location,
                         const struct as_trace_event *event);

/* ---- prv_places.c: callers and samples ---- */
int as_prv_store_callers(struct as_prv_writer *writer, uint32_t location,
                         const struct as_trace_event *event);
int as_prv_store_sample(struct as_prv_writer *writer, uint32_t location,
                        const struct as_trace_event *event);
void as_prv_write_places(const struct as_prv_writer *writer, struct as_out *out);

/* ---- prv_numbers.c; return -1 or NOMEM without memory ---- */
bool as_prv_is_mpi(uint32_t type);
/* Finds the event type and value of a routine. Returns 0 or NOMEM. */
int as_prv_call_of(struct as_prv_writer *writer, uint32_t process, int64_t name,
                   struct as_prv_call *out);
/* Returns the state of an activity. `routine` may be NULL. */
int64_t as_prv_state_of(struct as_prv_writer *writer, enum as_activity activity,
                        const char *routine, uint32_t group);
/* Sets `*out` to the index of an event type. Returns 0 or NOMEM. */
int as_prv_type_of(struct as_prv_writer *writer, int64_t type, uint32_t *out);
/* Returns the file number of a communicator, from 1, or -1 without memory. */
int64_t as_prv_comm_number(struct as_prv_writer *writer, uint64_t global);
/* Returns the value of a parallel function, from 1, or -1 without memory. */
int64_t as_prv_function_value(struct as_prv_writer *writer, int64_t function);
/* Returns the counter with this name, valid until the next call, or NULL without memory. */
struct as_prv_counter *as_prv_counter_of(struct as_prv_writer *writer, const char *name,
                                         bool is_real);

/* ---- prv_labels.c: the other two files ---- */
void as_prv_write_pcf(const struct as_prv_writer *writer, struct as_out *out);
void as_prv_write_row(const struct as_prv_writer *writer, struct as_out *out);

#endif
