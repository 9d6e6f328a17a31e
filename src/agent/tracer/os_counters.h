/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the system counts of the process and of the machine, read by the process's first thread on
 * the way to an event, seldom: context switches, page faults, resident memory, bytes of networks.
 */
#ifndef AS_AGENT_OS_COUNTERS_H
#define AS_AGENT_OS_COUNTERS_H

#include <stdint.h>

#include "agent/shared/trace_part.h"
#include "trace/write.h"

/* Reads those of `wanted` and writes a COUNTER each; `name` gives numbers to names. System calls;
 * keeps errno. One thread at a time. */
void as_os_counters_emit(struct as_trace_writer *w, uint64_t tick, uint32_t wanted,
                         uint32_t (*name)(uint32_t group, const char *text));

#endif
