/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streaming JSON writer (RFC 8259) on a byte sink. The writer adds commas, escapes and indentation,
 * and stores no document. An assert stops misuse: a value without its key, an end without its
 * begin. Errors are those of the sink.
 */
#ifndef AS_BASE_JSON_H
#define AS_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"
#include "base/str.h"

/* Max nesting of objects and arrays. */
#define AS_JSON_DEPTH 64

struct as_json {
    struct as_out *out;
    unsigned indent; /* spaces per level; 0: all on one line */
    unsigned depth;
    uint64_t objects; /* bit d: level d is an object, not an array */
    uint64_t filled;  /* bit d: level d already has a member */
    bool keyed;       /* a key was written and its value is missing */
    bool done;        /* the top-level value is complete */
    bool clean;       /* set by the caller: escapes control characters in texts visibly (clean.h) */
};

/* Begins a document on `out`, which is borrowed and must outlive the writer. */
void as_json_init(struct as_json *json, struct as_out *out, unsigned indent);

/* Asserts that the document is complete and ends its line; another document may follow. */
void as_json_finish(struct as_json *json);

void as_json_object_begin(struct as_json *json);
void as_json_object_end(struct as_json *json);
void as_json_array_begin(struct as_json *json);
void as_json_array_end(struct as_json *json);

/* Writes the key of the next value. Valid only inside an object. */
void as_json_key(struct as_json *json, const char *key);

/* Write a string. Bytes that are not UTF-8 become U+FFFD. NULL gives null, also in a view. */
void as_json_string(struct as_json *json, const char *z);
void as_json_view(struct as_json *json, struct as_view s);
void as_json_u64(struct as_json *json, uint64_t v);
void as_json_i64(struct as_json *json, int64_t v);
/* Writes the shortest decimal that reads back as the same number. Infinities and not-a-number give
 * null. */
void as_json_double(struct as_json *json, double v);
void as_json_bool(struct as_json *json, bool v);
void as_json_null(struct as_json *json);
/* Writes an address as the string "0x1f40": some readers round JSON numbers above 2^53. */
void as_json_hex(struct as_json *json, uint64_t v);

/* Write a key and its value. */
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
