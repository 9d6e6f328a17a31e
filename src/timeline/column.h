/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of whole numbers in a block of an index. A column has its minimum, then the distance of
 * each number from it. All distances have the bytes of the largest (0, 1, 2, 4 or 8). The size of a
 * column is a multiple of 8 bytes. The widths of the columns of a block stand in one word, 4 bits
 * each, the first lowest.
 *
 * Numbers of lines have a column of differences. The first number stands before it.
 */
#ifndef AS_TIMELINE_COLUMN_H
#define AS_TIMELINE_COLUMN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/index.h"

#define AS_TIMELINE_WIDTH_BITS 4u

/* Columns of kinds of blocks, after the first number. */
enum as_event_column { AS_EVENT_NUMBER, AS_EVENT_CPU, AS_EVENT_COLUMNS_N };
enum as_state_column {
    AS_STATE_NUMBER,
    AS_STATE_CPU,
    AS_STATE_TIME,
    AS_STATE_VALUE,
    AS_STATE_LENGTH,
    AS_STATE_COLUMNS_N
};
/* Times are those after the logical send. */
enum as_message_column {
    AS_MESSAGE_NUMBER,
    AS_MESSAGE_SENDER_CPU,
    AS_MESSAGE_RECEIVER_CPU,
    AS_MESSAGE_PHYSICAL_SEND,
    AS_MESSAGE_LOGICAL_RECEIVE,
    AS_MESSAGE_PHYSICAL_RECEIVE,
    AS_MESSAGE_COLUMNS_N
};

#define AS_STATE_OPEN ((int64_t)-1) /* length of a state without end */

/* A column in memory. */
struct as_timeline_column {
    const uint8_t *at;
    int64_t min;
    unsigned width; /* 0 to 4: 0, 1, 2, 4, 8 bytes */
};

static inline unsigned as_timeline_column_width(uint32_t widths, unsigned column)
{
    return widths >> column * AS_TIMELINE_WIDTH_BITS & 15;
}

/* Bytes of a column. */
static inline uint64_t as_timeline_column_size_b(unsigned width, uint32_t n)
{
    const uint64_t value_b = width ? UINT64_C(1) << (width - 1) : 0;
    return sizeof(int64_t) + (value_b * n + 7) / 8 * 8;
}

/* Takes the column at `*at`, which goes behind it. The caller knows that the bytes are there. */
static inline struct as_timeline_column as_timeline_column_take(const uint8_t **at, uint32_t widths,
                                                                unsigned column, uint32_t n)
{
    struct as_timeline_column c = {.at = *at + sizeof c.min,
                                   .width = as_timeline_column_width(widths, column)};
    memcpy(&c.min, *at, sizeof c.min);
    *at += as_timeline_column_size_b(c.width, n);
    return c;
}

static inline int64_t as_timeline_column_value(const struct as_timeline_column *c, uint32_t i)
{
    uint64_t above = 0;
    uint32_t four;
    uint16_t two;
    switch (c->width) {
    case 0:
        break;
    case 1:
        above = c->at[i];
        break;
    case 2:
        memcpy(&two, c->at + sizeof two * i, sizeof two);
        above = two;
        break;
    case 3:
        memcpy(&four, c->at + sizeof four * i, sizeof four);
        above = four;
        break;
    default:
        memcpy(&above, c->at + sizeof above * i, sizeof above);
        break;
    }
    return (int64_t)((uint64_t)c->min + above);
}

/* The width that `n` numbers need, and their minimum; 0 of none. */
unsigned as_timeline_column_measure(const int64_t *value, uint32_t n, int64_t *min);
/* Writes the column to `out`, which has as_timeline_column_size_b bytes. */
void as_timeline_column_write(const int64_t *value, uint32_t n, unsigned width, int64_t min,
                              uint8_t *out);
/* The bytes of a block's columns with the first number, or UINT64_MAX: a width is none. */
uint64_t as_timeline_columns_size_b(uint32_t widths, unsigned columns_n, uint32_t n);

/* A digest of whole words; begin with any number. */
static inline uint64_t as_timeline_words_digest(uint64_t digest, const void *bytes, size_t n_b)
{
    const char *p = bytes;
    for (; n_b >= sizeof(uint64_t); p += sizeof(uint64_t), n_b -= sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        digest = as_hash_mix(digest, word);
    }
    return digest;
}

#endif
