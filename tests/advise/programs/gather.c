/* SPDX-License-Identifier: Apache-2.0 */
/* finding: memory_latency; repair: the indices are sorted. */
#include "program.h"

#define N (24 << 20)
#define M (6 << 20)

int main(void)
{
    double *from = array_of(N), sum = 0;
    int *at = malloc(M * sizeof *at);

    for (int i = 0; i < M; i++)
        at[i] = (int)(draw() % N);
#ifdef REPAIRED
    for (int i = 0; i < M; i++) /* the same for each run: they come in order */
        at[i] = (int)((long)i * N / M);
#endif
    for (int step = 0; step < 50; step++)
        for (int i = 0; i < M; i++)
            sum += from[at[i]];
    return done(sum);
}
