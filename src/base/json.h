/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streaming JSON writer (RFC 8259) on a byte sink. It writes commas, escapes and indentation, and
 * stores no document. Misuse (a value without its key, an end without its begin) is a defect of the
 * caller and stopped by an assert. Errors are those of the sink.
 */
#ifndef AS_BASE_JSON_H
#define AS_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"
#include "base/str.h"

/* Deepest nesting of objects and arrays. */
#define AS_JSON_DEPTH 64

struct as_json {
    struct as_out *out;
    unsigned indent; /* spaces a level; 0 = all on one line */
    unsigned depth;
    uint64_t objects; /* bit d: level d is an object, not an array */
    uint64_t filled;  /* bit d: level d has a member already */
    bool keyed;       /* a key waits for its value */
    bool done;        /* the one top-level value is complete */
    bool clean;       /* set by its owner: control characters in texts become visible (clean.h) */
};

/* Writes to `out`, borrowed. */
void as_json_init(struct as_json *json, struct as_out *out, unsigned indent);

/* Asserts that the document is complete and ends its line; another document may follow. */
void as_json_finish(struct as_json *json);

void as_json_object_begin(struct as_json *json);
void as_json_object_end(struct as_json *json);
void as_json_array_begin(struct as_json *json);
void as_json_array_end(struct as_json *json);

/* Key of the next value; inside an object only. */
void as_json_key(struct as_json *json, const char *key);

/* Strings: bytes that are not UTF-8 become U+FFFD. NULL (also a view's) is written as null. */
void as_json_string(struct as_json *json, const char *z);
void as_json_view(struct as_json *json, struct as_view s);
void as_json_u64(struct as_json *json, uint64_t v);
void as_json_i64(struct as_json *json, int64_t v);
/* Shortest decimal that reads back the same; null for infinities and not-a-number. */
void as_json_double(struct as_json *json, double v);
void as_json_bool(struct as_json *json, bool v);
void as_json_null(struct as_json *json);
/* An address, as the string "0x1f40": JSON numbers above 2^53 are not safe with every reader. */
void as_json_hex(struct as_json *json, uint64_t v);

/* Key and value in one call. */
static inline void as_json_key_string(struct as_json *json, const char *key, const char *z)
{
    as_json_key(json, key);
    as_json_string(json, z);
}

static inline void as_json_key_view(struct as_json *json, const char *key, struct as_view s)
{
    as_json_key(json, key);
    as_json_view(json, s);
}

static inline void as_json_key_u64(struct as_json *json, const char *key, uint64_t v)
{
    as_json_key(json, key);
    as_json_u64(json, v);
}

static inline void as_json_key_i64(struct as_json *json, const char *key, int64_t v)
{
    as_json_key(json, key);
    as_json_i64(json, v);
}

static inline void as_json_key_double(struct as_json *json, const char *key, double v)
{
    as_json_key(json, key);
    as_json_double(json, v);
}

static inline void as_json_key_bool(struct as_json *json, const char *key, bool v)
{
    as_json_key(json, key);
    as_json_bool(json, v);
}

static inline void as_json_key_hex(struct as_json *json, const char *key, uint64_t v)
{
    as_json_key(json, key);
    as_json_hex(json, v);
}

#endif
