/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The matrix, never stored: each point is coupled to its six neighbours by the conductivity between
 * them.
 */
#include "cg.h"

static void row_of(const struct problem *p, const double *restrict x, double *restrict y, size_t at)
{
    const struct grid *g = &p->grid;
    const double *restrict cx = p->cx, *restrict cy = p->cy, *restrict cz = p->cz;
    const size_t row = g->row, plane = g->plane, end = at + (size_t)g->n;
#pragma omp simd
    for (size_t c = at; c < end; c++)
        y[c] = cx[c] * (x[c] - x[c - 1]) + cx[c + 1] * (x[c] - x[c + 1]) +
               cy[c] * (x[c] - x[c - row]) + cy[c + row] * (x[c] - x[c + row]) +
               cz[c] * (x[c] - x[c - plane]) + cz[c + plane] * (x[c] - x[c + plane]);
}

/* Fault "divide": the conductivity between two points is computed again in each application. */
static void row_dividing(const struct problem *p, const double *restrict x, double *restrict y,
                         size_t at)
{
    const struct grid *g = &p->grid;
    const double *restrict k = p->conductivity;
    const size_t row = g->row, plane = g->plane, end = at + (size_t)g->n;
    for (size_t c = at; c < end; c++)
        y[c] = 2.0 * k[c] * k[c - 1] / (k[c] + k[c - 1]) * (x[c] - x[c - 1]) +
               2.0 * k[c] * k[c + 1] / (k[c] + k[c + 1]) * (x[c] - x[c + 1]) +
               2.0 * k[c] * k[c - row] / (k[c] + k[c - row]) * (x[c] - x[c - row]) +
               2.0 * k[c] * k[c + row] / (k[c] + k[c + row]) * (x[c] - x[c + row]) +
               2.0 * k[c] * k[c - plane] / (k[c] + k[c - plane]) * (x[c] - x[c - plane]) +
               2.0 * k[c] * k[c + plane] / (k[c] + k[c + plane]) * (x[c] - x[c + plane]);
}

void apply(const struct problem *p, const double *x, double *y)
{
    const struct grid *g = &p->grid;
#pragma omp parallel
    {
        const struct range mine = my_planes(p);
        for (int k = mine.begin; k < mine.end; k++)
            for (int j = 1; j <= g->n; j++) {
                if (p->faults.divide)
                    row_dividing(p, x, y, cell(g, 1, j, k));
                else
                    row_of(p, x, y, cell(g, 1, j, k));
            }
    }
}
