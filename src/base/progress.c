/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress line. Threads only add to a counter and read the clock. A thread that finds a
 * drawing due tries the lock without waiting, so work never waits for the terminal.
 */
#include "base/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/term.h"

/* Delay before the first drawing: short commands show no line. */
#define FIRST_NS    ((uint64_t)300 * 1000 * 1000)
#define LEFT_NS     ((int64_t)1000 * 1000 * 1000) /* no remaining time is shown before */
#define INTERVAL_NS ((uint64_t)100 * 1000 * 1000)

void as_progress_begin(struct as_progress *progress, int fd, const char *label, uint64_t total)
{
    *progress = (struct as_progress){.fd = as_term_is(fd) ? fd : -1, .label = label};
    progress->total = total;
    progress->interval_ns = INTERVAL_NS;
    progress->begin_ns = as_monotonic_ns();
    pthread_mutex_init(&progress->lock, NULL);
    atomic_init(&progress->done, 0);
    atomic_init(&progress->due_ns, progress->begin_ns + FIRST_NS);
}

/* A failed write to the terminal is ignored. */
static void write_terminal(int fd, const char *p, size_t n)
{
    ssize_t ignored = write(fd, p, n);
    (void)ignored;
}

/* Writes ", 7 s left" to `out` from the pace so far, if the pace is known. */
static void remaining(const struct as_progress *progress, double part, char *out, size_t size_b)
{
    const int64_t spent_ns = (int64_t)((uint64_t)as_monotonic_ns() - progress->begin_ns);

    *out = '\0';
    if (part < 0.02 || spent_ns < LEFT_NS)
        return;
    const double left_s = (double)spent_ns / 1e9 * (1 - part) / part;
    if (left_s >= 90)
        snprintf(out, size_b, ", %.0f min left", left_s / 60);
    else if (left_s >= 1)
        snprintf(out, size_b, ", %.0f s left", left_s);
}

static void draw_line(struct as_progress *progress)
{
    char line[160], left[32];
    uint64_t done = atomic_load_explicit(&progress->done, memory_order_relaxed);
    size_t columns = as_term_width(progress->fd);
    const size_t figures = progress->total ? 36 : 24;
    int label = columns > figures ? (int)(columns - figures) : 0;
    if (label > 100)
        label = 100;
    int n;
    if (progress->total) {
        if (done > progress->total)
            done = progress->total;
        double part = (double)done / (double)progress->total;
        remaining(progress, part, left, sizeof left);
        n = snprintf(line, sizeof line, "\r\033[K%.*s %3d %%%s", label, progress->label,
                     (int)(100 * part), left);
    } else {
        n = snprintf(line, sizeof line, "\r\033[K%.*s %ju", label, progress->label,
                     (uintmax_t)done);
    }
    if (n > 0)
        write_terminal(progress->fd, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
    progress->shown = true;
}

void as_progress_add(struct as_progress *progress, uint64_t steps)
{
    if (progress->fd < 0)
        return;
    atomic_fetch_add_explicit(&progress->done, steps, memory_order_relaxed);
    uint64_t now = as_monotonic_ns();
    if (now < atomic_load_explicit(&progress->due_ns, memory_order_relaxed) ||
        pthread_mutex_trylock(&progress->lock) != 0)
        return;
    atomic_store_explicit(&progress->due_ns, now + progress->interval_ns, memory_order_relaxed);
    draw_line(progress);
    pthread_mutex_unlock(&progress->lock);
}

void as_progress_end(struct as_progress *progress)
{
    if (progress->fd >= 0 && progress->shown)
        write_terminal(progress->fd, "\r\033[K", 4);
    progress->shown = false;
    progress->fd = -1;
    pthread_mutex_destroy(&progress->lock);
}
