/* SPDX-License-Identifier: Apache-2.0 */
/* finding: memory_pace; repair: all passes over a part of the array that stays in a cache;
 * says: passes over at least [0-9.]+ MiB, more than the .* of the largest cache, at [0-9]+ GB/s */
#include "program.h"

#define N    (16l << 20)
#define PART (1l << 13)

static long place[8];

/* Where groups are large; two ways. */
static long large(const double *a, long n, double limit)
{
    long found = 0;

    for (long i = 0; i < n; i += 8)
        if ((a[i] + a[i + 1]) + (a[i + 2] + a[i + 3]) + (a[i + 4] + a[i + 5]) +
                (a[i + 6] + a[i + 7]) >
            limit)
            place[found++ % 8] = i;
    return found;
}

int main(void)
{
    double *a = array_of(N);
    long sum = 0;

#ifdef REPAIRED
    for (long part = 0; part < N; part += PART)
        for (int pass = 0; pass < 160; pass++)
            sum += large(a + part, PART, 8 + 1e-3 * pass);
#else
    for (int pass = 0; pass < 160; pass++)
        sum += large(a, N, 8 + 1e-3 * pass);
#endif
    return done((double)(sum + place[0]));
}
