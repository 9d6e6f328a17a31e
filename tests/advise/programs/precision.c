/* SPDX-License-Identifier: Apache-2.0 */
/* finding: double_precision; flags: -O3 -march=native -mprefer-vector-width=512;
 * repair: single precision, in vectors of twice as many values; advises: float. */
#include "program.h"

#define N 2048
#ifdef REPAIRED
typedef float real;
#else
typedef double real;
#endif

static real x[N] __attribute__((aligned(64))), y[N] __attribute__((aligned(64)));

__attribute__((noipa)) static void evaluate(real a)
{
    for (int i = 0; i < N; i++) {
        const real t = x[i];

        y[i] = (((((((t + a) * t + 1) * t + 2) * t + 3) * t + 4) * t + 5) * t + 6) * t + 7;
    }
}

int main(void)
{
    for (int i = 0; i < N; i++)
        x[i] = (real)i / N;
    for (int step = 0; step < 4000000; step++)
        evaluate((real)(step % 7));
    return done((double)y[N / 2]);
}
