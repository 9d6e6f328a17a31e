/* SPDX-License-Identifier: Apache-2.0 */
/* finding: dispatch; repair: equal operations come together, a loop for each kind;
 * says: jumps by a table to one of [0-9]+ ways in each iteration */
#include "program.h"

#define N 100000

static double value[8] = {1, 2, 3, 4, 5, 6, 7, 8};

static inline void step(unsigned operation)
{
    switch (operation) {
    case 0:
        value[0] += value[1];
        break;
    case 1:
        value[1] = 0.5 * value[2] - value[3];
        break;
    case 2:
        value[2] *= 0.999;
        break;
    case 3:
        value[3] -= value[0] * 1e-9;
        break;
    case 4:
        value[4] = value[5] + value[6];
        break;
    case 5:
        value[5] = value[4] * 0.3;
        break;
    case 6:
        value[6] = value[7] * value[7] * 1e-3;
        break;
    default:
        value[7] = value[1] - value[2];
        break;
    }
}

int main(void)
{
    unsigned *operation = malloc(N * sizeof *operation), kind_n[8] = {0};

    for (int i = 0; i < N; i++)
        kind_n[operation[i] = draw() % 8]++;
    for (int round = 0; round < 1500; round++) {
#ifdef REPAIRED
#define LOOP(k)                                                                                    \
    for (unsigned i = 0; i < kind_n[k]; i++)                                                       \
        step(k);
        LOOP(0) LOOP(1) LOOP(2) LOOP(3) LOOP(4) LOOP(5) LOOP(6) LOOP(7)
#else
        for (int i = 0; i < N; i++)
            step(operation[i]);
#endif
    }
    return done(value[0] + kind_n[0]);
}
