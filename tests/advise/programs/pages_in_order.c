/* SPDX-License-Identifier: Apache-2.0 */
/* finding: page_walks; repair: the arrays are in huge pages;
 * says: walks along arrays .* in pages of 4 KiB; advises: glibc.malloc.hugetlb=1 */
#include "program.h"

#include <sys/mman.h>

#define N (12L << 20) /* 96 MiB */

static double *pages_of(long n)
{
    void *array;

    if (posix_memalign(&array, 2 << 20, (size_t)n * sizeof(double)) != 0)
        abort();
#ifdef MENDED
    madvise(array, (size_t)n * sizeof(double), MADV_HUGEPAGE);
#endif
    for (long i = 0; i < n; i++)
        ((double *)array)[i] = (double)(i % 1000) * 0.001;
    return array;
}

__attribute__((noinline, noipa)) static void triad(double *restrict a, const double *restrict b,
                                                   const double *restrict c, long n)
{
    for (long i = 0; i < n; i++)
        a[i] = b[i] + 0.5 * c[i];
}

int main(void)
{
    double *a = pages_of(N), *b = pages_of(N), *c = pages_of(N);

    for (int step = 0; step < 200; step++)
        triad(a, b, c, N);
    return done(a[N / 3]);
}
