/* SPDX-License-Identifier: Apache-2.0 */
/* finding: short_threads; flags: -O2; repair: one thread does all pieces;
 * says: threads live [0-9.]+ ms each.*from main */
#include <pthread.h>

#include "program.h"

#define PIECES 4000

static double sum[PIECES];

static void *add_up(void *number)
{
    const long piece = (long)number;

    for (int i = 0; i < 300; i++)
        sum[piece] += (double)(piece % 7) * 0.5;
    return NULL;
}

int main(void)
{
    double all = 0;

    for (long piece = 0; piece < PIECES; piece++) {
#ifdef REPAIRED
        add_up((void *)piece);
#else
        pthread_t thread;

        if (pthread_create(&thread, NULL, add_up, (void *)piece))
            abort();
        pthread_join(thread, NULL);
#endif
        all += sum[piece];
    }
    return done(all);
}
