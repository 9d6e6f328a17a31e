/* finding: load_imbalance; flags: -O2 -fopenmp; mended flags: -O2 -fopenmp -DMENDED */
#include "program.h"

#define N 2000

int main(void)
{
    double *a = array_of(N), sum = 0;

    for (int step = 0; step < 120; step++) {
#ifdef MENDED
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : sum) num_threads(2)
#else
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(2)
#endif
        for (int i = 0; i < N; i++)
            for (int k = 0; k < i * 4; k++)
                sum += a[k % N] * 0.5;
    }
    return done(sum);
}
