/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the core works on a hot loop, for its page: each instruction of the way that is gone most,
 * the ports, the chain that limits, and a time line of some iterations. Kept while code is read,
 * and written then.
 */
#ifndef AS_QUALITY_CORE_DETAIL_H
#define AS_QUALITY_CORE_DETAIL_H

#include <assay/experiment.h>
#include <assay/predict.h>

#include "base/arena.h"

struct as_core_insn {
    uint64_t address;
    const char *text;
    struct assay_insn_prediction prediction; /* without its timing */
};

/* All memory is the arena's. */
struct as_core_kept {
    size_t insn_n, port_n, timeline_n; /* no instruction: nothing is there */
    struct as_core_insn *insn;
    const char *core; /* what its table calls it */
    const char **port;
    double *port_use;
    bool means; /* port_use is a mean over paths */
    struct assay_timeline_entry *timeline;
};

struct as_core_asked {
    struct assay_predictor *predictor;
    const struct assay_uarch *uarch;
    const struct assay_object *object; /* for the words of instructions */
    const struct assay_program *program;
    uint32_t loop;
    size_t path; /* that is taken most */
    const double
        *port_use; /* of all paths, by their weights: what the loop's metrics say; or NULL */
};

/* Errors: NOMEM. */
int as_core_keep(struct as_arena *arena, const struct as_core_asked *asked,
                 struct as_core_kept *out, struct assay_error *err);
int as_core_write(struct assay_experiment *experiment, int64_t loop_id,
                  const struct as_core_kept *kept, struct assay_error *err);

#endif
