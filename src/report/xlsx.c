/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the workbook with libxlsxwriter, which keeps one row in memory. Columns that a table hides
 * at first are folded (outline level 1). Cell colours are those of the page.
 */
#include "report/xlsx.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <xlsxwriter.h>

#include "base/error.h"
#include "base/utf8.h"
#include "report/data.h"
#include "report/facts.h"

#define TEXT_MOST   32767 /* max characters of a cell */
#define WIDTH_LEAST 9.0   /* min column width in characters */
#define WIDTH_MOST  60.0
#define WIDTH_ROWS  2000 /* rows used to compute the column width */
#define DIGITS_MOST 6
#define NOTE_WIDTH  280 /* size of a header note in pixels */
#define NOTE_HEIGHT 90
#define GOOD_RGB    0xd9ead3
#define FAIR_RGB    0xfff2cc
#define POOR_RGB    0xf4cccc
#define HEADER_RGB  0xe8eaed
#define GUESS_RGB   0x808080

enum shade { PLAIN, GUESS, GOOD, FAIR, POOR, SHADE_N };

struct book {
    lxw_workbook *workbook;
    lxw_format *title, *header, *wrapped;
    lxw_format *number[SHADE_N][DIGITS_MOST + 1];
    lxw_format *amount, *text[SHADE_N];
    struct as_str scratch;
    AS_VEC(size_t) row_n; /* by sheet */
    bool failed;          /* a cell or a sheet was refused */
};

/* ---- Formats ------------------------------------------------------------------------------ */

static lxw_format *shaded(lxw_workbook *workbook, enum shade shade)
{
    static const lxw_color_t color[] = {[GOOD] = GOOD_RGB, [FAIR] = FAIR_RGB, [POOR] = POOR_RGB};
    _Static_assert(sizeof color / sizeof *color == SHADE_N, "an entry for each of the enumeration");
    lxw_format *format = workbook_add_format(workbook);

    if (shade == GUESS) {
        format_set_font_color(format, GUESS_RGB);
        format_set_italic(format);
    } else if (shade != PLAIN) {
        format_set_bg_color(format, color[shade]);
    }
    return format;
}

static void make_formats(struct book *book)
{
    static const char *const digits[] = {"0",      "0.0",     "0.00",    "0.000",
                                         "0.0000", "0.00000", "0.000000"};

    book->title = workbook_add_format(book->workbook);
    format_set_bold(book->title);
    format_set_font_size(book->title, 14);
    book->header = workbook_add_format(book->workbook);
    format_set_bold(book->header);
    format_set_bg_color(book->header, HEADER_RGB);
    format_set_bottom(book->header, LXW_BORDER_THIN);
    book->wrapped = workbook_add_format(book->workbook);
    format_set_text_wrap(book->wrapped);
    format_set_align(book->wrapped, LXW_ALIGN_VERTICAL_TOP);
    book->amount = workbook_add_format(book->workbook);
    format_set_num_format(book->amount, "#,##0");
    for (int shade = 0; shade < SHADE_N; shade++) {
        book->text[shade] = shaded(book->workbook, (enum shade)shade);
        for (int i = 0; i <= DIGITS_MOST; i++) {
            book->number[shade][i] = shaded(book->workbook, (enum shade)shade);
            format_set_num_format(book->number[shade][i], digits[i]);
        }
    }
}

/* ---- Cells -------------------------------------------------------------------------------- */

/* Returns true for a code such as "_x0041_", which means 'A' in a workbook (ECMA-376 part 1,
 * 22.9.2.19, ST_Xstring). */
static bool is_coded(const char *p)
{
    return p[0] == '_' && p[1] == 'x' && strspn(p + 2, "0123456789abcdefABCDEF") >= 4 &&
           p[6] == '_';
}

/*
 * Returns the valid XML part of a text, up to the max size of a cell. An underscore that would
 * begin a code is encoded. The result is valid until the next call.
 */
