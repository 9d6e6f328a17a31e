/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the size of the stack copy of each sample. A recording begins with the larger copy. It
 * changes to the smaller copy if that is enough for 99 of 100 stacks. It changes back if more than
 * one of 100 is cut. The input is counts; the caller switches the events.
 */
#ifndef AS_PROFILE_DEPTH_H
#define AS_PROFILE_DEPTH_H

#include <stdbool.h>

#include "sample/sample.h"

struct as_depth {
    struct as_stack_counts from; /* at the start of the interval that is judged */
    int64_t settle_ns;           /* samples from before the last change arrive until then */
    unsigned turned;             /* number of changes */
    bool is_deep;                /* the larger copy is in use */
    bool is_useless;             /* the larger copy cuts as many stacks */
};

void as_depth_begin(struct as_depth *depth);
/* Judges the counts at `now_ns`. Returns true if the size must change, after `is_deep` has. */
bool as_depth_look(struct as_depth *depth, const struct as_stack_counts *now, int64_t now_ns);

#endif
