/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rank-sum test inverted for an interval; see ranks.h. Its distribution is computed exactly as
 * the coefficients of a Gaussian binomial (H. B. Mann, D. R. Whitney, Ann. Math. Stat. 18 (1947)
 * 50). The normal distribution replaces it for samples beyond COUNTED_OUT_MOST.
 */
#include "base/ranks.h"

#include <math.h>

#include "base/alloc.h"
#include "base/sort.h"

/* Max a_n + b_n for the exact distribution: C(57, 28) < 2^53. */
#define COUNTED_OUT_MOST 57

/* Returns the number of orders with u inversions for each u up to a_n * b_n. `*all` is their
 * sum. */
static double *count_inversions(size_t a_n, size_t b_n, double *all)
{
    const size_t n = a_n * b_n + 1;
    double *count = as_calloc(n, sizeof *count);

    *all = 0;
    if (!count)
        return NULL;
    count[0] = 1;
    for (size_t i = 1; i <= a_n; i++) {
        for (size_t u = n; u-- > b_n + i;)
            count[u] -= count[u - b_n - i];
        for (size_t u = i; u < n; u++)
            count[u] += count[u - i];
    }
    for (size_t u = 0; u < n; u++)
        *all += count[u];
    return count;
}

static long normal_cut(size_t a_n, size_t b_n, double tail)
{
    const double n = (double)a_n * (double)b_n;
    const double deviation = sqrt(n * (double)(a_n + b_n + 1) / 12);
    const double cut = n / 2 + as_stat_normal_quantile(tail) * deviation - 1;
    return cut < 0 ? -1 : (long)cut;
}

long as_ranks_cut(size_t a_n, size_t b_n, double tail)
{
    double all, sum = 0;
    long cut = -1;

    if (a_n + b_n > COUNTED_OUT_MOST)
        return normal_cut(a_n, b_n, tail);
    double *count = count_inversions(a_n, b_n, &all);
    for (size_t u = 0; count && u <= a_n * b_n / 2; u++) {
        sum += count[u];
        if (sum > tail * all)
            break;
        cut = (long)u;
    }
    as_free(count);
    return cut;
}

double as_ranks_shift(const double *a, size_t a_n, const double *b, size_t b_n, double alpha,
                      double *work, struct as_interval *interval)
{
    const size_t n = a_n * b_n;
    const long cut = as_ranks_cut(a_n, b_n, alpha / 2);

    for (size_t i = 0; i < n; i++)
        work[i] = b[i % b_n] - a[i / b_n];
    as_sort_doubles(work, n);
    *interval = (struct as_interval){-INFINITY, INFINITY};
    if (cut >= 0)
        *interval = (struct as_interval){work[cut], work[n - 1 - (size_t)cut]};
    return n % 2 ? work[n / 2] : (work[n / 2 - 1] + work[n / 2]) / 2;
}
