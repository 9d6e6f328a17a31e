/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads bound to processors that begin a piece of work together, and the time until the last has
 * ended. Memory that they work on is theirs: touched first where they run.
 */
#ifndef AS_MEASURE_CREW_H
#define AS_MEASURE_CREW_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>

#include "measure/assemble.h"

/* What one thread works on. */
struct as_crew_part {
    int cpu;
    void *a, *b, *c;
    size_t n, passes;
};

struct as_crew;

/* A thread a part, bound to its processor. Errors: NOMEM, IO (no thread can be started). */
int as_crew_new(struct as_crew_part *part, size_t n, struct as_crew **out, struct assay_error *err);
void as_crew_free(struct as_crew **crew);
size_t as_crew_size(const struct as_crew *crew);

/* Runs `kernel` once on every part; nanoseconds from the common beginning to the last end. */
int64_t as_crew_run(struct as_crew *crew, as_kernel_fn *kernel);
/* As often as given in each part's `passes`, which all become `passes`. */
void as_crew_passes(struct as_crew *crew, size_t passes);
/* Runs it on every part for filling memory where it is used. */
void as_crew_fill(struct as_crew *crew, void (*fill)(struct as_crew_part *part));

/* ---- Memory ---------------------------------------------------------------------------------- */

enum as_pages { AS_PAGES_ANY, AS_PAGES_SMALL, AS_PAGES_HUGE };

struct as_room {
    void *at;
    size_t size_b;
    bool huge; /* the kernel gave huge pages for most of it */
};

/* Untouched memory, aligned to 2 MiB; false: there is none. */
bool as_room_open(struct as_room *room, size_t size_b, enum as_pages pages);
/* Whether what has been touched by now lies in huge pages (smaps of this process). */
void as_room_look(struct as_room *room);
void as_room_close(struct as_room *room);

#endif
