/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plain and slow analyser of made-up programs, written from the definitions
 * (doc/internals/analytics.md; F. Wolf et al., Euro-Par 2000; the pattern documentation of
 * Scalasca): it looks at all pairs of sides and at every moment between two times that matter.
 */
#ifndef AS_TEST_PLAIN_H
#define AS_TEST_PLAIN_H

#include "analytics/waits/waits.h"
#include "made.h"

struct plain_wait {
    uint32_t rank, call;
    enum as_wait_kind kind;
    uint32_t cause;                  /* rank; AS_WAIT_UNKNOWN */
    enum made_routine cause_routine; /* MADE_ROUTINES_N: no cause */
    bool is_even; /* two calls of the cause began at that one moment: either is right */
    int64_t begin_ns, end_ns;
};

struct plain_waits {
    AS_VEC(struct plain_wait) wait; /* by rank and time; none overlap */
};

void plain_waits_of(const struct made_program *program, struct plain_waits *out);
/* Returns whether the call starts or completes a transfer. */
bool plain_moves_data(const struct made_program *program, uint32_t call);

#endif
