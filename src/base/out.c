/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The byte sink and its fast number writers. A short write is continued and an interrupted one
 * repeated; every other failure of write(2) is final. Decimals are written two digits at a time. A
 * clean sink keeps an incomplete character at the end of a write until the next write.
 */
#include "base/out.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/error.h"
#include "base/io_full.h"
#include "base/utf8.h"

/* 64 KiB: the capacity of a Linux pipe. Larger buffers were not faster for listings. */
#define BUFFER_B ((size_t)1 << 16)

static void init_large(struct as_out *out, const char *name)
{
    out->buffer = as_malloc(BUFFER_B);
    out->cap = BUFFER_B;
    if (!out->buffer) {
        out->buffer = out->spare;
        out->cap = sizeof out->spare;
    }
    out->n = 0;
    out->fd = -1;
    out->str = NULL;
    out->call = NULL;
    out->name = name;
    out->failed = 0;
    out->clean = false;
    out->held_n = 0;
}

void as_out_init_fd(struct as_out *out, int fd, const char *name)
{
    init_large(out, name);
    out->fd = fd;
}

void as_out_init_call(struct as_out *out, int (*call)(void *context, const char *p, size_t n),
                      void *context, const char *name)
{
    init_large(out, name);
    out->call = call;
    out->context = context;
}

void as_out_init_str(struct as_out *out, struct as_str *str)
{
    out->buffer = out->spare;
    out->cap = sizeof out->spare;
    out->n = 0;
    out->fd = -1;
    out->str = str;
    out->call = NULL;
    out->name = "text";
    out->failed = 0;
    out->clean = false;
    out->held_n = 0;
}

void as_out_fini(struct as_out *out)
{
    if (out->buffer != out->spare)
        as_free(out->buffer);
    out->buffer = out->spare;
    out->cap = sizeof out->spare;
    out->n = 0;
}

/* Passes bytes directly to the descriptor, the string or the function. */
static void deliver(struct as_out *out, const char *p, size_t n)
{
    if (out->failed || !n)
        return;
    if (out->str) {
        as_str_append(out->str, p, n);
        if (out->str->failed)
            out->failed = ENOMEM;
        return;
    }
    if (out->call) {
        out->failed = out->call(out->context, p, n);
        return;
    }
    out->failed = as_whole_write(out->fd, p, n);
}

void as_out_drain(struct as_out *out)
{
    deliver(out, out->buffer, out->n);
    out->n = 0;
}

static void write_raw(struct as_out *out, const char *p, size_t n)
{
    if (n <= out->cap - out->n) {
        memcpy(out->buffer + out->n, p, n);
        out->n += n;
        return;
    }
    as_out_drain(out);
    if (n >= out->cap) {
        deliver(out, p, n);
        return;
    }
    memcpy(out->buffer, p, n);
    out->n = n;
}

static void write_clean(struct as_out *out, struct as_view s)
{
    char escape[AS_CLEAN_ESCAPE_B];

    while (s.n) {
        size_t used;
        const size_t n = as_clean_run(s, true, &used, escape);

        write_raw(out, s.p, n);
        if (used)
            write_raw(out, escape, strlen(escape));
        s.p += n + used;
        s.n -= n + used;
    }
}

/* Returns the number of bytes at the end of `s` that are an incomplete character. */
static size_t cut_off(struct as_view s)
{
    for (size_t k = 1; k <= 3 && k <= s.n; k++) {
        const unsigned char byte = (unsigned char)s.p[s.n - k];
        uint32_t c;

        if (byte >= 0xc0)
            return as_utf8_next(s.p + s.n - k, k, &c) == -(int)k ? k : 0;
        if (byte < 0x80)
            break;
    }
    return 0;
}

/* Joins the held bytes with `s`. An incomplete character at the end of `s` is held again. */
static void write_with_held_bytes(struct as_out *out, struct as_view s)
{
    size_t more;

    while (out->held_n && s.n) {
        out->held[out->held_n++] = *s.p++;
        s.n--;
        if (cut_off((struct as_view){out->held, out->held_n}) == out->held_n)
            continue;
        write_clean(out, (struct as_view){out->held, out->held_n});
        out->held_n = 0;
    }
    more = cut_off(s);
    write_clean(out, (struct as_view){s.p, s.n - more});
    if (more)
        memcpy(out->held, s.p + s.n - more, more);
    if (more)
        out->held_n = (unsigned char)more;
}

static void release_held(struct as_out *out)
{
    write_clean(out, (struct as_view){out->held, out->held_n});
    out->held_n = 0;
}

void as_out_write_slow(struct as_out *out, const char *p, size_t n)
{
    if (out->clean)
        write_with_held_bytes(out, (struct as_view){p, n});
    else
        write_raw(out, p, n);
}

