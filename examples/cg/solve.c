/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conjugate gradients with a preconditioner (Hestenes and Stiefel, 1952).
 */
#include "cg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm.h"

static const double omega = 0.8; /* below 1: the preconditioner stays positive definite */

/* z = M^-1 r; z0 is room. The couplings between ranks are left out, so no planes are exchanged. */
static void precondition(const struct problem *p, const double *r, double *z0, double *z)
{
    const struct grid *g = &p->grid;
#pragma omp parallel
    {
        const struct range mine = my_planes(p);
        smooth_start(g->n, g->planes, mine.begin, mine.end - 1, omega, p->inverse, r, z0);
    }
#pragma omp parallel
    {
        const struct range mine = my_planes(p);
        (p->faults.stride ? smooth_step_strided : smooth_step)(g->n, g->planes, mine.begin,
                                                               mine.end - 1, omega, p->inverse,
                                                               p->cx, p->cy, p->cz, r, z0, z);
    }
}

struct solution solve(const struct problem *p, double *u, int iterations_most, double tolerance)
{
    const struct grid *g = &p->grid;
    double *r = field_new(g), *z0 = field_new(g), *z = field_new(g);
    double *direction = field_new(g), *image = field_new(g);
    const double right = sqrt(dot(p, p->b, p->b));
    struct solution s = {0, 1.0};
    memset(u, 0, g->field * sizeof *u);
    memcpy(r, p->b, g->field * sizeof *r);
    precondition(p, r, z0, z);
    memcpy(direction, z, g->field * sizeof *z);
    double rz = dot(p, r, z);
    while (s.iterations < iterations_most && s.residual > tolerance) {
        comm_exchange(direction, g->plane, g->planes);
        apply(p, direction, image);
        const double step = rz / dot(p, direction, image), back = -step;
        add(p, u, &step, direction);
        add(p, r, &back, image);
        precondition(p, r, z0, z);
        const double rz_now = dot(p, r, z), turn = rz_now / rz;
        scale_add(p, direction, &turn, z);
        rz = rz_now;
        s.residual = sqrt(dot(p, r, r)) / right;
        s.iterations++;
    }
    free(r);
    free(z0);
    free(z);
    free(direction);
    free(image);
    return s;
}
