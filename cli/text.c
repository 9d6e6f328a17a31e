/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrapping counts bytes, not columns of wide characters: source names of this field are ASCII.
 */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void as_wrap(struct as_str *out, const char *text, unsigned at, unsigned indent, unsigned width)
{
    bool first = true;

    while (*text) {
        unsigned n = (unsigned)strcspn(text, " ");

        if (strncmp(text + n, " %", 2) == 0) /* a number and its sign stay together */
            n += 1 + (unsigned)strcspn(text + n + 1, " ");
        if (!first && at + 1 + n > width) {
            as_str_appendf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            as_str_append(out, " ", 1);
            at++;
        }
        first = false;
        as_str_append(out, text, n);
        at += n;
        text += n + (text[n] == ' ');
    }
    as_str_append(out, "\n", 1);
}

void as_append_size(struct as_str *out, uint64_t size_b)
{
    static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB"};
    double value = (double)size_b / 1024;
    unsigned i = 0;

    if (size_b < 1024) {
        as_append_counted(out, size_b, "byte");
        return;
    }
    for (; value >= 1023.95 && i < 3; i++)
        value /= 1024;
    as_str_appendf(out, "%.1f %s", value, unit[i]);
}

void as_append_count(struct as_str *out, uint64_t count)
{
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%" PRIu64, count);

    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            as_str_append(out, ",", 1);
        as_str_append(out, &digits[i], 1);
    }
}

void as_append_counted(struct as_str *out, uint64_t count, const char *singular)
{
    as_append_count(out, count);
    as_str_appendf(out, " %s%s", singular, count == 1 ? "" : "s");
}
