/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the files that import traces of Paraver. Lines become small records (prv_import.c) that
 * are put in order of time, for a communication's line says what its receiver does later; then
 * those of each thread become records of ours (prv_emit.c).
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
    AS_TAKEN_SEND,    /* partner's task, tag, bytes, number of the request (0: it blocks), lane */
    AS_TAKEN_SENT,    /* the same: it is complete */
    AS_TAKEN_POST,    /* as a send */
    AS_TAKEN_RECEIVE, /* the same: it is complete */
    AS_TAKEN_GATHER,  /* communicator, its operation's number, bytes sent, received, request */
    AS_TAKEN_GATHERED /* request that is complete */
};

/* At one time what ends a receive comes first, what begins a message last. */
enum { AS_TAKEN_BEFORE, AS_TAKEN_AT, AS_TAKEN_AFTER, AS_TAKEN_PLACES_N };

struct as_prv_imported {
    int64_t order; /* nanoseconds times AS_TAKEN_PLACES_N and the place */
    uint32_t kind, thread;
    int64_t field[5];
};
_Static_assert(offsetof(struct as_prv_imported, order) == 0, "ordered by its first number");

/* An operation of many whose events are still coming. */
struct as_prv_import_collective {
    bool is_open, is_root;
    int64_t ns, comm, sent_b, received_b, request;
};

/* A collective's call without such events; value 0: none. */
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
    int64_t function_type, function, line_type, line; /* 0: not said */
};
struct as_prv_import_stack {
    int64_t ns;
    uint32_t n;
    struct as_prv_import_level level[AS_TAKEN_LEVELS_N]; /* the innermost first */
};

/* A function and a line of it; texts lie in the labels. */
struct as_prv_import_place_name {
    int64_t function_value, line_value;
    struct as_view function, file, code; /* empty: not known */
    uint32_t line;                       /* 0: not known */
};

struct as_prv_import_thread {
    uint32_t task, number; /* number: in its task, from 0 */
    int64_t begin_ns, end_ns;
    struct as_prv_import_collective gather;
    struct as_taken_bare bare;
    /* While records are emitted: */
    uint32_t made; /* the maker's */
    bool is_made;
    AS_VEC(struct as_prv_import_call) call;
    int64_t fd, allocated_b, lock, work, task_open;
    bool is_in_part, is_in_barrier, is_in_taskwait, is_in_taskgroup, is_in_taskloop, is_in_state;
    bool is_sampled;
    int64_t calls_n, inside_ns, longest_ns, sent_b; /* of the call that stands for several */
    int64_t sampled_ns;                             /* of its latest sample */
    struct as_prv_import_stack stack[2];            /* callers; a sample */
};

struct as_prv_import_task {
    uint32_t made;
    bool has_mpi; /* calls of MPI, or messages: it is a rank */
    int64_t regions_n;
    AS_VEC(int64_t) region;   /* that are open */
    AS_VEC(int64_t) gathered; /* by communicator: operations until now */
};

/* Of the operations of a communicator, who was their root: rank in it, -1 not known. */
struct as_prv_import_roots {
    AS_VEC(int32_t) rank;
};

/* A routine of the trace. */
struct as_prv_import_name {
    int64_t type, value;
    uint32_t group;
    const char *text; /* owned by the file of labels or a table, or in `owned` */
};

struct as_prv_reading {
    const char *path;
    struct as_prv_file *file;
    const struct as_prv_header *header;
    struct as_prv_pcf pcf;
    struct as_ordered_store *records;
    struct as_trace_maker *maker;
    struct as_import_counts *counts;
    bool has_calls; /* of routines */
    int64_t requests_n;
    struct as_map_u64 lanes; /* by channel and lane: place in `asked` */
    AS_VEC(int64_t) asked;   /* when its last receive was asked for */
    uint32_t lanes_n;        /* besides the world's own */
    AS_VEC(struct as_prv_import_thread) thread;
    AS_VEC(struct as_prv_import_task) task;
    AS_VEC(struct as_prv_import_roots) root; /* by group of the header */
    AS_VEC(struct as_prv_import_name) name;  /* number k is k + 1 */
    struct as_map_u64 names;                 /* by type and value */
    AS_VEC(char *) owned;
    AS_VEC(struct as_prv_import_place_name) place; /* number k is k + 1 */
    struct as_map_u64 places; /* by function and line: number, 0 of an unknown one */
    AS_VEC(int64_t) gap_ns;   /* between samples of a thread */
    int64_t sample_ns;        /* that a sample stands for */
    struct as_map_u64 totals; /* by thread and type: place in `total` */
    AS_VEC(int64_t) total;    /* of hardware counters */
    struct assay_error *err;
};

/* Number of the communicator of ours: 1 is the first that has all tasks; 0: not known. */
size_t as_prv_taken_group(const struct as_prv_reading *taking, uint32_t task,
                          int64_t number); /* place; or n */
uint64_t as_prv_taken_comm(const struct as_prv_reading *taking, uint32_t task, int64_t group);
/* Tasks of the application of a task: each application is a world of its own. */
struct as_prv_world {
    uint32_t application, first_task, tasks_n;
};
struct as_prv_world as_prv_taken_world(const struct as_prv_reading *taking, uint32_t task);

/* ---- prv_taken_names.c: what calls are ---- */
/* Whether events of the type begin (value) and end (0) calls. */
bool as_prv_is_call(int64_t type);
int as_prv_taken_name(struct as_prv_reading *taking, int64_t type, int64_t value, uint32_t *number);
int as_prv_taken_state(struct as_prv_reading *taking, int64_t state, uint32_t *number);
int as_prv_taken_text(struct as_prv_reading *taking, int64_t type, int64_t value, uint32_t group,
                      const char *text, uint32_t *number);

/* ---- prv_taken_places.c: callers and samples; 0 or NOMEM ---- */
bool as_prv_is_place(int64_t type);
int as_prv_import_place(struct as_prv_reading *taking, struct as_prv_import_thread *thread,
                        int64_t ns, int64_t type, int64_t value);
/* Writes a thread's callers and samples as records; `is_over`: no more events have their time. */
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

/* ---- prv_emit.c: all records, in order, then definitions ---- */
int as_prv_emit(struct as_prv_reading *taking, struct assay_error *err);

#endif
