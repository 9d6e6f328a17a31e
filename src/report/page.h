/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of text for a terminal: headings, wrapped sentences, bars. Keeps control characters of
 * names away from the terminal, and everything beyond ASCII where it would not be understood.
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

/* A blank line and a heading. */
void as_page_heading(struct as_page *page, const char *title);

/* Begins a table in the style of the page. */
void as_page_table_begin(const struct as_page *page, struct as_table *table,
                         const struct as_column *columns, size_t n);
/* Prints and frees the table. Errors: those of as_table_print. */
int as_page_table_end(const struct as_page *page, struct as_table *table, struct assay_error *err);

/*
 * `text` after `first` (a label, a bullet), wrapped at blanks; further lines are indented to where
 * the first began. Words longer than a line are shortened in the middle, unless `whole`: then they
 * stay, and lines that go on end in a backslash, for commands.
 */
void as_page_wrap(struct as_page *page, const char *first, const char *text, bool whole);

/* A bar of `part` (0 to 1) of `columns`, appended to `to`. */
void as_page_bar(const struct as_page *page, struct as_str *to, double part, size_t columns);

/* Begins a style, where there is colour. */
void as_page_style(const struct as_page *page, enum as_style style);

#endif
