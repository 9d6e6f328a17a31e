/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two loops of one line, one after the other, and the time of each, in the order of their
 * addresses. Usage: oneline SECONDS
 */
#include "truth.h"

static uint64_t seed = 1;
#define KEEP(x) __asm__ volatile("" : "+r"(x))

static NOINLINE void two(uint64_t a, uint64_t b)
{
    uint64_t t[3];
    /* clang-format off */
    t[0] = thread_ns(); for (uint64_t i = 0; i < a; i++) KEEP(i); t[1] = thread_ns(); for (uint64_t i = 0; i < b; i++) KEEP(i); t[2] = thread_ns(); /* LOOP both */
    /* clang-format on */
    truth_add("1st", t[1] - t[0]);
    truth_add("2nd", t[2] - t[1]);
}

int main(int argc, char **argv)
{
    uint64_t end = (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 0.3));
    while (thread_ns() < end)
        two(100000 + truth_random(&seed) % 300000, 100000 + truth_random(&seed) % 100000);
    truth_print(stdout);
    return 0;
}
