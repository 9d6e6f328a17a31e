/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of perf at events: each thread counts for itself, in one group, which is read at each
 * ENTER and LEAVE of its stream. Descriptors stay open meanwhile, with high numbers. Source:
 * perf_event_open(2).
 */
#ifndef AS_AGENT_EVENT_COUNTERS_H
#define AS_AGENT_EVENT_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/shared/trace_part.h"
#include "trace/write.h"

/* The open counters of a thread. */
struct as_event_counters {
    bool is_tried;
    unsigned n;
    int fd[AS_EVENT_COUNTERS_N]; /* the first leads */
    uint64_t latest[AS_EVENT_COUNTERS_N];
    bool is_known[AS_EVENT_COUNTERS_N]; /* of `latest` */
};

/* Writes a record of a counter, `tick` as of as_event_counters_put. */
typedef void as_event_counter_emit(struct as_trace_writer *writer, uint64_t tick, uint32_t number,
                                   uint64_t value);

/* Maps the list of wanted counters when the process begins. `path`: AS_EVENT_COUNTERS_FILE. Returns
 * false if none is wanted. */
bool as_event_counters_begin(const char *path);
/* Counts the calling thread from now on. `name` gives numbers to names. If one cannot be opened,
 * none is. System calls; keeps errno. */
void as_event_counters_open(struct as_event_counters *own,
                            uint32_t (*name)(uint32_t group, const char *text));
/* Writes a COUNTER for each value that changed; `tick` 0: with the time of the latest record.
 * Returns false if the group had to share its counters: values are unknown then. Keeps errno. */
bool as_event_counters_put(struct as_event_counters *own, struct as_trace_writer *writer,
                           uint64_t tick, as_event_counter_emit *emit);
/* Also those that the child of a fork has from its parent. */
void as_event_counters_close(struct as_event_counters *own);

#endif
