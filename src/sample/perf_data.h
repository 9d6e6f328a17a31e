/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the reader of perf's files: the file, its events, what its features say, and the records
 * that wait for their turn.
 */
#ifndef AS_SAMPLE_PERF_DATA_H
#define AS_SAMPLE_PERF_DATA_H

#include <linux/perf_event.h>

#include <assay/sample.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/filemap.h"
#include "base/map.h"
#include "base/read.h"
#include "base/vec.h"
#include "sample/recorder.h"

/* Types that perf adds to those of the kernel. */
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

/* Numbers of features. */
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

/* Where a part of the file is. */
struct as_perf_section {
    uint64_t offset, size;
};

struct as_perf_build_id {
    uint8_t id[20];
    uint8_t size_b;
};

/* A record that waits. Its bytes are in the file, or in a block that was decompressed. */
struct as_perf_waiting {
    uint64_t time_ns;
    uint64_t number; /* of records, as they come: keeps the order of equal times */
    const uint8_t *bytes;
    uint32_t block; /* AS_MAP_NONE: in the file */
};

struct as_perf_block {
    uint8_t *bytes; /* NULL: the slot is free */
    size_t size_b;
    size_t waiting;
};

/* The state of decompression; perf_zstd.c. */
struct as_perf_zstd;

struct assay_perf_data {
    char *path;
    struct as_filemap map;
    const uint8_t *bytes; /* the file */
    size_t size_b;
    uint64_t data_from, data_to;
    int64_t written_ns; /* when the file was written last, since 1970 */
    bool unfinished;    /* perf was ended before it wrote the end */

    /* Events, in the order of the file; `event` is what the user sees of them. */
    AS_VEC(struct perf_event_attr) attr;
    AS_VEC(struct assay_perf_event) event;
    uint64_t ids;            /* numbers read */
    struct as_map_u64 by_id; /* number that the kernel gave -> index of the event */
    AS_VEC(struct as_perf_build_id) build_id;
    struct as_map_view by_path; /* -> build_id */
    struct as_arena arena;
    struct assay_perf_facts facts;
    struct assay_sample_choice choice;
    struct assay_sample_counts counts;
    char damage[512];

    /* Reading. */
    uint64_t at;
    uint64_t number;
    uint64_t round_ns, round_most_ns; /* latest time before the last round ended; seen by now */
    uint64_t handed_ns;
    AS_VEC(struct as_perf_waiting) waiting;
    AS_VEC(struct as_perf_block) block;
    size_t blocks_b;
    struct as_perf_zstd *zstd;
    assay_sample_sink *sink;
    void *context;
};

/* ---- Header: perf_header.c, perf_feature.c, perf_choose.c ---- */

/* Keeps the first sentence. */
void as_perf_damaged(struct assay_perf_data *data, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds an event from the bytes of its attr, and the numbers of its instances. 0 or NOMEM. */
int as_perf_add_event(struct assay_perf_data *data, const uint8_t *attr, size_t attr_b,
                      struct as_read *ids);
/* What a feature says. 0 or NOMEM; nonsense is passed over. */
int as_perf_feature(struct assay_perf_data *data, unsigned feature, struct as_read r);
/* One record of a build-id, without its header. */
int as_perf_build_id(struct assay_perf_data *data, uint16_t misc, struct as_read r);
/* Which of the events is time, how often they were sampled, and what else is to be said. Errors:
 * UNSUPPORTED, CORRUPT, NOMEM. */
int as_perf_choose(struct assay_perf_data *data, struct assay_error *err);

/* ---- Records: perf_read.c ---- */

/* Forgets what was read: the next reading begins anew. */
void as_perf_reset(struct assay_perf_data *data);

/* The header at `at` of the data, checked: its bytes, or NULL at the end or with damage told. */
const uint8_t *as_perf_record_at(struct assay_perf_data *data, uint64_t at,
                                 struct perf_event_header *header);
/* Bytes that follow a record and are none (trace data); nothing for others. */
uint64_t as_perf_extra_b(const struct perf_event_header *header, const uint8_t *bytes);
/* The event that a kernel's record belongs to, or AS_MAP_NONE. */
uint32_t as_perf_event_of(const struct assay_perf_data *data,
                          const struct perf_event_header *header, const uint8_t *bytes);
/* A record that perf, not the kernel, made. 0 or NOMEM. */
int as_perf_own_record(struct assay_perf_data *data, const struct perf_event_header *header,
                       const uint8_t *bytes);

/* ---- Decompression: perf_zstd.c ---- */

/* Decompresses the payload of a record into a new block, after what the last one left over, and
 * gives it. 0; CORRUPT: cannot be; NOMEM. */
int as_perf_decompress(struct assay_perf_data *data, const uint8_t *bytes, size_t n,
                       uint32_t *block);
/* Tells that the bytes from `from` on are no whole record: they go before the next block. */
int as_perf_left_over(struct assay_perf_data *data, uint32_t block, size_t from);
void as_perf_zstd_free(struct as_perf_zstd **zstd);

#endif
