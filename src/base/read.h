/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds-checked cursor over foreign little-endian bytes. The cursor never reads outside its range.
 * The first read beyond the range sets `bad` and moves to the end; this and every later read
 * returns zero. So a parser reads a complete record and checks `bad` once. LEB128 as in DWARF 5
 * section 7.6.
 */
#ifndef AS_BASE_READ_H
#define AS_BASE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

struct as_read {
    const uint8_t *begin; /* start of the range, for offsets */
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

/* Marks the cursor as bad, for invalid values that the caller found. */
static inline void as_read_fail(struct as_read *r)
{
    r->bad = true;
    r->at = r->end;
}

/* Returns the next `n` bytes, borrowed; NULL (and bad) if fewer are left. */
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

/* Moves to `offset` from the beginning. Sets `bad` if `offset` is beyond the end; the end itself is
 * valid. */
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

/* Returns a cursor over the next `n` bytes and moves behind them. The result is bad if fewer are
 * left. */
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
/* Both the host (x86-64) and the files are little-endian. */
AS_READ_FIXED(as_read_u8, uint8_t)
AS_READ_FIXED(as_read_u16, uint16_t)
AS_READ_FIXED(as_read_u32, uint32_t)
AS_READ_FIXED(as_read_u64, uint64_t)
AS_READ_FIXED(as_read_i8, int8_t)
AS_READ_FIXED(as_read_i16, int16_t)
AS_READ_FIXED(as_read_i32, int32_t)
AS_READ_FIXED(as_read_i64, int64_t)
#undef AS_READ_FIXED

/* Reads an unsigned number of `size_b` (1 to 8) bytes. */
static inline uint64_t as_read_uint(struct as_read *r, unsigned size_b)
{
    uint64_t v = 0;
    if (size_b > sizeof v) {
        as_read_fail(r);
        return 0;
    }
    const size_t left = as_read_left(r);
    const uint8_t *p = as_read_bytes(r, size_b);
    if (p && left >= sizeof v) { /* one load is much faster than a copy of a few bytes */
        memcpy(&v, p, sizeof v);
        return size_b < sizeof v ? v & (((uint64_t)1 << 8 * size_b) - 1) : v;
    }
    if (p)
        memcpy(&v, p, size_b);
    return v;
}

/*
 * Reads LEB128. Padding of any length is accepted, because linkers relax with it. A value beyond 64
 * bits is bad.
 */
uint64_t as_read_uleb_slow(struct as_read *r);
int64_t as_read_sleb(struct as_read *r);

static inline uint64_t as_read_uleb(struct as_read *r)
{
    /* In real DWARF nine of ten numbers have one byte. */
    if (!r->bad && r->at < r->end && *r->at < 0x80)
        return *r->at++;
    return as_read_uleb_slow(r);
}

/* Returns the next zero-terminated string, borrowed, and moves behind its zero. Returns "" (and
 * bad) if no zero is left. */
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
