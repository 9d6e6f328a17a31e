/* SPDX-License-Identifier: Apache-2.0 */
/* finding: page_walks; repair: the table is in huge pages;
 * says: [(]indirect access[)] through at least [0-9.]+ MiB in pages of 4 KiB;
 * advises: glibc.malloc.hugetlb=1 */
#include "program.h"

#include <sys/mman.h>

#define N      (16L << 20) /* 128 MiB */
#define PLACES (4L << 20)

static double *table_of(long n)
{
    void *table;

    if (posix_memalign(&table, 2 << 20, (size_t)n * sizeof(double)) != 0)
        abort();
#ifdef REPAIRED
    madvise(table, (size_t)n * sizeof(double), MADV_HUGEPAGE);
#endif
    for (long i = 0; i < n; i++)
        ((double *)table)[i] = (double)(i % 1000) * 0.001;
    return table;
}

__attribute__((noinline, noipa)) static double sum(const double *table, const unsigned *at, long n)
{
    double s = 0;

    for (long i = 0; i < n; i++)
        s += table[at[i]];
    return s;
}

int main(void)
{
    double *table = table_of(N), s = 0;
    unsigned *at = malloc(PLACES * sizeof *at);

    for (long i = 0; i < PLACES; i++)
        at[i] = draw() % N;
    for (int step = 0; step < 20; step++)
        s += sum(table, at, PLACES);
    return done(s);
}
