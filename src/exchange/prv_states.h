/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States of threads as packed intervals, one row per thread, returned in the order of their starts.
 * An interval starts at the end of the one before, and most take one word. Beyond 64 MiB they go to
 * a file without a name.
 */
#ifndef AS_EXCHANGE_PRV_STATES_H
#define AS_EXCHANGE_PRV_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct as_prv_interval {
    int64_t ns;
    uint64_t number; /* ascending; orders intervals of equal times */
    int64_t end_ns;
    uint32_t location, state;
};
/* The lowest bits of a number restart at 0 when the upper bits grow. */
#define AS_PRV_FOUND_BITS 20u

struct as_prv_states;

/* Creates a store for `locations_n` threads. Returns 0 or AS_ERR_NOMEM. */
int as_prv_states_new(struct as_prv_states **out, uint32_t locations_n);
void as_prv_states_free(struct as_prv_states **states);

/* Adds an interval. Intervals of a thread must be in time order. Errors: NOMEM, IO. */
int as_prv_states_add(struct as_prv_states *states, const struct as_prv_interval *it,
                      struct as_error *err);
/* Ends the adding and starts the reading. Errors: NOMEM, IO. */
int as_prv_states_begin(struct as_prv_states *states, struct as_error *err);
/* Sets `*out` to the next interval, valid until the next call, or to NULL at the end. Each is
 * returned once. Errors: NOMEM, IO. */
int as_prv_states_next(struct as_prv_states *states, const struct as_prv_interval **out,
                       struct as_error *err);

#endif
