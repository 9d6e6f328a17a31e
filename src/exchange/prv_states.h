/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads do, stretch by stretch: kept packed, a row for each thread, and handed out in the
 * order of their beginnings. A stretch begins where the one of its thread before ended, and most
 * take one word. What is more than 64 MiB lies in a file without a name.
 */
#ifndef AS_EXCHANGE_PRV_STATES_H
#define AS_EXCHANGE_PRV_STATES_H

#include <assay/error.h>
#include <stdbool.h>
#include <stdint.h>

struct as_prv_interval {
    int64_t ns;
    uint64_t number; /* grows: those of one time are in its order */
    int64_t end_ns;
    uint32_t location, state;
};
/* The lowest bits of a number count from 0 wherever those above grow. */
#define AS_PRV_FOUND_BITS 20u

struct as_prv_states;

/* 0 or ASSAY_ERR_NOMEM. */
int as_prv_states_new(struct as_prv_states **out, uint32_t locations_n);
void as_prv_states_free(struct as_prv_states **states);

/* Of one thread in order of time. Errors: NOMEM, IO; so too below. */
int as_prv_states_add(struct as_prv_states *states, const struct as_prv_interval *it,
                      struct assay_error *err);
/* Nothing is added any more. */
int as_prv_states_begin(struct as_prv_states *states, struct assay_error *err);
/* The next, until that behind it is asked for; NULL: no more. Once. */
int as_prv_states_next(struct as_prv_states *states, const struct as_prv_interval **out,
                       struct assay_error *err);

#endif
