/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
enum { N = 1500 };
__attribute__((noinline)) static void step(double (*a)[N], double (*b)[N])
{
    for (int j = 1; j < N - 1; j++)
        for (int i = 1; i < N - 1; i++)
            b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
}

int main(void)
{
    double(*a)[N] = calloc(N, sizeof *a), (*b)[N] = calloc(N, sizeof *b);

    for (int k = 0; k < 60; k++)
        step(a, b);
    return b[7][7] != 0;
}
