/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a container; its bytes are untrusted. The index is used only if it is plausible. Each block
 * is checked when it is loaded.
 */
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/read.h"
#include "container/pack.h"

/* Bytes per step of the search for a head. */
#define LOOK_B (64u << 10)

static bool read_at(int fd, uint64_t offset, void *to, size_t n)
{
    size_t done = 0;
    while (done < n) {
        const ssize_t got = pread(fd, (uint8_t *)to + done, n - done, (off_t)(offset + done));
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static bool unpack_block(struct as_container *c, const struct as_container_block *block,
                         uint8_t *to, size_t *n)
{
    const uint8_t *stored = c->stored + AS_CONTAINER_HEAD_B;
    if (block->flags & AS_CONTAINER_PLAIN) {
        if (block->stored_b > AS_CONTAINER_BLOCK_B)
            return false;
        memcpy(to, stored, block->stored_b);
        *n = block->stored_b;
        return true;
    }
    *n = ZSTD_decompressDCtx(c->unpacker, to, AS_CONTAINER_BLOCK_B, stored, block->stored_b);
    return !ZSTD_isError(*n);
}

/* Loads a block. False if the head at its offset differs from the index or the checksum is
 * wrong. */
static bool load(struct as_container *c, const struct as_container_block *wanted, uint8_t *to,
                 size_t *n)
{
    struct as_container_block block;
    uint32_t sum;
    const size_t whole_b = AS_CONTAINER_HEAD_B + wanted->stored_b;
    if (!read_at(c->fd, wanted->offset, c->stored, whole_b) ||
        !as_container_head_get(c->stored, &block, &sum))
        return false;
    if (crc32(crc32(0, NULL, 0), c->stored + 8, (uInt)(whole_b - 8)) != sum ||
        block.stored_b != wanted->stored_b || block.flags != wanted->flags ||
        block.thread != wanted->thread || block.first_ns != wanted->first_ns ||
        block.last_ns != wanted->last_ns)
        return false;
    return unpack_block(c, &block, to, n);
}

bool as_container_load(struct as_container *c, size_t index, uint8_t *to, size_t *n)
{
    assert(index < c->block.n);
    const struct as_container_block *block = &c->block.at[index];
    c->loaded_n++;
    c->loaded_b += AS_CONTAINER_HEAD_B + block->stored_b;
    if (load(c, block, to, n))
        return true;
    c->damaged_n++;
    c->lost_b += AS_CONTAINER_HEAD_B + block->stored_b;
    *n = 0;
    return false;
}

/* ---- Index -------------------------------------------------------------------------------- */

/* Parses one entry of the index; false if it is impossible. `at` and `ns` hold the end and the
 * first time of the block before, and are updated. */
static bool parse_index_entry(struct as_read *r, uint64_t end, uint64_t *at, uint64_t *ns,
                              struct as_container_block *out)
{
    const uint64_t gap = as_read_uleb(r), stored_b = as_read_uleb(r);
    out->flags = as_read_u8(r);
    const uint64_t thread = as_read_uleb(r), records = as_read_uleb(r), step = as_read_uleb(r);
    if (r->bad || gap > end - *at || stored_b > AS_CONTAINER_PACKED_B ||
        end - *at - gap < AS_CONTAINER_HEAD_B + stored_b || thread > UINT32_MAX ||
        records > UINT32_MAX)
        return false;
    out->offset = *at + gap;
    out->stored_b = (uint32_t)stored_b;
    out->thread = (uint32_t)thread - 2u;
    out->records = (uint32_t)records;
    out->first_ns = *ns + (step >> 1 ^ -(step & 1));
    out->last_ns = out->first_ns + as_read_uleb(r);
    *at = out->offset + AS_CONTAINER_HEAD_B + stored_b;
    *ns = out->first_ns;
    return !r->bad;
}

/* Reads the index blocks from `at` to `end`. Sets `whole` if they describe all bytes before
 * `at`. Returns 0 or AS_ERR_NOMEM. */
static int parse_index_blocks(struct as_container *c, uint64_t at, uint64_t end, uint8_t *payload,
                              bool *whole)
{
    const uint64_t blocks_end = at;
    uint64_t before = AS_CONTAINER_START_B, ns = 0;
    *whole = false;
    while (at < end) {
        struct as_container_block block = {.offset = at};
        uint32_t sum;
        size_t n;
        if (end - at < AS_CONTAINER_HEAD_B || !read_at(c->fd, at, c->stored, AS_CONTAINER_HEAD_B) ||
            !as_container_head_get(c->stored, &block, &sum) ||
            end - at - AS_CONTAINER_HEAD_B < block.stored_b ||
            !(block.flags & AS_CONTAINER_INDEX) || !load(c, &block, payload, &n))
            return 0;
        for (struct as_read r = as_read_of(payload, n); as_read_left(&r) > 0;) {
            struct as_container_block one = {.number = (uint32_t)c->block.n};
            if (!parse_index_entry(&r, blocks_end, &before, &ns, &one))
                return 0;
            AS_TRY(as_vec_push(&c->block, one));
        }
        at += AS_CONTAINER_HEAD_B + block.stored_b;
    }
    *whole = before == blocks_end;
    return 0;
}

/* Returns the offset of the index, or 0 if there is none. */
static uint64_t find_index(int fd, uint64_t size_b, uint32_t *blocks_n)
{
    uint8_t end[AS_CONTAINER_END_B];
    uint64_t magic, offset;
    uint32_t sum;
    if (size_b < AS_CONTAINER_START_B + sizeof end ||
        !read_at(fd, size_b - sizeof end, end, sizeof end))
        return 0;
    memcpy(&magic, end, 8);
    memcpy(&offset, end + 8, 8);
    memcpy(blocks_n, end + 16, 4);
    memcpy(&sum, end + 20, 4);
    if (magic != AS_CONTAINER_END || sum != crc32(crc32(0, NULL, 0), end, 20) ||
        offset < AS_CONTAINER_START_B || offset > size_b - sizeof end)
        return 0;
    return offset;
}

/* ---- Walk --------------------------------------------------------------------------------- */

static bool head_at(struct as_container *c, uint64_t at, uint64_t end,
                    struct as_container_block *block)
{
    uint8_t head[AS_CONTAINER_HEAD_B];
    uint32_t sum;
    block->offset = at;
    return end - at >= sizeof head && read_at(c->fd, at, head, sizeof head) &&
           as_container_head_get(head, block, &sum) && end - at - sizeof head >= block->stored_b;
}

/* Returns the next offset from `at` on with the magic of a head, or `end`. */
static uint64_t look_for_head(struct as_container *c, uint64_t at, uint64_t end, uint8_t *room)
{
    static const uint32_t magic = AS_CONTAINER_MAGIC;
    while (end - at >= AS_CONTAINER_HEAD_B) {
        const size_t n = end - at < LOOK_B ? (size_t)(end - at) : LOOK_B;
        if (!read_at(c->fd, at, room, n))
            return end;
        const uint8_t *found = memmem(room, n, &magic, sizeof magic);
        if (found)
            return at + (uint64_t)(found - room);
        at += n - (sizeof magic - 1);
    }
    return end;
}

/* Finds all blocks without an index. A head is damaged if neither another head nor the end
 * follows its block; the search then goes on behind it. Returns 0 or AS_ERR_NOMEM. */
static int walk_blocks(struct as_container *c, uint64_t end, uint8_t *room)
{
    for (uint64_t at = AS_CONTAINER_START_B; at < end;) {
        struct as_container_block block, next;
        uint64_t after = at;
        if (head_at(c, at, end, &block)) {
            after = at + AS_CONTAINER_HEAD_B + block.stored_b;
            const bool follows = after == end || head_at(c, after, end, &next);
            if (!(block.flags & AS_CONTAINER_INDEX) && follows)
                AS_TRY(as_vec_push(&c->block, block));
            if (follows) {
                at = after;
                continue;
            }
        }
        const uint64_t found = look_for_head(c, at + 4 < end ? at + 4 : end, end, room);
        /* The block is complete, and an incomplete one follows it. */
        const bool whole = after > at && found >= after;
        if (whole && !(block.flags & AS_CONTAINER_INDEX))
            AS_TRY(as_vec_push(&c->block, block));
        const uint64_t from = whole ? after : at;
        c->lost_b += found - from;
        c->damaged_n += found < end;
        at = found;
    }
    return 0;
}

/* ---- Opening ------------------------------------------------------------------------------ */

int as_container_open(struct as_container *c, int fd)
{
    struct stat st;
    uint32_t blocks_n = 0;
    int rc = 0;
    *c = (struct as_container){.fd = fd};
    uint8_t *payload = as_malloc(AS_CONTAINER_BLOCK_B);
    c->stored = as_malloc(AS_CONTAINER_HEAD_B + AS_CONTAINER_PACKED_B);
    c->unpacker = ZSTD_createDCtx();
    if (!payload || !c->stored || !c->unpacker)
        rc = AS_ERR_NOMEM;
    const uint64_t size_b = fstat(fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    const uint64_t index = find_index(fd, size_b, &blocks_n);
    if (rc == 0 && index)
        rc = parse_index_blocks(c, index, size_b - AS_CONTAINER_END_B, payload, &c->indexed);
    c->indexed &= c->block.n == blocks_n;
    if (rc == 0 && !c->indexed) {
        c->block.n = 0;
        rc = walk_blocks(c, index ? size_b - AS_CONTAINER_END_B : size_b, payload);
    }
    as_free(payload);
    if (rc < 0)
        as_container_close(c);
    return rc;
}

void as_container_close(struct as_container *c)
{
    as_vec_fini(&c->block);
    as_free(c->stored);
    ZSTD_freeDCtx(c->unpacker);
    *c = (struct as_container){.fd = -1};
}
