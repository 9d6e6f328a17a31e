/* SPDX-License-Identifier: Apache-2.0 */
/* A topology as bytes, for the pipe between two processes of assay. */
#ifndef AS_MACHINE_TOPOLOGY_WIRE_H
#define AS_MACHINE_TOPOLOGY_WIRE_H

#include <assay/machine.h>

#include "base/arena.h"
#include "base/str.h"

/* Appends the topology. `memory_most` is left out. */
void as_topology_encode(struct as_str *out, const struct assay_topology *topology);

/*
 * Reads one; its places and texts live in `arena`. The bytes are foreign: false if they do not fit
 * each other, or without memory.
 */
bool as_topology_get(const char *bytes, size_t n, struct as_arena *arena,
                     struct assay_topology *out);

#endif
