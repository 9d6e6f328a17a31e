/* SPDX-License-Identifier: Apache-2.0 */
/* finding: not_optimised; flags: -O0; repair flags: -O2 */
#include "program.h"

int main(void)
{
    const long n = 4000;
    double *a = array_of(n), sum = 0;

    for (int step = 0; step < 60000; step++)
        for (long i = 0; i < n; i++)
            sum += a[i] * 0.5;
    return done(sum);
}
