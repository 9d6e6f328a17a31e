/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain and the canary in assembler, so that no compiler changes their length.
 */
#include "measure/chain.h"

#include <math.h>
#include <x86intrin.h>

#include "base/sort.h"

enum { WARM_LAPS = 4, LEFT_LOOKS = 9, BEST_OF = 3 };
#define LEFT 1.03 /* longer than a chain without heavy operations */

#define TEN(text)     text text text text text text text text text text
#define HUNDRED(text) TEN(TEN(text))

static inline uint64_t ticks_now(void)
{
    _mm_lfence();
    const uint64_t ticks = __rdtsc();
    _mm_lfence();
    return ticks;
}

__attribute__((noinline)) uint64_t as_chain_ticks(void)
{
    const uint64_t from = ticks_now();
    for (int i = 0; i < AS_CHAIN_N / 100; i++)
        __asm__ volatile(HUNDRED("imul %%rax, %%rax\n")::: "rax", "cc");
    return ticks_now() - from;
}

/* zmm31 is free: compiled code here uses no registers above 15. Each heavy operation depends on the
 * one before and takes one cycle in the time of a hundred imul. */
__attribute__((noinline)) uint64_t as_chain_held_ticks(void)
{
    const uint64_t from = ticks_now();
    for (int i = 0; i < AS_CHAIN_N / 100; i++)
        __asm__ volatile("vfmadd231pd %%zmm31, %%zmm31, %%zmm31\n" HUNDRED("imul %%rax, %%rax\n")::
                             : "rax", "cc");
    return ticks_now() - from;
}

bool as_chain_is_left(void (*run)(void *context), uint64_t (*ticks)(void), void *context)
{
    unsigned left = 0;

    for (unsigned i = 0; i < LEFT_LOOKS; i++) {
        run(context);
        const uint64_t first = ticks();
        ticks();
        left += (double)first > LEFT * (double)ticks();
    }
    return left > LEFT_LOOKS / 2;
}

__attribute__((noinline)) uint64_t as_chain_adds(void)
{
    const uint64_t from = ticks_now();
    /* Adds two registers: some cores execute additions of constants at rename. */
    for (int i = 0; i < AS_CHAIN_N / 100; i++)
        __asm__ volatile(HUNDRED("add %%rcx, %%rax\n")::: "rax", "cc");
    return ticks_now() - from;
}

__attribute__((noinline)) uint64_t as_chain_none(void)
{
    const uint64_t from = ticks_now();
    return ticks_now() - from;
}

__attribute__((noinline)) uint64_t as_canary_ticks(void)
{
    uint64_t from = 0;

    /* The first loops after other code do not come from the op cache. */
    for (int i = -WARM_LAPS; i < AS_CANARY_N / 800; i++) {
        if (i == 0)
            from = ticks_now();
        __asm__ volatile(HUNDRED("inc %%rax\ninc %%rcx\ninc %%rdx\ninc %%rsi\n"
                                 "inc %%rdi\ninc %%r8\ninc %%r9\ninc %%r10\n")::
                             : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "cc");
    }
    return ticks_now() - from;
}

static const struct as_gate_clock *clock_of(const struct as_gate *gate)
{
    static const struct as_gate_clock processor = {as_chain_ticks, as_chain_adds, as_canary_ticks};
    return gate->clock ? gate->clock : &processor;
}

/* Inserts a rate into the fastest ones, in descending order. */
static void insert_fastest(double rate[BEST_OF], double one)
{
    for (unsigned i = 0; i < BEST_OF; i++)
        if (one > rate[i]) {
            const double slower = rate[i];
            rate[i] = one;
            one = slower;
        }
}

void as_gate_calibrate(struct as_gate *gate, unsigned tries)
{
    const struct as_gate_clock *clock = clock_of(gate);
    double chain = INFINITY, adds = INFINITY;

    clock->chain(); /* fetches the code and raises the frequency */
    for (unsigned i = 0; i < tries; i++) {
        chain = fmin(chain, (double)clock->chain());
        adds = fmin(adds, (double)clock->adds());
    }
    if (gate->chain_cycles <= 0)
        gate->chain_cycles = fmin(fmax(round(chain / adds), 1), 20);
    /* An interrupted chain makes its canary look fast, and both chains may be interrupted. So the
     * third best rate counts, not the best. */
    double rate[BEST_OF] = {0};
    for (unsigned i = 0; i < tries; i++) {
        const uint64_t before = clock->chain(), canary = clock->canary(), after = clock->chain();
        if (fabs((double)before - (double)after) < AS_CHAIN_DRIFT * (double)after)
            insert_fastest(rate, as_gate_rate(gate, canary, (before + after) / 2));
    }
    gate->best = fmax(gate->best, rate[BEST_OF - 1]);
}

unsigned as_gate_passes(const struct as_gate *gate, unsigned tries)
{
    const struct as_gate_clock *clock = clock_of(gate);
    unsigned n = 0;

    for (unsigned i = 0; i < tries; i++) {
        const uint64_t chain = clock->chain();
        n += as_gate_rate(gate, clock->canary(), chain) >= AS_CANARY_PASSES * gate->best;
    }
    return n;
}

double as_sample_quantile(double *value, size_t n, double share)
{
    if (!n)
        return NAN;
    as_sort_doubles(value, n);
    return value[(size_t)((double)(n - 1) * share + 0.5)];
}
