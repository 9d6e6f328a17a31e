/* SPDX-License-Identifier: Apache-2.0 */
/* finding: mispredictions; flags: -O2; repair: the difference and the smaller number are selected,
 * in place of a branch */
#include "program.h"

#define N 4096

static unsigned long number[N];

/* By the method of Stein, for two odd numbers. */
static unsigned long common(unsigned long a, unsigned long b)
{
    while (a != b) {
#ifdef REPAIRED
        const unsigned long least = a < b ? a : b, between = a < b ? b - a : a - b;

        a = between >> __builtin_ctzl(between);
        b = least;
#else
        if (a > b) {
            a -= b;
            a >>= __builtin_ctzl(a);
        } else {
            b -= a;
            b >>= __builtin_ctzl(b);
        }
#endif
    }
    return a;
}

int main(void)
{
    long all = 0;

    for (int i = 0; i < N; i++)
        number[i] = (unsigned long)draw() << 1 | 1;
    for (int step = 1; step < 4000; step++)
        for (int i = 0; i < N; i++)
            all += (long)common(number[i], number[(i + step) % N]);
    return done((double)all);
}
