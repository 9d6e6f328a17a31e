/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks and rounds of the stream writer. A large chunk has its own block; small chunks share
 * blocks. Otherwise 5,000 threads with one record a second each would give more block heads than
 * records.
 */
#include "sample/stream_chunk.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Max bytes of a round, which the writer and a reader hold in memory. */
#define ROUND_B (UINT64_C(1) << 20)
/* Min size of a chunk with its own block. */
#define OWN_B (8u << 10)
/* Switch records that fill a block faster, at 50,000 a second or more, are not packed. Packing
 * would take a fifth of the read time on CPUs that are busy. */
#define BUSY_NS 250000000u
/* Memory of a chunk that is kept for the next round. */
#define KEPT_B 1024u
/* Max size of the values before the records of a block and of a chunk. */
#define BLOCK_HEAD_B 40u
#define CHUNK_HEAD_B 16u
#define CHUNK_MOST   (AS_CONTAINER_BLOCK_B - BLOCK_HEAD_B - CHUNK_HEAD_B)

int as_rounds_init(struct as_stream_rounds *r, struct as_container_writer *file)
{
    *r = (struct as_stream_rounds){.file = file, .opens = true, .begun_ns = UINT64_MAX};
    r->node_n = r->place_n = 1;
    r->payload = as_malloc(AS_CONTAINER_BLOCK_B);
    r->definition = as_malloc(AS_CONTAINER_BLOCK_B);
    return r->payload && r->definition ? 0 : AS_ERR_NOMEM;
}

