/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function inlined into two, and another into it. Prints the burnt time by the chain of inlined
 * functions and by line (a mark "LINE name" ends the line). Usage: inlined SECONDS
 */
#include "truth.h"

#define INLINE  static inline __attribute__((always_inline))
#define KEEP(x) __asm__ volatile("" : "+r"(x))
/* One line, however it is formatted. */
#define BURN(n)                                                                                    \
    while ((n)--)                                                                                  \
    KEEP(n)
static uint64_t seed = 1;
static NOINLINE uint64_t some(void)
{
    return 100000 + truth_random(&seed) % 300000;
}

INLINE void innermost(uint64_t n, const char *name)
{
    uint64_t begin = thread_ns();
    BURN(n); /* LINE innermost */
    truth_add(name, thread_ns() - begin);
}
INLINE void shared(uint64_t n, const char *name, const char *below)
{
    uint64_t more = n / 2, begin = thread_ns();
    BURN(more); /* LINE shared */
    truth_add(name, thread_ns() - begin);
    innermost(n, below);
}
static NOINLINE void outer_one(uint64_t n)
{
    shared(n, "outer_one;shared", "outer_one;shared;innermost");
}
static NOINLINE void outer_two(uint64_t n)
{
    uint64_t begin = thread_ns();
    BURN(n); /* LINE outer_two */
    truth_add("outer_two", thread_ns() - begin);
    shared(some(), "outer_two;shared", "outer_two;shared;innermost");
}

int main(int argc, char **argv)
{
    uint64_t end = (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 0.3));
    while (thread_ns() < end) {
        outer_one(some());
        outer_two(some());
    }
    truth_print(stdout);
    return 0;
}
