/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the reader of perf.data files: the file, its events, its features, and the records that
 * wait to be delivered in time order.
 */
#ifndef AS_SAMPLE_PERF_DATA_H
#define AS_SAMPLE_PERF_DATA_H

#include <linux/perf_event.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/filemap.h"
#include "base/map.h"
#include "base/read.h"
#include "base/vec.h"
#include "sample/recorder.h"
#include "sample/sample.h"

/* Record types that perf adds to those of the kernel. */
enum as_perf_type {
    AS_PERF_HEADER_ATTR = 64,
    AS_PERF_TRACING_DATA = 66,
    AS_PERF_BUILD_ID = 67,
    AS_PERF_FINISHED_ROUND = 68,
    AS_PERF_AUXTRACE = 71,
    AS_PERF_EVENT_UPDATE = 78,
    AS_PERF_FEATURE = 80,
    AS_PERF_COMPRESSED = 81,
    AS_PERF_COMPRESSED2 = 83,
};

/* Numbers of the features in the header. */
enum as_perf_feature {
    AS_FEATURE_BUILD_ID = 2,
    AS_FEATURE_HOSTNAME,
    AS_FEATURE_OSRELEASE,
    AS_FEATURE_VERSION,
    AS_FEATURE_ARCH,
    AS_FEATURE_NRCPUS,
    AS_FEATURE_CPUDESC,
    AS_FEATURE_CPUID,
    AS_FEATURE_TOTAL_MEM,
    AS_FEATURE_CMDLINE,
    AS_FEATURE_EVENT_DESC,
    AS_FEATURE_SAMPLE_TIME = 21,
    AS_FEATURE_CLOCK_DATA = 29,
    AS_FEATURES = 256
};

/* Position of a part of the file. */
struct as_perf_section {
    uint64_t offset, size;
};

struct as_perf_build_id {
    uint8_t id[20];
    uint8_t size_b;
};

/* A record that waits for its turn. Its bytes are in the file or in a decompressed block. */
struct as_perf_waiting {
    uint64_t time_ns;
    uint64_t number; /* ascending in file order; orders records of equal times */
    const uint8_t *bytes;
    uint32_t block; /* index of the decompressed block; AS_MAP_NONE: in the file */
};

struct as_perf_block {
    uint8_t *bytes; /* NULL: free slot */
    size_t size_b;
    size_t waiting;
};

/* State of the decompression, see perf_zstd.c. */
struct as_perf_zstd;

struct as_perf_data {
    char *path;
    struct as_filemap map;
    const uint8_t *bytes; /* content of the file */
    size_t size_b;
    uint64_t data_from, data_to;
    int64_t written_ns; /* last modification of the file, ns since 1970 */
    bool unfinished;    /* perf was killed before it wrote the end */

    /* Events in file order; `event` is the public part of each. */
    AS_VEC(struct perf_event_attr) attr;
    AS_VEC(struct as_perf_event) event;
    uint64_t ids;            /* number of event ids read */
    struct as_map_u64 by_id; /* event id of the kernel -> index of the event */
    AS_VEC(struct as_perf_build_id) build_id;
    struct as_map_view by_path; /* path -> index in `build_id` */
    struct as_arena arena;
    struct as_perf_facts facts;
    struct as_sample_choice choice;
    struct as_sample_counts counts;
    char damage[512];

    /* State of the reading. */

    uint64_t at;
    uint64_t number;
    /* Latest time before the end of the last round, and latest time so far. */
    uint64_t round_ns, round_most_ns;
    uint64_t handed_ns;
    AS_VEC(struct as_perf_waiting) waiting;
    AS_VEC(struct as_perf_block) block;
    size_t blocks_b;
    struct as_perf_zstd *zstd;
    as_sample_sink *sink;
    void *context;
};

/* ---- Header: perf_header.c, perf_feature.c, perf_choose.c ---- */

/* Stores the sentence about the damage. The first sentence is kept. */
void as_perf_damaged(struct as_perf_data *data, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds an event from the bytes of its attr and the ids of its instances. Returns 0 or NOMEM. */
int as_perf_add_event(struct as_perf_data *data, const uint8_t *attr, size_t attr_b,
                      struct as_read *ids);
/* Parses a feature of the header. Invalid values are ignored. Returns 0 or NOMEM. */
int as_perf_feature(struct as_perf_data *data, unsigned feature, struct as_read r);
/* Parses a build-id record without its header. Returns 0 or NOMEM. */
int as_perf_build_id(struct as_perf_data *data, uint16_t misc, struct as_read r);
/* Chooses the event that measures time, and finds its sampling rate. Errors: UNSUPPORTED, CORRUPT,
 * NOMEM. */
int as_perf_choose(struct as_perf_data *data, struct as_error *err);

/* ---- Records: perf_read.c ---- */

/* Resets the reader to the first record. */
void as_perf_reset(struct as_perf_data *data);

/* Reads and checks the record header at offset `at` of the data. Returns the bytes of the record,
 * or NULL at the end or after damage, which is reported. */
const uint8_t *as_perf_record_at(struct as_perf_data *data, uint64_t at,
                                 struct perf_event_header *header);
/* Returns the number of bytes of trace data that follow a record; 0 for most records. */
uint64_t as_perf_extra_b(const struct perf_event_header *header, const uint8_t *bytes);
/* Returns the event of a kernel record, or AS_MAP_NONE. */
uint32_t as_perf_event_of(const struct as_perf_data *data, const struct perf_event_header *header,
                          const uint8_t *bytes);
/* Handles a record that perf made, not the kernel. Returns 0 or NOMEM. */
int as_perf_own_record(struct as_perf_data *data, const struct perf_event_header *header,
                       const uint8_t *bytes);

/* ---- Decompression: perf_zstd.c ---- */

/* Decompresses the payload of a record into a new block, behind the incomplete record of the last
 * block. Sets `*block`. Returns 0, CORRUPT or NOMEM. */
int as_perf_decompress(struct as_perf_data *data, const uint8_t *bytes, size_t n, uint32_t *block);
/* Keeps the bytes from `from` on for the next block, because they are an incomplete record. Returns
 * 0 or NOMEM. */
int as_perf_left_over(struct as_perf_data *data, uint32_t block, size_t from);
void as_perf_zstd_free(struct as_perf_zstd **zstd);

#endif
