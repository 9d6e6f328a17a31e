/* SPDX-License-Identifier: Apache-2.0 */
/* finding: oversubscribed; repair: as many threads as processors;
 * says: busy threads had .* processor; advises: Use [0-9]+ threads?, or give it more processors */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "program.h"

#define STEPS  250
#define VALUES 600000
#define MOST   256

static atomic_int came, step_now;
static int threads;
static double sum[MOST];

/* All wait, spinning, for the last. */
static void meet(int step)
{
    if (atomic_fetch_add(&came, 1) + 1 == threads) {
        atomic_store(&came, 0);
        atomic_store(&step_now, step + 1);
    }
    while (atomic_load(&step_now) == step)
        ;
}

static void *work(void *own)
{
    double *mine = own;

    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < VALUES / threads; i++)
            *mine = *mine * 0.5 + i;
        meet(step);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[MOST];
    const int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);

#ifdef REPAIRED
    threads = processors;
#else
    threads = 2 * processors;
#endif
    for (int i = 1; i < threads; i++)
        pthread_create(&thread[i], NULL, work, &sum[i]);
    work(&sum[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    return done(sum[0]);
}
