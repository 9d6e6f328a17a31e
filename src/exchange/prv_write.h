/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files that write Paraver traces. */
#ifndef AS_EXCHANGE_PRV_WRITE_H
#define AS_EXCHANGE_PRV_WRITE_H

#include "base/map.h"
#include "base/out.h"
#include "exchange/ordered.h"
#include "exchange/prv.h"
#include "exchange/prv_names.h"

enum as_prv_kind { AS_PRV_STATE = 1, AS_PRV_EVENT = 2, AS_PRV_MESSAGE = 3 };

struct as_prv_record {
    int64_t ns; /* begin of a state; a communication's logical send */
    uint32_t kind, location;
    union {
        struct {
            int64_t end_ns, state;
        } state;
        struct {
            int64_t type, value;
        } event;
        struct {
            int64_t sent_ns, asked_ns, received_ns, size_b, tag;
            uint32_t location;
        } message;
    };
};

/* A task and thread as the files count them, from 1. */
struct as_prv_thread {
    uint32_t process, task, thread, node;
    char text[32]; /* ":cpu:application:task:thread"; which processor it was is not known */
    uint32_t text_n;
};

/* A routine that has no number of its own. */
struct as_prv_extra {
    uint32_t type, number;
    const char *text; /* the trace's */
};

/* What a name of a process is in the file. */
struct as_prv_call {
    uint32_t type, value; /* type 0: such calls are not in the file */
    bool is_known;
};

/* A type of events of its own, from AS_PRV_COUNTERS on. */
struct as_prv_counter {
    const char *text; /* the trace's */
    bool is_real;     /* values are millionths */
};

/* A parallel region that is open. */
struct as_prv_region {
    uint32_t process;
    int64_t number, function;
};

#define AS_PRV_STATES_KNOWN 64u
struct as_prv_state_known {
    const char *routine; /* the analysis's: the same text is the same address */
    int64_t state;
};

struct as_prv_writer {
    const struct as_trace *trace;
    struct as_prv_counts *counts;
    int64_t begin_ns, end_ns;
    struct as_ordered_store *records;
    struct as_prv_record *open_state;    /* by location: not handed on, for it may go on */
    AS_VEC(struct as_prv_thread) thread; /* by location */
    AS_VEC(uint32_t) task;               /* by process; 0: it has no thread in the trace */
    uint32_t task_n;
    AS_VEC(uint64_t) comm; /* their global numbers: in the file they count from 1 */
    AS_VEC(const char *) node;
    AS_VEC(struct as_prv_extra) extra;
    AS_VEC(struct as_prv_call *) call; /* by process: by number of a name */
    AS_VEC(struct as_prv_counter) counter;
    AS_VEC(struct as_prv_region) region;
    AS_VEC(int64_t) function;     /* addresses of parallel functions: number k is value k + 1 */
    AS_VEC(const char *) sampled; /* functions of samples: number k is value k + 1 */
    struct as_map_view sampled_texts;
    uint8_t *levels_n; /* by location: of its latest sample */
    struct as_prv_state_known state_known[AS_PRV_STATES_KNOWN];
    struct assay_error *err;
};

/* ---- prv_collect.c: what goes into the file ---- */
int as_prv_collect(struct as_prv_writer *writer, struct assay_error *err);
int as_prv_keep_event(struct as_prv_writer *writer, uint32_t location, int64_t ns, int64_t type,
                      int64_t value);

/* ---- prv_threads.c: OpenMP ---- */
int as_prv_keep_threads(struct as_prv_writer *writer, uint32_t location,
                        const struct as_trace_event *event);

/* ---- prv_numbers.c; -1 and NOMEM: no memory ---- */
bool as_prv_is_mpi(uint32_t type);
int as_prv_call_of(struct as_prv_writer *writer, uint32_t process, int64_t name,
                   struct as_prv_call *out);
int64_t as_prv_state_of(struct as_prv_writer *writer, enum as_activity activity,
                        const char *routine, uint32_t group);
int64_t as_prv_comm_number(struct as_prv_writer *writer, uint64_t global);
int64_t as_prv_function_value(struct as_prv_writer *writer, int64_t function);
int64_t as_prv_sampled_value(struct as_prv_writer *writer, const char *function);
int64_t as_prv_counter_type(struct as_prv_writer *writer, const char *name, bool is_real);

/* ---- prv_labels.c: the files beside it ---- */
void as_prv_put_pcf(const struct as_prv_writer *writer, struct as_out *out);
void as_prv_put_row(const struct as_prv_writer *writer, struct as_out *out);

#endif
