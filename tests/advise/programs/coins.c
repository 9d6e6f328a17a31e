/* SPDX-License-Identifier: Apache-2.0 */
/* finding: mispredictions; flags: -O2 -fno-if-conversion -fno-if-conversion2; repair: the bit is
 * multiplied, which needs no branch */
#include "program.h"

/* Walks by coins that are thrown in registers: nothing is loaded. */
static long walk(unsigned long seed, long n)
{
    long place = 0, far = 0;

    for (long i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
#ifdef REPAIRED
        place += (long)(seed >> 63) * 5 - 2;
        far += (long)(seed >> 62 & 1) * place;
#else
        if (seed >> 63)
            place += 3;
        else
            place -= 2;
        if (seed >> 62 & 1)
            far += place;
#endif
    }
    return place + far;
}

int main(void)
{
    return done((double)walk(1, 200000000));
}
