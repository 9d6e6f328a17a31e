/* SPDX-License-Identifier: Apache-2.0 */
/* finding: scalar_mathematics; repair flags: -O3 -msse4.1; within: 80 % (the loop is vectorised
 * then); behind: scalar_calls (the same calls, as what keeps the loop scalar: all of its time);
 * says: nearbyint.* of the mathematical library; advises: CPUs since 2008 round by one
 * instruction */
#include <math.h>

#include "program.h"

int main(void)
{
    const long n = 4000;
    double *a = array_of(n), *b = array_of(n);

    for (int step = 0; step < 50000; step++)
        for (long i = 0; i < n; i++)
            b[i] = nearbyint(a[i] * 1e3 + step * 1e-1);
    return done(b[n / 2]);
}
