/* SPDX-License-Identifier: Apache-2.0 */
/* finding: complex_division; flags: -O2; repair flags: -O2 -fcx-limited-range;
 * repair: quotients without the checks for infinities; says: complex products or quotients */
#include <complex.h>

#include "program.h"

#define N 1000

int main(void)
{
    double complex *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    double complex all = 0;

    for (int i = 0; i < N; i++) {
        a[i] = 1 + draw() % 7 * I;
        b[i] = 2 - draw() % 5 * I;
    }
    for (int step = 0; step < 60000; step++) {
        a[step % N] += 0.25;
        for (int i = 0; i < N; i++)
            all += a[i] / b[i];
    }
    return done(creal(all) + cimag(all));
}
