/* SPDX-License-Identifier: Apache-2.0 */
/* finding: integer_division; flags: -O2; repair: the loop is split where the index goes round;
 * says: divides integers */
#include "program.h"

#define N 1000

__attribute__((noinline)) static unsigned long gather(const int *ring, unsigned n, unsigned at)
{
    unsigned long all = 0;

#ifdef REPAIRED
    for (unsigned left = 2000; left;) {
        const unsigned end = at + left < n ? at + left : n;

        for (unsigned i = at; i < end; i++)
            all += (unsigned)ring[i];
        left -= end - at;
        at = end < n ? end : 0;
    }
#else
    for (unsigned i = 0; i < 2000; i++)
        all += (unsigned)ring[(at + i) % n];
#endif
    return all;
}

int main(int argc, char **argv)
{
    const unsigned n = N - (unsigned)(argc > 2);
    int ring[N];
    double all = 0;

    (void)argv;
    for (int i = 0; i < N; i++)
        ring[i] = (int)draw() & 0xff;
    for (unsigned step = 0; step < 400000; step++)
        all += (double)gather(ring, n, step % n);
    return done(all);
}
