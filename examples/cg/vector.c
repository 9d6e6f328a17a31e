/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums and updates of fields, over the inner points.
 */
#include "cg.h"

#include "comm.h"

static double dot_row(const double *restrict x, const double *restrict y, int n)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Fault "scalar": the order of the additions is fixed, each waits for the one before. */
static double dot_row_scalar(const double *x, const double *y, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static double dot_planes(const struct problem *p, const double *x, const double *y)
{
    const struct grid *g = &p->grid;
    double all = 0.0;
#pragma omp parallel reduction(+ : all)
    {
        const struct range mine = my_planes(p);
        for (int k = mine.begin; k < mine.end; k++)
            for (int j = 1; j <= g->n; j++) {
                const size_t c = cell(g, 1, j, k);
                all += p->faults.scalar ? dot_row_scalar(x + c, y + c, g->n)
                                        : dot_row(x + c, y + c, g->n);
            }
    }
    return all;
}

/* Fault "critical": each row is added to the one sum under a lock. */
static double dot_planes_critical(const struct problem *p, const double *x, const double *y)
{
    const struct grid *g = &p->grid;
    double all = 0.0;
#pragma omp parallel
    {
        const struct range mine = my_planes(p);
        for (int k = mine.begin; k < mine.end; k++)
            for (int j = 1; j <= g->n; j++) {
                const size_t c = cell(g, 1, j, k);
                const double part = p->faults.scalar ? dot_row_scalar(x + c, y + c, g->n)
                                                     : dot_row(x + c, y + c, g->n);
#pragma omp critical
                all += part;
            }
    }
    return all;
}

double dot(const struct problem *p, const double *x, const double *y)
{
    return comm_sum(p->faults.critical ? dot_planes_critical(p, x, y) : dot_planes(p, x, y));
}

static void add_row(double *restrict x, double factor, const double *restrict y, int n)
{
#pragma omp simd
    for (int i = 0; i < n; i++)
        x[i] += factor * y[i];
}

/* Fault "scalar": nothing says that x, factor and y are different memory. */
static void add_row_scalar(double *x, const double *factor, const double *y, int n)
{
    for (int i = 0; i < n; i++)
        x[i] += *factor * y[i];
}

/* x += factor y */
void add(const struct problem *p, double *x, const double *factor, const double *y)
{
    const struct grid *g = &p->grid;
#pragma omp parallel
    {
        const struct range mine = my_planes(p);
        for (int k = mine.begin; k < mine.end; k++)
            for (int j = 1; j <= g->n; j++) {
                const size_t c = cell(g, 1, j, k);
                if (p->faults.scalar)
                    add_row_scalar(x + c, factor, y + c, g->n);
                else
                    add_row(x + c, *factor, y + c, g->n);
            }
    }
}

static void scale_add_row(double *restrict x, double factor, const double *restrict y, int n)
{
#pragma omp simd
    for (int i = 0; i < n; i++)
        x[i] = y[i] + factor * x[i];
}

/* x = y + factor x */
void scale_add(const struct problem *p, double *x, const double *factor, const double *y)
{
    const struct grid *g = &p->grid;
#pragma omp parallel
    {
        const struct range mine = my_planes(p);
        for (int k = mine.begin; k < mine.end; k++)
            for (int j = 1; j <= g->n; j++)
                scale_add_row(x + cell(g, 1, j, k), *factor, y + cell(g, 1, j, k), g->n);
    }
}
