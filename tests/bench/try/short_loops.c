/* SPDX-License-Identifier: Apache-2.0 */
/* Gains from no vectors: its loops have two or three iterations, known at run time alone. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void add(float *restrict to, const float *restrict from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = to[i] * 0.5f + from[i];
}

int main(int argc, char **argv)
{
    static float to[4], from[4] = {1, 2, 3, 4};
    const int n = argc > 1 ? atoi(argv[1]) : 3;
    for (long i = 0; i < 120000000; i++)
        add(to, from, n - (int)(i & 1));
    printf("%g %g %g\n", (double)to[0], (double)to[1], (double)to[2]);
    return 0;
}
