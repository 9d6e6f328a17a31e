/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of advice: a {name} in one stands for the column of that name of the row at hand, told
 * short where it is the long name of a function; in a command it is a word for a shell.
 */
#include "advise/fill.h"

#include <string.h>

#include "base/shell.h"
#include "base/short_name.h"

#define NAME_MOST  60 /* bytes of a name in a sentence */
#define EXPERIMENT "{experiment}"

/* The column whose name stands in the brackets at `at`, or -1; `*n`: how long they are. */
static int column_at(const struct as_rows *rows, const char *at, size_t *n)
{
    const char *end = strchr(at, '}');

    *n = end ? (size_t)(end - at) + 1 : 0;
    for (int i = 0; end && i < as_rows_column_n(rows); i++) {
        const char *name = as_rows_column(rows, i);

        if (strlen(name) == *n - 2 && strncmp(name, at + 1, *n - 2) == 0)
            return i;
    }
    return -1;
}

/* A name that has nothing to leave out keeps its both ends. */
static void append_name(struct as_str *out, const char *name)
{
    struct as_str brief = {0};

    as_short_name(&brief, name, NAME_MOST);
    if (brief.n > 2 * NAME_MOST) {
        as_str_append(out, brief.p, NAME_MOST);
        as_str_appendf(out, "...%s", brief.p + brief.n - NAME_MOST / 2);
    } else {
        as_str_append(out, as_str_z(&brief), brief.n);
    }
    out->failed |= brief.failed;
    as_str_fini(&brief);
}

/*
 * Appends what stands before the next {column}, and gives that column's value (NULL = not known);
 * false at the end of the text.
 */
static bool next_place(struct as_str *out, struct as_rows *rows, const char **text,
                       const char **value)
{
    for (; **text; (*text)++) {
        size_t n;
        const int column = **text == '{' ? column_at(rows, *text, &n) : -1;

        if (column >= 0) {
            *value = as_rows_text(rows, column);
            *text += n;
            return true;
        }
        as_str_append(out, *text, 1);
    }
    return false;
}

void as_fill_text(struct as_str *out, struct as_rows *rows, const char *text)
{
    const char *value;

    while (next_place(out, rows, &text, &value))
        append_name(out, value ? value : "?");
}

bool as_fill_command(struct as_str *out, struct as_rows *rows, const char *command)
{
    const char *value;

    while (next_place(out, rows, &command, &value)) {
        if (!value || strstr(value, EXPERIMENT))
            return false;
        as_shell_word(out, value);
    }
    return true;
}
