/* SPDX-License-Identifier: Apache-2.0 */
/* finding: separate_multiply_add; flags: -O3 -mavx2; repair flags: -O3 -mavx2 -mfma; repair: FMA;
 * says: never both in one instruction; saves: nothing (a hint) */
#include "program.h"

#define N 2048

static double x[N], y[N];

__attribute__((noinline, noipa)) static void evaluate(void)
{
    for (int i = 0; i < N; i++) {
        const double v = x[i];

        y[i] = (((((0.3 * v + 0.7) * v - 0.2) * v + 0.11) * v + 0.9) * v - 0.4) * v + y[i];
    }
}

int main(void)
{
    for (int i = 0; i < N; i++)
        x[i] = (double)(draw() % 1000) * 1e-3;
    for (int step = 0; step < 600000; step++)
        evaluate();
    return done(y[N / 2]);
}
