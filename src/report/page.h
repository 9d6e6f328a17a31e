/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of text for a terminal: headings, wrapped sentences, bars. Replaces control characters in
 * names, and other characters beyond ASCII if the terminal does not support UTF-8.
 */
#ifndef AS_REPORT_PAGE_H
#define AS_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/out.h"
#include "base/str.h"
#include "base/table.h"

struct as_page {
    struct as_out *out;
    size_t width;
    bool colour, utf8;
};

/* Writes a blank line and a heading. */
void as_page_heading(struct as_page *page, const char *title);

/* Begins a table in the style of the page. */
void as_page_table_begin(const struct as_page *page, struct as_table *table,
                         const struct as_column *columns, size_t n);
/* Prints and frees the table. Errors: those of as_table_print. */
int as_page_table_end(const struct as_page *page, struct as_table *table, struct as_error *err);

/*
 * Writes `text` behind `first` (a label, a bullet), wrapped at blanks. Further lines are indented
 * to the start of the text. Longer words are shortened in the middle. With `whole` (for commands)
 * words stay complete, and wrapped lines end in a backslash.
 */
void as_page_wrap(struct as_page *page, const char *first, const char *text, bool whole);

/* Appends a bar of length `part` (0 to 1) in `columns` columns to `to`. */
void as_page_bar(const struct as_page *page, struct as_str *to, double part, size_t columns);

/* Begins a style if colour is on. */
void as_page_style(const struct as_page *page, enum as_style style);

#endif
