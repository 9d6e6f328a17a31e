/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON writer. A string is copied in runs up to the next byte that needs an escape or is not
 * ASCII. So a usual name costs one memcpy. Control characters beyond ASCII, which JSON permits, are
 * escaped too: a document may be shown on a terminal.
 */
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/clean.h"
#include "base/utf8.h"

void as_json_init(struct as_json *json, struct as_out *out, unsigned indent)
{
    *json = (struct as_json){.out = out, .indent = indent};
}

static uint64_t level_bit(const struct as_json *json)
{
    return (uint64_t)1 << (json->depth - 1);
}

static void line(struct as_json *json)
{
    if (!json->indent)
        return;
    as_out_c(json->out, '\n');
    as_out_fill(json->out, ' ', (size_t)json->indent * json->depth);
}

/* Writes the comma and the line break before the next member or element. */
static void next_member(struct as_json *json)
{
    if (json->filled & level_bit(json))
        as_out_c(json->out, ',');
    json->filled |= level_bit(json);
    line(json);
}

/* Checks the state and writes the separator before a value. */
static void value(struct as_json *json)
{
    assert(!json->done && "one document holds one value");
    if (json->depth == 0) {
        json->done = true;
    } else if (json->objects & level_bit(json)) {
        assert(json->keyed && "a member needs its key");
        json->keyed = false;
    } else {
        next_member(json);
    }
}

static void begin_nest(struct as_json *json, bool object)
{
    value(json);
    assert(json->depth < AS_JSON_DEPTH && "too deep");
    json->done = false;
    json->depth++;
    json->filled &= ~level_bit(json);
    if (object)
        json->objects |= level_bit(json);
    else
        json->objects &= ~level_bit(json);
    as_out_c(json->out, object ? '{' : '[');
}

static void end_nest(struct as_json *json, bool object)
{
    assert(json->depth && "an end without its begin");
    assert(!(json->objects & level_bit(json)) == !object && "ends the other kind");
    assert(!json->keyed && "a key without its value");
    bool filled = json->filled & level_bit(json);
    json->depth--;
    if (filled)
        line(json);
    as_out_c(json->out, object ? '}' : ']');
    json->done = json->depth == 0;
}

void as_json_object_begin(struct as_json *json)
{
    begin_nest(json, true);
}

void as_json_object_end(struct as_json *json)
{
    end_nest(json, true);
}

void as_json_array_begin(struct as_json *json)
{
    begin_nest(json, false);
}

void as_json_array_end(struct as_json *json)
{
    end_nest(json, false);
}

void as_json_finish(struct as_json *json)
{
    assert(json->done && "the document is not complete");
    as_out_c(json->out, '\n');
    json->done = false;
}

static void escape_json(struct as_out *out, uint32_t c)
{
    /* Indexed by the control character; 0 = no short form. */
    static const char brief[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    if (c == '"' || c == '\\') {
        as_out_c(out, '\\');
        as_out_c(out, (char)c);
    } else if (c < 0x20 && brief[c]) {
        as_out_c(out, '\\');
        as_out_c(out, brief[c]);
    } else {
        as_out_z(out, "\\u");
        as_out_hex(out, c, 4);
    }
}

/* Writes the escape of clean.h with an escaped backslash. Line ends and tabs get JSON escapes. */
static void escape_visibly(struct as_out *out, uint32_t c)
{
    char text[AS_CLEAN_ESCAPE_B + 2];
    if (c == '\n' || c == '\t' || !as_clean_is_control(c)) {
        escape_json(out, c);
        return;
    }
    snprintf(text, sizeof text, c < 0x80 ? "\\\\x%02x" : "\\\\u%04x", c & 0xffffu);
    as_out_z(out, text);
}

static void write_escaped(struct as_out *out, const char *p, size_t n, bool clean)
{
    void (*const escape)(struct as_out *, uint32_t) = clean ? escape_visibly : escape_json;

    as_out_c(out, '"');
    size_t from = 0, i = 0;
    while (i < n) {
        unsigned char c = (unsigned char)p[i];
        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
            i++;
            continue;
        }
        if (c >= 0x80) {
            uint32_t code;
            int used = as_utf8_next(p + i, n - i, &code);
            if (used > 0 && !as_clean_is_control(code)) {
                i += (size_t)used;
                continue;
            }
            as_out_write(out, p + from, i - from);
            if (used > 0)
                escape(out, code);
            else
                as_out_z(out, AS_UTF8_REPLACEMENT_Z);
            i += (size_t)(used > 0 ? used : -used);
        } else {
            as_out_write(out, p + from, i - from);
            escape(out, c);
            i++;
        }
        from = i;
    }
    as_out_write(out, p + from, n - from);
    as_out_c(out, '"');
}

void as_json_key(struct as_json *json, const char *key)
{
    assert(json->depth && (json->objects & level_bit(json)) && "a key outside an object");
    assert(!json->keyed && "a key after a key");
    next_member(json);
    write_escaped(json->out, key, strlen(key), json->clean);
    as_out_write(json->out, ": ", json->indent ? 2 : 1);
    json->keyed = true;
}

void as_json_view(struct as_json *json, struct as_view s)
{
    if (!s.p) {
        as_json_null(json);
        return;
    }
    value(json);
    write_escaped(json->out, s.p, s.n, json->clean);
}

void as_json_string(struct as_json *json, const char *z)
{
    as_json_view(json, as_view_of(z));
}

void as_json_u64(struct as_json *json, uint64_t v)
{
    value(json);
    as_out_u64(json->out, v);
}

void as_json_i64(struct as_json *json, int64_t v)
{
    value(json);
    as_out_i64(json->out, v);
}

void as_json_double(struct as_json *json, double v)
{
    if (!isfinite(v)) {
        as_json_null(json);
        return;
    }
    value(json);
    as_out_double(json->out, v);
}

void as_json_bool(struct as_json *json, bool v)
{
    value(json);
    as_out_z(json->out, v ? "true" : "false");
}

void as_json_null(struct as_json *json)
{
    value(json);
    as_out_write(json->out, "null", 4);
}

void as_json_hex(struct as_json *json, uint64_t v)
{
    value(json);
    as_out_write(json->out, "\"0x", 3);
    as_out_hex(json->out, v, 1);
    as_out_c(json->out, '"');
}
