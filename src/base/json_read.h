/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads foreign JSON (RFC 8259) token by token, and stores only the text of the last string or
 * number. After the first fault every token is AS_JSON_BAD. The depth is at most AS_JSON_DEEP_MOST,
 * which also bounds recursive callers. Strings keep their bytes, even if they are not UTF-8. An
 * escape \u of half a surrogate pair becomes U+FFFD.
 */
#ifndef AS_BASE_JSON_READ_H
#define AS_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define AS_JSON_DEEP_MOST 200

enum as_json_token {
    AS_JSON_END, /* the top-level value is complete and no byte follows */
    AS_JSON_OBJECT,
    AS_JSON_OBJECT_END,
    AS_JSON_ARRAY,
    AS_JSON_ARRAY_END,
    AS_JSON_KEY,    /* in `text`; the value follows */
    AS_JSON_STRING, /* in `text` */
    AS_JSON_NUMBER, /* in `text` */
    AS_JSON_WORD,   /* in `text`: true, false or null */
    AS_JSON_BAD     /* invalid JSON, or no memory (`text.failed`) */
};

struct as_json_read {
    const char *at, *end;
    struct as_str text;
    bool object[AS_JSON_DEEP_MOST]; /* by depth: true for an object, false for an array */
    unsigned depth;
    bool bad, after_key, after_value;
};

/* Begins to read `n` bytes at `p`, which are borrowed. Release the reader with
 * as_json_read_fini. */
void as_json_read_init(struct as_json_read *r, const char *p, size_t n);
void as_json_read_fini(struct as_json_read *r);
enum as_json_token as_json_next(struct as_json_read *r);
/* Skips the rest of a value. `first` is the first token of this value. */
void as_json_skip(struct as_json_read *r, enum as_json_token first);

#endif
