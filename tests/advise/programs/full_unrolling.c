/* SPDX-License-Identifier: Apache-2.0 */
/* finding: full_unrolling; flags: -O3 -march=native -mprefer-vector-width=512;
 * repair: four values stay in registers from step to step; advises: #pragma GCC unroll. */
#include "program.h"

typedef double wide __attribute__((vector_size(__BIGGEST_ALIGNMENT__)));
#ifdef REPAIRED
#define HOW _Pragma("GCC unroll 4")
#else
#define HOW _Pragma("GCC unroll 1")
#endif

__attribute__((noipa)) static wide work(const double *w, const wide *x, const wide *z, long n)
{
    wide y[4] = {{0}};

    for (long step = 0; step < n; step++) {
        const wide a = x[0] + w[step % 1000], b = a * 0.5;
        HOW for (long i = 0; i < 4; i++) y[i] =
            ((((y[i] * b + x[i]) * b + z[i]) * b + a) * b + b) * b + a;
    }
    return y[0] + y[1] + y[2] + y[3];
}

int main(void)
{
    wide x[4] = {{1}, {2}, {3}, {4}}, z[4] = {{5}, {6}, {7}, {8}};
    const wide y = work(array_of(1000), x, z, 200000000);

    return done(y[0]);
}
