/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the address buffers of all threads and replays them, in a thread of its own. A thread of
 * the program waits for the reader if its buffer is full. All threads together wait for about
 * `patience_ns`.
 */
#ifndef AS_COUNT_READER_H
#define AS_COUNT_READER_H

#include <pthread.h>

#include "count/replay.h"
#include "patch/plan.h"

/* Initial maximum of the time that all threads wait together. */
#define AS_READER_PATIENCE_NS UINT64_C(1000000000)

struct as_reader_thread {
    char name[64]; /* name of its file */
    int fd;
    struct as_patch_thread *head; /* the first page of the file, shared with the program */
    uint64_t local_b;             /* difference of offsets: thread minus file */
    uint64_t patience;            /* patience that the thread received last */
    unsigned half;
    bool is_damaged;
    bool is_parked;                 /* its half was replayed; the thread records no more */
    uint64_t pending_at, pending_n; /* words of a walk that was unfinished when its half was read */
    struct as_level_replay_thread model;
};

struct as_reader {
    const struct as_patch_plan *plan; /* borrowed, as is `replay` */
    struct as_level_replay *replay;
    char directory[4096];
    uint64_t patience_ns; /* maximum; grows with time from AS_READER_PATIENCE_NS */
    int64_t begin_ns;
    AS_VEC(struct as_reader_thread *) thread;
    uint64_t *word; /* copy of one half of a buffer */
    uint64_t waited_n;
    unsigned slow_n; /* halves of sampled records that a thread waited for */
    uint64_t missed; /* number of threads with a damaged buffer */
    pthread_t worker;
    bool has_worker;
    _Atomic bool is_over;
};

/* Starts to read the buffers in `directory`. Errors: NOMEM, IO (no thread). */
int as_reader_start(struct as_reader *reader, const struct as_patch_plan *plan,
                    struct as_level_replay *replay, uint64_t patience_ns, const char *directory,
                    struct as_error *err);
/* Ends the thread. With `last` it reads the rest of the files first. */
void as_reader_stop(struct as_reader *reader, bool last);

#endif
