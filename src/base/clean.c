/* SPDX-License-Identifier: Apache-2.0 */
/* Finds bytes that are unsafe to show and computes their escapes. ASCII is checked byte by byte. */
#include "base/clean.h"

#include <stdio.h>

#include "base/utf8.h"

bool as_clean_is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f || c == 0x061c ||
           c == 0x2028 || c == 0x2029;
}

size_t as_clean_run(struct as_view s, bool lines, size_t *used, char escape[AS_CLEAN_ESCAPE_B])
{
    size_t i = 0;

    while (i < s.n) {
        const unsigned char byte = (unsigned char)s.p[i];
        uint32_t c;
        int step;

        if ((byte >= 0x20 && byte < 0x7f) || (lines && (byte == '\n' || byte == '\t'))) {
            i++;
            continue;
        }
        step = as_utf8_next(s.p + i, s.n - i, &c);
        if (step > 0 && !as_clean_is_control(c)) {
            i += (size_t)step;
            continue;
        }
        /* An invalid sequence takes one byte; the next byte is checked separately. */
        *used = step < 0 ? 1 : (size_t)step;
        snprintf(escape, AS_CLEAN_ESCAPE_B, c < 0x80 || step < 0 ? "\\x%02x" : "\\u%04x",
                 (step < 0 ? byte : (unsigned)c) & 0xffffu);
        return i;
    }
    *used = 0;
    return i;
}

size_t as_clean_append(struct as_str *to, struct as_view s)
{
    char escape[AS_CLEAN_ESCAPE_B];
    size_t width = 0;

    while (s.n) {
        size_t used;
        const size_t n = as_clean_run(s, false, &used, escape);
        const char next = n < s.n ? s.p[n] : '\0';

        width += as_utf8_width((struct as_view){s.p, n});
        as_str_append(to, s.p, n);
        if (used)
            width += as_utf8_width(as_view_of(next == '\n' || next == '\t' ? " " : escape));
        if (used)
            as_str_appendz(to, next == '\n' || next == '\t' ? " " : escape);
        s.p += n + used;
        s.n -= n + used;
    }
    return width;
}
