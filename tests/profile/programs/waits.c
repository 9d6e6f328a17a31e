/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that waits, for a sleep, a lock and a pipe, and burns in between. Prints for each wait
 * its maximum: wall time minus CPU time. Prints "delay", the time of all waits in which it was
 * ready without a CPU, by the kernel's account. Usage: waits
 */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <unistd.h>

enum { ROUNDS = 10, WAIT_US = 20000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int ends[2];

static void pause_us(unsigned us)
{
    const struct timespec t = {0, (long)us * 1000};
    nanosleep(&t, NULL);
}

static NOINLINE void wait_sleep(void)
{
    pause_us(WAIT_US);
    STAY();
}
static NOINLINE void wait_lock(void)
{
    pthread_mutex_lock(&lock);
    STAY();
    pthread_mutex_unlock(&lock);
}
static NOINLINE void wait_pipe(void)
{
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        _exit(3);
    STAY();
}
static NOINLINE void busy(void)
{
    SPIN(20000000);
}

/* Holds the lock, and leaves the pipe empty, for a while of each round. */
static void *holder(void *context)
{
    (void)context;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        pthread_barrier_wait(&barrier);
        pause_us(WAIT_US);
        pthread_mutex_unlock(&lock);
        pthread_barrier_wait(&barrier);
        pause_us(WAIT_US);
        if (write(ends[1], "x", 1) != 1)
            _exit(3);
    }
    return NULL;
}

static uint64_t delay_ns(void)
{
    unsigned long long ran, delay = 0;
    FILE *f = fopen("/proc/thread-self/schedstat", "r");
    if (f && fscanf(f, "%llu %llu", &ran, &delay) != 2)
        delay = 0;
    if (f)
        fclose(f);
    return delay;
}

static void waited(const char *name, void (*wait)(void))
{
    uint64_t delay = delay_ns(), wall = wall_ns(), cpu = thread_ns();
    wait();
    truth_add(name, wall_ns() - wall - (thread_ns() - cpu));
    truth_add("delay", delay_ns() - delay);
}

int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    if (pipe(ends) != 0 || pthread_create(&thread, NULL, holder, NULL) != 0)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&barrier);
        waited("wait_lock", wait_lock);
        pthread_barrier_wait(&barrier);
        waited("wait_pipe", wait_pipe);
        waited("wait_sleep", wait_sleep);
        busy();
    }
    pthread_join(thread, NULL);
    truth_print(stdout);
    return 0;
}
