/* SPDX-License-Identifier: Apache-2.0 */
/* finding: scalar_mathematics; repair flags: -O3 -ffast-math */
#include <math.h>

#include "program.h"

int main(void)
{
    const long n = 4000;
    double *a = array_of(n), *b = array_of(n);

    for (int step = 0; step < 30000; step++)
        for (long i = 0; i < n; i++)
            b[i] = exp(a[i] * 1e-3 + step * 1e-6);
    return done(b[n / 2]);
}
