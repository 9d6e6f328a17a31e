/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counter advances at a rate of its own. Core cycles come from a chain of additions of two
 * registers, each of which waits a cycle for the one before on every core; the least of many
 * counts, for whatever disturbs it makes it longer. What an instance costs comes from the
 * instructions of the stubs, run here without a loop.
 */
#include "vprof/clock.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"

#define CHAIN_N      4000
#define TRIES_N      400
#define INSTANCES_N  200
#define COST_TRIES_N 50
#define WAIT_NS      20000000u

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
    const uint64_t y = 5;
    for (unsigned i = 0; i < TRIES_N; i++) {
        const uint64_t t0 = fenced_ticks();
        for (unsigned k = 0; k < CHAIN_N; k++)
            __asm__ volatile("add %1, %0" : "+r"(x) : "r"(y));
        const uint64_t took = fenced_ticks() - t0;
        least = took < least ? took : least;
    }
    return (double)least;
}

static void measure_rate(struct as_tick *it)
{
    const int64_t begun_ns = as_monotonic_ns();
    const uint64_t t0 = fenced_ticks();
    int64_t now_ns;
    do
        now_ns = as_monotonic_ns();
    while (now_ns - begun_ns < WAIT_NS);
    it->at = fenced_ticks();
    it->at_ns = now_ns;
    it->ns = (double)(now_ns - begun_ns) / (double)(it->at - t0);
}

/* ---- What an instance costs (agent/patcher_entry.c, patcher_stub.c) -------------------------- */

static void run_nothing(unsigned n, uint64_t *word)
{
    (void)word;
    for (unsigned i = 0; i < n; i++)
        __asm__ volatile("jmp 1f\n1:" ::: "memory");
}

/* The jump over the header, a countdown, into the clone and out of it. */
static void run_passed(unsigned n, uint64_t *word)
{
    word[0] = INT64_MAX;
    for (unsigned i = 0; i < n; i++)
        __asm__ volatile(
            "jmp 1f\n1: decq (%0)\n js 4f\n jmp 2f\n2: jmp 3f\n3: jmp 4f\n4:" ::"r"(word)
            : "memory", "cc");
}

#define SAVE    "lea -128(%%rsp), %%rsp\n push %%rax\n push %%rdx\n push %%rcx\n"
#define RESTORE "pop %%rcx\n pop %%rdx\n pop %%rax\n lea 128(%%rsp), %%rsp\n"

/* An entry that writes a slot, an exit that writes a record. */
static void run_timed(unsigned n, uint64_t *word)
{
    for (unsigned i = 0; i < n; i++)
        __asm__ volatile(SAVE "mov (%0), %%rcx\n lea 152(%%rsp), %%rax\n mov %%rax, 8(%0)\n"
                              "mov %%rcx, 16(%0)\n lfence\n rdtsc\n mov %%eax, 24(%0)\n"
                              "mov %%edx, 28(%0)\n" RESTORE "jmp 1f\n1: jmp 2f\n2:" SAVE
                              "lfence\n rdtsc\n push %%rax\n push %%rdx\n mov 32(%0), %%rcx\n"
                              "movq $1, 32(%0)\n mov 40(%0), %%rcx\n lea 48(%%rcx), %%rax\n"
                              "mov %%rax, 40(%0)\n mov 24(%0), %%rax\n mov %%rax, 48(%0)\n"
                              "mov 8(%%rsp), %%rax\n mov %%eax, 56(%0)\n mov (%%rsp), %%rax\n"
                              "mov %%eax, 60(%0)\n mov 16(%0), %%rax\n mov %%rax, 64(%0)\n"
                              "mov %%rcx, 72(%0)\n movq $7, 80(%0)\n mov 8(%0), %%rax\n"
                              "not %%rax\n mov %%rax, 88(%0)\n movq $0, 32(%0)\n"
                              "lea 16(%%rsp), %%rsp\n" RESTORE ::"r"(word)
                         : "memory", "cc");
}

/* Ticks of one turn, the least of some tries. */
static double ticks_of(void (*run)(unsigned, uint64_t *))
{
    static uint64_t word[16];
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < COST_TRIES_N; i++) {
        const uint64_t t0 = fenced_ticks();
        run(INSTANCES_N, word);
        const uint64_t took = fenced_ticks() - t0;
        least = took < least ? took : least;
    }
    return (double)least / INSTANCES_N;
}

struct as_tick as_tick_calibrate(void)
{
    struct as_tick it = {.overhead = empty_ticks()};
    measure_rate(&it);
    const double nothing = ticks_of(run_nothing);
    it.cycles = CHAIN_N / (chain_ticks() - it.overhead);
    it.passed_ns = fmax(0, (ticks_of(run_passed) - nothing) * it.ns);
    it.timed_ns = fmax(0, (ticks_of(run_timed) - nothing) * it.ns);
    return it;
}
