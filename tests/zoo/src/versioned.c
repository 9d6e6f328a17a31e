/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shared library with versioned symbols: sum has an old and a default version (two bodies, one
 * name). A symbol that versioned.map does not export stays local.
 */
#include <stddef.h>

__attribute__((noinline)) int internal_step(int x) /* line:internal_step */
{
    return x + 1;
}

__asm__(".symver sum_old, sum@ZOO_1.0");
__asm__(".symver sum_new, sum@@ZOO_2.0");

int sum_old(const int *x, size_t n) /* line:sum_old */
{
    int s = 0;
    for (size_t i = 0; i < n; i++)
        s += x[i];
    return s;
}

long sum_new(const int *x, size_t n) /* line:sum_new */
{
    long s = 0;
    for (size_t i = 0; i < n; i++)
        s += internal_step(x[i]);
    return s;
}
