/* SPDX-License-Identifier: Apache-2.0 */
/* finding: scalar_branches; repair: selected, and allowed to; repair flags: -O3 -fno-trapping-math
 */
#include "program.h"

#define N 4000

int main(void)
{
    double *a = array_of(N), *b = array_of(N);

    for (int i = 0; i < N; i++)
        a[i] = draw() % 2 ? 1.5 : -1.5;
    for (int step = 0; step < 400000; step++)
        for (int i = 0; i < N; i++) {
#ifdef REPAIRED
            b[i] += a[i] > 0 ? a[i] * 0.5 : 0;
#else
            if (a[i] > 0)
                b[i] += a[i] * 0.5;
#endif
        }
    return done(b[N / 2]);
}
