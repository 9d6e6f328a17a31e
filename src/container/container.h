/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of blocks that can be found and read separately. Each block has its thread, its time
 * range, its own compression and a checksum. An index is at the end of the file. If the writer was
 * killed, the index is rebuilt from the blocks. Only writer and reader know the content of a block.
 * doc/internals/container.md describes the format.
 */
#ifndef AS_CONTAINER_CONTAINER_H
#define AS_CONTAINER_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

/* Max payload of a block in bytes. */
#define AS_CONTAINER_BLOCK_B (64u << 10)
/* Max size of a packed block in bytes: incompressible data grow a little. */
#define AS_CONTAINER_PACKED_B (AS_CONTAINER_BLOCK_B + (1u << 10))
#define AS_CONTAINER_START_B  16u /* magic of the file (8 bytes), version (4), 4 zero bytes */
#define AS_CONTAINER_HEAD_B   40u
#define AS_CONTAINER_END_B    24u
#define AS_CONTAINER_MAGIC    0x4b4c4253u         /* "SBLK" */
#define AS_CONTAINER_END      0x5844495941535341u /* "ASSAYIDX" */

/* Values of `thread` for blocks of several threads and of no thread. */
#define AS_CONTAINER_MANY UINT32_MAX
#define AS_CONTAINER_NONE (UINT32_MAX - 1)

enum as_container_flags {
    AS_CONTAINER_PLAIN = 1,   /* not packed */
    AS_CONTAINER_DEFINES = 2, /* definitions for later blocks: every reader needs it */
    AS_CONTAINER_FACTS = 4,   /* contains records that every reader needs */
    AS_CONTAINER_OPENS = 8,   /* starts a round: records of earlier blocks precede all later ones */
    AS_CONTAINER_INDEX = 16
};

struct as_container_block {
    uint64_t offset; /* offset of the head in the file */
    uint64_t first_ns, last_ns;
    uint32_t number; /* sequence number in the file, from 0 */
    uint32_t thread, records;
    uint32_t stored_b; /* bytes behind the head */
    uint8_t flags;     /* bits of as_container_flags */
};

/* ---- Writing ---- */

struct as_container_writer;

/* Creates the file `path`, which must not exist. End with as_container_finish or
 * as_container_free. Errors: IO, NOMEM. */
int as_container_create(const char *path, const char magic[8], uint32_t version,
                        struct as_container_writer **out, struct as_error *err);
/* Writes a block of `n` bytes, packed unless it is PLAIN. The writer determines offset, number and
 * stored_b; those of `block` are ignored. After a failure all later writes fail. Returns 0 or
 * AS_ERR_IO; as_container_failure sets its message. */
int as_container_write(struct as_container_writer *writer, const struct as_container_block *block,
                       const uint8_t *payload, size_t n);
/* Returns true if an earlier write has failed. */
bool as_container_has_failed(const struct as_container_writer *writer);
/* Sets the message of the first failure, and returns AS_ERR_IO. */
int as_container_failure(const struct as_container_writer *writer, struct as_error *err);
/* Returns the bytes written so far. */
uint64_t as_container_bytes(const struct as_container_writer *writer);
/* Writes the index, closes the file and frees the writer, also after a failure. Errors: IO. */
int as_container_finish(struct as_container_writer **writer, struct as_error *err);
/* Closes the file without an index and frees the writer. */
void as_container_free(struct as_container_writer **writer); /* NULL inside is fine */

/* ---- Reading: untrusted bytes -- */

struct as_container {
    int fd; /* borrowed; must be seekable */
    AS_VEC(struct as_container_block) block;
    bool indexed;                /* the file has a valid index */
    uint64_t damaged_n;          /* blocks that were unreadable so far */
    uint64_t lost_b;             /* bytes of the file that were unreadable so far */
    uint64_t loaded_n, loaded_b; /* loaded blocks, and their bytes in the file */
    uint8_t *stored;
    void *unpacker; /* context of zstd */
};

/* Finds the blocks of a file by its index, or by a walk over the heads. Returns 0 or
 * AS_ERR_NOMEM. */
int as_container_open(struct as_container *container, int fd);
void as_container_close(struct as_container *container); /* a zeroed struct is fine */
/* Loads the payload of a block to `to` (AS_CONTAINER_BLOCK_B bytes). Returns false if the block
 * is damaged, and counts it. */
bool as_container_load(struct as_container *container, size_t index, uint8_t *to, size_t *n);

#endif
