/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models the buffers in which operations need an entry. Schedulers free their entries in any order,
 * queues in the order of arrival. The code is in a header because the simulation uses it for every
 * operation.
 */
#ifndef AS_PREDICT_ROOMS_H
#define AS_PREDICT_ROOMS_H

#include <assert.h>

enum { AS_HEAP_MOST = 1024, AS_QUEUE_MOST = 1024 };

/* Cycles in which entries become free, as a heap with the earliest first. */
struct as_scheduler_entries {
    double at[AS_HEAP_MOST];
    unsigned n, cap;
};

/* Entries that become free in order. */
struct as_queue_entries {
    double at[AS_QUEUE_MOST];
    unsigned head, n, cap;
};

static inline void as_heap_push(struct as_scheduler_entries *w, double value)
{
    assert(w->n < AS_HEAP_MOST);
    unsigned i = w->n++;
    for (; i && w->at[(i - 1) / 2] > value; i = (i - 1) / 2)
        w->at[i] = w->at[(i - 1) / 2];
    w->at[i] = value;
}

static inline void as_heap_pop(struct as_scheduler_entries *w)
{
    assert(w->n > 0);
    const double last = w->at[--w->n];
    unsigned i = 0;
    for (;;) {
        unsigned child = 2 * i + 1;
        if (child >= w->n)
            break;
        if (child + 1 < w->n && w->at[child + 1] < w->at[child])
            child++;
        if (w->at[child] >= last)
            break;
        w->at[i] = w->at[child];
        i = child;
    }
    w->at[i] = last;
}

/* Returns the first cycle from `cycle` on in which the scheduler has a free entry. */
static inline double as_scheduler_room(struct as_scheduler_entries *w, double cycle)
{
    if (!w->cap)
        return cycle;
    while (w->n && w->at[0] <= cycle)
        as_heap_pop(w);
    while (w->n >= w->cap) {
        cycle = w->at[0] > cycle ? w->at[0] : cycle;
        as_heap_pop(w);
    }
    return cycle;
}

static inline double as_queue_room(struct as_queue_entries *q, double cycle)
{
    if (q->cap && q->n == q->cap) {
        if (q->at[q->head] > cycle)
            cycle = q->at[q->head];
        q->head = (q->head + 1) % AS_QUEUE_MOST;
        q->n--;
    }
    return cycle;
}

static inline void as_queue_insert(struct as_queue_entries *q, double freed)
{
    assert(q->n < AS_QUEUE_MOST);
    if (q->cap)
        q->at[(q->head + q->n++) % AS_QUEUE_MOST] = freed;
}

#endif