static const char *clean_cell(struct book *book, const char *text)
{
    const size_t n = strlen(text);
    size_t characters = 0;

    as_str_clear(&book->scratch);
    for (size_t i = 0; i < n && characters < TEXT_MOST; characters++) {
        uint32_t c;
        const int step = as_utf8_next(text + i, n - i, &c);
        const bool held = (c >= 0x20 || c == '\t' || c == '\n') && c != 0x7f && c != 0xfffe &&
                          c != 0xffff && step > 0;

        if (c == '_' && is_coded(text + i))
            as_str_appendz(&book->scratch, "_x005F_");
        else if (held)
            as_str_append(&book->scratch, text + i, (size_t)step);
        else
            as_str_appendz(&book->scratch, AS_UTF8_REPLACEMENT_Z);
        i += (size_t)(step < 0 ? -step : step);
    }
    book->failed |= book->scratch.failed;
    return as_str_z(&book->scratch);
}

static void write_sheet_text(struct book *book, lxw_worksheet *sheet, lxw_row_t row,
                             lxw_col_t column, const char *text, lxw_format *format)
{
    if (text && *text)
        book->failed |= worksheet_write_string(sheet, row, column, clean_cell(book, text),
                                               format) != LXW_NO_ERROR;
    else if (format)
        worksheet_write_blank(sheet, row, column, format);
}

static void write_sheet_number(struct book *book, lxw_worksheet *sheet, lxw_row_t row,
                               lxw_col_t column, double value, lxw_format *format)
{
    if (isfinite(value))
        book->failed |= worksheet_write_number(sheet, row, column, value, format) != LXW_NO_ERROR;
}

static lxw_worksheet *add_sheet(struct book *book, const char *name)
{
    lxw_worksheet *sheet = workbook_add_worksheet(book->workbook, name);

    book->failed |= !sheet || as_vec_push(&book->row_n, 0) < 0;
    return book->failed ? NULL : sheet;
}

/* ---- Sheets of views ---------------------------------------------------------------------- */

static void write_sheet_cell(struct book *book, lxw_worksheet *sheet, lxw_row_t row,
                             lxw_col_t column, const struct as_grid_column *it, bool is_guess,
                             size_t i)
{
    const int digits = it->is.digits > DIGITS_MOST ? DIGITS_MOST : it->is.digits;
    const enum shade shade = is_guess ? GUESS : PLAIN;

    if (as_column_kind_is_text(it->is.kind)) {
        if (as_grid_text(it, i))
            write_sheet_text(book, sheet, row, column, as_grid_text(it, i), NULL);
    } else if (it->real.n) {
        write_sheet_number(book, sheet, row, column, it->real.at[i], book->number[shade][digits]);
    } else if (it->whole.at[i] == AS_GRID_NO_INTEGER) {
        return;
    } else if (it->is.kind == AS_COLUMN_FLAG) {
        worksheet_write_boolean(sheet, row, column, it->whole.at[i] != 0, NULL);
    } else {
        write_sheet_number(book, sheet, row, column, (double)it->whole.at[i],
                           it->is.kind == AS_COLUMN_INTEGER ? book->amount
                                                            : book->number[PLAIN][0]);
    }
}

static double width_of(const struct as_grid *grid, const struct as_grid_column *it)
{
    double width = (double)strlen(it->is.title) + (it->is.unit ? 8 : 4);

    for (size_t i = 0; i < grid->row_n && i < WIDTH_ROWS; i++) {
        const char *text = it->text.n ? as_grid_text(it, i) : NULL;
        const double wide = text ? (double)as_utf8_width(as_view_of(text)) + 1 : 0;

        width = wide > width ? wide : width;
    }
    width = width < WIDTH_LEAST ? WIDTH_LEAST : width;
    return width > WIDTH_MOST ? WIDTH_MOST : width;
}

