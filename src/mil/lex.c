/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits a probe file into words, quoted texts, numbers, symbols and line ends. A '#' outside of
 * quotes starts a comment.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mil/probe.h"

#define NUMBER_B 64

static void pass_bytes(struct as_probe_lexer *lexer, size_t n)
{
    lexer->rest.p += n;
    lexer->rest.n -= n;
    lexer->column += (unsigned)n;
}

static int refuse_token(const struct as_probe_lexer *lexer, const char *why, struct as_error *err)
{
    return as_error_set(err, AS_ERR_USAGE, "%s:%u:%u: %s", lexer->name, lexer->line, lexer->column,
                        why);
}

static void pass_blanks(struct as_probe_lexer *lexer)
{
    while (lexer->rest.n && strchr(" \t\r", *lexer->rest.p) && *lexer->rest.p)
        pass_bytes(lexer, 1);
    if (lexer->rest.n && *lexer->rest.p == '#') {
        const char *end = memchr(lexer->rest.p, '\n', lexer->rest.n);
        pass_bytes(lexer, end ? (size_t)(end - lexer->rest.p) : lexer->rest.n);
    }
}

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static int lex_text(struct as_probe_lexer *lexer, struct as_probe_token *out, struct as_error *err)
{
    const char *p = lexer->rest.p + 1;
    const char *end = memchr(p, '"', lexer->rest.n - 1);
    const char *line = memchr(p, '\n', lexer->rest.n - 1);
    if (!end || (line && line < end))
        return refuse_token(lexer, "the closing quote is missing on this line", err);
    if (memchr(p, 0, (size_t)(end - p)))
        return refuse_token(lexer, "the name has a zero byte", err);
    out->kind = AS_PROBE_TEXT;
    out->text = (struct as_view){p, (size_t)(end - p)};
    pass_bytes(lexer, out->text.n + 2);
    return 0;
}

static int lex_number(struct as_probe_lexer *lexer, struct as_probe_token *out,
                      struct as_error *err)
{
    char text[NUMBER_B], *end;
    size_t n = 0;
    while (n < lexer->rest.n && is_word_byte(lexer->rest.p[n]))
        n++;
    if (n >= sizeof text)
        return refuse_token(lexer, "the number is too long", err);
    memcpy(text, lexer->rest.p, n);
    text[n] = 0;
    const bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    out->kind = AS_PROBE_NUMBER;
    out->is_integer = is_hex || !strpbrk(text, ".eEnNiI");
    out->integer = out->is_integer ? strtoull(text, &end, is_hex ? 16 : 10) : 0;
    out->number = out->is_integer ? (double)out->integer : strtod(text, &end);
    if (*end || (is_hex && !text[2]) || !isfinite(out->number))
        return refuse_token(lexer, "invalid number; use 12, 0.5 or 0x401a40", err);
    out->text = (struct as_view){lexer->rest.p, n};
    pass_bytes(lexer, n);
    return 0;
}

static int lex_symbol(struct as_probe_lexer *lexer, struct as_probe_token *out,
                      struct as_error *err)
{
    static const char *const symbols[] = {">=", "<=", "=", "~", ",", "-", "%"};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        if (!as_view_starts(lexer->rest, symbols[i]))
            continue;
        out->kind = AS_PROBE_SYMBOL;
        out->text = (struct as_view){lexer->rest.p, strlen(symbols[i])};
        pass_bytes(lexer, out->text.n);
        return 0;
    }
    return refuse_token(lexer, "unexpected character; put names in quotes", err);
}

int as_probe_next(struct as_probe_lexer *lexer, struct as_probe_token *out, struct as_error *err)
{
    pass_blanks(lexer);
    *out = (struct as_probe_token){.line = lexer->line, .column = lexer->column};
    if (!lexer->rest.n) {
        out->kind = AS_PROBE_FILE_END;
        return 0;
    }
    const char c = *lexer->rest.p;
    if (c == '\n') {
        out->kind = AS_PROBE_LINE_END;
        pass_bytes(lexer, 1);
        lexer->line++;
        lexer->column = 1;
        return 0;
    }
    if (c == '"')
        return lex_text(lexer, out, err);
    if (isdigit((unsigned char)c))
        return lex_number(lexer, out, err);
    if (!is_word_byte(c))
        return lex_symbol(lexer, out, err);
    size_t n = 0;
    while (n < lexer->rest.n && is_word_byte(lexer->rest.p[n]))
        n++;
    out->kind = AS_PROBE_WORD;
    out->text = (struct as_view){lexer->rest.p, n};
    pass_bytes(lexer, n);
    return 0;
}
