/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files that import Paraver traces. Lines become small records (prv_import.c), which
 * are sorted by time: the line of a communication also describes its later receive. Then the
 * records of each thread become records of assay (prv_emit.c).
 */
#ifndef AS_EXCHANGE_PRV_TAKING_H
#define AS_EXCHANGE_PRV_TAKING_H

#include <stddef.h>

#include "base/index.h"
#include "base/map.h"
#include "exchange/import.h"
#include "exchange/maker.h"
#include "exchange/ordered.h"
#include "exchange/prv_lines.h"
#include "exchange/prv_names.h"
#include "exchange/prv_read.h"

enum as_prv_import_kind {
    AS_TAKEN_EVENT, /* type, value */
    AS_TAKEN_STATE, /* state */
    AS_TAKEN_STATE_END,
    AS_TAKEN_SEND,    /* task of the partner, tag, bytes, request number (0: blocking), lane */
    AS_TAKEN_SENT,    /* as SEND: it is complete */
    AS_TAKEN_POST,    /* as SEND */
    AS_TAKEN_RECEIVE, /* as SEND: it is complete */
    /* Communicator, collective number in it, bytes sent, bytes received, request. */
    AS_TAKEN_GATHER,
    AS_TAKEN_GATHERED /* completed request */
};

/* Order at equal times: the end of a receive comes first, the beginning of a message last. */
enum { AS_TAKEN_BEFORE, AS_TAKEN_AT, AS_TAKEN_AFTER, AS_TAKEN_PLACES_N };

struct as_prv_imported {
    int64_t order; /* ns times AS_TAKEN_PLACES_N, plus the place */
    uint32_t kind, thread;
    int64_t field[5];
};
_Static_assert(offsetof(struct as_prv_imported, order) == 0, "ordered by its first number");

/* A collective with events that are still coming. */
struct as_prv_import_collective {
    bool is_open, is_root;
    int64_t ns, comm, sent_b, received_b, request;
};

/* A collective call without such events; value 0: none. */
struct as_taken_bare {
    int64_t ns, value;
};

struct as_prv_import_call {
    int64_t type;
    uint32_t name;
    int64_t enter_ns;
};

/* Callers of a call, or a sample with its callers, while their events come. */
#define AS_TAKEN_LEVELS_N 16u
struct as_prv_import_level {
    int64_t function_type, function, line_type, line; /* 0: missing */
};
struct as_prv_import_stack {
    int64_t ns;
    uint32_t n;
    struct as_prv_import_level level[AS_TAKEN_LEVELS_N]; /* innermost first */
};

/* A function and a line in it. The texts are in the labels. */
struct as_prv_import_place_name {
    int64_t function_value, line_value;
    struct as_view function, file, code; /* empty: unknown */
    uint32_t line;                       /* 0: unknown */
};

struct as_prv_import_thread {
    uint32_t task, number; /* number: in its task, from 0 */
    int64_t begin_ns, end_ns;
    struct as_prv_import_collective gather;
    struct as_taken_bare bare;
    /* Used while records are emitted: */
    uint32_t made; /* number of the maker */
    bool is_made;
    AS_VEC(struct as_prv_import_call) call;
    int64_t fd, allocated_b, lock, work, task_open;
    bool is_in_part, is_in_barrier, is_in_taskwait, is_in_taskgroup, is_in_taskloop, is_in_state;
    bool is_sampled;
    int64_t calls_n, inside_ns, longest_ns, sent_b; /* of a call that stands for several */
    int64_t sampled_ns;                             /* time of the last sample */
    struct as_prv_import_stack stack[2];            /* [0] callers, [1] sample */
};

struct as_prv_import_task {
    uint32_t made;
    bool has_mpi; /* it has MPI calls or messages, so it is a rank */
    int64_t regions_n;
    AS_VEC(int64_t) region;   /* open regions */
    AS_VEC(int64_t) gathered; /* by communicator: number of collectives so far */
};

/* By collective of a communicator: rank of its root in it; -1: unknown. */
struct as_prv_import_roots {
    AS_VEC(int32_t) rank;
};

