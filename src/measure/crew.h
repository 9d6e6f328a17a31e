/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads bound to CPUs that start a piece of work together. Measures the time until the last
 * thread ends. Each thread touches its memory first, so that the memory is local.
 */
#ifndef AS_MEASURE_CREW_H
#define AS_MEASURE_CREW_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "measure/assemble.h"

/* The work of one thread. */
struct as_crew_part {
    int cpu;
    void *a, *b, *c;
    size_t n, passes;
};

struct as_crew;

/* Starts one thread per part, bound to the CPU of the part. Errors: NOMEM, IO (no thread can be
 * started). */
int as_crew_new(struct as_crew_part *part, size_t n, struct as_crew **out, struct as_error *err);
void as_crew_free(struct as_crew **crew);
size_t as_crew_size(const struct as_crew *crew);

/* Runs `kernel` once on every part. Returns the ns from the common start to the last end. */
int64_t as_crew_run(struct as_crew *crew, as_kernel_fn *kernel);
/* Sets `passes` of every part. */
void as_crew_passes(struct as_crew *crew, size_t passes);
/* Runs `fill` on every part in its thread, to fill memory where it is used. */
void as_crew_fill(struct as_crew *crew, void (*fill)(struct as_crew_part *part));

/* ---- Memory ---------------------------------------------------------------------------------- */

enum as_pages { AS_PAGES_ANY, AS_PAGES_SMALL, AS_PAGES_HUGE };

struct as_room {
    void *at;
    size_t size_b;
    bool huge; /* the kernel gave huge pages for most of it */
};

/* Maps untouched memory aligned to 2 MiB. Returns false if there is none. */
bool as_room_open(struct as_room *room, size_t size_b, enum as_pages pages);
/* Sets `huge` if the memory touched so far is in huge pages (smaps of this process). */
void as_room_look(struct as_room *room);
void as_room_close(struct as_room *room);

#endif
