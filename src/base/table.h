/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints tables for people: aligned columns under a header. Columns that allow it are shortened
 * until the table fits a width. Widths are terminal columns of UTF-8 text. Cells may hold foreign
 * bytes (names from a binary): control characters are made visible (clean.h). The table stores all
 * cells until as_table_print, which also returns an earlier failed allocation.
 */
#ifndef AS_BASE_TABLE_H
#define AS_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
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
    const char *title; /* borrowed until the table is printed; no header line if all are NULL */
    enum as_align align;
    enum as_shrink shrink;
    unsigned least;      /* min width when shortened; 0: 8 */
    enum as_style style; /* used only with colour */
    bool optional;       /* as_table_hide may hide it if lines are too long */
    bool hidden;         /* cells are not printed */
    size_t wide;         /* min width before shortening, to align with a table above */
    /* Appends a shorter form of a cell that exceeds `most` bytes, before it is cut; NULL: none. */
    void (*shorten)(struct as_str *to, const char *text, size_t most);
};

struct as_table_cell {
    size_t at, n;   /* position and bytes in `text` */
    uint32_t width; /* terminal columns */
    uint8_t style;  /* enum as_style; PLAIN: the style of the column */
};

/* A line under a row. */
struct as_table_note {
    size_t at, n;   /* position and bytes in `text` of the table */
    size_t after_n; /* number of cells before the line */
};

struct as_table {
    const struct as_column *columns;
    size_t column_n;
    struct as_str text;
    AS_VEC(struct as_table_cell) cells; /* row by row */
    AS_VEC(struct as_table_note) notes;
    bool failed;
    size_t indent; /* blanks before each line; they count towards the width */
    bool ascii;    /* the ellipsis is '~' */
};

/* Begins a table. `columns` (`n` >= 1) is borrowed until as_table_fini. */
void as_table_init(struct as_table *table, const struct as_column *columns, size_t n);
void as_table_fini(struct as_table *table);

/* Add the next cell. The cell of the last column ends the row. NULL gives an empty cell. */
void as_table_string(struct as_table *table, const char *z);
void as_table_view(struct as_table *table, struct as_view s);
void as_table_u64(struct as_table *table, uint64_t v);
void as_table_f(struct as_table *table, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Sets the style of the cell that was added last. */
void as_table_style(struct as_table *table, enum as_style style);

/*
 * Adds a line under the last row, indented by two blanks and independent of the columns. A line
 * that is wider than the table is not cut: the caller wraps it.
 */
void as_table_note(struct as_table *table, const char *z);

/* Hides optional columns, the last one first, until lines fit `width` with the others shortened.
 * Sets `hidden` in `columns`, which must be the columns of the table. */
void as_table_hide(const struct as_table *table, struct as_column *columns, size_t width);

/*
 * Prints the header and the rows, with two blanks between columns and no blanks at line ends.
 * `width` is the max line width in columns (see as_term_layout_width); 0 means no limit. `color` is
 * the result of as_color_use. Lines exceed `width` only if no column can shrink further. Returns 0
 * or AS_ERR_NOMEM; the sink keeps its own errors. The last row must be complete.
 */
int as_table_print(const struct as_table *table, struct as_out *out, size_t width, bool color,
                   struct as_error *err);

#endif
