/* SPDX-License-Identifier: Apache-2.0 */
/* finding: merge_walk; flags: -O2; repair: marks of one list in place of walks through both;
 * says: goes on where it ended before; advises: mark those of one list; behind: mispredictions (of
 * the loop around it); within: 250 % (that loop goes as well) */
#include "program.h"

#define V 20000
#define D 24

static int to[V][D + 1]; /* sorted, and a last one behind all */
static unsigned char marked[V + 1];

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static long common(const int *one, const int *other)
{
    long n = 0;

    for (int i = 0; i < D; i++) {
#ifdef REPAIRED
        (void)one;
        n += marked[other[i]];
#else
        const int wanted = one[i];
        while (*other < wanted)
            other++;
        n += *other == wanted;
#endif
    }
    return n;
}

static void mark(const int *list, unsigned char as)
{
    for (int i = 0; i < D; i++)
        marked[list[i]] = as;
}

int main(void)
{
    long n = 0;

    for (int u = 0; u < V; u++) {
        for (int i = 0; i < D; i++)
            to[u][i] = (int)(draw() % V);
        to[u][D] = V;
        qsort(to[u], D, sizeof **to, compare);
    }
    for (int step = 0; step < 8; step++)
        for (int u = 0; u < V; u++) {
            mark(to[u], 1);
            for (int i = 0; i < D; i++)
                n += common(to[u], to[to[u][i]]);
            mark(to[u], 0);
        }
    return done((double)n);
}
