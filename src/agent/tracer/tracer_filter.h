/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's filter in the program: the packed rules that lie in the agent's directory
 * (trace/filter.h), asked once for each routine.
 */
#ifndef AS_AGENT_TRACER_FILTER_H
#define AS_AGENT_TRACER_FILTER_H

#include <stdint.h>

/* When the process begins. Without the file all is recorded. */
void as_tracer_filter_begin(void);
/* Bits of as_tracer_name_bits. */
uint32_t as_tracer_filter_bits(const char *name);

#endif
