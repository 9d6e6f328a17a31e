/* SPDX-License-Identifier: Apache-2.0 */
/* finding: unaligned_access; flags: -O3 -march=native -mprefer-vector-width=512;
 * repair: the arrays begin at multiples of 64 bytes; says: across two cache lines \((a|b);
 * advises: aligned_alloc. */
#include "program.h"

#define LENGTH 1000

__attribute__((noipa)) static void add(double *restrict a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++)
        a[i] += b[i];
}

/* malloc of large blocks begins 16 bytes behind a page. */
static double *placed(long n)
{
#ifdef REPAIRED
    return aligned_alloc(64, (size_t)(n + 8) / 8 * 64);
#else
    return (double *)((char *)aligned_alloc(64, (size_t)(n + 16) / 8 * 64) + 16);
#endif
}

int main(void)
{
    double *a = placed(LENGTH), *b = placed(LENGTH);

    if (!a || !b)
        abort();
    for (int i = 0; i < LENGTH; i++)
        a[i] = b[i] = i;
    for (int step = 0; step < 16000000; step++)
        add(a, b, LENGTH);
    return a[LENGTH / 2] == 1;
}
