/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
__attribute__((noinline)) double dot(const double *a, const double *b, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

int main(void)
{
    static double a[1000], b[1000];
    double s = 0;
    for (int i = 0; i < 1000; i++)
        a[i] = b[i] = i % 7;
    for (int k = 0; k < 300000; k++)
        s += dot(a, b, 1000);
    printf("%g\n", s);
    return 0;
}