/* Writes a header such as "Own time (s)", with its meaning as a note. */
static void write_sheet_header(struct book *book, lxw_worksheet *sheet, lxw_col_t column,
                               const struct as_grid_column *it)
{
    lxw_comment_options note = {.x_scale = 0, .width = NOTE_WIDTH, .height = NOTE_HEIGHT};
    struct as_str text = {0};

    as_str_appendz(&text, it->is.title);
    if (it->is.unit && strcmp(it->is.unit, "1") != 0)
        as_str_appendf(&text, " (%s)", it->is.unit);
    write_sheet_text(book, sheet, 0, column, as_str_z(&text), book->header);
    as_str_clear(&text);
    as_str_appendf(&text, "%s\n%s", it->is.meaning, it->is.name);
    worksheet_write_comment_opt(sheet, 0, column, clean_cell(book, as_str_z(&text)), &note);
    book->failed |= text.failed;
    as_str_fini(&text);
}

static void set_columns(const struct as_grid *grid, lxw_worksheet *sheet)
{
    bool was_folded = false;

    for (size_t i = 0; i < grid->column.n; i++) {
        const struct as_grid_column *it = grid->column.at[i];
        const bool is_folded = !it->is.shown || !it->known;
        lxw_row_col_options options = {
            .hidden = is_folded, .level = is_folded, .collapsed = was_folded && !is_folded};

        worksheet_set_column_opt(sheet, (lxw_col_t)i, (lxw_col_t)i, width_of(grid, it), NULL,
                                 &options);
        was_folded = is_folded;
    }
}

static void write_sheet_rows(struct book *book, struct as_grid *grid, lxw_worksheet *sheet)
{
    const size_t rows = grid->row_n < LXW_ROW_MAX ? grid->row_n : LXW_ROW_MAX - 1;
    const size_t columns = grid->column.n;
    const struct as_grid_column **doubt =
        as_arena_array(&grid->arena, const struct as_grid_column *, columns);

    if (!doubt) {
        book->failed = true;
        return;
    }
    for (size_t k = 0; k < columns; k++)
        doubt[k] = as_grid_column(grid, grid->column.at[k]->is.doubt);
    for (size_t i = 0; i < rows && !book->failed; i++)
        for (size_t k = 0; k < columns; k++)
            write_sheet_cell(book, sheet, (lxw_row_t)(i + 1), (lxw_col_t)k, grid->column.at[k],
                             doubt[k] && doubt[k]->whole.at[i] == 1, i);
    book->row_n.at[book->row_n.n - 1] = rows + 1;
}

static void write_view_sheet(struct book *book, struct as_grid *grid)
{
    lxw_worksheet *sheet = add_sheet(book, grid->view->title);

    if (!sheet)
        return;
    if (grid->column.n > LXW_COL_MAX)
        grid->column.n = LXW_COL_MAX;
    set_columns(grid, sheet);
    for (size_t i = 0; i < grid->column.n; i++)
        write_sheet_header(book, sheet, (lxw_col_t)i, grid->column.at[i]);
    worksheet_freeze_panes(sheet, 1, 1);
    worksheet_autofilter(sheet, 0, 0, (lxw_row_t)grid->row_n, (lxw_col_t)(grid->column.n - 1));
    write_sheet_rows(book, grid, sheet);
}

static int write_view_sheets(struct book *book, struct as_experiment *experiment, int64_t run_id,
                             bool no_inline, struct as_error *err)
{
    for (size_t i = 0; i < as_report_view_n && !book->failed; i++) {
        const struct as_report_view view = as_report_view_as(&as_report_views[i], no_inline);
        struct as_grid grid;
        int rc;

        if (view.only_show)
            continue;
        rc = as_grid_load(&grid, experiment, run_id, &view, err);
        if (rc == 0 && grid.row_n)
            write_view_sheet(book, &grid);
        as_grid_fini(&grid);
        AS_TRY(rc);
    }
    return 0;
}

/* ---- The summary -------------------------------------------------------------------------- */

/* A part of the summary: a heading, columns, and the rows of a statement. */
struct xlsx_part {
    const char *title, *sql, *shade; /* column with the word for the colour, or NULL */
    const char *column[8][2];        /* title and name in the statement */
};

