/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV writer: quotes a field that holds a comma, a quote, a line break or outer blanks. */
#include "base/csv.h"

#include <assert.h>
#include <math.h>

void as_csv_init(struct as_csv *csv, struct as_out *out)
{
    *csv = (struct as_csv){.out = out};
}

static void next(struct as_csv *csv)
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

void as_csv_view(struct as_csv *csv, struct as_view s)
{
    next(csv);
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
    next(csv);
    as_out_u64(csv->out, v);
}

void as_csv_i64(struct as_csv *csv, int64_t v)
{
    next(csv);
    as_out_i64(csv->out, v);
}

void as_csv_double(struct as_csv *csv, double v)
{
    if (!isfinite(v)) {
        as_csv_view(csv, (struct as_view){0});
        return;
    }
    next(csv);
    as_out_double(csv->out, v);
}

void as_csv_hex(struct as_csv *csv, uint64_t v)
{
    next(csv);
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
