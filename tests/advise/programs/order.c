/* SPDX-License-Identifier: Apache-2.0 */
/* finding: meeting_stores; flags: -O2; repair: its elements are in order, and it needs no index;
 * says: stores by an index into an array that it also loads from */
#include "program.h"

#define N 4000

int main(void)
{
    double *x = array_of(N + 1), *c = array_of(N);
    int *to = malloc(N * sizeof *to), *from = malloc(N * sizeof *from);

    for (int i = 0; i < N; i++) {
        from[i] = i;
        to[i] = i + 1;
    }
    for (int round = 0; round < 40000; round++)
        for (int i = 0; i < N; i++)
#ifdef REPAIRED
            x[i + 1] -= 1e-3 * c[i] * x[i];
#else
            x[to[i]] -= 1e-3 * c[i] * x[from[i]];
#endif
    return done(x[N]);
}
