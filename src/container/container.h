/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of blocks that can each be found and read alone: every block says which thread and which
 * time it is of, is packed by itself, and has a checksum; at the end stands an index of all. Of a
 * file whose writer was killed the index is made anew from the blocks. What is in a block is the
 * business of who wrote it. doc/internals/container.md has the format.
 */
#ifndef AS_CONTAINER_CONTAINER_H
#define AS_CONTAINER_CONTAINER_H

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* Payload of a block, at most. */
#define AS_CONTAINER_BLOCK_B (64u << 10)
/* The same packed: bytes that cannot be made fewer become a little more. */
#define AS_CONTAINER_PACKED_B (AS_CONTAINER_BLOCK_B + (1u << 10))
#define AS_CONTAINER_START_B  16u /* magic of the file (8 bytes), version (4), 4 zero bytes */
#define AS_CONTAINER_HEAD_B   40u
#define AS_CONTAINER_END_B    24u
#define AS_CONTAINER_MAGIC    0x4b4c4253u         /* "SBLK" */
#define AS_CONTAINER_END      0x5844495941535341u /* "ASSAYIDX" */

/* Threads of a block that is not of one. */
#define AS_CONTAINER_MANY UINT32_MAX
#define AS_CONTAINER_NONE (UINT32_MAX - 1)

enum as_container_flags {
    AS_CONTAINER_PLAIN = 1,   /* not packed */
    AS_CONTAINER_DEFINES = 2, /* what later blocks refer to: it is needed whatever is looked at */
    AS_CONTAINER_FACTS = 4,   /* something in it is wanted whatever is looked at */
    AS_CONTAINER_OPENS = 8,   /* records of the blocks before it come before all that follow */
    AS_CONTAINER_INDEX = 16
};

struct as_container_block {
    uint64_t offset; /* of its head in the file */
    uint64_t first_ns, last_ns;
    uint32_t number; /* from 0, in the order of the file */
    uint32_t thread, records;
    uint32_t stored_b; /* behind the head */
    uint8_t flags;     /* as_container_flags */
};

/* ---- Writing ---- */

struct as_container_writer;

/* Makes the file `path`, which must not exist. Errors: IO, NOMEM. */
int as_container_create(const char *path, const char magic[8], uint32_t version,
                        struct as_container_writer **out, struct assay_error *err);
/* Writes a block of `n` bytes, packed unless it is PLAIN; what it is stands in `*block` (offset,
 * number and stored_b are given). A failure sticks. 0 or ASSAY_ERR_IO, about which
 * as_container_failure has a sentence. */
int as_container_write(struct as_container_writer *writer, const struct as_container_block *block,
                       const uint8_t *payload, size_t n);
bool as_container_has_failed(const struct as_container_writer *writer);
int as_container_failure(const struct as_container_writer *writer, struct assay_error *err);
uint64_t as_container_bytes(const struct as_container_writer *writer);
/* Writes the index and closes; the writer is gone in any case. Errors: IO. */
int as_container_finish(struct as_container_writer **writer, struct assay_error *err);
/* Closes without an index. */
void as_container_free(struct as_container_writer **writer); /* NULL inside is fine */

/* ---- Reading: foreign bytes ---- */

struct as_container {
    int fd; /* borrowed; must be seekable */
    AS_VEC(struct as_container_block) block;
    bool indexed;                /* by its own index, not by a walk */
    uint64_t damaged_n;          /* blocks that could not be read, by now */
    uint64_t lost_b;             /* and how much of the file that is */
    uint64_t loaded_n, loaded_b; /* blocks, and bytes of the file, that were loaded */
    uint8_t *stored;
    void *unpacker; /* of zstd */
};

/* Finds the blocks of a file: by its index, or by a walk over the heads of blocks. 0 or NOMEM. */
int as_container_open(struct as_container *container, int fd);
void as_container_close(struct as_container *container); /* zeros are fine */
/* The payload of a block, to `to` (AS_CONTAINER_BLOCK_B). False: it is damaged, and counted. */
bool as_container_load(struct as_container *container, size_t index, uint8_t *to, size_t *n);

#endif
