/* SPDX-License-Identifier: Apache-2.0 */
/* finding: clearing; flags: -O2; repair: entries are marked with the number of the pass;
 * says: clearing memory .memset., most of it from begin_pass */
#include "program.h"

#define N 400000

static unsigned mark[N], pass;

__attribute__((noinline)) static void begin_pass(void)
{
#ifndef REPAIRED
    memset(mark, 0, sizeof mark);
#endif
    pass++;
}

static long visit(unsigned at)
{
    const unsigned value =
#ifdef REPAIRED
        pass;
#else
        1;
#endif
    const long is_new = mark[at] != value;

    mark[at] = value;
    return is_new;
}

int main(void)
{
    double all = 0;

    for (int step = 0; step < 30000; step++) {
        begin_pass();
        for (int i = 0; i < 100; i++)
            all += (double)visit(draw() % N);
    }
    return done(all);
}
