/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads that share one CPU and wait for nothing else: one burns, one burns and yields. A
 * thread is ready to run for all the time that it does not run. "queue_burn" and "queue_yield" are
 * that time by its own clocks. "... since it was made" includes the time before its first run.
 * Usage: queue SECONDS
 */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <sched.h>

static uint64_t burn_ns;
static uint64_t made_ns[2], queued_ns[2], queued_most_ns[2];

/* Pins the program to the first CPU that it may use. */
static void share_one(void)
{
    cpu_set_t may, one;
    int cpu = 0;
    if (sched_getaffinity(0, sizeof may, &may) != 0)
        exit(3);
    while (!CPU_ISSET(cpu, &may))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        exit(3);
}

static NOINLINE void burn(int yields)
{
    const uint64_t begin = thread_ns();
    while (thread_ns() - begin < burn_ns) {
        SPIN(200000);
        if (yields)
            sched_yield();
    }
}

static void *work(void *yields)
{
    const int i = yields != NULL;
    const uint64_t wall = wall_ns(), cpu = thread_ns();
    pthread_setname_np(pthread_self(), yields ? "queue_yield" : "queue_burn");
    burn(i);
    const uint64_t end = wall_ns(), used = thread_ns();
    queued_ns[i] = end - wall - (used - cpu);
    queued_most_ns[i] = end - made_ns[i] - used;
    return NULL;
}

int main(int argc, char **argv)
{
    static int yields;
    pthread_t thread[2];
    burn_ns = (uint64_t)((argc > 1 ? atof(argv[1]) : 0.4) * 1e9);
    share_one();
    for (int i = 0; i < 2; i++) {
        made_ns[i] = wall_ns();
        if (pthread_create(&thread[i], NULL, work, i ? &yields : NULL) != 0)
            return 1;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    truth_add("queue_burn", queued_ns[0]);
    truth_add("queue_burn since it was made", queued_most_ns[0]);
    truth_add("queue_yield", queued_ns[1]);
    truth_add("queue_yield since it was made", queued_most_ns[1]);
    truth_print(stdout);
    return 0;
}
