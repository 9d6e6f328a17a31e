/* SPDX-License-Identifier: Apache-2.0 */
/* finding: scalar_calls; repair: the function may be inlined */
#include "program.h"

#define N 4000

#ifndef REPAIRED
__attribute__((noinline))
#endif
static double
weight(double x)
{
    return 0.5 + x * 0.25;
}

int main(void)
{
    double *a = array_of(N), *b = array_of(N);

    for (int step = 0; step < 100000; step++)
        for (int i = 0; i < N; i++) {
            const double x = a[i] * 0.75 + b[i] * 0.125, y = a[i] * 0.5 - b[i] * 0.0625;
            b[i] = x * weight(a[i]) + y * (x - y) + (x + y) * (0.25 + y * (0.125 + x * 0.0625));
        }
    return done(b[N / 2]);
}
