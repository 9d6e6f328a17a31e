/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds-checked cursor over foreign little-endian bytes. It never reads outside its range: the
 * first read that would sets `bad`, moves to the end, and that and every later read gives zero.
 * So a parser reads a whole record and asks `bad` once. LEB128 as in DWARF 5 section 7.6.
 */
#ifndef AS_BASE_READ_H
#define AS_BASE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

struct as_read {
    const uint8_t *begin; /* of the range, for offsets */
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

static inline struct as_read as_read_of(const void *p, size_t n)
{
    const uint8_t *b = (const uint8_t *)p;
    return (struct as_read){.begin = b, .at = b, .end = n ? b + n : b};
}

static inline size_t as_read_left(const struct as_read *r)
{
    return (size_t)(r->end - r->at);
}

static inline size_t as_read_offset(const struct as_read *r)
{
    return (size_t)(r->at - r->begin);
}

/* Gives up: for values that cannot be, found by the caller. */
static inline void as_read_fail(struct as_read *r)
{
    r->bad = true;
    r->at = r->end;
}

/* Borrows the next `n` bytes; NULL (and bad) when there are fewer. */
static inline const uint8_t *as_read_bytes(struct as_read *r, uint64_t n)
{
    if (n > as_read_left(r)) {
        as_read_fail(r);
        return NULL;
    }
    const uint8_t *p = r->at;
    r->at = n ? p + n : p;
    return r->bad ? NULL : p;
}

static inline void as_read_skip(struct as_read *r, uint64_t n)
{
    (void)as_read_bytes(r, n);
}

/* Moves to `offset` from the beginning; bad when outside (the end itself is inside). */
static inline void as_read_seek(struct as_read *r, uint64_t offset)
{
    if (r->bad)
        return;
    if (offset > (size_t)(r->end - r->begin))
        as_read_fail(r);
    else if (offset)
        r->at = r->begin + offset;
    else
        r->at = r->begin;
}

/* A cursor over the next `n` bytes, which this one passes; bad itself when there are fewer. */
static inline struct as_read as_read_sub(struct as_read *r, uint64_t n)
{
    const uint8_t *p = as_read_bytes(r, n);
    struct as_read sub = as_read_of(p, p ? (size_t)n : 0);
    sub.bad = r->bad;
    return sub;
}

#define AS_READ_FIXED(name, type)                                                                  \
    static inline type name(struct as_read *r)                                                     \
    {                                                                                              \
        type v = 0;                                                                                \
        const uint8_t *p = as_read_bytes(r, sizeof v);                                             \
        if (p)                                                                                     \
            memcpy(&v, p, sizeof v);                                                               \
        return v;                                                                                  \
    }
/* The host is x86-64, little-endian as the files are. */
AS_READ_FIXED(as_read_u8, uint8_t)
AS_READ_FIXED(as_read_u16, uint16_t)
AS_READ_FIXED(as_read_u32, uint32_t)
AS_READ_FIXED(as_read_u64, uint64_t)
AS_READ_FIXED(as_read_i8, int8_t)
AS_READ_FIXED(as_read_i16, int16_t)
AS_READ_FIXED(as_read_i32, int32_t)
AS_READ_FIXED(as_read_i64, int64_t)
#undef AS_READ_FIXED

/* An unsigned number of `size_b` bytes, 1 to 8. */
static inline uint64_t as_read_uint(struct as_read *r, unsigned size_b)
{
    uint64_t v = 0;
    if (size_b > sizeof v) {
        as_read_fail(r);
        return 0;
    }
    const size_t left = as_read_left(r);
    const uint8_t *p = as_read_bytes(r, size_b);
    if (p && left >= sizeof v) { /* one load: far cheaper than copying a few bytes */
        memcpy(&v, p, sizeof v);
        return size_b < sizeof v ? v & (((uint64_t)1 << 8 * size_b) - 1) : v;
    }
    if (p)
        memcpy(&v, p, size_b);
    return v;
}

/*
 * Reads LEB128. Two rules for every format: padding of any length is read (linkers relax with it).
 * A value beyond 64 bits is bad, because nothing wrote the truncated number.
 */
uint64_t as_read_uleb_slow(struct as_read *r);
int64_t as_read_sleb(struct as_read *r);

static inline uint64_t as_read_uleb(struct as_read *r)
{
    /* Nine of ten in real DWARF are one byte. */
    if (!r->bad && r->at < r->end && *r->at < 0x80)
        return *r->at++;
    return as_read_uleb_slow(r);
}

/* Borrows a zero-terminated string and passes its zero; "" (and bad) when no zero is left. */
static inline struct as_view as_read_string(struct as_read *r)
{
    size_t left = as_read_left(r);
    const uint8_t *zero = left && !r->bad ? (const uint8_t *)memchr(r->at, 0, left) : NULL;
    if (!zero) {
        as_read_fail(r);
        return (struct as_view){.p = "", .n = 0};
    }
    struct as_view s = {.p = (const char *)r->at, .n = (size_t)(zero - r->at)};
    r->at = zero + 1;
    return s;
}

#endif
