/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV writer: quotes a field that holds a comma, a quote, a line break or outer blanks. */
#include "base/csv.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clean.h"

void as_csv_init(struct as_csv *csv, struct as_out *out)
{
    *csv = (struct as_csv){.out = out};
}

static void next_cell(struct as_csv *csv)
{
    assert((!csv->columns || csv->at < csv->columns) && "more fields than columns");
    if (csv->at++)
        as_out_c(csv->out, ',');
}

static bool needs_quotes(struct as_view s)
{
    if (!s.n)
        return false;
    if (s.p[0] == ' ' || s.p[s.n - 1] == ' ')
        return true;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\n' || s.p[i] == '\r')
            return true;
    return false;
}

static size_t digits(struct as_view s, size_t from)
{
    size_t at = from;

    while (at < s.n && s.p[at] >= '0' && s.p[at] <= '9')
        at++;
    return at - from;
}

/* Returns true for a number such as "-12.5e-3". A number may begin with a sign and is harmless. */
static bool is_number(struct as_view s)
{
    size_t at = s.n && (s.p[0] == '-' || s.p[0] == '+'), n = digits(s, at);

    if (!n)
        return false;
    at += n;
    if (at < s.n && s.p[at] == '.') {
        n = digits(s, at + 1);
        at += 1 + n;
    }
    if (n && at < s.n && (s.p[at] == 'e' || s.p[at] == 'E')) {
        at += 1 + (at + 1 < s.n && (s.p[at + 1] == '-' || s.p[at + 1] == '+'));
        n = digits(s, at);
        at += n;
    }
    return n && at == s.n;
}

static void write_csv_field(struct as_csv *csv, struct as_view s);

static void write_safe(struct as_csv *csv, struct as_view s)
{
    struct as_str text = {0};

    if (s.n && strchr("=+-@\t\r\n", s.p[0]) && !is_number(s))
        as_str_appendz(&text, "'");
    as_clean_append(&text, s);
    write_csv_field(csv, as_view_of(as_str_z(&text)));
    if (text.failed && !csv->out->failed)
        csv->out->failed = ENOMEM;
    as_str_fini(&text);
}

void as_csv_view(struct as_csv *csv, struct as_view s)
{
    next_cell(csv);
    if (csv->safe)
        write_safe(csv, s);
    else
        write_csv_field(csv, s);
}

static void write_csv_field(struct as_csv *csv, struct as_view s)
{
    if (!needs_quotes(s)) {
        /* A lone empty field would make an empty line, which readers skip. */
        if (!s.n && csv->columns == 1)
            as_out_z(csv->out, "\"\"");
        as_out_view(csv->out, s);
        return;
    }
    as_out_c(csv->out, '"');
    struct as_view part;
    bool first = true;
    while (as_view_split(&s, '"', &part)) {
        if (!first)
            as_out_z(csv->out, "\"\"");
        as_out_view(csv->out, part);
        first = false;
    }
    as_out_c(csv->out, '"');
}

void as_csv_string(struct as_csv *csv, const char *z)
{
    as_csv_view(csv, as_view_of(z));
}

void as_csv_u64(struct as_csv *csv, uint64_t v)
{
    next_cell(csv);
    as_out_u64(csv->out, v);
}

void as_csv_i64(struct as_csv *csv, int64_t v)
{
    next_cell(csv);
    as_out_i64(csv->out, v);
}

void as_csv_double(struct as_csv *csv, double v)
{
    if (!isfinite(v)) {
        as_csv_view(csv, (struct as_view){0});
        return;
    }
    next_cell(csv);
    as_out_double(csv->out, v);
}

void as_csv_hex(struct as_csv *csv, uint64_t v)
{
    next_cell(csv);
    as_out_z(csv->out, "0x");
    as_out_hex(csv->out, v, 1);
}

void as_csv_row_end(struct as_csv *csv)
{
    assert(csv->at && "an empty row");
    assert((!csv->columns || csv->at == csv->columns) && "fewer fields than columns");
    csv->columns = csv->at;
    csv->at = 0;
    as_out_c(csv->out, '\n');
}

void as_csv_header(struct as_csv *csv, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        as_csv_string(csv, names[i]);
    as_csv_row_end(csv);
}
