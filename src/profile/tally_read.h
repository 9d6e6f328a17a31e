/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the reading of streams into the tally: what one stream needs while it is read. */
#ifndef AS_PROFILE_TALLY_READ_H
#define AS_PROFILE_TALLY_READ_H

#include "profile/numa.h"
#include "profile/tally.h"

struct as_tally_private {
    uint32_t node, process, result;
};

/* One stream while it is read. Its numbers -> those of the tally, ASSAY_NONE = not yet. */
struct as_tally_reading {
    struct as_tally *tally;
    struct assay_stream *stream;
    uint32_t number;
    int64_t offset_ns;  /* from times of the stream to those of the run */
    uint64_t sample_ns; /* what a sample stands for; 0: its period says it */
    int64_t last_ns;
    AS_VEC(uint32_t) thread, module, node;
    AS_VEC(const char *) python;         /* functions of Python, as the stream has them */
    AS_VEC(uint32_t) on_cpu;             /* by processor: thread of the tally that came on last */
    AS_VEC(bool) is_private;             /* by node: on a path through generated code */
    AS_VEC(struct as_tally_private) own; /* private nodes by process */
    struct as_index own_index;
    struct as_map_u64 process; /* pid -> latest incarnation */
    struct as_numa numa;       /* of the host of the stream */
    /* Of the first thread of the process that was started; see as_tally_thread. pid 0: not known */
    struct {
        uint32_t pid;
        int64_t delay_ns, at_ns;
    } early;
};

/* ---- tally.c ---- */

/* A copy that lives as long as the tally; NULL: no memory. */
const char *as_tally_keep(struct as_tally *t, const char *text);
/* What of `ns` there is room for in a sum over all: none is ever more than 2^61: two of them can be
 * added. */
uint64_t as_tally_add_within(uint64_t *sum, int64_t ns);

/* ---- tally_sum.c: 0 or NOMEM ---- */

int as_tally_add_sum(struct as_tally *t, uint32_t thread, uint32_t node, bool blocked, uint64_t n,
                     uint64_t time_ns);

/* ---- tally_thread.c: 0 or NOMEM ---- */

/* The running incarnation of a process or of a thread of the stream, made when it was not seen
 * before. */
int as_tally_process_of(struct as_tally_reading *r, uint32_t pid, int64_t at, uint32_t *out);
int as_tally_thread_of(struct as_tally_reading *r, uint32_t index, int64_t at, uint32_t *out);
int as_tally_on_fork(struct as_tally_reading *r, const struct assay_stream_record *record,
                     int64_t at);

int as_tally_on_switch(struct as_tally_reading *r, const struct assay_stream_record *record,
                       int64_t at);
void as_tally_stop_queueing(struct as_tally *t, struct as_tally_thread *thread, int64_t at);
int as_tally_stop_waiting(struct as_tally *t, uint32_t index, int64_t at);
void as_tally_end_thread(struct as_tally *t, uint32_t index, int64_t at);
/* A sample or switch found the thread on a processor; and a sample counts there. */
void as_tally_seen_on(const struct as_tally_reading *r, struct as_tally_thread *thread,
                      uint32_t cpu);
int as_tally_count_cpu(const struct as_tally_reading *r, struct as_tally_thread *thread,
                       uint32_t cpu);

#endif
