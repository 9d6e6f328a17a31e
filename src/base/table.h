/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table printer for people: aligned columns under a header, made to fit a width by shortening the
 * columns that allow it. Widths are terminal columns of UTF-8 text. Cells may hold foreign bytes
 * (names out of a binary): control characters are made visible (clean.h). Holds all cells until it
 * prints. Running out of memory is kept and told by as_table_print.
 */
#ifndef AS_BASE_TABLE_H
#define AS_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>

#include "base/out.h"
#include "base/str.h"
#include "base/vec.h"

enum as_align { AS_ALIGN_LEFT, AS_ALIGN_RIGHT };

/* Position of the ellipsis in a cell that is too wide. */
enum as_shrink {
    AS_SHRINK_NOT,   /* never shortened */
    AS_SHRINK_END,   /* names: "as_table_pri…" */
    AS_SHRINK_START, /* paths: "…/base/table.c" */
    AS_SHRINK_MIDDLE /* names that differ at both ends: "std::vec…push_back" */
};

struct as_column {
    const char *title; /* borrowed until the table is printed; all NULL = no header line */
    enum as_align align;
    enum as_shrink shrink;
    unsigned least;      /* columns it keeps when shortened; 0 = 8 */
    enum as_style style; /* used only when colour is on */
    bool optional;       /* may be hidden where the line is too long */
    bool hidden;         /* its cells are not printed */
    size_t wide;         /* columns it has at least, before shortening: to go on below a table */
    /* Appends a cell that is too wide in `most` bytes if it can, before it is cut; or NULL. */
    void (*shorten)(struct as_str *to, const char *text, size_t most);
};

struct as_table_cell {
    size_t at, n;   /* bytes in the text */
    uint32_t width; /* terminal columns */
    uint8_t style;  /* enum as_style; PLAIN: that of its column */
};

/* A line under a row. */
struct as_table_note {
    size_t at, n;   /* bytes in the table's text */
    size_t after_n; /* cells before it */
};

struct as_table {
    const struct as_column *columns;
    size_t column_n;
    struct as_str text;
    AS_VEC(struct as_table_cell) cells; /* row by row */
    AS_VEC(struct as_table_note) notes;
    bool failed;
    size_t indent; /* blanks before each line, part of the width */
    bool ascii;    /* the ellipsis is '~' */
};

/* `columns` (`n` >= 1) is borrowed until as_table_fini. */
void as_table_init(struct as_table *table, const struct as_column *columns, size_t n);
void as_table_fini(struct as_table *table);

/* The next cell; the last column's ends the row. NULL gives an empty cell. */
void as_table_string(struct as_table *table, const char *z);
void as_table_view(struct as_table *table, struct as_view s);
void as_table_u64(struct as_table *table, uint64_t v);
void as_table_f(struct as_table *table, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Gives the cell that was added last a style of its own. */
void as_table_style(struct as_table *table, enum as_style style);

/*
 * Adds a line under the last row, indented by two blanks, independent of the columns. A line wider
 * than the table is not cut: the caller wraps it.
 */
void as_table_note(struct as_table *table, const char *z);

/* Hides optional columns, from the last on, until lines fit `width` with the others shortened. Sets
 * `hidden` in `columns`, which are those of the table. */
void as_table_hide(const struct as_table *table, struct as_column *columns, size_t width);

/*
 * Prints header and rows, two blanks between columns, no blanks at line ends. `width` is the
 * columns to fit in, 0 = no limit (as_term_layout_width); `color` as as_color_use says. Lines are
 * wider only when no column can give more. Returns 0 or ASSAY_ERR_NOMEM; the sink keeps its own
 * errors. The last row must be complete.
 */
int as_table_print(const struct as_table *table, struct as_out *out, size_t width, bool color,
                   struct assay_error *err);

#endif
