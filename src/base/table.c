/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table printer. Cells are cleaned and measured when they are added; column widths are computed
 * for printing. The widest shrinkable column shrinks first, so narrow columns stay complete.
 */
#include "base/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clean.h"
#include "base/error.h"
#include "base/utf8.h"

#define GAP      2 /* blanks between columns */
#define LEAST    8 /* default min width of a shrinkable column */
#define ELLIPSIS "\xe2\x80\xa6"

void as_table_init(struct as_table *table, const struct as_column *columns, size_t n)
{
    assert(n);
    *table = (struct as_table){.columns = columns, .column_n = n};
}

void as_table_fini(struct as_table *table)
{
    as_str_fini(&table->text);
    as_vec_fini(&table->cells);
    as_vec_fini(&table->notes);
}

void as_table_view(struct as_table *table, struct as_view s)
{
    struct as_table_cell cell = {.at = table->text.n};
    size_t width = s.n ? as_clean_append(&table->text, s) : 0;
    cell.n = table->text.n - cell.at;
    cell.width = width > UINT32_MAX ? UINT32_MAX : (uint32_t)width;
    if (table->text.failed || as_vec_push(&table->cells, cell) < 0)
        table->failed = true;
}

void as_table_string(struct as_table *table, const char *z)
{
    as_table_view(table, as_view_of(z));
}

void as_table_u64(struct as_table *table, uint64_t v)
{
    as_table_f(table, "%ju", (uintmax_t)v);
}

void as_table_f(struct as_table *table, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n < 0)
        n = 0;
    else if ((size_t)n >= sizeof text)
        n = (int)sizeof text - 1;
    as_table_view(table, (struct as_view){.p = text, .n = (size_t)n});
}

void as_table_style(struct as_table *table, enum as_style style)
{
    if (table->cells.n && !table->failed)
        table->cells.at[table->cells.n - 1].style = (uint8_t)style;
}

void as_table_note(struct as_table *table, const char *z)
{
    struct as_table_note note = {.at = table->text.n, .after_n = table->cells.n};
    assert((table->failed || table->cells.n % table->column_n == 0) && "the row is not complete");
    as_clean_append(&table->text, as_view_of(z));
    note.n = table->text.n - note.at;
    if (table->text.failed || as_vec_push(&table->notes, note) < 0)
        table->failed = true;
}

static size_t least_width(const struct as_column *column)
{
    return column->least ? column->least : LEAST;
}

/* Returns the width of a line of the columns that are not hidden. `is_min`: every column has its
 * min width. */
static size_t total_width(const struct as_table *table, const size_t *widths, bool is_min)
{
    size_t total = table->indent, shown = 0;
    for (size_t c = 0; c < table->column_n; c++) {
        const struct as_column *column = &table->columns[c];
        const size_t min = least_width(column);
        if (column->hidden)
            continue;
        total += shown++ ? GAP : 0;
        total += is_min && column->shrink != AS_SHRINK_NOT && min < widths[c] ? min : widths[c];
    }
    return total;
}

/* Shrinks the widest shrinkable table columns until the line fits `width`. */
static void fit(const struct as_table *table, size_t *widths, size_t width)
{
    size_t total = total_width(table, widths, false);
    while (total > width) {
        size_t widest = table->column_n, second = 0;
        for (size_t c = 0; c < table->column_n; c++) {
            size_t least = least_width(&table->columns[c]);
            if (table->columns[c].shrink == AS_SHRINK_NOT || table->columns[c].hidden ||
                widths[c] <= least)
                continue;
            if (widest == table->column_n || widths[c] > widths[widest]) {
                second = widest == table->column_n ? 0 : widths[widest];
                widest = c;
            } else if (widths[c] > second) {
                second = widths[c];
            }
        }
        if (widest == table->column_n)
            return;
        size_t floor = least_width(&table->columns[widest]);
        if (floor < second)
            floor = second;
        size_t cut = widths[widest] - floor;
        if (cut > total - width)
            cut = total - width;
        if (!cut)
            cut = 1; /* two equally wide columns: alternate */
        widths[widest] -= cut;
        total -= cut;
    }
}

