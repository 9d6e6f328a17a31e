/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each side looks for the other's batch only every two milliseconds and sleeps in between.
 * place: await
 * finding: waiting
 * words: (?i)poll|sleep
 * flags: -O2 -g -pthread
 * arguments: 1200
 * repair: The waiting side is woken by a condition variable.
 * clock: wall */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCH  12288
#define LEVELS 256

struct quote {
    uint32_t instrument;
    int32_t price;
    int32_t size;
};

struct slot {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int full;
    struct quote batch[BATCH];
};

struct feed {
    struct slot slot;
    int batches;
};

static void await(struct slot *s, int full)
{
    pthread_mutex_lock(&s->lock);
#ifdef REPAIRED
    while (s->full != full)
        pthread_cond_wait(&s->changed, &s->lock);
#else
    while (s->full != full) {
        struct timespec pause = {0, 2000000}; /* HERE */
        pthread_mutex_unlock(&s->lock);
        nanosleep(&pause, NULL); /* HERE */
        pthread_mutex_lock(&s->lock);
    }
#endif
    pthread_mutex_unlock(&s->lock);
}

static void mark(struct slot *s, int full)
{
    pthread_mutex_lock(&s->lock);
    s->full = full;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* A random walk for each instrument. */
static void __attribute__((noinline)) quote_batch(struct quote *q, int32_t *level, uint32_t *state)
{
    for (int i = 0; i < BATCH; i++) {
        uint32_t s = *state, a;
        for (int k = 0; k < 24; k++) {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
        }
        *state = s;
        a = s % LEVELS;
        level[a] += (int32_t)(s >> 28) - 7;
        q[i].instrument = a;
        q[i].price = level[a];
        q[i].size = (int32_t)(s >> 20 & 127) + 1;
    }
}

static void *publish(void *arg)
{
    struct feed *f = arg;
    uint32_t state = 777u;
    int32_t level[LEVELS];
    struct quote *next = malloc(sizeof *next * BATCH);

    if (!next)
        exit(2);
    for (int i = 0; i < LEVELS; i++)
        level[i] = 10000;
    for (int b = 0; b < f->batches; b++) {
        quote_batch(next, level, &state);
        await(&f->slot, 0);
        for (int i = 0; i < BATCH; i++)
            f->slot.batch[i] = next[i];
        mark(&f->slot, 1);
    }
    free(next);
    return NULL;
}

static uint64_t __attribute__((noinline)) merge(const struct quote *q, int64_t *notional)
{
    uint64_t h = 1469598103934665603ull;
    for (int i = 0; i < BATCH; i++) {
        int64_t v = (int64_t)q[i].price * q[i].size;
        notional[q[i].instrument] += v;
        for (int k = 0; k < 8; k++) {
            h = (h ^ (uint64_t)(v >> (8 * k) & 255)) * 1099511628211ull;
            h ^= h >> 29;
        }
    }
    return h;
}

int main(int argc, char **argv)
{
    static struct feed f;
    static int64_t notional[LEVELS];
    pthread_t publisher;
    uint64_t digest = 0;

    f.batches = argc > 1 ? atoi(argv[1]) : 100;
    pthread_mutex_init(&f.slot.lock, NULL);
    pthread_cond_init(&f.slot.changed, NULL);
    if (pthread_create(&publisher, NULL, publish, &f))
        return 2;
    for (int b = 0; b < f.batches; b++) {
        await(&f.slot, 1);
        digest = digest * 31 + merge(f.slot.batch, notional);
        mark(&f.slot, 0);
    }
    pthread_join(publisher, NULL);
    for (int i = 0; i < LEVELS; i++)
        digest ^= (uint64_t)notional[i] << (i % 8);
    printf("feedmerge %016llx\n", (unsigned long long)digest);
    return 0;
}
