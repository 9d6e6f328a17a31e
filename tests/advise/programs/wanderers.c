/* SPDX-License-Identifier: Apache-2.0 */
/* finding: affinity; repair: a thread stays on its processor, whatever the number of its task;
 * says: Threads change processor [0-9,.]+ times a second */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "program.h"

#define N     80000 /* its own, most of what the nearest caches hold */
#define TASKS 6000

static long processors;

static void bind(long at)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)(at % processors), &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void *work(void *number)
{
    double *own = array_of(N), sum = 0;

    bind((long)number);
    for (int task = 0; task < TASKS; task++) {
#ifndef REPAIRED
        bind((long)number + task);
#endif
        for (int i = 0; i < N; i++)
            sum += own[i] *= 0.999;
    }
    own[0] = sum;
    return own;
}

int main(void)
{
    pthread_t thread;
    void *first, *second;

    processors = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_create(&thread, NULL, work, (void *)1L);
    first = work((void *)0L);
    pthread_join(thread, &second);
    return done(*(double *)first + *(double *)second);
}
