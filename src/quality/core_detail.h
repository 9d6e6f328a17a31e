/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Behaviour of the core on a hot loop, for the page of the loop: instructions of the most frequent
 * path, ports, the limiting chain, and a timeline of some iterations. The results are kept while
 * code is analysed, and written later.
 */
#ifndef AS_QUALITY_CORE_DETAIL_H
#define AS_QUALITY_CORE_DETAIL_H

#include "base/arena.h"
#include "experiment/experiment.h"
#include "predict/predict.h"

struct as_core_insn {
    uint64_t address;
    const char *text;
    struct as_insn_prediction prediction; /* `timing` is NULL */
};

/* The arena owns all memory. */
struct as_core_kept {
    size_t insn_n, port_n, timeline_n; /* insn_n is 0 if nothing was kept */
    struct as_core_insn *insn;
    const char *core; /* name of the core in its table */
    const char **port;
    double *port_use;
    bool means; /* port_use is a mean over paths */
    struct as_timeline_entry *timeline;
};

struct as_core_asked {
    struct as_predictor *predictor;
    const struct as_uarch *uarch;
    const struct as_object *object; /* for the text of instructions */
    const struct as_program *program;
    uint32_t loop;
    size_t path; /* number of the most frequent path, from 0 */
    /* Busy cycles per port, weighted over all paths, as in the metrics of the loop; or NULL. */
    const double *port_use;
};

/* Predicts the most frequent path of the loop and copies the results to `arena`. Keeps nothing if
 * the paths are merged. Errors: NOMEM. */
int as_core_keep(struct as_arena *arena, const struct as_core_asked *asked,
                 struct as_core_kept *out, struct as_error *err);
int as_core_write(struct as_experiment *experiment, int64_t loop_id,
                  const struct as_core_kept *kept, struct as_error *err);

#endif
