/* SPDX-License-Identifier: Apache-2.0 */
/* finding: system_calls; repair: asked once;
 * within: 25 % (a system call leaves cold caches and predictors to the code behind it) */
#include <sys/syscall.h>
#include <unistd.h>

#include "program.h"

int main(void)
{
    double sum = 0;
    long who = getppid();

    for (int i = 0; i < 8000000; i++) {
#ifndef REPAIRED
        who = getppid();
#endif
        sum += (double)who * i;
    }
    return done(sum);
}
