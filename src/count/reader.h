/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the buffers of addresses of all threads and replays them, in a thread of its own. A thread
 * of the program waits for the reader if its buffer is full. All threads together wait for about as
 * long as `patience_ns` says.
 */
#ifndef AS_COUNT_READER_H
#define AS_COUNT_READER_H

#include <pthread.h>

#include "count/replay.h"
#include "patch/plan.h"

/* All threads together may wait so long, and longer with time. */
#define AS_READER_PATIENCE_NS UINT64_C(1000000000)

struct as_reader_thread {
    char name[64]; /* of its file */
    int fd;
    struct as_patch_thread *head; /* the first page of the file, shared */
    uint64_t local_b;             /* offsets of the thread less those of the file */
    uint64_t patience;            /* that it was given last */
    unsigned half;
    bool is_damaged;
    bool is_parked;                 /* its half was replayed, and it goes on without */
    uint64_t pending_at, pending_n; /* a walk that ran when its half was read: words of the file */
    struct as_level_replay_thread model;
};

struct as_reader {
    const struct as_patch_plan *plan; /* borrowed, as is `replay` */
    struct as_level_replay *replay;
    char directory[4096];
    uint64_t patience_ns; /* at most; grows with time from AS_READER_PATIENCE_NS */
    int64_t begin_ns;
    AS_VEC(struct as_reader_thread *) thread;
    uint64_t *word; /* a copy of a half */
    uint64_t waited_n;
    uint64_t missed; /* threads with a damaged buffer */
    pthread_t worker;
    bool has_worker;
    _Atomic bool is_over;
};

/* Errors: NOMEM, IO (no thread). The buffers of `directory` are read from now on. */
int as_reader_start(struct as_reader *reader, const struct as_patch_plan *plan,
                    struct as_level_replay *replay, uint64_t patience_ns, const char *directory,
                    struct assay_error *err);
/* Ends the thread; with `last` reads the rest, as long as the files are there. */
void as_reader_stop(struct as_reader *reader, bool last);

#endif
