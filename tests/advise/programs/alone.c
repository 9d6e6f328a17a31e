/* SPDX-License-Identifier: Apache-2.0 */
/* finding: processors_idle; flags: -O3; mended flags: -O3 -fopenmp; seconds: of the clock;
 * mended: a thread for each processor;
 * says: On average the run had work for [0-9.]+ of [0-9]+ processors */
#include "program.h"

#define N 4000

int main(void)
{
    double sum = 0;
    const double began = clock_s();

#ifdef MENDED
#pragma omp parallel for reduction(+ : sum) schedule(static)
#endif
    for (int row = 0; row < 100000; row++) {
        double value = row;
        for (int i = 0; i < N; i++)
            value = value * 0.5 + i;
        sum += value;
    }
    say_seconds(clock_s() - began);
    return done(sum);
}
