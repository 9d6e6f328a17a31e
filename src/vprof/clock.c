/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counter advances at a rate of its own. Core cycles come from a chain of dependent
 * multiplications, three cycles each on every core since 2008; the least of many counts, for
 * whatever disturbs it makes it longer.
 */
#include "vprof/clock.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"

#define MULTIPLY_CYCLES 3.0
#define CHAIN_N         4000
#define TRIES_N         400
#define WAIT_NS         20000000u

static inline uint64_t fenced_ticks(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high)::"memory");
    return low | (uint64_t)high << 32;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double empty_ticks(void)
{
    uint64_t took[TRIES_N];
    for (unsigned i = 0; i < TRIES_N; i++) {
        const uint64_t t0 = fenced_ticks();
        took[i] = fenced_ticks() - t0;
    }
    qsort(took, TRIES_N, sizeof *took, by_size);
    const uint64_t middle = took[TRIES_N / 2];
    return (double)middle;
}

static double chain_ticks(void)
{
    uint64_t least = UINT64_MAX, x = 3;
    for (unsigned i = 0; i < TRIES_N; i++) {
        const uint64_t t0 = fenced_ticks();
        for (unsigned k = 0; k < CHAIN_N; k++)
            __asm__ volatile("imul %0, %0" : "+r"(x));
        const uint64_t took = fenced_ticks() - t0;
        least = took < least ? took : least;
    }
    return (double)least;
}

static double ns_of_tick(void)
{
    const int64_t begun_ns = as_monotonic_ns();
    const uint64_t t0 = fenced_ticks();
    int64_t now_ns;
    do
        now_ns = as_monotonic_ns();
    while (now_ns - begun_ns < WAIT_NS);
    return (double)(now_ns - begun_ns) / (double)(fenced_ticks() - t0);
}

struct as_tick as_tick_calibrate(void)
{
    struct as_tick it = {.overhead = empty_ticks(), .ns = ns_of_tick()};
    it.cycles = MULTIPLY_CYCLES * CHAIN_N / (chain_ticks() - it.overhead);
    return it;
}
