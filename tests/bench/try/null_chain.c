/* SPDX-License-Identifier: Apache-2.0 */
/* Gains from nothing: a loop-carried dependence of integer operations. */
#include <stdio.h>

int main(void)
{
    unsigned long x = 88172645463325252ul;
    for (long i = 0; i < 200000000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    printf("%lu\n", x);
    return 0;
}
