/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that write OTF2 archives. */
#ifndef AS_EXCHANGE_OTF2_WRITE_H
#define AS_EXCHANGE_OTF2_WRITE_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/id_table.h"
#include "base/index.h"
#include "base/map.h"
#include "base/str.h"
#include "exchange/otf2.h"

/* A routine. Its index is the number of the OTF2 region. */
struct as_otf2_region {
    const char *text; /* owned by the trace */
    uint32_t group;   /* as_trace_group */
    OTF2_CollectiveOp op;
};

struct as_otf2_thread {
    uint32_t process, thread;
    OTF2_EvtWriter *events;
    uint64_t events_n;
    bool in_collective; /* its end is written when the call returns */
    uint32_t region;    /* last entered region */
    bool is_entering;   /* the enter event is not written yet, because its callers may follow */
    OTF2_TimeStamp enter_time;
    bool is_sampled;
    uint32_t context; /* calling context of the last sample */
    struct as_trace_event collective;
    /* Bytes of the current call, for its leave event; 0: none. */
    uint64_t allocated_b, released_b;
};

struct as_otf2_request {
    struct as_numbered id; /* kind: as_trace_kind of its beginning */
    OTF2_CollectiveOp op;
    OTF2_CommRef comm;
    uint32_t root;
    uint64_t sent_b, received_b;
    uint32_t partner, tag; /* of a persistent send */
    uint64_t size_b;
};
_Static_assert(offsetof(struct as_otf2_request, id) == 0,
               "a row of a numbered table begins with its id");

struct as_otf2_process {
    uint32_t *region; /* by name number */
    uint32_t *window; /* by index of the process's windows: row of `window` */
};

/* A window shared by processes: window `number` of its communicator. */
struct as_otf2_window {
    OTF2_CommRef comm;
    uint32_t number; /* counts from 0 */
};

/* A communicator shared by processes. */
struct as_otf2_comm {
    uint64_t global;
    const struct as_trace_comm *comm;
};

/* A function in a sample and its caller. A parent precedes its children. */
struct as_otf2_context {
    uint32_t parent;         /* OTF2_UNDEFINED_CALLING_CONTEXT: no caller */
    uint32_t region, source; /* source OTF2_UNDEFINED_UINT32: unknown */
    uint32_t depth;          /* counts from 1 */
};

struct as_otf2_source {
    const char *file; /* owned by the code of the trace */
    uint32_t line;
};

struct as_otf2_samples {
    AS_VEC(struct as_otf2_context) context;
    AS_VEC(struct as_otf2_source) source;
    AS_VEC(int64_t) period_ns; /* times of samples; each is an interrupt generator */
    struct as_index contexts, sources, periods;
    struct as_map_u64 callers; /* hash of process and addresses -> context */
};
/* Attribute of a call: the calling context of its caller. */
#define AS_OTF2_CALLER      0u
#define AS_OTF2_CALLER_NAME "caller"
/* Attributes of the leave event of an allocation, named as by Score-P. */
#define AS_OTF2_ALLOCATED 1u
#define AS_OTF2_RELEASED  2u
/* Used as the group of regions that are functions of samples. */
#define AS_OTF2_SAMPLED AS_TRACE_GROUPS_N

struct as_otf2_writer {
    const struct as_trace *trace;
    struct as_otf2_counts *counts;
    OTF2_Archive *archive;
    int64_t begin_ns, end_ns;
    uint64_t walked_n;                    /* events visited */
    AS_VEC(struct as_otf2_thread) thread; /* by location number */
    AS_VEC(struct as_otf2_process) process;
    AS_VEC(struct as_otf2_region) region;
    AS_VEC(struct as_otf2_comm) comm;
    AS_VEC(struct as_otf2_window) window;
    struct as_index regions, comms; /* rows of `region` and `comm` */
    /* Persistent and incomplete requests, as struct as_otf2_request. */
    struct as_numbered_table persistent, open;
    struct as_map_u64 blocks; /* hash of process and address -> row of `block_b` */
    AS_VEC(uint64_t) block_b;
    struct as_otf2_samples samples;
    struct as_error *err;
};

/* ---- otf2_events.c ---- */
int as_otf2_write_event(void *writer, uint32_t location, const struct as_trace_event *event);

/* ---- otf2_samples.c ---- */
OTF2_ErrorCode as_otf2_write_sample(struct as_otf2_writer *writer, struct as_otf2_thread *thread,
                                    const struct as_trace_event *event, OTF2_TimeStamp time);
/* Writes the pending enter event of a thread with its callers (NULL: unknown). */
OTF2_ErrorCode as_otf2_write_enter(struct as_otf2_writer *writer, struct as_otf2_thread *thread,
                                   const struct as_trace_event *callers);
void as_otf2_samples_fini(struct as_otf2_samples *samples);

/* ---- otf2_names.c: definitions ---- */
/* Lists regions and communicators; returns 0 or NOMEM. */
int as_otf2_list(struct as_otf2_writer *writer);
OTF2_ErrorCode as_otf2_write_definitions(const struct as_otf2_writer *writer);
/* Finds or adds the region of a text and group. Returns 0 or NOMEM. */
int as_otf2_list_region(struct as_otf2_writer *writer, const char *text, uint32_t group,
                        uint32_t *out);
/* Metric of integers. */
bool as_otf2_is_metric(const struct as_otf2_writer *writer, uint32_t region);
/* Returns OTF2_UNDEFINED_RMA_WIN if the window is unknown. */
OTF2_RmaWinRef as_otf2_window_of(const struct as_otf2_writer *writer, uint32_t process,
                                 int64_t window);
OTF2_CommRef as_otf2_comm_of(const struct as_otf2_writer *writer, uint32_t process, int64_t comm);

#endif
