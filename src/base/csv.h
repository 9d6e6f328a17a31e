/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streaming CSV writer on a byte sink: comma-separated, quoted where RFC 4180 asks for it. Lines
 * end in a bare newline (not CR LF), which every CSV reader takes and cut(1) and awk(1) need.
 * Errors are those of the sink; a row of another length than the first is the caller's defect.
 * Spreadsheets take a text that begins with = + - or @ for a formula: a safe writer puts an
 * apostrophe before it, unless it is a number, and makes control characters visible (clean.h).
 */
#ifndef AS_BASE_CSV_H
#define AS_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/out.h"
#include "base/str.h"

struct as_csv {
    struct as_out *out;
    bool safe;      /* set after init: texts are made harmless for spreadsheets, see below */
    size_t columns; /* of the first row; 0 until it ended */
    size_t at;      /* fields written in this row */
};

/* Writes to `out`, borrowed. */
void as_csv_init(struct as_csv *csv, struct as_out *out);

/* One whole row of column names. */
void as_csv_header(struct as_csv *csv, const char *const *names, size_t n);

/* The next field of the row. NULL gives an empty field; so do infinities and not-a-number. */
void as_csv_string(struct as_csv *csv, const char *z);
void as_csv_view(struct as_csv *csv, struct as_view s);
void as_csv_u64(struct as_csv *csv, uint64_t v);
void as_csv_i64(struct as_csv *csv, int64_t v);
void as_csv_double(struct as_csv *csv, double v);
void as_csv_hex(struct as_csv *csv, uint64_t v); /* 0x1f40 */

void as_csv_row_end(struct as_csv *csv);

#endif
