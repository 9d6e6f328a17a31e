/* SPDX-License-Identifier: Apache-2.0 */
/* finding: divisions; repair: divided once, multiplied in the loop. */
#include "program.h"

#define N 4000

int main(void)
{
    double *a = array_of(N), *b = array_of(N), by = 3;

    for (int step = 0; step < 200000; step++) {
        by += 1e-6;
#ifdef REPAIRED
        const double part = 1 / by;
        for (int i = 0; i < N; i++)
            b[i] = a[i] * part;
#else
        for (int i = 0; i < N; i++)
            b[i] = a[i] / by;
#endif
        a[step % N] += b[step % N];
    }
    return done(b[N / 2]);
}
