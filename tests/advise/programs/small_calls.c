/* SPDX-License-Identifier: Apache-2.0 */
/* finding: calls_in_loop; repair: the function may be inlined;
 * says: calls functions, from [12] place */
#include "program.h"

#define N 4000

#ifndef REPAIRED
__attribute__((noinline))
#endif
static unsigned
mix(unsigned value, unsigned more)
{
    return (value ^ (value >> 3)) + more;
}

int main(void)
{
    unsigned *a = malloc(N * sizeof *a);

    for (int i = 0; i < N; i++)
        a[i] = draw();
    for (int step = 0; step < 100000; step++)
        for (int i = 0; i < N; i++)
            a[i] = mix(a[i], (unsigned)step);
    return done(a[N / 2]);
}
