/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is there only while its function runs. */
#include <stdint.h>
#include <time.h>

__attribute__((noinline)) void spin_library(long ms);

void spin_library(long ms)
{
    static volatile uint64_t keep;
    uint64_t x = keep;
    struct timespec t, from;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do {
        for (int i = 0; i < 100000; i++)
            x = x * 6364136223846793005u + 1442695040888963407u;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    } while ((t.tv_sec - from.tv_sec) * 1000 + (t.tv_nsec - from.tv_nsec) / 1000000 < ms);
    keep = x;
}
