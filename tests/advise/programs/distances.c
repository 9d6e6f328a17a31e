/* SPDX-License-Identifier: Apache-2.0 */
/* finding: compared_roots; repair: it compares squares;
 * says: compares a square root in each iteration */
#include <math.h>

#include "program.h"

#define N 6000

struct pairs {
    int n, first, second;
};

__attribute__((noinline)) static void find(struct pairs *pairs, const double *x, const double *y,
                                           double most)
{
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++) {
            const double dx = x[i] - x[j], dy = y[i] - y[j];
#ifdef REPAIRED
            if (dx * dx + dy * dy > most * most)
                continue;
#else
            if (sqrt(dx * dx + dy * dy) > most)
                continue;
#endif
            pairs->n++;
            pairs->first = i;
            pairs->second = j;
        }
}

int main(void)
{
    double *x = array_of(N), *y = array_of(N);
    struct pairs pairs = {0};

    for (int i = 0; i < N; i++) {
        x[i] = draw() % 65536;
        y[i] = draw() % 65536;
    }
    for (int step = 0; step < 30; step++)
        find(&pairs, x, y, 100 + step);
    return done(pairs.n + pairs.first + pairs.second);
}
