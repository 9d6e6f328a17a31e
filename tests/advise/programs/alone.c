/* SPDX-License-Identifier: Apache-2.0 */
/* finding: processors_idle; flags: -O3 -fopenmp; seconds: of the clock;
 * repair: a thread for each processor; behind: scalar_chain (its bound is the whole loop);
 * says: On average the run had work for [0-9.]+ of [0-9]+ CPUs */
#include <omp.h>

#include "program.h"

#define N 4000

int main(void)
{
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum = omp_get_thread_num();
    const double began = clock_s();

#ifdef REPAIRED
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
