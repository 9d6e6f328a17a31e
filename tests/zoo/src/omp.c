/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenMP: two parallel loops, which gcc outlines as triad._omp_fn.0 and clang as .omp_outlined.;
 * a reduction, and a simd loop.
 */
#include <stdio.h>

enum { N = 4096 };
static double a[N], b[N], c[N];

__attribute__((noinline)) void triad(double s) /* line:triad */
{
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        a[i] = b[i] + s * c[i];
}

__attribute__((noinline)) double total(void) /* line:total */
{
    double sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (int i = 0; i < N; i++)
        sum += a[i];
    return sum;
}

int main(void) /* line:main */
{
    for (int i = 0; i < N; i++) {
        b[i] = i;
        c[i] = N - i;
    }
    triad(0.5);
    printf("%g\n", total());
    return 0;
}
