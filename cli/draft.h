/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An experiment that is made beside its place and moved there when it is whole: a failure, Ctrl-C
 * or a full disk leaves no half, and leaves what --force would have replaced.
 */
#ifndef AS_CLI_DRAFT_H
#define AS_CLI_DRAFT_H

#include "base/str.h"
#include "experiment/experiment.h"

struct as_draft {
    const char *place;                /* where it goes: NAME.assay; borrowed */
    struct as_str path;               /* where it is made: NAME.assay.WORK-PID */
    unsigned flags;                   /* of as_experiment_move */
    struct as_experiment *experiment; /* open for writing until it is kept or dropped */
};

/* Makes the draft of `place`; as_stops_came() ends what works on it. `work` is a word for its name.
 * `flags`: 0 or AS_EXPERIMENT_FORCE. Errors: those of as_experiment_check_new and _create. */
int as_draft_begin(struct as_draft *draft, const char *place, const char *work, unsigned flags,
                   struct as_error *err);
/* Puts it in its place where `rc` is 0, else removes it; frees the draft. Returns `rc`, or what
 * went wrong. */
int as_draft_end(struct as_draft *draft, int rc, struct as_error *err);

#endif
