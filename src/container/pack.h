/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding of block heads, shared by reader and writer. */
#ifndef AS_CONTAINER_PACK_H
#define AS_CONTAINER_PACK_H

#include <string.h>
#include <zlib.h>

#include "container/container.h"

/* 24 bits of the length; the upper 8 bits are flags. */
#define AS_CONTAINER_LENGTH 0xffffffu

/* Encodes a head. The checksum covers the rest of the head and the stored bytes. */
static inline void as_container_head_encode(uint8_t *to, const struct as_container_block *block,
                                            const uint8_t *stored)
{
    const uint32_t word[6] = {AS_CONTAINER_MAGIC,
                              0,
                              block->number,
                              block->thread,
                              block->stored_b | (uint32_t)block->flags << 24,
                              block->records};
    memcpy(to, word, sizeof word);
    memcpy(to + 24, &block->first_ns, 8);
    memcpy(to + 32, &block->last_ns, 8);
    const uint32_t sum = (uint32_t)crc32(crc32(crc32(0, NULL, 0), to + 8, AS_CONTAINER_HEAD_B - 8),
                                         stored, block->stored_b);
    memcpy(to + 4, &sum, sizeof sum);
}

/* Decodes a head; false if the bytes are not one. */
static inline bool as_container_head_get(const uint8_t *from, struct as_container_block *block,
                                         uint32_t *sum)
{
    uint32_t word[6];
    memcpy(word, from, sizeof word);
    *sum = word[1];
    block->number = word[2];
    block->thread = word[3];
    block->stored_b = word[4] & AS_CONTAINER_LENGTH;
    block->flags = (uint8_t)(word[4] >> 24);
    block->records = word[5];
    memcpy(&block->first_ns, from + 24, 8);
    memcpy(&block->last_ns, from + 32, 8);
    return word[0] == AS_CONTAINER_MAGIC && block->stored_b <= AS_CONTAINER_PACKED_B;
}

#endif
