/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the example share: the grid, the fields on it, and the faults that can be
 * switched on (README.md says what each is).
 */
#ifndef CG_H
#define CG_H

#include <stdbool.h>
#include <stddef.h>

struct faults {
    bool divide, stride, scalar, imbalance, critical;
};

/* A cube of n^3 inner points with its boundary around. Ranks have slabs of planes along z; each
 * field of a rank has its planes, one more below and above, and x running fastest. */
struct grid {
    int n;                    /* inner points along an edge */
    int planes;               /* inner planes of this rank */
    int before;               /* inner planes of the ranks before */
    size_t row, plane, field; /* numbers in a row, a plane, a field, boundary included */
    double h;                 /* distance of two points */
};

/* -div(k grad u) = f, with u = 0 on the boundary. */
struct problem {
    struct grid grid;
    struct faults faults;
    bool uneven_threads;  /* the first thread has twice the share of another */
    double *conductivity; /* k at the points */
    double *cx, *cy, *cz; /* k between a point and the one before it along x, y, z */
    double *inverse;      /* of the diagonal of the matrix */
    double *b;            /* the right side, times h * h */
};

struct solution {
    int iterations;
    double residual; /* relative to the right side */
};

struct range {
    int begin, end;
};

static inline size_t cell(const struct grid *g, int i, int j, int k)
{
    return (size_t)k * g->plane + (size_t)j * g->row + (size_t)i;
}

/* problem.c */
struct range share(int n, int part, int parts, bool uneven);
struct range my_planes(const struct problem *p);
double *field_new(const struct grid *g);
struct problem problem_new(int n, struct faults faults);
void problem_load(struct problem *p, int load);
double problem_error(const struct problem *p, int load, const double *u);
double harmonic(double a, double b);
void problem_free(struct problem *p);

/* operator.c: y = A x; the planes around x must be those of the neighbours. */
void apply(const struct problem *p, const double *x, double *y);

/* vector.c */
double dot(const struct problem *p, const double *x, const double *y);
void add(const struct problem *p, double *x, const double *factor, const double *y);
void scale_add(const struct problem *p, double *x, const double *factor, const double *y);

/* solve.c */
struct solution solve(const struct problem *p, double *u, int iterations_most, double tolerance);

/* smooth.f90: planes first to last of a rank's field of n x n x planes inner points. */
void smooth_start(int n, int planes, int first, int last, double omega, const double *inverse,
                  const double *r, double *z);
void smooth_step(int n, int planes, int first, int last, double omega, const double *inverse,
                 const double *cx, const double *cy, const double *cz, const double *r,
                 const double *z0, double *z);
void smooth_step_strided(int n, int planes, int first, int last, double omega,
                         const double *inverse, const double *cx, const double *cy,
                         const double *cz, const double *r, const double *z0, double *z);

#endif
