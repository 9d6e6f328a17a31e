/* SPDX-License-Identifier: Apache-2.0 */
/* finding: mispredictions; flags: -O2; repair: keys are looked for in ascending order, so that the
 * same halves are taken again */
#include "program.h"

#define N     2048
#define ASKED 65536

static unsigned table[N], asked[ASKED];

static long find(unsigned key)
{
    long low = 0, high = N;

    while (low < high) {
        const long middle = (low + high) / 2;

        if (table[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int ascends(const void *a, const void *b)
{
    const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return x < y ? -1 : x > y;
}

int main(void)
{
    long all = 0;

    for (int i = 0; i < N; i++)
        table[i] = (unsigned)i * 1048576u;
    for (int i = 0; i < ASKED; i++)
        asked[i] = draw();
#ifdef REPAIRED
    qsort(asked, ASKED, sizeof *asked, ascends);
#else
    qsort(table, N, sizeof *table, ascends);
#endif
    for (int step = 0; step < 350; step++)
        for (int i = 0; i < ASKED; i++)
            all += find(asked[i] + (unsigned)step);
    return done((double)all);
}
