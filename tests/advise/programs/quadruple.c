/* SPDX-License-Identifier: Apache-2.0 */
/* finding: software_arithmetic; repair: double precision; says: in software with numbers of 128
 * bits .quadruple precision., .*__(add|mul|sub)tf3.* from advance; advises: Use double precision */
#include "program.h"

#define N     1000
#define STEPS 12000

#ifdef REPAIRED
typedef double number;
#else
typedef __float128 number;
#endif

__attribute__((noinline, noipa)) static void advance(number *x, number *v, number dt)
{
    for (int i = 0; i < N; i++) {
        v[i] -= dt * x[i];
        x[i] += dt * v[i];
    }
}

int main(void)
{
    static number x[N], v[N];
    number sum = 0;

    for (int i = 0; i < N; i++)
        x[i] = (number)(i % 100) / 100;
    for (int step = 0; step < STEPS; step++)
        advance(x, v, (number)1 / 1024);
    for (int i = 0; i < N; i++)
        sum += x[i];
    return done((double)sum);
}
