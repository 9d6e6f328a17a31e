/* SPDX-License-Identifier: Apache-2.0 */
/* finding: conversions; flags: -O3; repair: constants have the type of the array;
 * says: converts between types */
#include "program.h"

#define N 4096

__attribute__((noinline)) static void scale(float *a)
{
    for (int i = 0; i < N; i++)
#ifdef REPAIRED
        a[i] = a[i] * 0.999f + 0.001f;
#else
        a[i] = (float)(a[i] * 0.999 + 0.001);
#endif
}

int main(void)
{
    float *a = calloc(N, sizeof *a);

    for (int step = 0; step < 300000; step++)
        scale(a);
    return done(a[N / 2]);
}
