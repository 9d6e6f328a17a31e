/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers (LEB128) of records in a block. AS_NUMBERS_SPARE_B zero bytes follow the block. A zero
 * ends every number, so a byte is read without a bounds check. The reader checks once for each
 * record that it ends in the block, and rejects it otherwise.
 */
#ifndef AS_TRACE_NUMBERS_H
#define AS_TRACE_NUMBERS_H

#include <stdint.h>
#include <string.h>

/* Zero bytes after a block. The time and the fields of one record may be read there, in words of
 * eight bytes. */
#define AS_NUMBERS_SPARE_B 32u

static inline uint64_t as_numbers_word(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline int64_t as_numbers_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Joins the lower seven bits of each of the first `n` bytes (1 to 8) of a word. */
static inline uint64_t as_numbers_packed(uint64_t word, unsigned n)
{
    word &= UINT64_C(0x7f7f7f7f7f7f7f7f) >> (64 - 8 * n);
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Reads a number of more than one byte. Sets `*at` to a position after `end` if the value needs
 * more than 64 bits. */
uint64_t as_numbers_more(const uint8_t **at, const uint8_t *end);

static inline uint64_t as_numbers_next(const uint8_t **at, const uint8_t *end)
{
    if (__builtin_expect(**at >= 0x80, 0))
        return as_numbers_more(at, end);
    return *(*at)++;
}

static inline uint64_t as_numbers_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

/* Writes a number of at most ten bytes. Returns the position after it. */
static inline uint8_t *as_numbers_encode(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

#endif
