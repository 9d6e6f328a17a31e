/* SPDX-License-Identifier: Apache-2.0 */
/* A topology as bytes, for the pipe between two processes of assay. */
#ifndef AS_MACHINE_TOPOLOGY_WIRE_H
#define AS_MACHINE_TOPOLOGY_WIRE_H

#include "base/arena.h"
#include "base/str.h"
#include "machine/machine.h"

/* Appends the topology without `memory_most` and `usable_cpu_n`. */
void as_topology_encode(struct as_str *out, const struct as_topology *topology);

/*
 * Decodes a topology; its places and strings live in `arena`. The bytes are untrusted. Returns
 * false if they are inconsistent or memory runs out.
 */
bool as_topology_get(const char *bytes, size_t n, struct as_arena *arena, struct as_topology *out);

#endif
