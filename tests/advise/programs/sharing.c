/* SPDX-License-Identifier: Apache-2.0 */
/* finding: false_sharing; repair: each thread has a cache line of its own;
 * says: 2 threads that write different bytes of one cache line of count, 8 bytes apart;
 * advises: give each thread a cache line of its own */
#include "program.h"

#include <pthread.h>

#ifdef REPAIRED
#define APART 8
#else
#define APART 1
#endif

static volatile long count[2 * APART] __attribute__((aligned(64)));
static int draws[4096];

__attribute__((noinline, noipa)) static void add_up(volatile long *to, const int *from, long n)
{
    for (long i = 0; i < n; i++)
        *to += from[i];
}

static void *work(void *number)
{
    for (int step = 0; step < 60000; step++)
        add_up(&count[*(int *)number * APART], draws, 4096);
    return NULL;
}

int main(void)
{
    static int number[2] = {0, 1};
    pthread_t thread;

    for (int i = 0; i < 4096; i++)
        draws[i] = (int)(draw() % 8);
    pthread_create(&thread, NULL, work, &number[1]);
    work(&number[0]);
    pthread_join(thread, NULL);
    return done((int)count[0]);
}