void as_rounds_fini(struct as_stream_rounds *r)
{
    as_vec_foreach (&r->chunk, chunk)
        as_free(chunk->at);
    as_vec_fini(&r->chunk);
    as_vec_fini(&r->of_thread);
    as_free(r->payload);
    as_free(r->definition);
    as_container_free(&r->file);
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static int write_block(struct as_stream_rounds *r, struct as_container_block *block,
                       const uint8_t *payload, size_t n)
{
    block->flags |= r->opens ? AS_CONTAINER_OPENS : 0;
    r->opens = false;
    return as_container_write(r->file, block, payload, n);
}

static int write_definitions(struct as_stream_rounds *r)
{
    if (r->definition_b == 0)
        return 0;
    uint8_t *to = r->payload;
    to = as_encode_u(to, r->first_node);
    to = as_encode_u(to, r->first_place);
    to = as_encode_u(to, r->first_module);
    to = as_encode_u(to, r->first_thread);
    memcpy(to, r->definition, r->definition_b);
    to += r->definition_b;
    struct as_container_block block = {.thread = AS_CONTAINER_NONE,
                                       .flags = AS_CONTAINER_DEFINES,
                                       .records = r->definitions_n,
                                       .first_ns = r->now.last_ns,
                                       .last_ns = r->now.last_ns};
    r->definition_b = r->definitions_n = 0;
    return write_block(r, &block, r->payload, (size_t)(to - r->payload));
}

/* Chunks that share a block. */
struct chunk_batch {
    struct as_container_block block;
    size_t n;
};

static void begin_block(struct as_stream_rounds *r, struct chunk_batch *g)
{
    uint8_t *to = r->payload;
    to = as_encode_u(to, r->base.number);
    to = as_encode_u(to, r->base.last_ns);
    to = as_encode_u(to, r->base.period);
    to = as_encode_u(to, r->base.node);
    *g = (struct chunk_batch){.block = {.thread = AS_CONTAINER_NONE, .first_ns = UINT64_MAX},
                              .n = (size_t)(to - r->payload)};
}

static void add_chunk(struct as_stream_rounds *r, struct chunk_batch *g,
                      const struct as_chunk *chunk)
{
    const bool alone = g->block.records == 0;
    uint8_t *to = r->payload + g->n;
    to = as_encode_u(to, chunk->thread + 2u); /* 0 is the recording */
    to = as_encode_u(to, chunk->n);
    memcpy(to, chunk->at, chunk->n);
    g->n = (size_t)(to - r->payload) + chunk->n;
    g->block.thread = alone ? chunk->thread : AS_CONTAINER_MANY;
    g->block.records += chunk->records;
    if (chunk->low_ns < g->block.first_ns)
        g->block.first_ns = chunk->low_ns;
    if (chunk->high_ns > g->block.last_ns)
        g->block.last_ns = chunk->high_ns;
    if (chunk->thread == AS_CONTAINER_NONE)
        g->block.flags |= AS_CONTAINER_FACTS;
}

static int end_block(struct as_stream_rounds *r, struct chunk_batch *g)
{
    if (g->block.records == 0)
        return 0;
    const uint64_t all_b = r->round_b + r->pending_b, ns = r->now.last_ns - r->begun_ns;
    if (r->switch_b > all_b / 2 && ns < UINT64_MAX / AS_CONTAINER_BLOCK_B &&
        all_b * BUSY_NS >= ns * AS_CONTAINER_BLOCK_B && all_b >= OWN_B)
        g->block.flags |= AS_CONTAINER_PLAIN;
    if (g->block.first_ns > g->block.last_ns) /* only records without time */
        g->block.first_ns = g->block.last_ns = r->now.last_ns;
    return write_block(r, &g->block, r->payload, g->n);
}

/* ---- Chunks ------------------------------------------------------------------------------- */

static void begin_chunk(const struct as_stream_rounds *r, struct as_chunk *chunk)
{
    chunk->n = chunk->records = chunk->cpu = 0;
    chunk->node = r->base.node;
    chunk->last_ns = chunk->sampled_ns = r->base.last_ns;
    chunk->period = r->base.period;
    chunk->next = r->base.number;
    chunk->low_ns = UINT64_MAX;
    chunk->high_ns = 0;
}

static int write_chunk(struct as_stream_rounds *r, struct as_chunk *chunk)
{
    struct chunk_batch g;
    AS_TRY(write_definitions(r));
    begin_block(r, &g);
    add_chunk(r, &g, chunk);
    r->pending_b -= chunk->n;
    r->round_b += chunk->n;
    begin_chunk(r, chunk);
    return end_block(r, &g);
}

static uint32_t *place_of_chunk(struct as_stream_rounds *r, uint32_t thread)
{
    return thread == AS_CONTAINER_NONE ? &r->of_recording : &r->of_thread.at[thread];
}

static int write_small(struct as_stream_rounds *r)
{
    struct chunk_batch g;
    AS_TRY(write_definitions(r));
    begin_block(r, &g);
    for (size_t i = 0; i < r->used; i++) {
        const struct as_chunk *chunk = &r->chunk.at[i];
        if (chunk->n == 0)
            continue;
        if (g.n + CHUNK_HEAD_B + chunk->n > AS_CONTAINER_BLOCK_B) {
            AS_TRY(end_block(r, &g));
            begin_block(r, &g);
        }
        add_chunk(r, &g, chunk);
    }
    return end_block(r, &g);
}

int as_rounds_close(struct as_stream_rounds *r)
{
    for (size_t i = 0; i < r->used; i++)
        if (r->chunk.at[i].n >= OWN_B)
            AS_TRY(write_chunk(r, &r->chunk.at[i]));
    AS_TRY(write_small(r));
    for (size_t i = 0; i < r->used; i++) {
        struct as_chunk *chunk = &r->chunk.at[i];
        *place_of_chunk(r, chunk->thread) = 0;
        if (chunk->room_b > KEPT_B) {
            as_free(chunk->at);
            chunk->at = NULL;
            chunk->room_b = 0;
        }
    }
    r->opens = r->opens || r->used > 0;
    r->begun_ns = UINT64_MAX;
    r->used = 0;
    r->pending_b = r->switch_b = r->round_b = 0;
    r->base = r->now;
    return as_container_has_failed(r->file) ? AS_ERR_IO : 0;
}

static int enlarge_chunk(struct as_chunk *chunk, size_t want_b)
{
    size_t room_b = chunk->room_b ? chunk->room_b : 64;
    while (room_b < want_b)
        room_b *= 2;
    uint8_t *at = as_realloc(chunk->at, room_b, 1);
    if (!at)
        return AS_ERR_NOMEM;
    chunk->at = at;
    chunk->room_b = (uint32_t)room_b;
    return 0;
}

static int chunk_of(struct as_stream_rounds *r, uint32_t thread, struct as_chunk **out)
{
    while (thread != AS_CONTAINER_NONE && r->of_thread.n <= thread)
        AS_TRY(as_vec_push(&r->of_thread, 0));
    uint32_t *place = place_of_chunk(r, thread);
    if (*place == 0) {
        if (r->used == r->chunk.n)
            AS_TRY(as_vec_push(&r->chunk, (struct as_chunk){0}));
        *out = &r->chunk.at[r->used++];
        (*out)->thread = thread;
        begin_chunk(r, *out);
        *place = (uint32_t)r->used;
    }
    *out = &r->chunk.at[*place - 1];
    return 0;
}

struct as_chunk *as_rounds_record(struct as_stream_rounds *r, uint32_t thread, size_t most_b,
                                  uint32_t *gap)
{
    struct as_chunk *chunk;
    if (r->round_b + r->pending_b >= ROUND_B && as_rounds_close(r) < 0)
        return NULL;
    if (chunk_of(r, thread, &chunk) < 0)
        return NULL;
    if (chunk->n + most_b > CHUNK_MOST && write_chunk(r, chunk) < 0)
        return NULL;
    if (chunk->n + most_b > chunk->room_b && enlarge_chunk(chunk, chunk->n + most_b) < 0)
        return NULL;
    *gap = (uint32_t)(r->now.number - chunk->next);
    chunk->next = ++r->now.number;
    return chunk;
}

void as_rounds_recorded(struct as_stream_rounds *r, struct as_chunk *chunk, const uint8_t *end)
{
    const size_t n = (size_t)(end - chunk->at);
    r->pending_b += n - chunk->n;
    chunk->n = (uint32_t)n;
    chunk->records++;
    r->now.last_ns = chunk->last_ns;
    if (chunk->thread == AS_CONTAINER_NONE)
        return;
    if (chunk->last_ns < chunk->low_ns)
        chunk->low_ns = chunk->last_ns;
    if (chunk->last_ns > chunk->high_ns)
        chunk->high_ns = chunk->last_ns;
    if (r->begun_ns == UINT64_MAX)
        r->begun_ns = chunk->last_ns;
}

/* ---- Definitions -------------------------------------------------------------------------- */

uint8_t *as_rounds_define(struct as_stream_rounds *r, size_t most_b)
{
    if (r->definition_b + most_b > AS_CONTAINER_BLOCK_B - BLOCK_HEAD_B && write_definitions(r) < 0)
        return NULL;
    if (r->definition_b == 0) {
        r->last_address = 0; /* each block is read alone */
        r->first_node = r->node_n;
        r->first_place = r->place_n;
        r->first_module = r->module_n;
        r->first_thread = r->thread_n;
    }
    return r->definition + r->definition_b;
}

void as_rounds_defined(struct as_stream_rounds *r, const uint8_t *end)
{
    r->definition_b = (size_t)(end - r->definition);
    r->definitions_n++;
}
