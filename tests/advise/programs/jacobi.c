/* SPDX-License-Identifier: Apache-2.0 */
/* finding: scalar_options; flags: -O2; repair flags: -O3; repair: vectors; advises: -O3 */
#include "program.h"

#define N 1040

static double a[N][N], b[N][N];

/* Steps store what the next step loads: tiles around them would compute something else. */
__attribute__((noinline, noipa)) static void relax(int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i - 1][j] + b[i + 1][j]);
    }
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = (double)(draw() % 1000);
    relax(N, 160);
    return done(a[N / 2][N / 2]);
}
