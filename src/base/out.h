/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffered sink of bytes over a file descriptor, a growing string or a function. Writers return no
 * errors: the first failure stays, later writes do nothing, and as_out_flush returns it. Knows no
 * formats; json.h, csv.h and table.h write through it. With `clean`, control characters of the
 * input become visible (clean.h) for terminals: only as_out_style writes escape sequences then. Not
 * thread-safe.
 */
#ifndef AS_BASE_OUT_H
#define AS_BASE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <assay/error.h>

#include "base/str.h"
#include "base/style.h"

/* Bytes of the buffer inside the object: all there is for strings, and when memory is short. */
#define AS_OUT_SPARE_B 512

struct as_out {
    char *buffer; /* `spare`, or a heap block for descriptors */
    size_t n;     /* bytes waiting in the buffer */
    size_t cap;
    int fd;                                              /* -1 without a descriptor */
    struct as_str *str;                                  /* NULL without a string */
    int (*call)(void *context, const char *p, size_t n); /* NULL without a function */
    void *context;
    const char *name; /* borrowed; what an error message calls the sink */
    int failed;       /* 0, or the errno of the first failure (ENOMEM for strings) */
    bool clean;       /* set by its owner after init */
    unsigned char held_n;
    char held[8]; /* clean: the beginning of an incomplete character */
    char spare[AS_OUT_SPARE_B];
};

/*
 * Writes to `fd`, which stays the caller's; `name` ("standard output", a path) is borrowed and
 * appears in the error. Cannot fail: without memory for a large buffer it uses the small one.
 * The object must not be copied or moved afterwards.
 */
void as_out_init_fd(struct as_out *out, int fd, const char *name);

/* Appends to `str`, which must outlive the sink; it is complete only after as_out_flush. */
void as_out_init_str(struct as_out *out, struct as_str *str);

/* Hands bytes to `call`, which returns 0 or an errno; `name` as for descriptors. */
void as_out_init_call(struct as_out *out, int (*call)(void *context, const char *p, size_t n),
                      void *context, const char *name);

/* Releases the buffer; bytes not flushed are lost. */
void as_out_fini(struct as_out *out);

/*
 * Hands everything on and reports the first failure since init: 0, ASSAY_ERR_IO (a full disk, a
 * closed pipe) or ASSAY_ERR_NOMEM (strings). Call it before as_out_fini.
 */
int as_out_flush(struct as_out *out, struct assay_error *err);

/*
 * Returns true if the reader of a pipe has closed it (EPIPE, only if SIGPIPE is ignored). No
 * message would be read, so a program may end quietly.
 */
bool as_out_reader_gone(const struct as_out *out);

/* Slow path of as_out_write, for data that does not fit the buffer's rest, or must be cleaned. */
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

/* Hands on what waits in the buffer. */
void as_out_drain(struct as_out *out);

/* Returns space for `n` bytes, at most AS_OUT_SPARE_B. The caller writes them and passes their
 * end to as_out_passed. Not for a cleaning sink. */
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

/* The escape sequence of a style: as it is, also when all else is cleaned. */
void as_out_style(struct as_out *out, enum as_style style);

/* `n` times the byte `c`. */
void as_out_fill(struct as_out *out, char c, size_t n);

/* Formatted as printf; for lines that are not written by the hundred thousand. */
void as_out_f(struct as_out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Decimal numbers. */
void as_out_u64(struct as_out *out, uint64_t v);
void as_out_i64(struct as_out *out, int64_t v);

/* Hexadecimal without prefix, lower case, at least `digits` (1 to 16) digits. */
void as_out_hex(struct as_out *out, uint64_t v, unsigned digits);

/*
 * The shortest decimal that reads back as the same number, with a point in every locale. Infinity
 * and not-a-number come as "inf", "-inf", "nan": formats that cannot hold them ask isfinite first.
 */
void as_out_double(struct as_out *out, double v);

#endif
