/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the time that a host takes away. A thread on each CPU sleeps for a millisecond at a
 * time, with real-time priority if permitted. It adds up the delays of its wake-ups. In a virtual
 * machine, such a delay means that the host did not run this CPU or had slow timers. /proc/stat
 * knows only a part of it (as steal, in hundredths of a second). On SIGTERM prints nanoseconds of
 * all CPUs.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* Time of an undisturbed wake-up. */
enum { EVERY_NS = 1000000, USUAL_NS = 500000, PROCESSORS = 1024 };

static uint64_t late_ns[PROCESSORS];
static pthread_t threads[PROCESSORS];

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *watch(void *sum)
{
    uint64_t *late = sum;
    for (uint64_t due = now_ns() + EVERY_NS;; due = now_ns() + EVERY_NS) {
        const struct timespec at = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        const uint64_t by = now_ns() - due;
        if (by > USUAL_NS)
            __atomic_fetch_add(late, by, __ATOMIC_RELAXED);
    }
    return NULL;
}

static int start(unsigned cpu)
{
    const struct sched_param first = {.sched_priority = sched_get_priority_max(SCHED_FIFO)};
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (pthread_create(&threads[cpu], NULL, watch, &late_ns[cpu]) != 0 ||
        pthread_setaffinity_np(threads[cpu], sizeof one, &one) != 0)
        return 1;
    return pthread_setschedparam(threads[cpu], SCHED_FIFO, &first) != 0;
}

int main(void)
{
    sigset_t end;
    cpu_set_t here;
    int number, queued = 0;
    uint64_t sum = 0;

    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &end, NULL);
    sched_getaffinity(0, sizeof here, &here);
    for (unsigned cpu = 0; cpu < PROCESSORS; cpu++)
        if (CPU_ISSET(cpu, &here))
            queued |= start(cpu);
    puts(queued ? "queued" : "first"); /* whether others may have been before it */
    fflush(stdout);
    sigwait(&end, &number);
    for (unsigned cpu = 0; cpu < PROCESSORS; cpu++)
        sum += __atomic_load_n(&late_ns[cpu], __ATOMIC_RELAXED);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
