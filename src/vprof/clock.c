/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time stamp counter advances at a rate of its own. Core cycles come from an unrolled chain of
 * dependent additions (measure/chain.h), each of which takes one cycle on every core. A loop with a
 * branch per addition would not do: a busy sibling thread halves its speed. The fastest try that
 * another try repeats counts, on several CPUs. What an instance costs comes from the instructions
 * of the stubs, run here without a loop.
 */
#include "vprof/clock.h"

#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "measure/chain.h"

#define CHAINS_N     60
#define WARM_NS      1000000
#define CPUS_MOST    8
#define REPEATS      0.004 /* two tries agree within this share */
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

/* ---- The rate of the core's clock ---------------------------------------------------------- */

static int by_rate_descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

double as_tick_repeated(double *rate, size_t n)
{
    qsort(rate, n, sizeof *rate, by_rate_descending);
    for (size_t i = 0; i + 1 < n; i++)
        if (rate[i] - rate[i + 1] <= REPEATS * rate[i])
            return rate[i];
    return 0;
}

/* Core cycles in a tick on the CPU where this runs; 0 if no try repeats another. */
static double rate_here(void)
{
    double rate[CHAINS_N];
    uint64_t empty = UINT64_MAX;
    const int64_t begun_ns = as_monotonic_ns();
    while (as_monotonic_ns() - begun_ns < WARM_NS) /* the frequency rises */
        as_chain_adds();
    for (size_t i = 0; i < CHAINS_N; i++) {
        const uint64_t none = as_chain_none();
        empty = none < empty ? none : empty;
    }
    for (size_t i = 0; i < CHAINS_N; i++)
        rate[i] = AS_CHAIN_N / ((double)as_chain_adds() - (double)empty);
    return as_tick_repeated(rate, CHAINS_N);
}

/* Takes a further rate into `it`: the fastest counts, the slowest gives the spread. */
static void add_rate(struct as_tick *it, double rate)
{
    if (rate <= 0)
        return;
    if (it->is_guessed)
        it->cycles = it->spread = 0;
    it->is_guessed = false;
    const double slowest = it->cycles > 0 ? it->cycles * (1 - it->spread) : rate;
    it->cycles = fmax(it->cycles, rate);
    it->spread = 1 - fmin(slowest, rate) / it->cycles;
}

/* Measures on up to CPUS_MOST of the CPUs that this thread may use, spread evenly. */
static void measure_everywhere(struct as_tick *it)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        add_rate(it, rate_here());
        return;
    }
    const int n = CPU_COUNT(&allowed), step = (n + CPUS_MOST - 1) / CPUS_MOST;
    for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, &allowed) || seen++ % step)
            continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET((size_t)cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) == 0)
            add_rate(it, rate_here());
    }
    sched_setaffinity(0, sizeof allowed, &allowed);
}

void as_tick_repeat(struct as_tick *it)
{
    measure_everywhere(it);
    if (it->cycles > 0)
        return;
    it->cycles = 1;
    it->is_guessed = true;
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

/* ---- What an instance costs (agent/patcher/patcher_entry.c, patcher_stub.c)
 * -------------------------- */

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
    as_tick_repeat(&it);
    it.passed_ns = fmax(0, (ticks_of(run_passed) - nothing) * it.ns);
    it.timed_ns = fmax(0, (ticks_of(run_timed) - nothing) * it.ns);
    return it;
}
