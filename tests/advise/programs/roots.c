/* SPDX-License-Identifier: Apache-2.0 */
/* finding: scalar_errno; repair flags: -O3 -fno-math-errno */
#include <math.h>

#include "program.h"

#define N 4000

int main(void)
{
    double *a = array_of(N), *b = array_of(N);

    for (int step = 0; step < 70000; step++)
        for (int i = 0; i < N; i++)
            b[i] = sqrt(a[i] + b[i]) * (0.5 + a[i] * (0.25 + a[i] * (0.125 + a[i] * 0.0625)));
    return done(b[N / 2]);
}
