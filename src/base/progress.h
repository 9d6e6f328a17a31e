/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress line for long operations: "label  37 %, 12 s left". It appears only on a terminal and
 * after a moment. It is redrawn at most ten times per second and erased at the end.
 */
#ifndef AS_BASE_PROGRESS_H
#define AS_BASE_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct as_progress {
    int fd;            /* -1: nothing is drawn */
    const char *label; /* borrowed */
    uint64_t total;    /* 0: unknown, the count is shown */
    uint64_t interval_ns, begin_ns;
    _Atomic uint64_t done;
    _Atomic uint64_t due_ns; /* monotonic time of the next drawing */
    pthread_mutex_t lock;    /* held while drawing; protects `shown` */
    bool shown;
};

/*
 * Begins a line for `total` steps of work on `fd`, usually 2. Costs nothing if `fd` is not a
 * terminal. Do not copy before as_progress_end.
 */
void as_progress_begin(struct as_progress *progress, int fd, const char *label, uint64_t total);

/* Adds finished steps. Thread-safe. */
void as_progress_add(struct as_progress *progress, uint64_t steps);

/* Erases the line. Call it before writing anything else to the terminal. */
void as_progress_end(struct as_progress *progress);

#endif
