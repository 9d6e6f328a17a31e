/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffered sink of bytes over a file descriptor, a growing string or a function. Writers return no
 * errors: the sink keeps the first failure, ignores later writes, and as_out_flush returns the
 * failure. json.h, csv.h and table.h write formats through it. With `clean`, control characters of
 * the input become visible escapes for terminals (clean.h). Only as_out_style writes escape
 * sequences then. Not thread-safe.
 */
#ifndef AS_BASE_OUT_H
#define AS_BASE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/style.h"

/* Size of the buffer inside the object in bytes. Strings use only this buffer, and so do
 * descriptors without memory. */
#define AS_OUT_SPARE_B 512

struct as_out {
    char *buffer; /* `spare`, or a heap block for descriptors */
    size_t n;     /* bytes in the buffer */
    size_t cap;
    int fd;                                              /* -1: no descriptor */
    struct as_str *str;                                  /* NULL: no string */
    int (*call)(void *context, const char *p, size_t n); /* NULL: no function */
    void *context;
    const char *name; /* borrowed; names the sink in errors */
    int failed;       /* 0, or the errno of the first failure (ENOMEM for strings) */
    bool clean;       /* set by the caller after init */
    unsigned char held_n;
    char held[8]; /* with `clean`: first bytes of an incomplete character */
    char spare[AS_OUT_SPARE_B];
};

/*
 * Writes to `fd`, which the caller closes. `name` ("standard output", a path) is borrowed and names
 * the sink in errors. The function cannot fail: without memory for a large buffer it uses the small
 * one. The object must not be copied or moved afterwards.
 */
void as_out_init_fd(struct as_out *out, int fd, const char *name);

/* Appends to `str`, which must outlive the sink. The string is complete only after as_out_flush. */
void as_out_init_str(struct as_out *out, struct as_str *str);

/* Passes bytes to `call`, which returns 0 or errno. `name` is as for as_out_init_fd. */
void as_out_init_call(struct as_out *out, int (*call)(void *context, const char *p, size_t n),
                      void *context, const char *name);

/* Releases the buffer. Bytes that were not flushed are lost. */
void as_out_fini(struct as_out *out);

/*
 * Writes the buffered bytes and returns the first failure since init: AS_ERR_IO (a full disk, a
 * closed pipe), AS_ERR_NOMEM (strings), or 0. Call it before as_out_fini.
 */
int as_out_flush(struct as_out *out, struct as_error *err);

/*
 * Returns true if the reader closed the pipe (EPIPE; SIGPIPE must be ignored). A program may end
 * without a message then, because no reader is left.
 */
bool as_out_reader_gone(const struct as_out *out);

/* Slow path of as_out_write, for data that exceeds the free buffer or must be cleaned. */
void as_out_write_slow(struct as_out *out, const char *p, size_t n);

static inline void as_out_write(struct as_out *out, const char *p, size_t n)
{
    if (n <= out->cap - out->n && !out->clean) {
        if (n)
            memcpy(out->buffer + out->n, p, n);
        out->n += n;
    } else {
        as_out_write_slow(out, p, n);
    }
}

/* Passes the buffered bytes on. */
void as_out_drain(struct as_out *out);

/* Returns space for `n` <= AS_OUT_SPARE_B bytes in the buffer. The caller writes the bytes and
 * calls as_out_passed with their end. Not for a sink with `clean`. */
static inline char *as_out_room(struct as_out *out, size_t n)
{
    if (n > out->cap - out->n)
        as_out_drain(out);
    return out->buffer + out->n;
}

static inline void as_out_passed(struct as_out *out, const char *end)
{
    out->n = (size_t)(end - out->buffer);
}

static inline void as_out_c(struct as_out *out, char c)
{
    as_out_write(out, &c, 1);
}

static inline void as_out_z(struct as_out *out, const char *z)
{
    as_out_write(out, z, strlen(z));
}

static inline void as_out_view(struct as_out *out, struct as_view s)
{
    as_out_write(out, s.p, s.n);
}

/* Writes the escape sequence of `style`, also with `clean`. */
void as_out_style(struct as_out *out, enum as_style style);

/* Writes the byte `c` `n` times. */
void as_out_fill(struct as_out *out, char c, size_t n);

/* Writes text formatted as by printf. Slow: not for output of many thousand lines. */
void as_out_f(struct as_out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Write decimal numbers. */
void as_out_u64(struct as_out *out, uint64_t v);
void as_out_i64(struct as_out *out, int64_t v);

/* Writes `v` in lower-case hexadecimal without prefix, with at least `digits` (1 to 16) digits. */
void as_out_hex(struct as_out *out, uint64_t v, unsigned digits);

/*
 * Writes the shortest decimal that reads back as the same number, with a point in every locale.
 * Infinity and not-a-number are written as "inf", "-inf" and "nan". Formats without these words
 * must check isfinite first.
 */
void as_out_double(struct as_out *out, double v);

#endif
