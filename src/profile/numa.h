/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which NUMA node each processor is of, as a fact of a recording: streams are read on other
 * machines too. In text "0-3=0,4-7=1": processors, their node.
 */
#ifndef AS_PROFILE_NUMA_H
#define AS_PROFILE_NUMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/machine.h>

#include "base/vec.h"

struct as_numa {
    AS_VEC(int16_t) node; /* by processor; -1: not known */
};

/* The text of a host; false, and "", where nodes are not known or there is no room. */
bool as_numa_write(const struct assay_host *host, char *out, size_t out_b);
/* Fills `numa`, to be released by as_vec_fini; what is no such text is passed over. 0 or NOMEM. */
int as_numa_read(struct as_numa *numa, const char *text);
/* -1: not known. */
int as_numa_of(const struct as_numa *numa, uint32_t cpu);

#endif