static const struct xlsx_part parts[] = {
    {"Metrics",
     as_facts_metrics_sql,
     "rating",
     {{"Metric", "title"},
      {"Value", "quantity.value"},
      {"Unit", "unit"},
      {"Rating", "rating"},
      {"Low", "low"},
      {"High", "high"},
      {"Group", "group"},
      {"Meaning", "meaning"}}},
    {"Checks",
     as_facts_checks_sql,
     "state",
     {{"Check", "title"},
      {"Score", "score"},
      {"Weight", "weight"},
      {"State", "state"},
      {"What was found", "text"},
      {"What to do", "advice"}}},
    {"Findings",
     as_facts_findings_sql,
     NULL,
     {{"Finding", "text"},
      {"Gain (s)", "gain_s.value"},
      {"Rank", "rank"},
      {"Level", "level"},
      {"About", "object"},
      {"Id", "id"},
      {"Topic", "topic"},
      {"What to do", "workaround"}}},
};

static enum shade shade_of(const char *word)
{
    static const struct {
        const char *word;
        enum shade shade;
    } at[] = {{"good", GOOD},   {"fair", FAIR},   {"poor", POOR},
              {"passed", GOOD}, {"partly", FAIR}, {"failed", POOR}};

    for (size_t i = 0; word && i < sizeof at / sizeof *at; i++)
        if (strcmp(at[i].word, word) == 0)
            return at[i].shade;
    return PLAIN;
}

static int column_of(const struct as_rows *rows, const char *name)
{
    for (int i = 0; name && i < as_rows_column_n(rows); i++)
        if (strcmp(as_rows_column(rows, i), name) == 0)
            return i;
    return -1;
}

static void write_part_row(struct book *book, const struct xlsx_part *part, struct as_rows *rows,
                           lxw_worksheet *sheet, lxw_row_t row)
{
    const int by = column_of(rows, part->shade);
    const enum shade shade = by < 0 ? PLAIN : shade_of(as_rows_text(rows, by));

    for (size_t i = 0; i < 8 && part->column[i][0]; i++) {
        const int at = column_of(rows, part->column[i][1]);
        const enum shade own = at == by ? shade : PLAIN;

        switch (as_rows_kind(rows, at)) {
        case AS_SQL_CELL_INTEGER:
        case AS_SQL_CELL_REAL:
            write_sheet_number(book, sheet, row, (lxw_col_t)i, as_rows_real(rows, at),
                               as_rows_kind(rows, at) == AS_SQL_CELL_REAL ? book->number[own][3]
                                                                          : book->number[own][0]);
            break;
        case AS_SQL_CELL_TEXT:
            write_sheet_text(book, sheet, row, (lxw_col_t)i, as_rows_text(rows, at),
                             book->text[own]);
            break;
        case AS_SQL_CELL_NULL:
        case AS_SQL_CELL_BLOB:
            break;
        }
    }
}

/* Writes a part at `*row` and moves `*row` behind it. Writes nothing without rows. */
static int write_summary_part(struct book *book, const struct xlsx_part *part,
                              struct as_experiment *experiment, int64_t run_id,
                              lxw_worksheet *sheet, lxw_row_t *row, struct as_error *err)
{
    struct as_rows *rows;
    bool is_first = true;
    int more;

    AS_TRY(as_rows_open(experiment, part->sql, &rows, err));
    as_rows_bind_integer(rows, 1, run_id);
    while ((more = as_rows_next(rows, err)) > 0 && *row < LXW_ROW_MAX) {
        if (is_first) {
            write_sheet_text(book, sheet, (*row)++, 0, part->title, book->title);
            for (size_t i = 0; i < 8 && part->column[i][0]; i++)
                write_sheet_text(book, sheet, *row, (lxw_col_t)i, part->column[i][0], book->header);
            ++*row;
        }
        is_first = false;
        write_part_row(book, part, rows, sheet, (*row)++);
    }
    if (!is_first)
        write_sheet_text(book, sheet, (*row)++, 0, " ", NULL);
    as_rows_close(&rows);
    return more < 0 ? more : 0;
}

