/* SPDX-License-Identifier: Apache-2.0 */
/* finding: integer_division; flags: -O2; repair: the index is set back at the end of the ring;
 * says: divides integers */
#include "program.h"

#define N 1000

__attribute__((noinline)) static unsigned long gather(const int *ring, unsigned n, unsigned at)
{
    unsigned long all = 0;

    for (unsigned i = 0; i < 2000; i++) {
#ifdef MENDED
        all += (unsigned)ring[at++];
        if (at == n)
            at = 0;
#else
        all += (unsigned)ring[(at + i) % n];
#endif
    }
    return all;
}

int main(void)
{
    int ring[N];
    double all = 0;

    for (int i = 0; i < N; i++)
        ring[i] = (int)draw() & 0xff;
    for (unsigned step = 0; step < 150000; step++)
        all += (double)gather(ring, N, step % N);
    return done(all);
}
