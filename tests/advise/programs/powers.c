/* SPDX-License-Identifier: Apache-2.0 */
/* finding: hottest; flags: -O3 -march=x86-64-v3; repair: fewer products (the scheme of Horner);
 * says: Nothing better is known for the loop at powers.c:[0-9]+ in evaluate */
#include "program.h"

#define N 1000

__attribute__((noinline)) static void evaluate(double *restrict y, const double *restrict x)
{
    for (int i = 0; i < N; i++) {
        const double a = x[i];
#ifdef REPAIRED
        y[i] = 1 + a * (2 + a * (3 + a * (4 + a * (5 + a * (6 + a * 7)))));
#else
        y[i] = 1 + 2 * a + 3 * a * a + 4 * a * a * a + 5 * a * a * a * a + 6 * a * a * a * a * a +
               7 * a * a * a * a * a * a;
#endif
    }
}

/* Other work: each function takes as long as the loop with few products. */
#define OTHER(name, more)                                                                          \
    __attribute__((noinline)) static unsigned name(unsigned value)                                 \
    {                                                                                              \
        for (int i = 0; i < 30; i++)                                                               \
            value = (value ^ (value << 7) ^ (value >> 9)) + (more);                                \
        return value;                                                                              \
    }
OTHER(first, 1)
OTHER(second, 2)
OTHER(third, 3)
OTHER(fourth, 4)
OTHER(fifth, 5)
OTHER(sixth, 6)
OTHER(seventh, 7)
OTHER(eighth, 8)
OTHER(ninth, 9)
OTHER(tenth, 10)
OTHER(eleventh, 11)
OTHER(twelfth, 12)
OTHER(thirteenth, 13)

int main(void)
{
    double *x = array_of(N), *y = array_of(N);
    unsigned value = 1;

    for (int step = 0; step < 500000; step++) {
        evaluate(y, x);
        for (int part = 0; part < 6; part++) {
            value = seventh(sixth(fifth(fourth(third(second(first(value)))))));
            value = thirteenth(twelfth(eleventh(tenth(ninth(eighth(value))))));
        }
    }
    return done(y[N / 2] + value);
}
