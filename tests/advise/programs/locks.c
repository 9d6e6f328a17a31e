/* SPDX-License-Identifier: Apache-2.0 */
/* finding: lock_contention; repair: each thread adds up for itself, and combines once;
 * behind: parallel_overhead (a gain of the same time, of which this says where it comes from) */
#include <pthread.h>

#include "program.h"

#define N 20000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double total;

static void *add_up(void *from)
{
    double own = 0;

    for (int i = 0; i < N; i++) {
#ifdef REPAIRED
        own += i * *(double *)from;
#else
        pthread_mutex_lock(&lock);
        total += i * *(double *)from;
        pthread_mutex_unlock(&lock);
#endif
    }
    pthread_mutex_lock(&lock);
    total += own;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    double from[2] = {1, 2};
    pthread_t thread;

    pthread_create(&thread, NULL, add_up, &from[1]);
    add_up(&from[0]);
    pthread_join(thread, NULL);
    return done(total);
}
