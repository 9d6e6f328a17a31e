/* SPDX-License-Identifier: Apache-2.0 */
/* Views and the string builder; its capacity doubles, so appending is amortised constant. */
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

const char *as_path_last(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash && slash[1] ? slash + 1 : path;
}

struct as_view as_view_of(const char *z)
{
    return (struct as_view){.p = z, .n = z ? strlen(z) : 0};
}

bool as_view_equal(struct as_view a, struct as_view b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool as_view_starts(struct as_view s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.n >= n && (n == 0 || memcmp(s.p, prefix, n) == 0);
}

bool as_view_ends(struct as_view s, const char *suffix)
{
    size_t n = strlen(suffix);
    return s.n >= n && (n == 0 || memcmp(s.p + s.n - n, suffix, n) == 0);
}

size_t as_hex_encode(char *to, const void *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *at = bytes;

    for (size_t i = 0; i < n; i++) {
        to[2 * i] = digits[at[i] >> 4];
        to[2 * i + 1] = digits[at[i] & 15];
    }
    to[2 * n] = 0;
    return 2 * n;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t as_hex_get(const char *text, void *bytes, size_t most)
{
    unsigned char *to = bytes;
    size_t n = 0;

    for (; n < most; n++) {
        const int high = hex_digit(text[2 * n]);
        /* The text may end before this digit. */
        const int low = high < 0 ? -1 : hex_digit(text[2 * n + 1]);
        if (low < 0)
            break;
        to[n] = (unsigned char)(high << 4 | low);
    }
    return n;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct as_view as_view_trim(struct as_view s)
{
    while (s.n && is_space(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool as_view_split(struct as_view *rest, char separator, struct as_view *part)
{
    if (!rest->p)
        return false;
    const char *at = rest->n ? memchr(rest->p, separator, rest->n) : NULL;
    if (!at) {
        *part = *rest;
        *rest = (struct as_view){0};
        return true;
    }
    size_t n = (size_t)(at - rest->p);
    *part = (struct as_view){.p = rest->p, .n = n};
    *rest = (struct as_view){.p = at + 1, .n = rest->n - n - 1};
    return true;
}

/* Ensures capacity for `more` bytes and the terminating zero. Returns false without memory. */
static bool reserve(struct as_str *s, size_t more)
{
    size_t want;
    if (s->failed || __builtin_add_overflow(s->n, more, &want) ||
        __builtin_add_overflow(want, (size_t)1, &want)) {
        s->failed = true;
        return false;
    }
    if (want <= s->cap)
        return true;
    size_t cap = s->cap * 2 > want ? s->cap * 2 : want;
    if (cap < 64)
        cap = 64;
    char *p = as_realloc(s->p, cap, 1);
    if (!p) {
        s->failed = true;
        return false;
    }
    s->p = p;
    s->cap = cap;
    return true;
}

void as_str_append(struct as_str *s, const char *p, size_t n)
{
    if (!reserve(s, n))
        return;
    if (n)
        memcpy(s->p + s->n, p, n);
    s->n += n;
    s->p[s->n] = '\0';
}

void as_str_appendz(struct as_str *s, const char *z)
{
    as_str_append(s, z, strlen(z));
}

void as_str_appendf(struct as_str *s, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0) {
        s->failed = true;
    } else if (reserve(s, (size_t)n)) {
        vsnprintf(s->p + s->n, (size_t)n + 1, fmt, again);
        s->n += (size_t)n;
    }
    va_end(again);
}

void as_str_clear(struct as_str *s)
{
    s->n = 0;
    s->failed = false;
    if (s->p)
        s->p[0] = '\0';
}

const char *as_str_z(const struct as_str *s)
{
    return s->p ? s->p : "";
}

void as_str_fini(struct as_str *s)
{
    as_free(s->p);
    *s = (struct as_str){0};
}
