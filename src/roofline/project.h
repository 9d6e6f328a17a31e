/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a projection: times of parts on another machine. Pure functions of numbers. */
#ifndef AS_ROOFLINE_PROJECT_H
#define AS_ROOFLINE_PROJECT_H

#include "roofline/ceilings.h"

/* Sizes of L1, L2 and L3 on both machines in bytes; 0 = no such cache. */
struct as_project_caches {
    uint64_t here_b[AS_ROOF_CACHES], there_b[AS_ROOF_CACHES];
};

/*
 * Projects the part that `point` describes to another machine. The counts of `point` exclude the
 * parts inside it. If `caches` is NULL, the traffic stays as on the reference machine. Returns
 * false if no usable ceiling is known on both machines; `out` then has its own time only.
 */
bool as_project_part(const struct as_ceilings *reference, const struct as_ceilings *target,
                     const struct as_project_caches *caches, const struct as_roof_point *point,
                     struct as_projected *out);

/* Sets covered_s, rest_s, target_s, low_s and high_s from the parts with a limit. time_s, part
 * and rest must be set. */
void as_project_sum(struct as_projection *projection);

#endif
