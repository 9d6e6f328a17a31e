/* SPDX-License-Identifier: Apache-2.0 */
/* Gains from optimisation over all files: its loop calls what another file has. */
#include <stdio.h>

double step(double x, double y);

int main(void)
{
    double x = 0;
    for (long i = 0; i < 150000000; i++)
        x = step(x, (double)(i & 7));
    printf("%g\n", x);
    return 0;
}
