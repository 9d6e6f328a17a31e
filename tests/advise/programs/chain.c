/* SPDX-License-Identifier: Apache-2.0 */
/* finding: scalar_chain; repair: the sum may be reordered. */
#include "program.h"

#define N 4000

int main(void)
{
    double *a = array_of(N), sum = 0;

    for (int step = 0; step < 300000; step++) {
        double part = 0;
#ifdef REPAIRED
#pragma omp simd reduction(+ : part)
#endif
        for (int i = 0; i < N; i++)
            part += a[i];
        sum += part;
        a[step % N] += 1;
    }
    return done(sum);
}