void as_out_style(struct as_out *out, enum as_style style)
{
    static const char *const code[] = {
        [AS_STYLE_PLAIN] = "\033[0m", [AS_STYLE_BOLD] = "\033[1m",    [AS_STYLE_DIM] = "\033[2m",
        [AS_STYLE_CYAN] = "\033[36m", [AS_STYLE_YELLOW] = "\033[33m", [AS_STYLE_GREEN] = "\033[32m",
        [AS_STYLE_RED] = "\033[31m",
    };
    _Static_assert(sizeof code / sizeof *code == AS_STYLE_RED + 1,
                   "an entry for each of the enumeration");

    release_held(out);
    write_raw(out, code[style], strlen(code[style]));
}

int as_out_flush(struct as_out *out, struct as_error *err)
{
    release_held(out);
    as_out_drain(out);
    if (!out->failed)
        return 0;
    if (out->str)
        return as_error_nomem(err, out->name);
    const char *what_to_do = "check the reader or the storage of the output";
    if (out->failed == ENOSPC || out->failed == EDQUOT)
        what_to_do = "free some space or use another place";
    else if (out->failed == EPIPE)
        what_to_do = "the reader closed it early";
    else if (out->failed == EBADF)
        what_to_do = "it is closed or not open for writing";
    return as_error_set(err, AS_ERR_IO, "%s: cannot write: %s; %s", out->name,
                        strerror(out->failed), what_to_do);
}

bool as_out_reader_gone(const struct as_out *out)
{
    return out->failed == EPIPE;
}

void as_out_fill(struct as_out *out, char c, size_t n)
{
    char block[64];
    memset(block, c, sizeof block);
    for (; n > sizeof block; n -= sizeof block)
        as_out_write(out, block, sizeof block);
    as_out_write(out, block, n);
}

void as_out_f(struct as_out *out, const char *fmt, ...)
{
    char small[256];
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (n < 0) {
        out->failed = out->failed ? out->failed : errno;
    } else if ((size_t)n < sizeof small) {
        as_out_write(out, small, (size_t)n);
    } else {
        char *large = as_malloc((size_t)n + 1);
        if (large) {
            vsnprintf(large, (size_t)n + 1, fmt, again);
            as_out_write(out, large, (size_t)n);
        } else if (!out->failed) {
            out->failed = ENOMEM;
        }
        as_free(large);
    }
    va_end(again);
}

/* Writes the decimal digits of `v` at the end of `text`. Returns the start of the digits. */
static char *decimal(char text[static 20], uint64_t v)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char *p = text + 20;
    while (v >= 100) {
        p -= 2;
        memcpy(p, pairs + v % 100 * 2, 2);
        v /= 100;
    }
    if (v >= 10) {
        p -= 2;
        memcpy(p, pairs + v * 2, 2);
    } else {
        *--p = (char)('0' + v);
    }
    return p;
}

void as_out_u64(struct as_out *out, uint64_t v)
{
    char text[20];
    char *p = decimal(text, v);
    as_out_write(out, p, (size_t)(text + sizeof text - p));
}

void as_out_i64(struct as_out *out, int64_t v)
{
    if (v < 0) {
        as_out_c(out, '-');
        as_out_u64(out, (uint64_t)0 - (uint64_t)v);
    } else {
        as_out_u64(out, (uint64_t)v);
    }
}

void as_out_hex(struct as_out *out, uint64_t v, unsigned digits)
{
    char text[16];
    char *p = text + sizeof text;
    if (digits > sizeof text)
        digits = sizeof text;
    do {
        *--p = "0123456789abcdef"[v & 15];
        v >>= 4;
    } while (v || p > text + sizeof text - digits);
    as_out_write(out, p, (size_t)(text + sizeof text - p));
}

/*
 * Writes numbers with at most six decimals, which are most of a report. The number v is k / 10^6
 * rounded to nearest, and k has at most 15 digits. Two decimals of up to 15 digits never give the
 * same double. So k / 10^6 without trailing zeros is the shortest decimal that reads back.
 */
static bool fixed_point(struct as_out *out, double v)
{
    double scaled = fabs(v) * 1e6;
    if (!(scaled < 1e15) || (fabs(v) < 1e-4 && v != 0))
        return false;
    uint64_t k = (uint64_t)(scaled + 0.5);
    if ((double)k / 1e6 != fabs(v))
        return false;
    if (signbit(v))
        as_out_c(out, '-');
    as_out_u64(out, k / 1000000);
    uint64_t rest = k % 1000000;
    if (!rest)
        return true;
    char text[7] = ".";
    size_t n = 7;
    for (size_t i = 6; i >= 1; i--, rest /= 10)
        text[i] = (char)('0' + rest % 10);
    while (text[n - 1] == '0')
        n--;
    as_out_write(out, text, n);
    return true;
}

void as_out_double(struct as_out *out, double v)
{
    if (!isfinite(v)) {
        as_out_z(out, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
        return;
    }
    if (fixed_point(out, v))
        return;
    char text[40];
    /* Below DBL_MIN fewer than 15 digits may suffice. */
    for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    /* Another locale may write a comma; strtod above read it back under the same locale. */
    for (char *p = text; *p; p++)
        if (*p == ',')
            *p = '.';
    as_out_z(out, text);
}
