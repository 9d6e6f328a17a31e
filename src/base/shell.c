/* SPDX-License-Identifier: Apache-2.0 */
/* Quotes by the rules of POSIX, 2.2: inside single quotes only the quote is special. */
#include "base/shell.h"

#include <string.h>

#include "base/error.h"

void as_shell_word(struct as_str *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./=:,@%+";

    if (word[0] && !word[strspn(word, plain)]) {
        as_str_appendz(out, word);
        return;
    }
    as_str_append(out, "'", 1);
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            as_str_appendz(out, "'\\''");
        else
            as_str_append(out, c, 1);
    }
    as_str_append(out, "'", 1);
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int no_words(const char *text, const char *why, struct as_error *err)
{
    return as_error_set(err, AS_ERR_USAGE, "'%s': %s; use a plain command, or sh -c '...'", text,
                        why);
}

/* Parses a quoted text. `*at` is after the first quote and moves after the last one. Returns false
 * if the last quote is missing. */
static bool parse_quoted(struct as_str *words, const char **at, char quote)
{
    const char *c = *at;

    for (; *c && *c != quote; c++) {
        if (quote == '"' && *c == '\\' && c[1] && strchr("\"\\$`", c[1]))
            c++;
        as_str_append(words, c, 1);
    }
    *at = c + (*c != 0);
    return *c != 0;
}

/* Parses one word and moves `*at` to the blank behind it. */
static int parse_shell_word(struct as_str *words, const char **at, const char *text,
                            struct as_error *err)
{
    while (**at && !strchr(" \t", **at)) {
        const char c = *(*at)++;

        if (c == '\'' || c == '"') {
            if (!parse_quoted(words, at, c))
                return no_words(text, "a quote is not closed", err);
        } else if (strchr(";|&<>()`$*?[\n", c)) {
            return no_words(text, "needs a shell", err);
        } else if (c == '\\' && **at) {
            as_str_append(words, (*at)++, 1);
        } else {
            as_str_append(words, &c, 1);
        }
    }
    as_str_append(words, "", 1);
    return 0;
}

int as_shell_split(const char *text, struct as_str *words, struct as_error *err)
{
    int n = 0;

    for (const char *at = text;; n++) {
        at += strspn(at, " \t");
        if (!*at)
            break;
        AS_TRY(parse_shell_word(words, &at, text, err));
    }
    return words->failed ? as_error_nomem(err, "the words of a command") : n;
}
