/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose code it is that makes threads and takes locks. What runtimes do so for themselves
 * (libraries of MPI and OpenMP, their networks) is not what the program does.
 */
#ifndef AS_AGENT_RUNTIME_H
#define AS_AGENT_RUNTIME_H

#include <stdbool.h>

/* Whether code at `address` is of a runtime, or of ours. Takes no lock and allocates nothing; where
 * the C library cannot tell so (before 2.35) nothing is. */
bool as_runtime_owns(const void *address);
/* Whether it is of an MPI or its network, whose threads do nothing for the program but these. */
bool as_runtime_is_network(const void *address);

#endif
