/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streaming CSV writer on a byte sink. Fields are separated by commas and quoted where RFC 4180
 * requires quotes. Lines end in a newline without CR, which every CSV reader accepts and cut(1) and
 * awk(1) need. Errors are those of the sink. Each row must be as long as the first one (asserted).
 * Spreadsheets read a text that begins with = + - or @ as a formula. A safe writer puts an
 * apostrophe before such a text, except before a number. It also escapes control characters
 * (clean.h).
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
    bool safe;      /* set by the caller after as_csv_init: makes texts harmless for spreadsheets */
    size_t columns; /* fields of the first row; 0 until this row has ended */
    size_t at;      /* fields written in this row */
};

/* Begins a table on `out`, which is borrowed and must outlive the writer. */
void as_csv_init(struct as_csv *csv, struct as_out *out);

/* Writes one row of `n` column names. */
void as_csv_header(struct as_csv *csv, const char *const *names, size_t n);

/* Write the next field of the row. NULL, infinities and not-a-number give an empty field. */
void as_csv_string(struct as_csv *csv, const char *z);
void as_csv_view(struct as_csv *csv, struct as_view s);
void as_csv_u64(struct as_csv *csv, uint64_t v);
void as_csv_i64(struct as_csv *csv, int64_t v);
void as_csv_double(struct as_csv *csv, double v);
void as_csv_hex(struct as_csv *csv, uint64_t v); /* written as 0x1f40 */

void as_csv_row_end(struct as_csv *csv);

#endif
