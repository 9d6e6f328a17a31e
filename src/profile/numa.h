/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NUMA node of each CPU, as a fact of a recording, because streams are read on other machines
 * too. Text form: "0-3=0,4-7=1" for CPUs 0 to 3 on node 0, 4 to 7 on node 1.
 */
#ifndef AS_PROFILE_NUMA_H
#define AS_PROFILE_NUMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "machine/machine.h"

struct as_numa {
    AS_VEC(int16_t) node; /* by CPU; -1 = unknown */
};

/* Writes the text of a host. Returns false and "" if nodes are unknown, or `out` is too small. */
bool as_numa_write(const struct as_host *host, char *out, size_t out_b);
/* Parses the text. Stops at an invalid part. The caller releases numa->node with as_vec_fini.
 * Errors: NOMEM. */
int as_numa_read(struct as_numa *numa, const char *text);
/* Returns the node of a CPU, or -1 if unknown. */
int as_numa_of(const struct as_numa *numa, uint32_t cpu);

#endif
