/* SPDX-License-Identifier: Apache-2.0 */
/* finding: mispredictions; flags: -O2; repair: a sum in place of a branch;
 * says: a branch that data decide, and [0-9]+ % of its samples stand behind */
#include "program.h"

#define N 20000

static long keep(const unsigned *from, unsigned limit, unsigned *kept)
{
    long n = 0;

    for (int i = 0; i < N; i++) {
#ifdef REPAIRED
        kept[n] = from[i];
        n += from[i] < limit;
#else
        if (from[i] < limit)
            kept[n++] = from[i];
#endif
    }
    return n;
}

int main(void)
{
    unsigned *from = malloc(N * sizeof *from), *kept = malloc((N + 1) * sizeof *kept);
    long all = 0;

    for (int i = 0; i < N; i++)
        from[i] = draw() & 0xffff;
    for (unsigned step = 0; step < 30000; step++)
        all += keep(from, 0x8000 + step, kept);
    return done((double)all);
}
