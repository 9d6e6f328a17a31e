/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bundled example: heat flow on a square plate, Jacobi iteration with a five-point stencil,
 * threads by OpenMP. Small enough to read at a glance, real enough to have loops worth looking at.
 *
 * usage: heat [CELLS [STEPS]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CELL(grid, row, column) (grid)[(size_t)(row) * (size_t)n + (size_t)(column)]

/* One sweep: `next` becomes the mean of the four neighbours in `now`; returns the largest change.
 */
static double sweep(const double *restrict now, double *restrict next, int n)
{
    double largest = 0.0;
#pragma omp parallel for reduction(max : largest)
    for (int row = 1; row < n - 1; row++) {
        for (int column = 1; column < n - 1; column++) {
            double mean = 0.25 * (CELL(now, row - 1, column) + CELL(now, row + 1, column) +
                                  CELL(now, row, column - 1) + CELL(now, row, column + 1));
            double change = fabs(mean - CELL(now, row, column));
            CELL(next, row, column) = mean;
            if (change > largest)
                largest = change;
        }
    }
    return largest;
}

/* The upper edge is hot, the others are cold. */
static void set_edges(double *grid, int n)
{
    for (int column = 0; column < n; column++)
        CELL(grid, 0, column) = 100.0;
}

static double total_heat(const double *grid, int n)
{
    double sum = 0.0;
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
        sum += grid[i];
    return sum;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    int steps = argc > 2 ? atoi(argv[2]) : 200;
    if (n < 3 || steps < 1) {
        fprintf(stderr, "usage: heat [CELLS >= 3 [STEPS >= 1]]\n");
        return 2;
    }
    double *now = calloc((size_t)n * (size_t)n, sizeof *now);
    double *next = calloc((size_t)n * (size_t)n, sizeof *next);
    if (!now || !next) {
        fprintf(stderr, "heat: no memory for %d x %d cells\n", n, n);
        free(now);
        free(next);
        return 1;
    }
    set_edges(now, n);
    set_edges(next, n);
    double change = 0.0;
    for (int step = 0; step < steps; step++) {
        change = sweep(now, next, n);
        double *swap = now;
        now = next;
        next = swap;
    }
    printf("heat: %d x %d cells, %d steps, last change %g, mean %g\n", n, n, steps, change,
           total_heat(now, n) / ((double)n * n));
    free(now);
    free(next);
    return 0;
}
