/* SPDX-License-Identifier: Apache-2.0 */
/* Quotients of complex numbers (CQA paper, figure 16). */
#include <complex.h>

void quotients(int n, double complex *restrict a, const double complex *restrict b,
               const double complex *restrict c)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] / c[i];
}
