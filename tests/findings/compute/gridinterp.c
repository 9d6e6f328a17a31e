/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The flags allow only the oldest instruction set. Each rounding down is a call into the
 * library.
 * place: locate
 * finding: oldest_instruction_set scalar_mathematics
 * words: (?i)floor|march
 * flags: -O3 -g -ffp-contract=off
 * repair flags: -O3 -g -ffp-contract=off -march=x86-64-v3
 * libraries: -lm
 * arguments: 24000
 * repair: The flags allow the instructions of the third level (rounding instruction, wide vectors).
 * clock: cpu */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PARTICLES 4096
#define CELLS     64

struct cloud {
    double x[PARTICLES];
    double y[PARTICLES];
    double vx[PARTICLES];
    double vy[PARTICLES];
    double fx[PARTICLES];
    double fy[PARTICLES];
    int cell[PARTICLES];
};

static struct cloud cloud;
static double potential[CELLS + 1][CELLS + 1];

static void scatter(struct cloud *c)
{
    unsigned s = 31337u;
    for (int i = 0; i < PARTICLES; i++) {
        s = s * 1664525u + 1013904223u;
        c->x[i] = (double)(s >> 8) / 16777216.0;
        s = s * 1664525u + 1013904223u;
        c->y[i] = (double)(s >> 8) / 16777216.0;
        c->vx[i] = 0.25 - 0.5 * c->y[i];
        c->vy[i] = 0.5 * c->x[i] - 0.25;
    }
    for (int j = 0; j <= CELLS; j++)
        for (int i = 0; i <= CELLS; i++)
            potential[j][i] = ((i * 7 + j * 13) % 19) / 19.0;
}

/* Moves the particles in the periodic box and finds their cells and the
 * places within them. */
static void __attribute__((noinline)) locate(struct cloud *c, double dt)
{
    for (int i = 0; i < PARTICLES; i++) {
        double x = c->x[i] + dt * c->vx[i];
        double y = c->y[i] + dt * c->vy[i];
        x -= floor(x); /* HERE */
        y -= floor(y); /* HERE */
        c->x[i] = x;
        c->y[i] = y;
        double cx = floor(x * CELLS); /* HERE */
        double cy = floor(y * CELLS); /* HERE */
        c->fx[i] = x * CELLS - cx;
        c->fy[i] = y * CELLS - cy;
        cx = fmin(cx, CELLS - 1.0);
        cy = fmin(cy, CELLS - 1.0);
        c->cell[i] = (int)cy * (CELLS + 1) + (int)cx;
    }
}

static double __attribute__((noinline)) gather(const struct cloud *c)
{
    const double *p = &potential[0][0];
    double sum0 = 0.0, sum1 = 0.0;
    for (int i = 0; i < PARTICLES; i += 2) {
        const double *a = p + c->cell[i], *b = p + c->cell[i + 1];
        sum0 += (a[0] * (1.0 - c->fx[i]) + a[1] * c->fx[i]) * (1.0 - c->fy[i]) +
                a[CELLS + 1] * c->fy[i];
        sum1 += (b[0] * (1.0 - c->fx[i + 1]) + b[1] * c->fx[i + 1]) * (1.0 - c->fy[i + 1]) +
                b[CELLS + 1] * c->fy[i + 1];
    }
    return sum0 + sum1;
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 100;
    double sum = 0.0;

    scatter(&cloud);
    for (int s = 0; s < steps; s++) {
        locate(&cloud, 1.0 / 1024.0);
        if (s % 4 == 0)
            sum += gather(&cloud);
    }
    printf("gridinterp %.10e\n", sum / steps);
    return 0;
}
