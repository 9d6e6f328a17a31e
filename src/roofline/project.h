/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a projection: times of parts on another machine. Numbers alone. */
#ifndef AS_ROOFLINE_PROJECT_H
#define AS_ROOFLINE_PROJECT_H

#include "roofline/ceilings.h"

/* Bytes of L1, L2 and L3 of both machines; 0: there is none. */
struct as_project_caches {
    uint64_t here_b[ASSAY_ROOF_CACHES], there_b[ASSAY_ROOF_CACHES];
};

/*
 * Projects the part that `point` describes into `out`; its counts are its own alone. `caches`
 * NULL: traffic is as here. Returns
 * false when no ceiling above the point is known of both machines: `out` has its time alone.
 */
bool as_project_part(const struct as_ceilings *reference, const struct as_ceilings *target,
                     const struct as_project_caches *caches, const struct assay_roof_point *point,
                     struct assay_projected *out);

/* Sums the parts with a limit to covered_s, target_s, low_s, high_s; needs time_s, part and rest.
 */
void as_project_sum(struct assay_projection *projection);

#endif
