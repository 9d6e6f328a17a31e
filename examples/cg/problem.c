/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The problem and its known answer: heat conduction in a cube whose conductivity grows along each
 * axis. The heat sources are chosen so that the temperature is a product of sines.
 */
#include "cg.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "comm.h"

static const double pi = 3.14159265358979323846;

/* The part of 0..n for one of `parts`; uneven: the first has twice the share of another. */
struct range share(int n, int part, int parts, bool uneven)
{
    if (!uneven || parts == 1)
        return (struct range){n * part / parts, n * (part + 1) / parts};
    return (struct range){part == 0 ? 0 : n * (part + 1) / (parts + 1),
                          n * (part + 2) / (parts + 1)};
}

/* The planes of the calling thread, from 1. */
struct range my_planes(const struct problem *p)
{
    const struct range mine =
        share(p->grid.planes, omp_get_thread_num(), omp_get_num_threads(), p->uneven_threads);
    return (struct range){mine.begin + 1, mine.end + 1};
}

double *field_new(const struct grid *g)
{
    double *field = calloc(g->field, sizeof *field);
    if (!field) {
        fprintf(stderr, "cg: no memory for a field of %zu numbers\n", g->field);
        exit(1);
    }
    return field;
}

/* The mean that keeps the flux between two materials right. */
double harmonic(double a, double b)
{
    return 2.0 * a * b / (a + b);
}

static double conductivity_at(double x, double y, double z)
{
    return 1.0 + x + 0.5 * y + 0.25 * z;
}

static void set_coefficients(struct problem *p)
{
    const struct grid *g = &p->grid;
    for (int k = 0; k <= g->planes + 1; k++)
        for (int j = 0; j <= g->n + 1; j++)
            for (int i = 0; i <= g->n + 1; i++)
                p->conductivity[cell(g, i, j, k)] =
                    conductivity_at(i * g->h, j * g->h, (k + g->before) * g->h);
    const double *at = p->conductivity;
    for (int k = 1; k <= g->planes + 1; k++)
        for (int j = 1; j <= g->n + 1; j++)
            for (int i = 1; i <= g->n + 1; i++) {
                const size_t c = cell(g, i, j, k);
                p->cx[c] = harmonic(at[c], at[c - 1]);
                p->cy[c] = harmonic(at[c], at[c - g->row]);
                p->cz[c] = harmonic(at[c], at[c - g->plane]);
            }
    for (int k = 1; k <= g->planes; k++)
        for (int j = 1; j <= g->n; j++)
            for (int i = 1; i <= g->n; i++) {
                const size_t c = cell(g, i, j, k);
                p->inverse[c] = 1.0 / (p->cx[c] + p->cx[c + 1] + p->cy[c] + p->cy[c + g->row] +
                                       p->cz[c] + p->cz[c + g->plane]);
            }
}

struct problem problem_new(int n, struct faults faults)
{
    const struct range mine = share(n, comm_rank(), comm_size(), faults.imbalance);
    struct problem p = {.faults = faults,
                        .uneven_threads = faults.imbalance && comm_size() == 1,
                        .grid = {.n = n,
                                 .planes = mine.end - mine.begin,
                                 .before = mine.begin,
                                 .row = (size_t)n + 2,
                                 .h = 1.0 / (n + 1)}};
    p.grid.plane = p.grid.row * p.grid.row;
    p.grid.field = p.grid.plane * ((size_t)p.grid.planes + 2);
    p.conductivity = field_new(&p.grid);
    p.cx = field_new(&p.grid);
    p.cy = field_new(&p.grid);
    p.cz = field_new(&p.grid);
    p.inverse = field_new(&p.grid);
    p.b = field_new(&p.grid);
    set_coefficients(&p);
    return p;
}

/* Half waves along an axis (0, 1, 2) in a load: 1 or 2. */
static int waves(int load, int axis)
{
    return 1 + (load >> axis & 1);
}

void problem_load(struct problem *p, int load)
{
    const struct grid *g = &p->grid;
    const double a = pi * waves(load, 0), b = pi * waves(load, 1), c = pi * waves(load, 2);
#pragma omp parallel for
    for (int k = 1; k <= g->planes; k++)
        for (int j = 1; j <= g->n; j++)
            for (int i = 1; i <= g->n; i++) {
                const double x = i * g->h, y = j * g->h, z = (k + g->before) * g->h;
                const double sx = sin(a * x), sy = sin(b * y), sz = sin(c * z);
                const double slope = a * cos(a * x) * sy * sz + 0.5 * b * sx * cos(b * y) * sz +
                                     0.25 * c * sx * sy * cos(c * z);
                const double bend = (a * a + b * b + c * c) * sx * sy * sz;
                p->b[cell(g, i, j, k)] = g->h * g->h * (conductivity_at(x, y, z) * bend - slope);
            }
}

/* The largest difference to the known answer. */
double problem_error(const struct problem *p, int load, const double *u)
{
    const struct grid *g = &p->grid;
    double worst = 0.0;
#pragma omp parallel for reduction(max : worst)
    for (int k = 1; k <= g->planes; k++)
        for (int j = 1; j <= g->n; j++)
            for (int i = 1; i <= g->n; i++) {
                const double known = sin(pi * waves(load, 0) * i * g->h) *
                                     sin(pi * waves(load, 1) * j * g->h) *
                                     sin(pi * waves(load, 2) * (k + g->before) * g->h);
                const double off = fabs(u[cell(g, i, j, k)] - known);
                worst = off > worst ? off : worst;
            }
    return comm_max(worst);
}

void problem_free(struct problem *p)
{
    double *fields[] = {p->conductivity, p->cx, p->cy, p->cz, p->inverse, p->b};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        free(fields[i]);
}
