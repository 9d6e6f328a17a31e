/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remarks of clang: the YAML that LLVM writes (llvm/lib/Remarks/YAMLRemarkSerializer.cpp), one
 * document per remark. Reads line by line, and only the YAML that this writer makes.
 */
#include <string.h>

#include "base/error.h"
#include "quality/remark_draft.h"

struct clang_reader {
    struct as_view rest;
    struct as_remark_draft draft;
    struct as_str file, function, pass, value;
    bool open; /* in the document of a remark */
};

/* ---- Scalars ------------------------------------------------------------------------------- */

static size_t indent_of(struct as_view line)
{
    size_t n = 0;

    while (n < line.n && line.p[n] == ' ')
        n++;
    return n;
}

/* Appends the next lines to a quoted string until its quote closes. */
static void join_lines(struct clang_reader *r, char quote)
{
    struct as_view line;

    for (;;) {
        size_t quotes = 0;

        for (size_t i = 0; i < r->value.n; i++) {
            if (quote == '"' && r->value.p[i] == '\\')
                i++;
            else
                quotes += r->value.p[i] == quote;
        }
        if (quotes % 2 == 0 || r->value.n > 4096 || !as_view_split(&r->rest, '\n', &line))
            return;
        line = as_view_trim(line);
        as_str_append(&r->value, line.n ? " " : "\n", 1);
        as_str_append(&r->value, line.p, line.n);
    }
}

/* Appends a scalar without its quotes. Single quotes escape '' only; double quotes escape any
 * character by a backslash. */
static void append_plain(struct as_str *to, const struct as_str *from)
{
    const char *p = as_str_z(from);
    const char quote = *p;

    if (quote != '\'' && quote != '"') {
        as_str_append(to, p, from->n);
        return;
    }
    for (size_t i = 1; i < from->n; i++) {
        if (p[i] == quote && quote == '\'' && i + 1 < from->n && p[i + 1] == quote)
            i++;
        else if (p[i] == '\\' && quote == '"' && i + 1 < from->n)
            i++;
        else if (p[i] == quote)
            return;
        as_str_append(to, p + i, 1);
    }
}

static void parse_remark_value(struct clang_reader *r, struct as_view value, struct as_str *to)
{
    value = as_view_trim(value);
    as_str_clear(&r->value);
    as_str_append(&r->value, value.p, value.n);
    if (value.n && (value.p[0] == '\'' || value.p[0] == '"'))
        join_lines(r, value.p[0]);
    append_plain(to, &r->value);
    r->value.failed |= to->failed;
}

/* ---- Locations ----------------------------------------------------------------------------- */

static uint32_t number_after(const struct as_str *map, const char *key)
{
    const char *at = strstr(as_str_z(map), key);

    if (!at)
        return 0;
    at += strlen(key);
    at += strspn(at, " ");
    return as_remark_number((struct as_view){at, strspn(at, "0123456789")}, 0);
}

/* Parses { File: 'x.c', Line: 3, Column: 5 }, which may span several lines. */
static void parse_debug_location(struct clang_reader *r, struct as_view value)
{
    struct as_str map = {0};
    struct as_view line = value;

    as_str_append(&map, value.p, value.n);
    while (!memchr(line.p, '}', line.n) && map.n < 4096 && as_view_split(&r->rest, '\n', &line))
        as_str_append(&map, line.p, line.n);
    const char *file = strstr(as_str_z(&map), "File:");

    if (file) {
        file += strlen("File:");
        file += strspn(file, " ");
        const char *quote = *file == '"' ? "\"" : "'";
        const size_t n = *file == *quote ? 2 + strcspn(file + 1, quote) : strcspn(file, ",}");

        as_str_clear(&r->file);
        parse_remark_value(r, (struct as_view){file, strnlen(file, n)}, &r->file);
    }
    r->draft.line = number_after(&map, "Line:");
    r->draft.column = number_after(&map, "Column:");
    r->value.failed |= map.failed;
    as_str_fini(&map);
}

/* ---- Documents ----------------------------------------------------------------------------- */

static bool is_of_interest(const char *pass)
{
    static const char *const passes[] = {"loop-vectorize",  "slp-vectorizer", "loop-unroll",
                                         "loop-distribute", "inline",         "transform-warning"};

    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (strcmp(pass, passes[i]) == 0)
            return true;
    return false;
}

static int end_document(struct clang_reader *r, struct as_remarks *remarks)
{
    struct as_remark_draft *d = &r->draft;
    int rc = r->value.failed ? AS_ERR_NOMEM : 0;

    d->file = (struct as_view){as_str_z(&r->file), r->file.n};
    d->function = (struct as_view){as_str_z(&r->function), r->function.n};
    d->pass = (struct as_view){as_str_z(&r->pass), r->pass.n};
    if (rc == 0 && r->open && is_of_interest(as_str_z(&r->pass)))
        rc = as_remark_keep(remarks, d);
    r->open = false;
    as_str_clear(&r->file);
    as_str_clear(&r->function);
    as_str_clear(&r->pass);
    as_str_clear(&d->text);
    d->line = d->column = 0;
    return rc;
}

static void begin_document(struct clang_reader *r, struct as_view line)
{
    r->open = true;
    r->draft.kind = as_view_starts(line, "--- !Passed") ? AS_REMARK_DONE : AS_REMARK_MISSED;
}

static bool match_yaml_key(struct as_view line, const char *key, struct as_view *value)
{
    const size_t n = strlen(key);

    if (!as_view_starts(line, key))
        return false;
    *value = (struct as_view){line.p + n, line.n - n};
    return true;
}

/* Parses " - String: 'words'" with any key. A line without a dash, as of a location, is skipped. */
static void parse_remark_argument(struct clang_reader *r, struct as_view line)
{
    const size_t n = indent_of(line);
    const char *colon;

    if (n + 2 > line.n || line.p[n] != '-')
        return;
    colon = memchr(line.p, ':', line.n);
    if (colon)
        parse_remark_value(r, (struct as_view){colon + 1, (size_t)(line.p + line.n - colon - 1)},
                           &r->draft.text);
}

static void parse_remark_member(struct clang_reader *r, struct as_view line)
{
    struct as_view value;

    if (match_yaml_key(line, "Pass:", &value))
        parse_remark_value(r, value, &r->pass);
    else if (match_yaml_key(line, "Function:", &value))
        parse_remark_value(r, value, &r->function);
    else if (match_yaml_key(line, "DebugLoc:", &value))
        parse_debug_location(r, value);
    else if (line.n && line.p[0] == ' ')
        parse_remark_argument(r, line);
}

int as_remarks_clang(struct as_remarks *remarks, struct as_view bytes, struct as_error *err)
{
    struct clang_reader r = {.rest = bytes};
    struct as_view line;
    int rc = 0;

    while (rc == 0 && as_view_split(&r.rest, '\n', &line)) {
        if (as_view_starts(line, "--- !")) {
            rc = end_document(&r, remarks);
            begin_document(&r, line);
        } else if (as_view_starts(line, "...")) {
            rc = end_document(&r, remarks);
        } else if (r.open) {
            parse_remark_member(&r, line);
        }
    }
    if (rc == 0)
        rc = end_document(&r, remarks);
    as_str_fini(&r.draft.text);
    as_str_fini(&r.file);
    as_str_fini(&r.function);
    as_str_fini(&r.pass);
    as_str_fini(&r.value);
    return rc < 0 ? as_error_nomem(err, "the record of a compiler") : 0;
}
