/* SPDX-License-Identifier: Apache-2.0 */
/* finding: flat; repair: their caller does all steps in one pass;
 * says: The profile is flat: the hottest function, .* takes [0-9.]+ % of the time */
#include "program.h"

#define N 2000

static unsigned value[N];

#define STEP(name, shift)                                                                          \
    __attribute__((noinline)) static void name(void)                                               \
    {                                                                                              \
        for (int i = 0; i < N; i++)                                                                \
            value[i] ^= value[i] >> (shift);                                                       \
    }
STEP(step_1, 1)
STEP(step_2, 2)
STEP(step_3, 3)
STEP(step_4, 4)
STEP(step_5, 5)
STEP(step_6, 6)
STEP(step_7, 7)
STEP(step_8, 8)
STEP(step_9, 9)
STEP(step_10, 10)
STEP(step_11, 11)
STEP(step_12, 12)
STEP(step_13, 13)
STEP(step_14, 14)
STEP(step_15, 15)
STEP(step_16, 16)

__attribute__((noinline)) static void all_steps(void)
{
    for (int i = 0; i < N; i++)
        for (int shift = 1; shift <= 16; shift++)
            value[i] ^= value[i] >> shift;
}

__attribute__((noinline)) static void each_step(void)
{
    void (*const step[])(void) = {step_1,  step_2,  step_3,  step_4,  step_5,  step_6,
                                  step_7,  step_8,  step_9,  step_10, step_11, step_12,
                                  step_13, step_14, step_15, step_16};

    for (size_t i = 0; i < sizeof step / sizeof *step; i++)
        step[i]();
}

int main(void)
{
    for (int i = 0; i < N; i++)
        value[i] = draw();
    for (int step = 0; step < 250000; step++) {
#ifdef REPAIRED
        all_steps();
#else
        each_step();
#endif
        value[step % N] += 77777;
    }
    return done(value[N / 2]);
}
