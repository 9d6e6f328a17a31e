/* SPDX-License-Identifier: Apache-2.0 */
/* finding: harmful_options; flags: -O2 -finstrument-functions; repair flags: -O2 */
#include "program.h"

__attribute__((noinline)) static double step(double x, double y)
{
    return x * 0.5 + y;
}

int main(void)
{
    double sum = 0;

    for (long i = 0; i < 150000000; i++)
        sum = step(sum, (double)(i & 7));
    return done(sum);
}
