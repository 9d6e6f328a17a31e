/* SPDX-License-Identifier: Apache-2.0 */
/* finding: lock_contention; starter: taskset -c 0,1; processors: 2 (to be recorded where nobody
 * else takes them: nobody knows then for whom its threads waited); repair: each thread adds up for
 * itself, and combines once; behind: scalar_chain (the
 * loop in the lock is one); says: Threads spend [0-9.]+ s at locks */
#include <pthread.h>

#include "program.h"

#define THREADS 6
#define N       2000000

static pthread_spinlock_t lock;
static double total;

static void *add_up(void *from)
{
    double own = 0;

    for (int i = 0; i < N; i++) {
        double value = i;
        for (int k = 0; k < 20; k++) /* what is done outside the lock */
            value = value * 0.5 + *(double *)from;
#ifdef REPAIRED
        for (int k = 0; k < 20; k++)
            own += value;
#else
        pthread_spin_lock(&lock);
        for (int k = 0; k < 20; k++)
            total += value;
        pthread_spin_unlock(&lock);
#endif
    }
    pthread_spin_lock(&lock);
    total += own;
    pthread_spin_unlock(&lock);
    return NULL;
}

int main(void)
{
    double from = 1;
    pthread_t thread[THREADS];

    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, add_up, &from);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return done(total);
}
