/* SPDX-License-Identifier: Apache-2.0 */
/* finding: kernel_time; repair: asked once, and kept; says: % of the time is in the kernel */
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

#define N 7000

/* None of them takes much by itself. */
static double ask(void)
{
    return (double)getuid() + (double)geteuid() + (double)getgid() + (double)getegid() +
           (double)getppid() + (double)getpgrp() + (double)getsid(0) + (double)getpid() +
           (double)getpriority(PRIO_PROCESS, 0) + (double)umask(022);
}

int main(void)
{
    double *a = array_of(N), sum = 0, kept = ask();

    for (int step = 0; step < 100000; step++) {
#ifndef REPAIRED
        kept = ask();
#endif
        for (int i = 0; i < N; i++)
            sum += a[i] * kept;
    }
    return done(sum);
}