static int write_summary_sheet(struct book *book, struct as_experiment *experiment, int64_t run_id,
                               struct as_error *err)
{
    static const double width[] = {48, 12, 10, 12, 14, 14, 14, 80};
    lxw_worksheet *sheet = add_sheet(book, "Summary");
    struct as_str title = {0};
    lxw_row_t row = 2;
    int rc = as_report_title(experiment, run_id, &title, err);

    if (rc == 0 && sheet) {
        for (size_t i = 0; i < sizeof width / sizeof *width; i++)
            worksheet_set_column(sheet, (lxw_col_t)i, (lxw_col_t)i, width[i], NULL);
        write_sheet_text(book, sheet, 0, 0, as_str_z(&title), book->title);
        write_sheet_text(book, sheet, 1, 0, " ", NULL);
        for (size_t i = 0; rc == 0 && i < sizeof parts / sizeof *parts; i++)
            rc = write_summary_part(book, &parts[i], experiment, run_id, sheet, &row, err);
        book->row_n.at[0] = row;
    }
    as_str_fini(&title);
    return rc;
}

/* ---- The workbook ------------------------------------------------------------------------- */

/* Closes the workbook. The library prints its errors to standard error, so this is redirected to
 * /dev/null; the error code is enough. This affects the whole process, so it is not thread-safe. */
static lxw_error close_quietly(lxw_workbook *workbook)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const int kept = nowhere < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    lxw_error code;
    int number;

    if (kept >= 0)
        dup2(nowhere, STDERR_FILENO);
    errno = 0;
    code = workbook_close(workbook);
    number = errno;
    if (kept >= 0) {
        dup2(kept, STDERR_FILENO);
        close(kept);
    }
    if (nowhere >= 0)
        close(nowhere);
    errno = number;
    return code;
}

static int close_book(struct book *book, const char *name, struct as_error *err)
{
    const lxw_error code = close_quietly(book->workbook);

    if (code == LXW_ERROR_MEMORY_MALLOC_FAILED)
        return as_error_nomem(err, name);
    if (code != LXW_NO_ERROR)
        return as_error_set(err, AS_ERR_IO,
                            "%s: cannot be written: %s; free some space or use another place with "
                            "'assay report --output'",
                            name, errno ? strerror(errno) : lxw_strerror(code));
    return 0;
}

static int fill_book(struct book *book, struct as_experiment *experiment, int64_t run_id,
                     bool no_inline, struct as_error *err)
{
    make_formats(book);
    AS_TRY(write_summary_sheet(book, experiment, run_id, err));
    AS_TRY(write_view_sheets(book, experiment, run_id, no_inline, err));
    return book->failed ? as_error_nomem(err, "the workbook") : 0;
}

int as_report_xlsx(struct as_experiment *experiment, int64_t run_id, bool no_inline,
                   const char *path, const char *name, struct as_error *err)
{
    const char *slash = strrchr(path, '/');
    struct as_str directory = {0};
    struct book book = {0};
    int rc, closed;

    as_str_append(&directory, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
    lxw_workbook_options options = {.constant_memory = LXW_TRUE, .tmpdir = directory.p};
    book.workbook = directory.failed ? NULL : workbook_new_opt(path, &options);
    rc = book.workbook ? fill_book(&book, experiment, run_id, no_inline, err)
                       : as_error_nomem(err, name);
    if (book.workbook) {
        closed = close_book(&book, name, rc == 0 ? err : NULL);
        rc = rc == 0 ? closed : rc;
    }
    if (rc == 0)
        rc = as_xlsx_verify(path, name, book.row_n.at, book.row_n.n, err);
    as_vec_fini(&book.row_n);
    as_str_fini(&book.scratch);
    as_str_fini(&directory);
    return rc;
}
