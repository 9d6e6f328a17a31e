/* SPDX-License-Identifier: Apache-2.0 */
/* The library that the target of stacks loads, and deletes while it runs. */
#include <stdint.h>

static volatile uint64_t sink;
void library_entry(long n);
void burn_library(long n);

__attribute__((noinline)) void burn_library(long n)
{
    uint64_t x = sink;
    for (long i = 0; i < n; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    sink = x;
}

void library_entry(long n)
{
    burn_library(n);
    sink++;
}
