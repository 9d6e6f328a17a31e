/* SPDX-License-Identifier: Apache-2.0 */
/* Gains from scalar code: it reads eight numbers just after one of them was written. CPUs forward
 * the store to a narrow load, not to a wide one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static uint32_t sum(const uint32_t *restrict from, int n)
{
    uint32_t all = 0;
    for (int i = 0; i < n; i++)
        all += from[i];
    return all;
}

int main(int argc, char **argv)
{
    static uint32_t from[8];
    const int n = argc > 1 ? atoi(argv[1]) : 8;
    uint32_t at = 1;
    for (long i = 0; i < 50000000; i++) {
        from[at >> 29] = at;
        at = sum(from, n) * 2654435761u;
    }
    printf("%u\n", at);
    return 0;
}
