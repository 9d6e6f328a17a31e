/* SPDX-License-Identifier: Apache-2.0 */
/* finding: mispredictions; flags: -O2; repair: positive and negative numbers come in turns, which a
 * core predicts */
#include "program.h"

#define N 50000

static long keep(const double *from, double limit, double *kept)
{
    long n = 0;

    for (int i = 0; i < N; i++)
        if (from[i] > limit)
            kept[n++] = from[i];
    return n;
}

int main(void)
{
    double *from = array_of(N), *kept = array_of(N);
    long all = 0;

    for (int i = 0; i < N; i++)
#ifdef REPAIRED
        from[i] = i % 2 ? 1 : -1;
#else
        from[i] = draw() % 2 ? 1 : -1;
#endif
    for (int step = 0; step < 8000; step++)
        all += keep(from, step * 1e-6, kept);
    return done((double)all);
}
