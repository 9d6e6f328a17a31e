/* SPDX-License-Identifier: Apache-2.0 */
/* finding: copying; repair: pointers are exchanged. */
#include "program.h"

#define N (1 << 18)

int main(void)
{
    double *now = array_of(N), *next = array_of(N);

    for (int step = 0; step < 8000; step++) {
        for (int i = 0; i < N; i += 512)
            next[i] = now[i] * 0.5 + 1;
#ifdef REPAIRED
        double *other = now;
        now = next;
        next = other;
#else
        memcpy(now, next, N * sizeof *now);
#endif
    }
    return done(now[0]);
}
