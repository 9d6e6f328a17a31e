/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The table is filled once, and its first touch has to be; larger pages only cost more.
 * place: build_table
 * finding: nothing
 * false: page_faults memory_given_back memory_latency memory_bandwidth kernel_time
 * flags: -O2 -g
 * arguments: 40000000
 * naive: malloc uses huge pages.
 * naive variables: GLIBC_TUNABLES=glibc.malloc.hugetlb=1
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Fills the table once: each entry takes a chain of multiplications. */
static uint64_t *build_table(long n)
{
    uint64_t *table = malloc((size_t)n * sizeof *table), state = 1;

    for (long i = 0; i < n; i++) { /* HERE */
        for (int k = 0; k < 24; k++) {
            state ^= state >> 32;
            state *= 0xd6e8feb86659fd93u;
        }
        table[i] = state; /* HERE */
    }
    return table;
}

static uint64_t digest_of(const uint64_t *table, long n)
{
    uint64_t sum = 0;

    for (long i = 0; i < n; i += 64)
        sum += table[i];
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    long n = atol(argv[1]);
    uint64_t *table = build_table(n);

    printf("checksum %llu\n", (unsigned long long)digest_of(table, n));
    free(table);
    return 0;
}
