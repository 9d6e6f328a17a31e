/* SPDX-License-Identifier: Apache-2.0 */
/* Serialisation and transfer of phases: their time on the ideal network. */
#ifndef AS_ANALYTICS_IDEAL_PHASES_H
#define AS_ANALYTICS_IDEAL_PHASES_H

#include "analytics/state/analysis.h"
#include "simulate/ideal.h"

/* A region of the analysis: all calls of it, then its iterations. */
struct as_ideal_region {
    size_t row, iteration_n; /* place of its first row in `phase`; rows of iterations behind it */
    bool is_cut;             /* a rank was in it while MPI began or ended: its time is unknown */
};

/* State of a rank in a region. */
struct as_ideal_visit {
    uint32_t depth;
    uint64_t call; /* number of the next call, from 0 */
    int64_t since_ns;
};

struct as_ideal_phases {
    struct as_analysis *analysis;
    AS_VEC(struct as_ideal_region) region;
    AS_VEC(const char *) name; /* of regions; the trace's */
    size_t rank_n;
    struct as_ideal_visit *visit; /* by region and rank */
    int64_t *ns;                  /* by row of `phase` and rank */
};

/* Regions of the analysis; none if they would need too much memory. 0 or AS_ERR_NOMEM. Release
 * it in any case. */
int as_ideal_phases_init(struct as_ideal_phases *phases, struct as_analysis *analysis);
/* as_ideal_wish.mark */
int as_ideal_phases_mark(void *context, uint32_t rank, const struct as_action *mark, int64_t now_ns,
                         struct as_error *err);
/* Sets the efficiencies of each phase with a known time. */
void as_ideal_phases_conclude(struct as_ideal_phases *phases);
void as_ideal_phases_fini(struct as_ideal_phases *phases);

#endif
