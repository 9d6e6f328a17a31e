/* SPDX-License-Identifier: Apache-2.0 */
/* finding: mispredictions; flags: -O2; repair: the array is
 * sorted first, so that the branch goes one way for long */
#include "program.h"

#define N 32768

static int value[N];

static int ascends(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;

    return x < y ? -1 : x > y;
}

/* Sums in two places, so that the compiler keeps the branch. */
static void sum_above(int limit, long *above, long *below)
{
    for (int i = 0; i < N; i++)
        if (value[i] >= limit)
            above[0] += value[i];
        else
            below[0] -= value[i];
}

int main(void)
{
    long *above = calloc(1, sizeof *above), *below = calloc(1, sizeof *below);

    for (int i = 0; i < N; i++)
        value[i] = (int)(draw() >> 8) % 256;
#ifdef REPAIRED
    qsort(value, N, sizeof *value, ascends);
#else
    qsort(value, 1, sizeof *value, ascends);
#endif
    for (int step = 0; step < 15000; step++)
        sum_above(100 + step % 50, above, below);
    return done((double)(*above - *below));
}
