/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One part of a trace that several analysis processes share. Each part has some of the traced
 * processes; ranks of one number are in one part. Each part walks through its processes alone.
 * Sides of messages and members of collectives go as records to the part that matches them. That
 * part has the receiver of the message, or the turn of the collective. A record has the position of
 * its event in the order of the whole trace, and matching follows this order. Results are therefore
 * equal, bit by bit, to those of a single walk.
 */
#ifndef AS_ANALYTICS_PART_H
#define AS_ANALYTICS_PART_H

#include "analytics/parallel/part_records.h"
#include "analytics/parallel/shuffle_file.h"
#include "analytics/state/timeline.h"
#include "analytics/state/walking.h"
#include "analytics/store/trace_result.h"
#include "launch/party.h"

#define AS_PART_AFTER_NS INT64_MAX /* key of results after all events */

/* Files in the directory of the party: sides to match, for the part that matches them; results of
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

/* Number of collectives that a rank began on a communicator. */
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
    uint64_t partition;     /* digest of the division and of the trace */
    struct as_part_key key; /* key of the current step */
    struct as_shuffle_out *crossing, *found;
    bool is_for_one;  /* the trace needs one walk through all processes: as_part_is_possible */
    uint32_t slots_n; /* numbers of posted receives */
    AS_VEC(uint32_t) free_slot;
    uint32_t sends_n; /* numbers of sends that have begun */
    AS_VEC(uint32_t) free_send;
    AS_VEC(struct as_part_begun) begun;
    struct as_index begun_rows;
    size_t sites_n, seen_n;                          /* of the walk: entries that were written
                                                      * already */
    AS_VEC(struct as_part_key) sum_key, traffic_key; /* key of the first use of each entry */
    const struct as_sampled *sampled;                /* of the walk */
    AS_VEC(struct as_part_key) sampled_key;          /* key of the first use of each sum */
    const struct as_trace *trace;
    struct as_index ranks; /* indices in `trace->process` by rank */
};

/* Returns whether parts can analyse the trace. Waits at windows of one-sided communication need one
 * walk through all processes: rank 0 analyses such a trace alone. The same holds for pauses of
 * tracing, sums of calls, counters and phases, which a part finds on its walk. */
bool as_part_is_possible(const struct as_trace *trace);
/* Divides the processes of a trace. Returns 0 or AS_ERR_NOMEM. */
int as_part_init(struct as_trace_part *part, const struct as_trace *trace,
                 const struct as_party *party);
void as_part_fini(struct as_trace_part *part);
/* Returns the part of the processes of a rank; this part if none is traced. */
uint32_t as_part_of_rank(const struct as_trace_part *part, int64_t rank);
/* Writes the path of a file of a part. */
void as_part_path(const struct as_trace_part *part, const char *name, uint32_t number,
                  char path[4200]);

/* Begins the step of an event; ends it. */
void as_part_at(struct as_trace_part *part, uint32_t location, int64_t ns);
int as_part_passed(struct as_trace_part *part, struct as_trace_walk *walk);
/* Advances to the next step. Returns its key, which the next call changes. */
const struct as_part_key *as_part_step(struct as_trace_part *part);
void as_part_write_wait(struct as_shuffle_out *to, uint32_t channel, const struct as_part_key *key,
                        const struct as_wait *wait);

/* Writes the results of the walk for rank 0. Returns 0 or AS_ERR_NOMEM. */
int as_part_write_found(struct as_trace_part *part, const struct as_trace_walk *walk,
                        const struct as_timeline *timeline);

/* match_replay.c: matches the records for this part in order, and writes wait states for rank 0.
 * `walk` is prepared. */
int as_part_replay(struct as_trace_part *part, struct as_trace_walk *walk, struct as_traced *traced,
                   struct as_error *err);
/* part_reduce.c: combines, in rank 0, all parts into one analysis. `out` has a trace and its time
 * line. */
int as_part_gather(struct as_trace_part *part, struct as_traced *out, struct as_error *err);

#endif
