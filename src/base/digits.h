/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole numbers as decimal text, for lines that are written by the million: eight digits at once in
 * one word, without a branch for each. The bytes behind the text are written over.
 */
#ifndef AS_BASE_DIGITS_H
#define AS_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

/* Longest 64-bit number with its sign, and the spare bytes after a text. */
#define AS_DIGITS_MOST  21u
#define AS_DIGITS_SPARE 8u

#define AS_DIGITS_EIGHT 100000000 /* numbers below have eight digits at most */

/* Digits of a number of eight at most, each in a byte, the highest in the lowest byte. */
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

/* Eight digits, with zeros in front. */
static inline char *as_digits_rest(char *to, uint32_t v)
{
    const uint64_t text = as_digits_eight(v) | UINT64_C(0x3030303030303030);
    memcpy(to, &text, sizeof text);
    return to + sizeof text;
}

/* Returns the end of the text. `to` has a capacity of AS_DIGITS_MOST and AS_DIGITS_SPARE bytes. */
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
