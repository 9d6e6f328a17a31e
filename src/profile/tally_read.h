/* SPDX-License-Identifier: Apache-2.0 */
/* State of the reading of one stream into the tally. */
#ifndef AS_PROFILE_TALLY_READ_H
#define AS_PROFILE_TALLY_READ_H

#include "profile/numa.h"
#include "profile/tally.h"

struct as_tally_private {
    uint32_t node, process, result;
};

/* A stream that is being read. Its lists map numbers of the stream to numbers of the tally;
 * AS_NONE = none yet. */
struct as_tally_reading {
    struct as_tally *tally;
    struct as_stream *stream;
    uint32_t number;
    int64_t offset_ns;  /* added to times of the stream to get times of the run */
    uint64_t sample_ns; /* time of one sample; 0 = its period is the time */
    int64_t last_ns;
    AS_VEC(uint32_t) thread, module, node;
    AS_VEC(const char *) python;         /* Python functions, as text of the stream */
    AS_VEC(uint32_t) on_cpu;             /* by CPU: the thread of the tally that runs there */
    AS_VEC(bool) is_private;             /* by node: on a path through generated code */
    AS_VEC(struct as_tally_private) own; /* private nodes by process */
    struct as_index own_index;
    struct as_map_u64 process; /* from a pid to its latest incarnation */
    struct as_numa numa;       /* of the host of the stream */
    /* Early run delay of the first thread of the started process (as_tally_thread). pid 0: unknown
     */
    struct {
        uint32_t pid;
        int64_t delay_ns, at_ns;
    } early;
};

/* ---- tally.c ---- */

/* Returns a copy of `text` that the tally owns; NULL if memory is exhausted. */
const char *as_tally_keep(struct as_tally *t, const char *text);
/* Adds `ns` to a sum over the run and returns the added part. A sum is limited to 2^61, so that two
 * sums can be added. */
uint64_t as_tally_add_within(uint64_t *sum, int64_t ns);

/* ---- tally_sum.c; errors: NOMEM ---- */

int as_tally_add_sum(struct as_tally *t, uint32_t thread, uint32_t node, bool blocked, uint64_t n,
                     uint64_t time_ns);

/* ---- tally_thread.c; errors: NOMEM ---- */

/* Finds the running incarnation of a process or a thread of the stream, and adds it if it is new.
 */
int as_tally_process_of(struct as_tally_reading *r, uint32_t pid, int64_t at, uint32_t *out);
int as_tally_thread_of(struct as_tally_reading *r, uint32_t index, int64_t at, uint32_t *out);
int as_tally_on_fork(struct as_tally_reading *r, const struct as_stream_record *record, int64_t at);

int as_tally_on_switch(struct as_tally_reading *r, const struct as_stream_record *record,
                       int64_t at);
void as_tally_stop_queueing(struct as_tally *t, struct as_tally_thread *thread, int64_t at);
int as_tally_stop_waiting(struct as_tally *t, uint32_t index, int64_t at);
void as_tally_end_thread(struct as_tally *t, uint32_t index, int64_t at);
/* as_tally_seen_on notes that a thread runs on a CPU, by a sample or a switch record;
 * as_tally_count_cpu counts a sample there. */
void as_tally_seen_on(const struct as_tally_reading *r, struct as_tally_thread *thread,
                      uint32_t cpu);
int as_tally_count_cpu(const struct as_tally_reading *r, struct as_tally_thread *thread,
                       uint32_t cpu);

#endif
