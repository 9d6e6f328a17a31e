/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function of another file (across_part.c) that is inlined here when the program is linked, into
 * two functions. Time by chain of functions below main. Usage: across SECONDS
 */
#include "truth.h"

uint64_t part(uint64_t n);

static uint64_t seed = 1;
static NOINLINE uint64_t some(void)
{
    return 100000 + truth_random(&seed) % 300000;
}

static NOINLINE void first(void)
{
    uint64_t n = some(), kept = 0;
    MEASURE("first;part", kept = part(n));
    MEASURE("first", SPIN(n + (kept & 1)));
}
static NOINLINE void second(void)
{
    uint64_t n = 2 * some(), kept = 0;
    MEASURE("second;part", kept = part(n));
    STAY();
    seed += kept & 1;
}

int main(int argc, char **argv)
{
    uint64_t end = (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 0.3));
    while (thread_ns() < end) {
        first();
        second();
    }
    truth_print(stdout);
    return 0;
}
