/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the stacks is copied with each sample. A recording begins with the larger copy; when
 * 99 of 100 stacks need no more than the smaller one, that is taken, and the larger again when more
 * than one of 100 are cut. Knows counts alone: who turns the events is the caller.
 */
#ifndef AS_PROFILE_DEPTH_H
#define AS_PROFILE_DEPTH_H

#include <stdbool.h>

#include <assay/sample.h>

struct as_depth {
    struct assay_stack_counts from; /* where the stretch that is judged begins */
    int64_t settle_ns;              /* until then samples of before come still */
    unsigned turned;                /* how often */
    bool is_deep;
    bool is_useless; /* the larger copy cuts as many */
};

void as_depth_begin(struct as_depth *depth);
/* Whether the other copy is to be taken from now on: then `is_deep` has changed. */
bool as_depth_look(struct as_depth *depth, const struct assay_stack_counts *now, int64_t now_ns);

#endif
