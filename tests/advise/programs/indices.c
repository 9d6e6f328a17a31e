/* SPDX-License-Identifier: Apache-2.0 */
/* finding: scalar_gather; repair: what the indices name is copied side by side, once;
 * says: of its .* memory accesses go by indices */
#include "program.h"

#define N 2000

int main(void)
{
    double *a = array_of(N), *b = array_of(N), *c = array_of(N);
    double *near_a = array_of(N), *near_c = array_of(N);
    int *at = malloc(N * sizeof *at);

    for (int i = 0; i < N; i++)
        at[i] = (int)(draw() % N);
    for (int i = 0; i < N; i++)
        near_a[i] = a[at[i]], near_c[i] = c[at[i]];
    for (int step = 0; step < 250000; step++)
        for (int i = 0; i < N; i++) {
#ifdef REPAIRED
            const double x = near_a[i], y = near_c[i];
#else
            const double x = a[at[i]], y = c[at[i]];
#endif
            b[i] = y + x * (0.5 + x * (0.25 + x * (0.125 + x * 0.0625)));
        }
    return done(b[N / 2]);
}
