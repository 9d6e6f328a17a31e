/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict UTF-8 decoding: no overlong forms, no surrogates, nothing above U+10FFFF. Column widths
 * follow Unicode's EastAsianWidth.txt, by whole blocks if single characters do not matter.
 */
#include "base/utf8.h"

int as_utf8_next(const char *p, size_t n, uint32_t *c)
{
    const unsigned char *b = (const unsigned char *)p;
    unsigned char lead = b[0];
    if (lead < 0x80) {
        *c = lead;
        return 1;
    }
    *c = AS_UTF8_REPLACEMENT;
    if (lead < 0xc2 || lead > 0xf4)
        return -1;
    int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    /* The range of the second byte excludes overlong forms, surrogates and values above
     * U+10FFFF. */
    unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    uint32_t code = lead & (0x3fu >> more);
    for (int i = 1; i <= more; i++) {
        if ((size_t)i >= n || b[i] < low || b[i] > high)
            return -i;
        code = code << 6 | (b[i] & 0x3fu);
        low = 0x80;
        high = 0xbf;
    }
    *c = code;
    return more + 1;
}

struct utf8_range {
    uint32_t from, to;
};

static int in(const struct utf8_range *ranges, size_t n, uint32_t c)
{
    for (size_t i = 0; i < n; i++)
        if (c >= ranges[i].from && c <= ranges[i].to)
            return 1;
    return 0;
}

unsigned as_utf8_columns(uint32_t c)
{
    static const struct utf8_range none[] = {
        {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
        {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2064},
        {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
    };
    static const struct utf8_range wide[] = {
        {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x4dbf},   {0x4e00, 0xa4cf},
        {0xa960, 0xa97c},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
        {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
        {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
    };
    if (c < 0x300)
        return 1;
    if (in(none, sizeof none / sizeof *none, c))
        return 0;
    return in(wide, sizeof wide / sizeof *wide, c) ? 2 : 1;
}

size_t as_utf8_width(struct as_view s)
{
    size_t width = 0;
    for (size_t i = 0; i < s.n;) {
        uint32_t c;
        int used = as_utf8_next(s.p + i, s.n - i, &c);
        width += as_utf8_columns(c);
        i += (size_t)(used < 0 ? -used : used);
    }
    return width;
}
