/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads foreign JSON (RFC 8259) token by token, and stores only the text of the last string or
 * number. After the first fault every token is AS_JSON_BAD. The depth is at most AS_JSON_DEEP_MOST,
 * which also bounds recursive callers. Bytes within strings are kept, UTF-8 or not; \u of half a
 * surrogate pair becomes U+FFFD.
 */
#ifndef AS_BASE_JSON_READ_H
#define AS_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define AS_JSON_DEEP_MOST 200

enum as_json_token {
    AS_JSON_END, /* of a whole value */
    AS_JSON_OBJECT,
    AS_JSON_OBJECT_END,
    AS_JSON_ARRAY,
    AS_JSON_ARRAY_END,
    AS_JSON_KEY,    /* text; its value follows */
    AS_JSON_STRING, /* text */
    AS_JSON_NUMBER, /* text */
    AS_JSON_WORD,   /* text: true, false, null */
    AS_JSON_BAD     /* or out of memory: text.failed */
};

struct as_json_read {
    const char *at, *end;
    struct as_str text;
    bool object[AS_JSON_DEEP_MOST]; /* by depth: an object, else an array */
    unsigned depth;
    bool bad, after_key, after_value;
};

/* Borrows the bytes; as_json_read_fini releases the text. */
void as_json_read_init(struct as_json_read *r, const char *p, size_t n);
void as_json_read_fini(struct as_json_read *r);
enum as_json_token as_json_next(struct as_json_read *r);
/* Skips the rest of the value with first token `first`. */
void as_json_skip(struct as_json_read *r, enum as_json_token first);

#endif