/* A routine of the trace. */
struct as_prv_import_name {
    int64_t type, value;
    uint32_t group;
    const char *text; /* owned by the labels, a table or `owned` */
};

struct as_prv_reading {
    const char *path;
    struct as_prv_file *file;
    const struct as_prv_header *header;
    struct as_prv_pcf pcf;
    struct as_ordered_store *records;
    struct as_trace_maker *maker;
    struct as_import_counts *counts;
    bool has_calls; /* calls of routines */
    int64_t requests_n;
    struct as_map_u64 lanes; /* hash of channel and lane -> index in `asked` */
    AS_VEC(int64_t) asked;   /* time of the last posted receive */
    uint32_t lanes_n;        /* lanes besides that of the world */
    AS_VEC(struct as_prv_import_thread) thread;
    AS_VEC(struct as_prv_import_task) task;
    AS_VEC(struct as_prv_import_roots) root; /* by group of the header */
    AS_VEC(struct as_prv_import_name) name;  /* index k has number k + 1 */
    struct as_map_u64 names;                 /* by type and value */
    AS_VEC(char *) owned;
    AS_VEC(struct as_prv_import_place_name) place; /* index k has number k + 1 */
    struct as_map_u64 places; /* hash of function and line -> number; 0: unknown code */
    AS_VEC(int64_t) gap_ns;   /* times between samples of a thread */
    int64_t sample_ns;        /* time that a sample stands for */
    struct as_map_u64 totals; /* hash of thread and type -> index in `total` */
    AS_VEC(int64_t) total;    /* totals of hardware counters */
    struct as_error *err;
};

/* as_prv_taken_group returns the index of a communicator, or n. as_prv_taken_comm returns its
 * number in our trace: 1 for the first with all tasks; 0 if it is unknown. */
size_t as_prv_taken_group(const struct as_prv_reading *taking, uint32_t task,
                          int64_t number); /* index, or n */
uint64_t as_prv_taken_comm(const struct as_prv_reading *taking, uint32_t task, int64_t group);
/* Tasks of an application; each application is its own world. */
struct as_prv_world {
    uint32_t application, first_task, tasks_n;
};
struct as_prv_world as_prv_taken_world(const struct as_prv_reading *taking, uint32_t task);

/* ---- prv_taken_names.c: names of calls ---- */
/* Returns true if events of this type begin (value) and end (0) calls. */
bool as_prv_is_call(int64_t type);
/* Find or add the number of a call, a state or a text, from 1. Return 0 or NOMEM. */
int as_prv_taken_name(struct as_prv_reading *taking, int64_t type, int64_t value, uint32_t *number);
int as_prv_taken_state(struct as_prv_reading *taking, int64_t state, uint32_t *number);
int as_prv_taken_text(struct as_prv_reading *taking, int64_t type, int64_t value, uint32_t group,
                      const char *text, uint32_t *number);

/* ---- prv_taken_places.c: callers and samples; 0 or NOMEM ---- */
bool as_prv_is_place(int64_t type);
int as_prv_import_place(struct as_prv_reading *taking, struct as_prv_import_thread *thread,
                        int64_t ns, int64_t type, int64_t value);
/* Writes the callers and samples of a thread as records. `is_over`: no more events of this time
 * follow. */
int as_prv_emit_stacks(struct as_prv_reading *taking, struct as_prv_import_thread *thread,
                       bool is_over);
int as_prv_note_sample(struct as_prv_reading *taking, struct as_prv_import_thread *thread,
                       int64_t ns);
void as_prv_time_samples(struct as_prv_reading *taking);
void as_prv_define_places(const struct as_prv_reading *taking, uint32_t made);

/* ---- prv_taken_sums.c; errors: NOMEM ---- */
bool as_prv_is_sum(int64_t type);
int as_prv_import_sum(struct as_prv_reading *taking, struct as_prv_import_thread *thread,
                      int64_t ns, int64_t type, int64_t value);

/* ---- prv_emit.c: all records in order, then definitions ---- */
int as_prv_emit(struct as_prv_reading *taking, struct as_error *err);

#endif
