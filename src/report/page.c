/* SPDX-License-Identifier: Apache-2.0 */
/* Headings, wrapping and bars of a text page. Bars are eighths of blocks (U+2588..U+258F). */
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clean.h"
#include "base/utf8.h"
#include "report/report.h"

#define PLUS_MINUS 0xb1

bool as_report_locale_is_utf8(void)
{
    static const char *const name[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const char *value = getenv(name[i]);
        const char *charset = value ? strchr(value, '.') : NULL;

        if (value && *value)
            return charset && (strncasecmp(charset, ".utf-8", 6) == 0 ||
                               strncasecmp(charset, ".utf8", 5) == 0);
    }
    return false;
}

void as_page_style(const struct as_page *page, enum as_style style)
{
    if (page->colour)
        as_out_style(page->out, style);
}

void as_page_heading(struct as_page *page, const char *title)
{
    as_out_c(page->out, '\n');
    as_page_style(page, AS_STYLE_BOLD);
    as_out_z(page->out, title);
    as_page_style(page, AS_STYLE_PLAIN);
    as_out_c(page->out, '\n');
}

void as_page_table_begin(const struct as_page *page, struct as_table *table,
                         const struct as_column *columns, size_t n)
{
    as_table_init(table, columns, n);
    table->indent = 2;
    table->ascii = !page->utf8;
}

int as_page_table_end(const struct as_page *page, struct as_table *table, struct as_error *err)
{
    const int rc = as_table_print(table, page->out, page->width, page->colour, err);

    as_table_fini(table);
    return rc;
}

/* ---- Sentences ---------------------------------------------------------------------------- */

/* Appends `s` with escapes. A character that the terminal does not support becomes a mark. */
static void append_clean(const struct as_page *page, struct as_str *to, struct as_view s)
{
    struct as_str clean = {0};
    size_t step;

    as_clean_append(page->utf8 ? to : &clean, s);
    s = as_view_of(as_str_z(&clean));
    for (size_t i = 0; i < s.n; i += step) {
        uint32_t c;

        step = (size_t)as_utf8_next(s.p + i, s.n - i, &c);
        if (c < 0x80)
            as_str_append(to, s.p + i, step);
        else
            as_str_appendz(to, c == PLUS_MINUS ? "+-" : "?");
    }
    to->failed |= clean.failed;
    as_str_fini(&clean);
}

/* Returns the longest start (or end) of `s` with at most this many columns. */
static struct as_view front(struct as_view s, size_t columns)
{
    size_t i = 0, width = 0;

    while (i < s.n) {
        uint32_t c;
        const int used = as_utf8_next(s.p + i, s.n - i, &c);

        width += as_utf8_columns(c);
        if (width > columns)
            break;
        i += (size_t)(used < 0 ? -used : used);
    }
    return (struct as_view){s.p, i};
}

static struct as_view back(struct as_view s, size_t columns)
{
    size_t width = as_utf8_width(s);

    while (s.n && width > columns) {
        uint32_t c;
        const int used = as_utf8_next(s.p, s.n, &c);
        const size_t step = (size_t)(used < 0 ? -used : used);

        width -= as_utf8_columns(c);
        s.p += step;
        s.n -= step;
    }
    return s;
}

static void write_fitting_word(struct as_page *page, struct as_view word, size_t columns,
                               bool whole)
{
    const size_t rest = columns ? columns - 1 : 0;

    if (whole || as_utf8_width(word) <= columns) {
        as_out_view(page->out, word);
        return;
    }
    as_out_view(page->out, front(word, rest - rest / 2));
    as_out_z(page->out, page->utf8 ? "\xe2\x80\xa6" : "~");
    as_out_view(page->out, back(word, rest / 2));
}

/* Returns the next word. With `whole` a blank inside shell quotes does not end a word. */
static bool next_word(struct as_view *rest, struct as_view *word, bool whole)
{
    const char *from = rest->p;
    struct as_view more;

    if (!as_view_split(rest, ' ', word))
        return false;
    for (;;) {
        size_t quotes = 0;

        for (size_t i = 0; i < word->n; i++)
            quotes += word->p[i] == '\'' && (!i || word->p[i - 1] != '\\');
        if (!whole || quotes % 2 == 0 || !as_view_split(rest, ' ', &more))
            return true;
        *word = (struct as_view){from, (size_t)(more.p + more.n - from)};
    }
}

void as_page_wrap(struct as_page *page, const char *first, const char *text, bool whole)
{
    const size_t indent = as_utf8_width(as_view_of(first));
    const size_t most = page->width > indent + 8 ? page->width - indent : 8;
    /* A line that continues needs space for its backslash. */
    const size_t room = whole && most > 10 ? most - 2 : most;
    struct as_str clean = {0};
    struct as_view rest, word;
    size_t at = 0;

    append_clean(page, &clean, as_view_of(text));
    rest = as_view_of(as_str_z(&clean));
    as_out_z(page->out, first);
    while (next_word(&rest, &word, whole)) {
        const size_t width = as_utf8_width(word);

        if (at && at + 1 + width > (rest.p ? room : most)) {
            as_out_z(page->out, whole ? " \\\n" : "\n");
            as_out_fill(page->out, ' ', indent + (whole ? 2 : 0));
            at = whole ? 2 : 0;
        } else if (at) {
            as_out_c(page->out, ' ');
            at++;
        }
        write_fitting_word(page, word, most, whole);
        at += width > most && !whole ? most : width;
    }
    as_out_c(page->out, '\n');
    as_str_fini(&clean);
}

/* ---- Bars --------------------------------------------------------------------------------- */

void as_page_bar(const struct as_page *page, struct as_str *to, double part, size_t columns)
{
    static const char *const eighth[] = {"",
                                         "\xe2\x96\x8f",
                                         "\xe2\x96\x8e",
                                         "\xe2\x96\x8d",
                                         "\xe2\x96\x8c",
                                         "\xe2\x96\x8b",
                                         "\xe2\x96\x8a",
                                         "\xe2\x96\x89"};
    const double all = fmin(fmax(part, 0), 1) * (double)columns;
    const size_t eighths = (size_t)lround(all * (page->utf8 ? 8 : 1)) * (page->utf8 ? 1 : 8);

    for (size_t i = 0; i < eighths / 8; i++)
        as_str_appendz(to, page->utf8 ? "\xe2\x96\x88" : "#");
    as_str_appendz(to, eighth[eighths % 8]);
}
