/* SPDX-License-Identifier: Apache-2.0 */
/* finding: slow_thread; flags: -O2 -pthread; seconds: of the longest thread; repair: the thread
 * that takes the blocks decodes a quarter of them; says: in functions that it alone runs, most of
 * it in decode; advises: Share the work of decode */
#include <pthread.h>

#include "program.h"

#define BLOCKS 10000
#define N      4096

struct slot {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int is_full;
    double block[N];
};

static double producer_s;
static struct slot slot = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

__attribute__((noinline, noipa)) static void decode(double *block, long from, long to)
{
    for (long i = from; i < to; i++)
        for (int k = 0; k < 24; k++)
            block[i] = block[i] * 0.999 + 0.001 * k;
}

__attribute__((noinline, noipa)) static double add_up(const double *block)
{
    double sum = 0;

    for (long i = 0; i < N; i++)
        for (int k = 0; k < 9; k++)
            sum = sum * 0.5 + block[i] * k;
    return sum;
}

/* Waits until the slot is full or free, and holds its lock. */
static void wait_for(int is_full)
{
    pthread_mutex_lock(&slot.lock);
    while (slot.is_full != is_full)
        pthread_cond_wait(&slot.changed, &slot.lock);
}

static void pass_on(int is_full)
{
    slot.is_full = is_full;
    pthread_cond_signal(&slot.changed);
    pthread_mutex_unlock(&slot.lock);
}

static void *produce(void *unused)
{
    double *block = array_of(N);

    for (int b = 0; b < BLOCKS; b++) {
        block[b % N] = b;
#ifdef REPAIRED
        decode(block, 0, 3 * N / 4);
#else
        decode(block, 0, N);
#endif
        wait_for(0);
        memcpy(slot.block, block, sizeof slot.block);
        pass_on(1);
    }
    free(block);
    producer_s = time_s(CLOCK_THREAD_CPUTIME_ID);
    return unused;
}

int main(void)
{
    double *block = array_of(N), sum = 0;
    pthread_t producer;

    pthread_create(&producer, NULL, produce, NULL);
    for (int b = 0; b < BLOCKS; b++) {
        wait_for(1);
        memcpy(block, slot.block, sizeof slot.block);
        pass_on(0);
#ifdef REPAIRED
        decode(block, 3 * N / 4, N);
#endif
        sum += add_up(block);
    }
    pthread_join(producer, NULL);
    const double own_s = time_s(CLOCK_THREAD_CPUTIME_ID);
    say_seconds(own_s > producer_s ? own_s : producer_s);
    free(block);
    return done(sum);
}
