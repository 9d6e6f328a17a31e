/* SPDX-License-Identifier: Apache-2.0 */
/* Matches patterns without recursion: after a mismatch only the last star takes one more byte. */
#include "base/glob.h"

#include <string.h>

/* Returns the length of the first element of the pattern in bytes; a set includes its brackets. */
static size_t element(struct as_view glob)
{
    if (glob.p[0] != '[' || glob.n < 3)
        return 1;
    /* The first byte of a set may be a bracket itself. */
    const char *end = memchr(glob.p + 2, ']', glob.n - 2);
    return end ? (size_t)(end - glob.p) + 1 : 1;
}

static bool in_set(struct as_view set, char byte)
{
    const unsigned char b = (unsigned char)byte;
    for (size_t i = 1; i + 1 < set.n; i++) {
        const unsigned char low = (unsigned char)set.p[i];
        if (i + 3 < set.n && set.p[i + 1] == '-') {
            if (b >= low && b <= (unsigned char)set.p[i + 2])
                return true;
            i += 2;
        } else if (b == low) {
            return true;
        }
    }
    return false;
}

static bool one(struct as_view glob, size_t element_n, char byte)
{
    if (element_n > 1)
        return in_set((struct as_view){glob.p, element_n}, byte);
    return glob.p[0] == '?' || glob.p[0] == byte;
}

bool as_glob_match(struct as_view glob, struct as_view text)
{
    /* The pattern after the last star; the text it still has to match. */
    struct as_view star = {0}, rest = {0};
    while (text.n || glob.n) {
        if (glob.n && glob.p[0] == '*') {
            glob.p++;
            glob.n--;
            star = glob;
            rest = text;
            if (glob.n == 0)
                return true;
            continue;
        }
        const size_t n = glob.n ? element(glob) : 0;
        if (n && text.n && one(glob, n, text.p[0])) {
            glob.p += n;
            glob.n -= n;
            text.p++;
            text.n--;
            continue;
        }
        if (!star.p || rest.n == 0)
            return false;
        rest.p++;
        rest.n--;
        text = rest;
        glob = star;
    }
    return true;
}

bool as_glob_plain(struct as_view glob)
{
    for (size_t i = 0; i < glob.n; i++) {
        const struct as_view from = {glob.p + i, glob.n - i};
        if (from.p[0] == '*' || from.p[0] == '?' || element(from) > 1)
            return false;
    }
    return true;
}

size_t as_glob_literals(struct as_view glob)
{
    size_t count = 0;
    for (size_t i = 0, n; i < glob.n; i += n) {
        const struct as_view from = {glob.p + i, glob.n - i};
        n = element(from);
        count += from.p[0] != '*' && from.p[0] != '?';
    }
    return count;
}
