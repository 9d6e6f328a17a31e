/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the stream writer: each thread has its own chunk of records. All chunks are written at the
 * end of a round. So the memory of writer and reader is bounded for any number of threads.
 * Definitions are written before the chunks that refer to them.
 */
#ifndef AS_SAMPLE_STREAM_CHUNK_H
#define AS_SAMPLE_STREAM_CHUNK_H

#include "base/vec.h"
#include "container/container.h"

/* Records of one thread, or of the recording, in a round. */
struct as_chunk {
    uint8_t *at;
    uint32_t n, room_b, thread, records;
    /* Values of the last record; at the beginning those of the round. */
    uint32_t cpu, node;
    uint64_t last_ns, sampled_ns, period;
    uint64_t next; /* number of its next record if no other thread has a record before */
    uint64_t low_ns, high_ns;
};

/* Values at the start of a round, from which all chunks count. */
struct as_round_base {
    uint64_t number, last_ns, period;
    uint32_t node;
};

struct as_stream_rounds {
    struct as_container_writer *file;
    AS_VEC(struct as_chunk) chunk; /* the first `used` are of this round, ordered by first record */
    size_t used;
    /* By thread: 0 if it has no chunk in this round, otherwise chunk index + 1. */
    AS_VEC(uint32_t) of_thread;
    uint32_t of_recording; /* the same for records without a thread */
    struct as_round_base base, now;
    /* Bytes in chunks, bytes of switches among them, and bytes already written in this round. */
    uint64_t pending_b, switch_b, round_b;
    uint64_t begun_ns; /* time of the first timed record */
    bool opens;        /* the next block is the first of a round */
    uint8_t *payload;  /* AS_CONTAINER_BLOCK_B */
    /* Unwritten definitions, and the numbers of the first of each kind. */
    uint8_t *definition;
    size_t definition_b;
    uint32_t definitions_n;
    uint32_t node_n, place_n, module_n, thread_n; /* defined so far */
    uint64_t last_address;                        /* address of the last place in this block */
    uint32_t first_node, first_place, first_module, first_thread;
};

/* Begins the rounds and takes `file`. Returns 0 or NOMEM. */
int as_rounds_init(struct as_stream_rounds *rounds, struct as_container_writer *file);
void as_rounds_fini(struct as_stream_rounds *rounds);
/* Returns the chunk of a thread with capacity for a record of `most_b` bytes. AS_CONTAINER_NONE
 * means the recording. Sets `*gap` to the number of records of other threads in between. Returns
 * NULL without memory or after a failure of the file. */
struct as_chunk *as_rounds_record(struct as_stream_rounds *rounds, uint32_t thread, size_t most_b,
                                  uint32_t *gap);
/* Finishes a record that ends at `end`. */
void as_rounds_recorded(struct as_stream_rounds *rounds, struct as_chunk *chunk,
                        const uint8_t *end);
/* Returns capacity for a definition of `most_b` bytes; as_rounds_defined finishes it. Returns NULL
 * without memory or after a failure of the file. */
uint8_t *as_rounds_define(struct as_stream_rounds *rounds, size_t most_b);
void as_rounds_defined(struct as_stream_rounds *rounds, const uint8_t *end);
/* Writes all pending records and definitions. Returns 0 or AS_ERR_IO. */
int as_rounds_close(struct as_stream_rounds *rounds);

/* ---- Numbers ---- */

static inline uint8_t *as_encode_u(uint8_t *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *to++ = (uint8_t)(v | 0x80);
    *to++ = (uint8_t)v;
    return to;
}

/* Zigzag: small numbers of either sign are short. */
static inline uint8_t *as_encode_s(uint8_t *to, int64_t v)
{
    return as_encode_u(to, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

#endif
