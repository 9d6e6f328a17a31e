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

/* Returns whether the line read last has no end: the file may be cut off there. */
bool as_lines_is_open(const struct as_lines *lines);

/* A decimal number at the front of `*at`, which is taken off; false: there is none, or it does not
 * fit. */
bool as_lines_integer(struct as_view *at, int64_t *out);
/* The same of any length, modulo 2^64: traces have values of 2^63 and more. False: there is none.
 */
bool as_lines_wrapped(struct as_view *at, int64_t *out);
/* Takes `c` off the front, where it stands there. */
bool as_lines_char(struct as_view *at, char c);

#endif
