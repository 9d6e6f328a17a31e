/* SPDX-License-Identifier: Apache-2.0 */
/* finding: oldest_instruction_set; repair flags: -O3 -march=x86-64-v3;
 * says: 100 % of the time of your own code, most of it in main, .* in vectorised
 * loops */
#include "program.h"

#define N 4000

int main(void)
{
    double *a = array_of(N), *b = array_of(N);

    for (int step = 0; step < 200000; step++)
        for (int i = 0; i < N; i++)
            b[i] += a[i] * (0.5 + a[i] * (0.25 + a[i] * (0.125 + a[i] * 0.0625)));
    return done(b[N / 2]);
}
