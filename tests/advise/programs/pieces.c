/* SPDX-License-Identifier: Apache-2.0 */
/* finding: load_imbalance; libraries: -lz; seconds: of the longest thread; repair: each thread has
 * half of the blocks (handing out of pieces is uneven beside load); says: Threads compute
 * unevenly; advises: smaller pieces */
#include <pthread.h>
#include <zlib.h>

#include "program.h"

#define N       (1 << 15) /* values of a block */
#define BLOCKS  96
#define THREADS 2

static double value[N];
static double longest[THREADS], sum[THREADS];

static void pack(int thread, int blocks)
{
    Bytef *packed = malloc(compressBound(sizeof value));

    for (int i = 0; packed && i < blocks; i++) {
        uLongf size = compressBound(sizeof value);
        if (compress2(packed, &size, (const Bytef *)value, sizeof value, 6) == Z_OK)
            sum[thread] += (double)size;
    }
    free(packed);
}

static void *work(void *of)
{
    const int thread = *(int *)of;

#ifdef REPAIRED
    pack(thread, BLOCKS / 2);
#else
    pack(thread, thread ? BLOCKS / 4 : BLOCKS - BLOCKS / 4);
#endif
    longest[thread] = time_s(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

int main(void)
{
    static int number[THREADS] = {0, 1};
    pthread_t thread[THREADS];

    for (int k = 0; k < N; k++)
        value[k] = (double)(k * 977 % 1200) / 8 + (double)(draw() % 16);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, work, &number[i]))
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    say_seconds(longest[0] > longest[1] ? longest[0] : longest[1]);
    return done(sum[0] + sum[1]);
}
