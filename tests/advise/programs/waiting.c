/* SPDX-License-Identifier: Apache-2.0 */
/* finding: waiting; seconds: of the clock; repair: it goes on as soon as the answer is there;
 * says: slept [0-9]+ % of their time, most of it from main; advises: condition variable */
#include <unistd.h>

#include "program.h"

#define N 400000

/* The answer comes after 50 microseconds. */
static void await(double due)
{
    while (clock_s() < due) {
#ifndef REPAIRED
        usleep(1000);
#endif
    }
}

int main(void)
{
    double value = 0;
    const double began = clock_s();

    for (int step = 0; step < 600; step++) {
        await(clock_s() + 50e-6);
        for (int i = 0; i < N; i++)
            value = value * 0.5 + i;
    }
    say_seconds(clock_s() - began);
    return done(value);
}
