/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic of cache levels: the caches that are modelled, the replay, and sums by loop. */
#ifndef AS_COUNT_TRAFFIC_H
#define AS_COUNT_TRAFFIC_H

#include "count/counted.h"
#include "count/reader.h"

/* Buffer of a thread: of this size a program on two cores waits for the reader seldom. */
#define AS_TRAFFIC_BUFFER_B (UINT32_C(8) << 20)

struct as_level_traffic {
    struct as_counting *counting;
    struct as_address_plan plan;
    const struct as_patch_plan *clones; /* borrowed */
    struct as_cache_level level[ASSAY_COUNT_LEVELS];
    unsigned levels;
    struct as_level_replay replay;
    struct as_reader reader;
    bool is_ready, is_read;
};

/* Levels of a text such as "32K:8,1M:16,32M:16:victim": size, ways, kind, the nearest first.
 * Errors: USAGE. */
int as_level_traffic_parse(const char *text, struct as_cache_level *level, unsigned *n,
                           struct assay_error *err);
/* Those of this machine, the last shared by `threads`. Errors: UNSUPPORTED, NOMEM. */
int as_level_traffic_host(unsigned threads, struct as_cache_level *level, unsigned *n,
                          struct assay_error *err);

/* Before the run; `plan` was taken from the maker. as_level_traffic_fini in any case. */
int as_level_traffic_prepare(struct as_level_traffic *traffic, struct assay_error *err);
/* The directory of the agent is there, and the program is about to run. */
int as_level_traffic_begin(void *traffic, const char *directory, struct assay_error *err);
/* The program has ended, and its files are there. */
int as_level_traffic_end(void *traffic, const char *directory, struct assay_error *err);
/* To objects, after as_counting_sum. Errors: NOMEM. */
int as_level_traffic_sum(struct as_level_traffic *traffic, struct assay_error *err);
void as_level_traffic_fini(struct as_level_traffic *traffic);

/* ---- traffic_write.c ---- */

/* Values, pages and flags of objects; within the say of the counts. */
int as_level_traffic_write(const struct as_counting *counting, struct assay_error *err);

#endif
