/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace that several processes of ours analyse together, each its part of the traced processes;
 * ranks of one number are in one part. All that happens within a process is known to its part. What
 * meets goes, with the place in the order of time that the event has in the whole trace, to the
 * part that has the receiver of a message, or the turn of an operation of many; that one matches in
 * this order. So each step is the one that a single walk through everything would have made, in its
 * order, and what comes of it is equal to the bit.
 */
#ifndef AS_ANALYTICS_PART_H
#define AS_ANALYTICS_PART_H

#include "analytics/parallel/part_records.h"
#include "analytics/parallel/shuffle_file.h"
#include "analytics/state/timeline.h"
#include "analytics/state/walking.h"
#include "analytics/store/trace_result.h"
#include "launch/party.h"

#define AS_PART_AFTER_NS INT64_MAX /* behind all events */

/* Files in the directory of the party: sides to match, by the part that matches them; results of
 * the walk; results of matching. The latter two are for rank 0. */
#define AS_PART_CROSSING "crossing"
#define AS_PART_FOUND    "found"
enum as_part_found {
    AS_FOUND_SITES,
    AS_FOUND_SUMS,
    AS_FOUND_TRAFFIC,
    AS_FOUND_WAITS,
    AS_FOUND_SAMPLES,
    AS_FOUND_THREADS,
    AS_FOUND_BINS,
    AS_FOUND_COUNTS,
    AS_FOUND_CHANNELS_N
};
#define AS_PART_FOR_ONE "for-one"
#define AS_PART_MATCHED "matched"
enum as_part_matched {
    AS_MATCHED_WAITS,
    AS_MATCHED_LATE_WAITS,
    AS_MATCHED_COUNTS,
    AS_MATCHED_CHANNELS_N
};

/* How many operations a rank began on a communicator. */
struct as_part_begun {
    uint64_t comm;
    uint32_t rank;
    uint64_t n;
};

struct as_trace_part {
    const struct as_party *party;
    uint32_t number, part_n;
    bool *is_left_out;      /* by process */
    uint32_t *owner;        /* by process: number of its part */
    uint64_t partition;     /* digest of what was divided, and how */
    struct as_part_key key; /* of the step at hand */
    struct as_shuffle_out *crossing, *found;
    bool is_for_one;  /* what was found takes one walk through all: as_part_is_possible */
    uint32_t slots_n; /* of receives that are asked for */
    AS_VEC(uint32_t) free_slot;
    uint32_t sends_n; /* slots of sends that have begun */
    AS_VEC(uint32_t) free_send;
    AS_VEC(struct as_part_begun) begun;
    struct as_index begun_rows;
    size_t sites_n, seen_n;                          /* of the walk: those that are handed on */
    AS_VEC(struct as_part_key) sum_key, traffic_key; /* when they were first needed */
    const struct as_sampled *sampled;                /* of the walk */
    AS_VEC(struct as_part_key) sampled_key;          /* of its sums: so too */
    const struct as_trace *trace;
    struct as_index ranks; /* rows of `trace->process` by rank */
};

/* Who waits at windows of one-sided communication is found on a walk through all of them: such a
 * trace is analysed by rank 0 alone. So is one that was switched off at times, that has sums of
 * calls or counters: that is seen on the walk of whoever has them. */
bool as_part_is_possible(const struct as_trace *trace);
/* Divides the processes of a trace. 0 or ASSAY_ERR_NOMEM. */
int as_part_init(struct as_trace_part *part, const struct as_trace *trace,
                 const struct as_party *party);
void as_part_fini(struct as_trace_part *part);
/* Which part has the processes of a rank; this one, where none is traced. */
uint32_t as_part_of_rank(const struct as_trace_part *part, int64_t rank);
/* The path of a file of a part. */
void as_part_path(const struct as_trace_part *part, const char *name, uint32_t number,
                  char path[4200]);

/* The walk is at an event; has taken it. */
void as_part_at(struct as_trace_part *part, uint32_t location, int64_t ns);
int as_part_passed(struct as_trace_part *part, struct as_trace_walk *walk);
/* Advances to the next step; returns its key, which the next call changes. */
const struct as_part_key *as_part_step(struct as_trace_part *part);
void as_part_write_wait(struct as_shuffle_out *to, uint32_t channel, const struct as_part_key *key,
                        const struct as_wait *wait);

/* What came of the walk is handed to rank 0. 0 or NOMEM. */
int as_part_write_found(struct as_trace_part *part, const struct as_trace_walk *walk,
                        const struct as_timeline *timeline);

/* match_replay.c: matches the records for this part, in order; hands waits to rank 0. `walk` is
 * prepared. */
int as_part_replay(struct as_trace_part *part, struct as_trace_walk *walk, struct as_traced *traced,
                   struct assay_error *err);
/* part_reduce.c: in rank 0, all parts become one analysis. `out` has a trace and its time line. */
int as_part_gather(struct as_trace_part *part, struct as_traced *out, struct assay_error *err);

#endif
