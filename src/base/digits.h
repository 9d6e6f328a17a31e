/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes integers as decimal text, for output with millions of lines. Eight digits are computed in
 * one word without branches. Up to AS_DIGITS_SPARE bytes behind the text are overwritten.
 */
#ifndef AS_BASE_DIGITS_H
#define AS_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

/* Length of the longest 64-bit integer with its sign, and bytes that may be overwritten behind
 * it. */
#define AS_DIGITS_MOST  21u
#define AS_DIGITS_SPARE 8u

#define AS_DIGITS_EIGHT 100000000 /* smaller numbers have at most eight digits */

/* Returns the eight digits of `v` < AS_DIGITS_EIGHT, one per byte. The first digit is in the lowest
 * byte. */
static inline uint64_t as_digits_eight(uint32_t v)
{
    uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32; /* 9999 * 10486 < 2^32 */
    uint64_t high = x * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
    x = high | (x - 100 * high) << 16;
    high = x * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return high | (x - 10 * high) << 8;
}

static inline char *as_digits_few(char *to, uint32_t v)
{
    const uint64_t digits = as_digits_eight(v);
    const unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
    const uint64_t text = (digits | UINT64_C(0x3030303030303030)) >> 8 * zeros;
    memcpy(to, &text, sizeof text);
    return to + 8 - zeros;
}

/* Writes eight digits with leading zeros. Returns the end of the text. */
static inline char *as_digits_rest(char *to, uint32_t v)
{
    const uint64_t text = as_digits_eight(v) | UINT64_C(0x3030303030303030);
    memcpy(to, &text, sizeof text);
    return to + sizeof text;
}

/* Writes `v` as decimal text without a terminating zero. Returns the end of the text. `to` needs
 * AS_DIGITS_MOST + AS_DIGITS_SPARE bytes. */
static inline char *as_digits_print(char *to, uint64_t v)
{
    const uint64_t high = v / AS_DIGITS_EIGHT;
    if (high == 0)
        return as_digits_few(to, (uint32_t)v);
    if (high < AS_DIGITS_EIGHT) {
        to = as_digits_few(to, (uint32_t)high);
    } else {
        to = as_digits_few(to, (uint32_t)(high / AS_DIGITS_EIGHT));
        to = as_digits_rest(to, (uint32_t)(high % AS_DIGITS_EIGHT));
    }
    return as_digits_rest(to, (uint32_t)(v % AS_DIGITS_EIGHT));
}

static inline char *as_digits_signed(char *to, int64_t v)
{
    if (v >= 0)
        return as_digits_print(to, (uint64_t)v);
    *to = '-';
    return as_digits_print(to + 1, 0 - (uint64_t)v);
}

#endif
