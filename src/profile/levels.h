/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activity of each thread over time, in bins. Each level has bins of twice the length. A view of a
 * moment and a view of the whole run thus read about as many bins. The shortest length doubles for
 * a longer run or more threads, which limits the memory.
 */
#ifndef AS_PROFILE_LEVELS_H
#define AS_PROFILE_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum as_level_state {
    AS_LEVEL_USER,    /* by samples: in user code */
    AS_LEVEL_KERNEL,  /* by samples: in the kernel */
    AS_LEVEL_RUNNING, /* by switch records: on a CPU */
    AS_LEVEL_READY,   /* by switch records: preempted, without a CPU */
    AS_LEVEL_WAITING, /* by switch records: blocked */
    AS_LEVEL_STATES_N
};
const char *as_level_state_word(unsigned state);

struct as_level_bin {
    uint32_t number; /* the bin begins at number * bin_ns */
    int64_t ns[AS_LEVEL_STATES_N];
};

struct as_level_thread {
    AS_VEC(struct as_level_bin) bin; /* those that are not empty, by number */
};

struct as_levels {
    int64_t bin_ns;
    size_t bins_n; /* of all threads */
    AS_VEC(struct as_level_thread) thread;
    bool failed; /* memory was exhausted */
};

void as_levels_init(struct as_levels *levels);
void as_levels_fini(struct as_levels *levels);
/* Adds an interval of one state of a thread, in any order of time. Times before 0 are left out.
 * Sets `failed` if memory is exhausted; later calls then do nothing. */
void as_levels_add(struct as_levels *levels, uint32_t thread, enum as_level_state state,
                   int64_t begin_ns, int64_t end_ns);
/* Joins each two bins to one: the next level. */
void as_levels_double(struct as_levels *levels);
/* Returns the number of bins from 0 to the last that is not empty. */
uint32_t as_levels_length(const struct as_levels *levels);

#endif
