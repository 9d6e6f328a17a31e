/* SPDX-License-Identifier: Apache-2.0 */
/* finding: mispredictions; flags: -O2; repair: elements of both lists come in turns, which a core
 * predicts */
#include "program.h"

#define N 40000

static int one[N + 1], other[N + 1], both[2 * N];

static void merge(const int *a, const int *b, int *to)
{
    const int *a_end = a + N, *b_end = b + N;

    while (a < a_end && b < b_end) {
        if (*a <= *b)
            *to++ = *a++;
        else
            *to++ = *b++;
    }
    while (a < a_end)
        *to++ = *a++;
    while (b < b_end)
        *to++ = *b++;
}

int main(void)
{
    int x = 0, y = 1;
    long all = 0;

    for (int i = 0; i < N; i++) {
#ifdef REPAIRED
        one[i] = x += 2;
        other[i] = y += 2;
#else
        one[i] = x += 1 + (int)(draw() >> 8) % 64;
        other[i] = y += 1 + (int)(draw() >> 8) % 64;
#endif
    }
    for (int step = 0; step < 9000; step++) {
        one[N - 1] += step & 1;
        merge(one, other, both);
        all += both[N];
    }
    return done((double)all);
}
