/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the stream's reader: what it knows while it reads. */
#ifndef AS_SAMPLE_STREAM_STATE_H
#define AS_SAMPLE_STREAM_STATE_H

#include "base/read.h"
#include "container/container.h"
#include "sample/recorder.h"

/* Where it reads, and from what the next record counts. */
struct as_stream_state {
    struct as_read r;
    uint64_t last_ns, last_period, sampled_ns;
    uint32_t last_thread, last_cpu, last_node;
};

/* Records of one thread in a round. */
struct as_stream_cursor {
    struct as_stream_state state;
    uint64_t number; /* of the record at hand, among all of the stream */
    uint8_t tag;     /* of that record, behind which `state` is */
};

/* A chunk as it was found: where in the bytes of the round. */
struct as_stream_found {
    size_t at, n;
    uint32_t thread, base; /* number of the base that it counts from */
};

struct as_stream_base {
    uint64_t number, last_ns, period;
    uint32_t node;
};

struct assay_stream {
    int fd;
    uint8_t *block, *packed;
    struct as_unpacker *unpacker; /* NULL: blocks are not one stream of zstd */
    struct as_stream_state own, *at;
    uint32_t version;
    bool over, ended, damaged;
    struct as_arena text; /* paths of modules */
    AS_VEC(struct assay_stream_module) module;
    AS_VEC(struct assay_stream_thread) thread;
    AS_VEC(uint64_t) sampled_ns; /* by thread: its last sample, or its first mention */
    AS_VEC(struct assay_stream_node) node;
    AS_VEC(struct as_frame) place; /* where nodes are, since the last RESET; 0: none */
    uint32_t node_base;            /* up to version 3 the writer's node 0 of now is ours + this */
    char name[4097], value[4097];
    uint64_t last_address;
    struct assay_sample_counts counts;
    uint64_t dropped;
    /* What is wanted: all, unless `is_chosen`. */
    bool is_chosen;
    uint64_t from_ns, to_ns;
    AS_VEC(struct assay_stream_thread) wanted; /* none: all */
    AS_VEC(uint8_t) is_wanted;                 /* by thread: 0: not asked yet, 1: no, 2: yes */
    /* Of version 4 on. */
    struct as_container file;
    size_t next_block, defined_n; /* definitions of blocks before the latter are read */
    AS_VEC(uint8_t) bytes;        /* of the round, unpacked */
    AS_VEC(struct as_stream_found) found;
    AS_VEC(struct as_stream_base) base;
    AS_VEC(struct as_stream_cursor) cursor;
    AS_VEC(uint32_t) heap; /* cursors, that with the earliest record first */
};

/* ---- stream_read.c ---- */

/* Definitions and other records that are not handed out; false for those that are. */
bool as_stream_definition(struct assay_stream *stream, uint8_t tag, int *rc);
/* A record behind its tag: true when `*out` is filled. */
bool as_stream_record(struct assay_stream *stream, uint8_t tag, struct assay_stream_record *out);

/* ---- stream_choose.c ---- */

/* Whether a record is of the times and threads that are wanted. */
bool as_stream_chosen(struct assay_stream *stream, const struct assay_stream_record *record);
/* Whether something of a thread is wanted. */
bool as_stream_wants(struct assay_stream *stream, uint32_t thread);

/* ---- stream_round.c ---- */

/* 1, 0 or NOMEM. */
int as_rounds_next(struct assay_stream *stream, struct assay_stream_record *out);
/* Reads the definitions of all blocks, and begins anew. 0 or NOMEM. */
int as_rounds_rewind(struct assay_stream *stream);
void as_rounds_end(struct assay_stream *stream);

#endif
