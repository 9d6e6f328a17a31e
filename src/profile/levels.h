/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each thread did over time, in bins: of those that are shortest, and of twice that length and
 * so on, so that who shows a moment or all of a run reads about as many. The length doubles when
 * the run turns out to be longer, or threads to be more; so memory depends on neither.
 */
#ifndef AS_PROFILE_LEVELS_H
#define AS_PROFILE_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum as_level_state {
    AS_LEVEL_USER,    /* by samples: in the program */
    AS_LEVEL_KERNEL,  /* in the kernel */
    AS_LEVEL_RUNNING, /* by records of switches: on a processor */
    AS_LEVEL_READY,   /* preempted, without a processor */
    AS_LEVEL_WAITING, /* it left its processor by itself */
    AS_LEVEL_STATES_N
};
const char *as_level_state_word(unsigned state);

struct as_level_bin {
    uint32_t number; /* its first moment is number * bin_ns */
    int64_t ns[AS_LEVEL_STATES_N];
};

struct as_level_thread {
    AS_VEC(struct as_level_bin) bin; /* those that have something, by number */
};

struct as_levels {
    int64_t bin_ns;
    size_t bins_n; /* of all threads */
    AS_VEC(struct as_level_thread) thread;
    bool failed; /* there was no memory */
};

void as_levels_init(struct as_levels *levels);
void as_levels_fini(struct as_levels *levels);
/* A thread did this from `begin_ns` to `end_ns`, in any order; times before 0 are left out. A
 * failure sticks. */
void as_levels_add(struct as_levels *levels, uint32_t thread, enum as_level_state state,
                   int64_t begin_ns, int64_t end_ns);
/* Two bins become one: the next level. */
void as_levels_double(struct as_levels *levels);
/* The number of bins from 0 to the last that has something. */
uint32_t as_levels_length(const struct as_levels *levels);

#endif
