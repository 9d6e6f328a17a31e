/* SPDX-License-Identifier: Apache-2.0 */
/* finding: scalar_options; flags: -O2; repair flags: -O3 */
#include "program.h"

__attribute__((noinline)) static void add(double *a, const double *b, const double *c, long n)
{
    for (long i = 0; i < n; i++)
        a[i] = a[i] * 0.5 + b[i] * c[i];
}

int main(void)
{
    const long n = 4000;
    double *a = array_of(n), *b = array_of(n), *c = array_of(n);

    for (int step = 0; step < 500000; step++)
        add(a, b, c, n - step % 7);
    return done(a[n / 2]);
}
