/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what agents write of allocated blocks, while they do. */
#ifndef AS_AGENT_OBJECTS_READ_H
#define AS_AGENT_OBJECTS_READ_H

#include "agent/shared/objects.h"
#include "base/error.h"
#include "base/vec.h"

/* One process, from one execution to the next. */
struct as_objects_log {
    struct as_objects_file *file; /* mapped; NULL: closed */
    uint32_t pid, number;         /* number: of all logs, from 1 on */
    uint64_t begun_ns;
    uint64_t lost, sites_lost; /* already in the sums */
};

struct as_objects_logs {
    AS_VEC(struct as_objects_log) at;
    uint32_t opened_n;
    uint64_t lost;       /* events without room */
    uint64_t sites_lost; /* events without room for their site */
    uint64_t damaged;    /* files and events that make no sense */
};

struct as_object_record {
    uint32_t kind, pid; /* as_object_event_kind */
    uint64_t time_ns, address, size_b;
    uint64_t site; /* the same number has the same callers; 0: not known */
    uint64_t caller[AS_OBJECTS_CALLERS_N];
    size_t caller_n;
};

/* 0, or a negative code that ends the reading. */
typedef int as_object_sink(void *context, const struct as_object_record *it);

/* Opens new files of `directory` and removes their names. 0 or NOMEM. */
int as_objects_find(struct as_objects_logs *logs, const char *directory);
/* Hands out what is new, of process `pid` (0: of all). `last`: an event that is not written yet
 * never will be. Returns the sink's code. */
int as_objects_drain(struct as_objects_logs *logs, uint32_t pid, bool last, as_object_sink *sink,
                     void *context);
/* Closes the logs of a process that began before `time_ns`. */
void as_objects_close(struct as_objects_logs *logs, uint32_t pid, uint64_t time_ns);
void as_objects_logs_fini(struct as_objects_logs *logs);

#endif
