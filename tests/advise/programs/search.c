/* SPDX-License-Identifier: Apache-2.0 */
/* finding: linear_search; repair: it searches by halves;
 * says: looks at one element after the other until one fits */
#include "program.h"

#define N 2048

static int key[N];

__attribute__((noinline)) static int find(int wanted)
{
#ifdef REPAIRED
    int low = 0, high = N;

    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (key[middle] <= wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
#else
    int at = 0;

    while (key[at] != wanted)
        at++;
    return at;
#endif
}

/* What a program does besides, each as long as the search by halves. */
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
    unsigned value = 1;
    long sum = 0;

    for (int i = 0; i < N; i++)
        key[i] = 3 * i;
    for (int step = 0; step < 2000000; step++) {
        sum += find(3 * (int)(draw() % N));
        value = seventh(sixth(fifth(fourth(third(second(first(value)))))));
        value = thirteenth(twelfth(eleventh(tenth(ninth(eighth(value))))));
    }
    return done((double)sum + value);
}
