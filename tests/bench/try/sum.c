/* SPDX-License-Identifier: Apache-2.0 */
/* Gains from sums in any order: the additions are a loop-carried dependence. */
#include <stdio.h>

static double a[2048];

int main(void)
{
    double sum = 0;
    for (int i = 0; i < 2048; i++)
        a[i] = 1.0 / (i + 1);
    for (int k = 0; k < 150000; k++) {
        for (int i = 0; i < 2048; i++)
            sum += a[i];
        a[k % 2048] += 1e-9;
    }
    printf("%.6f\n", sum);
    return 0;
}
