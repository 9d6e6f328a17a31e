/* SPDX-License-Identifier: Apache-2.0 */
/* finding: sums_in_memory; flags: -O3 -ffast-math; repair: the sums are in local variables;
 * says: stores [0-9] values to the same addresses in each iteration */
#include "program.h"

#define N 3000

struct force {
    double x, y, energy;
};

__attribute__((noinline)) static void add(struct force *to, const double *x, const double *y,
                                          double at_x, double at_y)
{
#ifdef REPAIRED
    struct force sum = *to;
#else
#define sum (*to)
#endif
    for (int i = 0; i < N; i++) {
        const double dx = x[i] - at_x, dy = y[i] - at_y, near = 2 - dx * dx - dy * dy;
        sum.x += near * dx;
        sum.y += near * dy;
        sum.energy += near;
    }
#ifdef REPAIRED
    *to = sum;
#endif
}

int main(void)
{
    double *x = array_of(N), *y = array_of(N);
    struct force *force = calloc(N, sizeof *force);

    for (int step = 0; step < 160; step++)
        for (int i = 0; i < N; i++)
            add(&force[i], x, y, x[i], y[(i + 7) % N]);
    return done(force[N / 2].energy + force[7].x + force[N / 3].y);
}
