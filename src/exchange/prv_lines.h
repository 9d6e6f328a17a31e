/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a text file, plain or in gzip, and numbers in them. */
#ifndef AS_EXCHANGE_PRV_LINES_H
#define AS_EXCHANGE_PRV_LINES_H

#include <assay/error.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct as_lines;

/* Errors: NOT_FOUND, IO, NOMEM. */
int as_lines_open(const char *path, struct as_lines **out, struct assay_error *err);
void as_lines_close(struct as_lines **lines);
/* 1 and a line without its end, until the next call; 0 at the end. Errors: IO, LIMIT, NOMEM. */
int as_lines_next(struct as_lines *lines, struct as_view *out, struct assay_error *err);
uint64_t as_lines_number(const struct as_lines *lines); /* of the line read last, from 1 */

/* Bytes that may be read before and behind the text ahead, without meaning. */
#define AS_LINES_MARGIN_B 64u

/* The text that was read and not handed out, until the next call: lines, the last perhaps without
 * its end. May be empty before the end of the file. */
struct as_view as_lines_ahead(const struct as_lines *lines);
/* Passes over the first line of that text: `n` bytes with its end. */
void as_lines_pass(struct as_lines *lines, size_t n);

/* Returns whether the line read last has no end: the file may be cut off there. */
bool as_lines_is_open(const struct as_lines *lines);

/* Takes `c` off the front, where it stands there. */
static inline bool as_lines_char(struct as_view *at, char c)
{
    if (at->n == 0 || *at->p != c)
        return false;
    at->p++;
    at->n--;
    return true;
}

/* A decimal number of any length at the front of `*at`, which is taken off, modulo 2^64: traces
 * have values of 2^63 and more. False: there is none. */
static inline bool as_lines_wrapped(struct as_view *at, int64_t *out)
{
    const bool is_negative = as_lines_char(at, '-');
    uint64_t value = 0;
    size_t n = 0;
    for (; n < at->n && at->p[n] >= '0' && at->p[n] <= '9'; n++)
        value = value * 10 + (uint64_t)(at->p[n] - '0');
    if (n == 0)
        return false;
    at->p += n;
    at->n -= n;
    *out = (int64_t)(is_negative ? -value : value);
    return true;
}

#define AS_LINES_SAFE_DIGITS 18 /* a number with so many fits */

/* The same for numbers that fit; false: there is none, or it does not. */
static inline bool as_lines_integer(struct as_view *at, int64_t *out)
{
    const bool is_negative = as_lines_char(at, '-');
    uint64_t value = 0;
    size_t n = 0;
    for (; n < at->n && at->p[n] >= '0' && at->p[n] <= '9'; n++) {
        if (n >= AS_LINES_SAFE_DIGITS && value > (uint64_t)INT64_MAX / 10)
            return false;
        value = value * 10 + (uint64_t)(at->p[n] - '0');
    }
    if (n == 0 || value > (uint64_t)INT64_MAX)
        return false;
    at->p += n;
    at->n -= n;
    *out = is_negative ? -(int64_t)value : (int64_t)value;
    return true;
}

#endif
