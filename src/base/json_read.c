/* SPDX-License-Identifier: Apache-2.0 */
/* Splits JSON into tokens and checks that each token is allowed at its position. */
#include "base/json_read.h"

#include <string.h>

void as_json_read_init(struct as_json_read *r, const char *p, size_t n)
{
    *r = (struct as_json_read){.at = p, .end = p + n};
}

void as_json_read_fini(struct as_json_read *r)
{
    as_str_fini(&r->text);
}

static enum as_json_token spoil(struct as_json_read *r)
{
    r->bad = true;
    return AS_JSON_BAD;
}

static void skip_blanks(struct as_json_read *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
}

/* ---- Text ---------------------------------------------------------------------------------- */

static bool read_hex(struct as_json_read *r, uint32_t *out)
{
    *out = 0;
    if (r->end - r->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        const char c = *r->at++;
        const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                               : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                               : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                                      : 16;

        if (digit > 15)
            return false;
        *out = *out << 4 | digit;
    }
    return true;
}

static void append_code(struct as_json_read *r, uint32_t code)
{
    char utf8[3];
    size_t n = 0;

    if (code >= 0xd800 && code < 0xe000)
        code = 0xfffd;
    if (code < 0x80) {
        utf8[n++] = (char)code;
    } else {
        if (code < 0x800) {
            utf8[n++] = (char)(0xc0 | code >> 6);
        } else {
            utf8[n++] = (char)(0xe0 | code >> 12);
            utf8[n++] = (char)(0x80 | (code >> 6 & 0x3f));
        }
        utf8[n++] = (char)(0x80 | (code & 0x3f));
    }
    as_str_append(&r->text, utf8, n);
}

static bool read_escape(struct as_json_read *r)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    uint32_t code;
    const char *at;

    if (r->at == r->end)
        return false;
    const char c = *r->at++;

    if (c == 'u') {
        if (!read_hex(r, &code))
            return false;
        append_code(r, code);
        return true;
    }
    at = c ? strchr(from, c) : NULL;
    if (at)
        as_str_append(&r->text, &to[at - from], 1);
    return at;
}

static bool read_string(struct as_json_read *r)
{
    as_str_clear(&r->text);
    as_str_append(&r->text, "", 0);
    for (r->at++; r->at < r->end;) {
        const char *from = r->at;

        while (r->at < r->end && *r->at != '"' && *r->at != '\\')
            r->at++;
        as_str_append(&r->text, from, (size_t)(r->at - from));
        if (r->at == r->end)
            return false;
        if (*r->at++ == '"')
            return !r->text.failed;
        if (!read_escape(r))
            return false;
    }
    return false;
}

/* Reads a number or a word: a run of letters, digits and signs. */
static enum as_json_token read_plain(struct as_json_read *r)
{
    const char *from = r->at;

    while (r->at < r->end &&
           ((*r->at >= '0' && *r->at <= '9') || (*r->at >= 'a' && *r->at <= 'z') || *r->at == 'E' ||
            *r->at == '+' || *r->at == '-' || *r->at == '.'))
        r->at++;
    as_str_clear(&r->text);
    as_str_append(&r->text, from, (size_t)(r->at - from));
    if (r->at == from || r->text.failed)
        return spoil(r);
    if (*from == '-' || (*from >= '0' && *from <= '9'))
        return AS_JSON_NUMBER;
    const struct as_view word = {from, (size_t)(r->at - from)};

    return as_view_equal(word, as_view_of("true")) || as_view_equal(word, as_view_of("false")) ||
                   as_view_equal(word, as_view_of("null"))
               ? AS_JSON_WORD
               : spoil(r);
}

/* ---- Structure ----------------------------------------------------------------------------- */

static enum as_json_token open_level(struct as_json_read *r, bool object)
{
    if (r->depth == AS_JSON_DEEP_MOST)
        return spoil(r);
    r->at++;
    r->object[r->depth++] = object;
    r->after_key = r->after_value = false;
    return object ? AS_JSON_OBJECT : AS_JSON_ARRAY;
}

static enum as_json_token close_level(struct as_json_read *r, bool object)
{
    if (r->depth == 0 || r->object[r->depth - 1] != object || r->after_key)
        return spoil(r);
    r->at++;
    r->depth--;
    r->after_value = true;
    return object ? AS_JSON_OBJECT_END : AS_JSON_ARRAY_END;
}

static enum as_json_token read_key(struct as_json_read *r)
{
    if (*r->at != '"' || !read_string(r))
        return spoil(r);
    skip_blanks(r);
    if (r->at == r->end || *r->at++ != ':')
        return spoil(r);
    r->after_key = true;
    r->after_value = false;
    return AS_JSON_KEY;
}

static enum as_json_token read_value(struct as_json_read *r)
{
    enum as_json_token token = AS_JSON_STRING;

    if (*r->at == '{' || *r->at == '[')
        return open_level(r, *r->at == '{');
    if (*r->at == '"') {
        if (!read_string(r))
            return spoil(r);
    } else {
        token = read_plain(r);
    }
    r->after_key = false;
    r->after_value = true;
    return token;
}

enum as_json_token as_json_next(struct as_json_read *r)
{
    if (r->bad)
        return AS_JSON_BAD;
    skip_blanks(r);
    if (r->depth == 0 && r->after_value)
        return r->at == r->end ? AS_JSON_END : spoil(r);
    if (r->at == r->end)
        return spoil(r);
    if (*r->at == '}' || *r->at == ']')
        return close_level(r, *r->at == '}');
    if (r->after_value) {
        if (*r->at++ != ',')
            return spoil(r);
        r->after_value = false;
        skip_blanks(r);
        if (r->at == r->end || *r->at == '}' || *r->at == ']')
            return spoil(r);
    }
    if (r->depth && r->object[r->depth - 1] && !r->after_key)
        return read_key(r);
    return read_value(r);
}

void as_json_skip(struct as_json_read *r, enum as_json_token first)
{
    const unsigned above = r->depth - 1;
    enum as_json_token token = first;

    if (first != AS_JSON_OBJECT && first != AS_JSON_ARRAY)
        return;
    while (r->depth > above && token != AS_JSON_BAD && token != AS_JSON_END)
        token = as_json_next(r);
}