/* Returns the bytes at the front (or, with `back`, at the end) of `s` that fill at most `columns`.
 * Sets `width` to their columns. */
static size_t prefix_bytes(struct as_view s, size_t columns, size_t *width)
{
    size_t i = 0;
    *width = 0;
    while (i < s.n) {
        uint32_t c;
        int used = as_utf8_next(s.p + i, s.n - i, &c);
        size_t w = as_utf8_columns(c);
        if (*width + w > columns)
            break;
        *width += w;
        i += (size_t)(used < 0 ? -used : used);
    }
    return i;
}

static struct as_view cut_front(struct as_view s, size_t width, size_t columns, size_t *left)
{
    size_t i = 0;
    *left = width;
    while (i<s.n && * left> columns) {
        uint32_t c;
        int used = as_utf8_next(s.p + i, s.n - i, &c);
        *left -= as_utf8_columns(c);
        i += (size_t)(used < 0 ? -used : used);
    }
    return (struct as_view){.p = s.p + i, .n = s.n - i};
}

struct place {
    const struct as_column *column;
    size_t width; /* of the column */
    bool last;    /* last cell of the line: no padding behind it */
    enum as_style style;
    bool ascii;
};

/* The parts of a text before and after the ellipsis. */
struct cut {
    struct as_view before, after;
    size_t width; /* of both parts and the ellipsis */
};

static struct cut cut_text(struct as_view s, size_t width, size_t columns, enum as_shrink shrink)
{
    size_t rest = columns ? columns - 1 : 0, front = 0, back = 0;
    struct cut it = {.before = {s.p, 0}, .after = {s.p + s.n, 0}};
    if (shrink != AS_SHRINK_START)
        it.before.n = prefix_bytes(s, shrink == AS_SHRINK_END ? rest : rest - rest / 2, &front);
    if (shrink != AS_SHRINK_END)
        it.after = cut_front(s, width, rest - front, &back);
    it.width = front + back + 1;
    return it;
}

static void print_whole(struct as_out *out, const struct place *at, struct as_view s, size_t width)
{
    struct cut parts = {.before = s, .width = width};
    bool is_cut = width > at->width && at->column->shrink != AS_SHRINK_NOT;
    if (is_cut)
        parts = cut_text(s, width, at->width, at->column->shrink);
    width = parts.width;
    size_t pad = at->width > width ? at->width - width : 0;
    if (at->column->align == AS_ALIGN_RIGHT)
        as_out_fill(out, ' ', pad);
    bool styled = at->style != AS_STYLE_PLAIN && s.n;
    if (styled)
        as_out_style(out, at->style);
    as_out_view(out, parts.before);
    if (is_cut) {
        as_out_z(out, at->ascii ? "~" : ELLIPSIS);
        as_out_view(out, parts.after);
    }
    if (styled)
        as_out_style(out, AS_STYLE_PLAIN);
    if (at->column->align == AS_ALIGN_LEFT && !at->last)
        as_out_fill(out, ' ', pad);
}

/* Prints a cell shortened by the `shorten` function of its column. */
static void print_short(struct as_out *out, const struct place *at, struct as_view s)
{
    struct as_str text = {0}, told = {0};
    struct as_view as = s;

    as_str_append(&text, s.p, s.n);
    at->column->shorten(&told, as_str_z(&text), at->width);
    if (told.n && !told.failed)
        as = (struct as_view){.p = told.p, .n = told.n};
    print_whole(out, at, as, as_utf8_width(as));
    as_str_fini(&told);
    as_str_fini(&text);
}

static void print_cell(struct as_out *out, const struct place *at, struct as_view s, size_t width)
{
    if (at->column->shorten && width > at->width && at->column->shrink != AS_SHRINK_NOT)
        print_short(out, at, s);
    else
        print_whole(out, at, s, width);
}

