/* SPDX-License-Identifier: Apache-2.0 */
/* finding: array_access; flags: -O3 -g1; repair: the member has an array of its own;
 * says: of the bytes of the cache lines; advises: make arrays of the members */
#include "program.h"

#define N 1000000

struct particle {
    double mass, place[3], speed[3];
};

#ifdef REPAIRED
static double mass[N];
#define MASS(i) mass[i]
#else
static struct particle particle[N];
#define MASS(i) particle[i].mass
#endif

__attribute__((noinline, noipa)) static double sum(void)
{
    double s = 0;

    for (long i = 0; i < N; i++)
        s += MASS(i);
    return s;
}

int main(void)
{
    double s = 0;

    for (long i = 0; i < N; i++)
        MASS(i) = 1;
    for (int step = 0; step < 300; step++)
        s += sum();
    return done((int)s);
}
