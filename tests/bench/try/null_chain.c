/* SPDX-License-Identifier: Apache-2.0 */
/* Gains from nothing: a chain of integer operations, each waits for the one before. */
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
