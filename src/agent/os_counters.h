/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the system counts of the process and of the machine, read by the process's first thread on
 * the way to an event, seldom: context switches, page faults, resident memory, bytes of networks.
 */
#ifndef AS_AGENT_OS_COUNTERS_H
#define AS_AGENT_OS_COUNTERS_H

#include "trace/write.h"

/* Bits. */
enum as_os_counters {
    AS_OS_SWITCHES = 1,
    AS_OS_FAULTS = 2,
    AS_OS_MEMORY = 4,
    AS_OS_NETWORK = 8 /* of all interfaces but loopback, since the first reading */
};

/* Reads those of `wanted` and writes a COUNTER each; `name` gives numbers to names. System calls;
 * keeps errno. One thread at a time. */
void as_os_counters_emit(struct as_trace_writer *w, uint64_t tick, uint32_t wanted,
                         uint32_t (*name)(uint32_t group, const char *text));

#endif
