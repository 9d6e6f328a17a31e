/* SPDX-License-Identifier: Apache-2.0 */
/* Gains from nothing: a walk through a list in memory. */
#include <stdio.h>
#include <stdlib.h>

#define N (1u << 21)

int main(void)
{
    static unsigned next[N];
    unsigned at = 0, seed = 1;
    for (unsigned i = 0; i < N; i++)
        next[i] = i;
    for (unsigned i = N - 1; i > 0; i--) {
        seed = seed * 1664525u + 1013904223u;
        const unsigned k = seed % i, swap = next[i];
        next[i] = next[k];
        next[k] = swap;
    }
    for (long i = 0; i < 8000000; i++)
        at = next[at];
    printf("%u\n", at);
    return 0;
}
