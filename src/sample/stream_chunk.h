/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the stream: records of a thread gather in a chunk of its own, and all chunks are written
 * when a round of them is over, so that what is in memory is bounded at either end whatever the
 * number of threads. Definitions are written before the chunks that may refer to them.
 */
#ifndef AS_SAMPLE_STREAM_CHUNK_H
#define AS_SAMPLE_STREAM_CHUNK_H

#include "base/vec.h"
#include "container/container.h"

/* Records of one thread, or of the recording, in a round. */
struct as_chunk {
    uint8_t *at;
    uint32_t n, room_b, thread, records;
    /* As of its last record; at its beginning as the round says. */
    uint32_t cpu, node;
    uint64_t last_ns, sampled_ns, period;
    uint64_t next; /* the number that its next record has if no other thread has one before */
    uint64_t low_ns, high_ns;
};

/* Of all threads, where a round begins: chunks count from here. */
struct as_round_base {
    uint64_t number, last_ns, period;
    uint32_t node;
};

struct as_stream_rounds {
    struct as_container_writer *file;
    AS_VEC(struct as_chunk) chunk; /* the first `used` are of this round, by their first record */
    size_t used;
    AS_VEC(uint32_t) of_thread; /* by thread; 0: none in this round, else one more than its chunk */
    uint32_t of_recording;      /* the same */
    struct as_round_base base, now;
    uint64_t pending_b, switch_b, round_b; /* in chunks; of those, of switches; and written ones */
    uint64_t begun_ns;                     /* of its first record that has a time */
    bool opens;                            /* the next block is the first of a round */
    uint8_t *payload;                      /* AS_CONTAINER_BLOCK_B */
    /* Definitions to be written, and the numbers of the first of each kind. */
    uint8_t *definition;
    size_t definition_b;
    uint32_t definitions_n;
    uint32_t node_n, place_n, module_n, thread_n; /* defined by now */
    uint64_t last_address;                        /* of a place in this block */
    uint32_t first_node, first_place, first_module, first_thread;
};

/* The file is theirs from then on. 0 or NOMEM. */
int as_rounds_init(struct as_stream_rounds *rounds, struct as_container_writer *file);
void as_rounds_fini(struct as_stream_rounds *rounds);
/* The chunk of a thread, AS_CONTAINER_NONE: of the recording, with room for a record of `most_b`;
 * `*gap`: so many records of other threads come before it. NULL: a failure, which is the file's, or
 * no memory. */
struct as_chunk *as_rounds_record(struct as_stream_rounds *rounds, uint32_t thread, size_t most_b,
                                  uint32_t *gap);
/* Behind a record: it ends at `end`. */
void as_rounds_recorded(struct as_stream_rounds *rounds, struct as_chunk *chunk,
                        const uint8_t *end);
/* Room for a definition, and behind it. NULL as above. */
uint8_t *as_rounds_define(struct as_stream_rounds *rounds, size_t most_b);
void as_rounds_defined(struct as_stream_rounds *rounds, const uint8_t *end);
/* Writes all that there is. 0 or ASSAY_ERR_IO. */
int as_rounds_close(struct as_stream_rounds *rounds);

/* ---- Numbers ---- */

static inline uint8_t *as_encode_u(uint8_t *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *to++ = (uint8_t)(v | 0x80);
    *to++ = (uint8_t)v;
    return to;
}

/* Small numbers of either sign are short. */
static inline uint8_t *as_encode_s(uint8_t *to, int64_t v)
{
    return as_encode_u(to, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

#endif
