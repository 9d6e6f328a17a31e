/* SPDX-License-Identifier: Apache-2.0 */
/* finding: record_members; repair: each member that the loop uses has an array of its own;
 * says: members place.x, place.y, place.z of the array particle: 24 of 96 bytes;
 * advises: structure of arrays
 */
#include "program.h"

#define N 600000L

struct vector {
    double x, y, z;
};

struct particle {
    struct vector place, speed, force;
    double mass, charge;
    long number;
};

#ifdef REPAIRED
struct places {
    double *x, *y, *z;
};

__attribute__((noinline, noipa)) static double moment(const struct places *particle, long n)
{
    double s = 0;

    for (long i = 0; i < n; i++)
        s += particle->x[i] * particle->y[i] + particle->z[i];
    return s;
}
#else
__attribute__((noinline, noipa)) static double moment(const struct particle *particle, long n)
{
    double s = 0;

    for (long i = 0; i < n; i++)
        s += particle[i].place.x * particle[i].place.y + particle[i].place.z;
    return s;
}
#endif

int main(void)
{
    double s = 0;
#ifdef REPAIRED
    const struct places particles = {array_of(N), array_of(N), array_of(N)}, *particle = &particles;
#else
    struct particle *particle = calloc(N, sizeof *particle);

    for (long i = 0; i < N; i++)
        particle[i].place.x = particle[i].place.y = particle[i].place.z =
            (double)(i % 1000) * 0.001;
#endif
    for (int step = 0; step < 400; step++)
        s += moment(particle, N);
    return done(s);
}
