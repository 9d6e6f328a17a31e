/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic of cache levels: the modelled caches, the replay, and sums by loop. */
#ifndef AS_COUNT_TRAFFIC_H
#define AS_COUNT_TRAFFIC_H

#include "count/counted.h"
#include "count/reader.h"

/* Size of the buffer of a thread. With two cores, programs rarely wait for the reader. */
#define AS_TRAFFIC_BUFFER_B (UINT32_C(8) << 20)

struct as_level_traffic {
    struct as_block_counting *counting;
    struct as_address_plan plan;
    const struct as_patch_plan *clones; /* borrowed */
    struct as_cache_level level[AS_COUNT_LEVELS];
    unsigned levels;
    struct as_level_replay replay;
    struct as_reader reader;
    bool is_ready, is_read;
};

/*
 * Parses levels such as "32K:8,1M:16,32M:16:victim": size, ways and kind, from L1 outwards.
 * Errors: USAGE.
 */
int as_level_traffic_parse(const char *text, struct as_cache_level *level, unsigned *n,
                           struct as_error *err);
/* Reads the levels of this machine. `threads` share the last one. Errors: UNSUPPORTED, NOMEM. */
int as_level_traffic_host(unsigned threads, struct as_cache_level *level, unsigned *n,
                          struct as_error *err);

/*
 * Prepares the traffic before the run, when `plan` is set. The caller calls as_level_traffic_fini
 * in any case.
 */
int as_level_traffic_prepare(struct as_level_traffic *traffic, struct as_error *err);
/* Starts the reader. Called when the directory of the agent exists, before the program runs. */
int as_level_traffic_begin(void *traffic, const char *directory, struct as_error *err);
/* Reads the rest of the files. Called after the end of the program. */
int as_level_traffic_end(void *traffic, const char *directory, struct as_error *err);
/* Adds the traffic to objects; `all` has the counters. Called after as_counting_sum. Errors: NOMEM.
 */
int as_level_traffic_sum(struct as_level_traffic *traffic, const struct as_instances *all,
                         struct as_error *err);
void as_level_traffic_fini(struct as_level_traffic *traffic);

/* ---- traffic_write.c ---- */

/* Writes metrics and flags of objects, within the transaction of the counts. */
int as_level_traffic_write(const struct as_block_counting *counting, struct as_error *err);

#endif
