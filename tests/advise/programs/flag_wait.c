/* SPDX-License-Identifier: Apache-2.0 */
/* finding: spin_loop; flags: -O2; repair: the thread waits at a condition variable;
 * says: waits for another thread by spinning */
#include <pthread.h>
#include <stdatomic.h>

#include "program.h"

static atomic_int is_ready;
#ifdef REPAIRED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
#endif

static void *await(void *unused)
{
#ifdef REPAIRED
    pthread_mutex_lock(&lock);
    while (!is_ready)
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
#else
    while (!atomic_load_explicit(&is_ready, memory_order_acquire))
        ;
#endif
    return unused;
}

int main(void)
{
    double x = 1;
    pthread_t thread;

    pthread_create(&thread, NULL, await, NULL);
    for (long i = 0; i < 400000000; i++)
        x = x * 0.999999 + 0.5;
#ifdef REPAIRED
    pthread_mutex_lock(&lock);
    is_ready = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
#else
    is_ready = 1;
#endif
    pthread_join(thread, NULL);
    return done(x);
}
