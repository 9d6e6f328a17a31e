/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the stream reader: its state while it reads. */
#ifndef AS_SAMPLE_STREAM_STATE_H
#define AS_SAMPLE_STREAM_STATE_H

#include "base/read.h"
#include "container/container.h"
#include "sample/recorder.h"

/* The read position, and the values that the next record counts from. */
struct as_stream_state {
    struct as_read r;
    uint64_t last_ns, last_period, sampled_ns;
    uint32_t last_thread, last_cpu, last_node;
};

/* Records of one thread in a round. */
struct as_stream_cursor {
    struct as_stream_state state;
    uint64_t number; /* number of the current record in the whole stream */
    uint8_t tag;     /* tag of the current record; `state` is behind it */
};

/* Position of a chunk in the bytes of the round. */
struct as_stream_found {
    size_t at, n;
    uint32_t thread, base; /* index of the base that it counts from */
};

struct as_stream_base {
    uint64_t number, last_ns, period;
    uint32_t node;
};

struct as_stream {
    int fd;
    uint8_t *block, *packed;
    struct as_unpacker *unpacker; /* NULL: blocks are not one zstd stream */
    struct as_stream_state own, *at;
    uint32_t version;
    bool over, ended, damaged;
    struct as_arena text; /* paths of the modules */
    AS_VEC(struct as_stream_module) module;
    AS_VEC(struct as_stream_thread) thread;
    AS_VEC(uint64_t) sampled_ns; /* by thread: time of its last sample, or of its first mention */
    AS_VEC(struct as_stream_node) node;
    AS_VEC(struct as_frame) place; /* addresses of nodes since the last RESET; 0: none */
    /* Up to version 3: offset from the current node numbers of the writer to ours. */
    uint32_t node_base;
    char name[4097], value[4097];
    uint64_t last_address;
    struct as_sample_counts counts;
    uint64_t dropped;
    /* Selection of the user: everything unless `is_chosen`. */
    bool is_chosen;
    uint64_t from_ns, to_ns;
    AS_VEC(struct as_stream_thread) wanted; /* empty: all threads */
    AS_VEC(uint8_t) is_wanted;              /* by thread: 0 unknown, 1 no, 2 yes */
    /* Since version 4. */
    struct as_container file;
    size_t next_block, defined_n; /* definitions of blocks before `defined_n` are read */
    AS_VEC(uint8_t) bytes;        /* unpacked bytes of the round */
    AS_VEC(struct as_stream_found) found;
    AS_VEC(struct as_stream_base) base;
    AS_VEC(struct as_stream_cursor) cursor;
    AS_VEC(uint32_t) heap; /* cursors; the one with the earliest record is first */
};

/* ---- stream_read.c ---- */

/* Reads a definition or another record that is not delivered. Returns false for delivered
 * records. */
bool as_stream_definition(struct as_stream *stream, uint8_t tag, int *rc);
/* Reads a record behind its tag. Returns true if `*out` is filled. */
bool as_stream_read_record(struct as_stream *stream, uint8_t tag, struct as_stream_record *out);

/* ---- stream_choose.c ---- */

/* Returns true if the time and the thread of a record are selected. */
bool as_stream_chosen(struct as_stream *stream, const struct as_stream_record *record);
/* Returns true if records of a thread may be selected. */
bool as_stream_wants(struct as_stream *stream, uint32_t thread);

/* ---- stream_round.c ---- */

/* Reads the next record. Returns 1, 0 at the end, or NOMEM. */
int as_rounds_next(struct as_stream *stream, struct as_stream_record *out);
/* Reads the definitions of all blocks and restarts at the first record. Returns 0 or NOMEM. */
int as_rounds_rewind(struct as_stream *stream);
void as_rounds_end(struct as_stream *stream);

#endif
