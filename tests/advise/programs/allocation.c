/* SPDX-License-Identifier: Apache-2.0 */
/* finding: memory_management; repair: one array in place of an object each. */
#include "program.h"

#define N 1000

struct thing {
    double value[2];
};

int main(void)
{
    static struct thing all[N], *thing[N];
    double sum = 0;

    for (int step = 0; step < 40000; step++) {
        for (int i = 0; i < N; i++) {
#ifdef REPAIRED
            thing[i] = &all[i];
#else
            thing[i] = malloc(sizeof *thing[i]);
#endif
            thing[i]->value[step & 1] = i;
        }
        for (int i = 0; i < N; i++) {
            sum += thing[i]->value[step & 1];
#ifndef REPAIRED
            free(thing[i]);
#endif
        }
    }
    return done(sum + all[0].value[0]);
}