/* Prints one line up to its last visible cell, without trailing blanks. */
static void print_line(const struct as_table *table, struct as_out *out, const size_t *widths,
                       const struct as_table_cell *cells, bool color)
{
    size_t used = table->column_n, shown = 0;
    while (used && (table->columns[used - 1].hidden ||
                    (cells ? !cells[used - 1].n : !table->columns[used - 1].title)))
        used--;
    as_out_fill(out, ' ', used ? table->indent : 0);
    for (size_t c = 0; c < used; c++) {
        const struct as_column *column = &table->columns[c];
        enum as_style style = !cells           ? AS_STYLE_BOLD
                              : cells[c].style ? (enum as_style)cells[c].style
                                               : column->style;
        struct place at = {column, widths[c], c + 1 == used, color ? style : AS_STYLE_PLAIN,
                           table->ascii};
        struct as_view s = as_view_of(column->title);
        size_t width = cells ? cells[c].width : as_utf8_width(s);
        if (cells)
            s = (struct as_view){.p = as_str_z(&table->text) + cells[c].at, .n = cells[c].n};
        if (column->hidden)
            continue;
        if (shown++)
            as_out_fill(out, ' ', GAP);
        print_cell(out, &at, s, width);
    }
    as_out_c(out, '\n');
}

/* Prints the notes that stand after `after_n` cells, from note `*next` on. */
static void print_notes(const struct as_table *table, struct as_out *out, size_t *next,
                        size_t after_n)
{
    for (; *next < table->notes.n && table->notes.at[*next].after_n == after_n; ++*next) {
        const struct as_table_note *note = &table->notes.at[*next];
        as_out_fill(out, ' ', table->indent + GAP);
        as_out_view(out, (struct as_view){.p = as_str_z(&table->text) + note->at, .n = note->n});
        as_out_c(out, '\n');
    }
}

/* Computes the column widths before shortening. Returns true if there is a header. */
static bool measure_columns(const struct as_table *table, size_t *widths)
{
    bool header = false;
    for (size_t c = 0; c < table->column_n; c++) {
        widths[c] = as_utf8_width(as_view_of(table->columns[c].title));
        if (table->columns[c].wide > widths[c])
            widths[c] = table->columns[c].wide;
        header |= table->columns[c].title != NULL;
    }
    for (size_t i = 0; i < table->cells.n; i++) {
        size_t *at = &widths[i % table->column_n];
        if (table->cells.at[i].width > *at)
            *at = table->cells.at[i].width;
    }
    return header;
}

void as_table_hide(const struct as_table *table, struct as_column *columns, size_t width)
{
    size_t *widths = as_calloc(table->column_n, sizeof *widths);
    if (!widths || !width) {
        as_free(widths);
        return; /* as_table_print reports the failure */
    }
    (void)measure_columns(table, widths);
    for (size_t c = table->column_n; c-- && total_width(table, widths, true) > width;)
        columns[c].hidden |= columns[c].optional;
    as_free(widths);
}

int as_table_print(const struct as_table *table, struct as_out *out, size_t width, bool color,
                   struct as_error *err)
{
    size_t *widths = as_calloc(table->column_n, sizeof *widths);
    if (table->failed || !widths) {
        as_free(widths);
        return as_error_nomem(err, "table");
    }
    assert(table->cells.n % table->column_n == 0 && "the last row is not complete");
    const bool header = measure_columns(table, widths);
    if (width)
        fit(table, widths, width);
    if (header)
        print_line(table, out, widths, NULL, color);
    size_t note = 0;
    for (size_t i = 0; i < table->cells.n; i += table->column_n) {
        print_line(table, out, widths, table->cells.at + i, color);
        print_notes(table, out, &note, i + table->column_n);
    }
    as_free(widths);
    return 0;
}
