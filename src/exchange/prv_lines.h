/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines of a text file, plain or gzip, and numbers in them. */
#ifndef AS_EXCHANGE_PRV_LINES_H
#define AS_EXCHANGE_PRV_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct as_lines;
struct as_stream_digest;

/* Opens a file. Errors: NOT_FOUND, IO, NOMEM. */
int as_lines_open(const char *path, struct as_lines **out, struct as_error *err);
/* The same; adds all text that is read to `digest`, borrowed; NULL: none. */
int as_lines_open_digested(const char *path, struct as_stream_digest *digest, struct as_lines **out,
                           struct as_error *err);
void as_lines_close(struct as_lines **lines);
/* Reads a file to its end and gives the digest of its text. `is_stopped` is asked now and then;
 * NULL: cannot be stopped. Errors: those of reading, LIMIT (stopped). */
int as_lines_digest_file(const char *path, bool (*is_stopped)(void), uint64_t *out,
                         struct as_error *err);
/* Reads a line without its end, valid until the next call. Returns 1, or 0 at the end. Errors: IO,
 * LIMIT, NOMEM. */
int as_lines_next(struct as_lines *lines, struct as_view *out, struct as_error *err);
uint64_t as_lines_number(const struct as_lines *lines); /* number of the last line, from 1 */

/* Readable bytes before and behind the text of as_lines_ahead; they have no meaning. */
#define AS_LINES_MARGIN_B 64u

/* Returns the text that is read but not returned yet, valid until the next call. Its last line may
 * be incomplete. It may be empty before the end of the file. */
struct as_view as_lines_ahead(const struct as_lines *lines);
/* Skips the first line of this text: `n` bytes with its end. */
void as_lines_pass(struct as_lines *lines, size_t n);

/* Returns true if the last line has no end. The file may be truncated there. */
bool as_lines_is_open(const struct as_lines *lines);

/* Skips `c` at the front. Returns false if it is not there. */
static inline bool as_lines_char(struct as_view *at, char c)
{
    if (at->n == 0 || *at->p != c)
        return false;
    at->p++;
    at->n--;
    return true;
}

/* Parses a decimal number of any length at the front of `*at` modulo 2^64, because traces have
 * values of 2^63 and more. Returns false if there is none. */
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

#define AS_LINES_SAFE_DIGITS 18 /* a number with this many digits fits */

/* As as_lines_wrapped, but returns false if the number does not fit. */
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
