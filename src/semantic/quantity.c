/* SPDX-License-Identifier: Apache-2.0 */
#include "semantic/quantity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_LIMIT 9007199254740992.0 /* 2^53: doubles below it hold every whole number */

struct as_quantity as_real(double value)
{
    if (!isfinite(value))
        return as_whole(0);
    if (fabs(value) < WHOLE_LIMIT && value == trunc(value))
        return as_whole((int64_t)value);
    return (struct as_quantity){.real = value, .is_real = true};
}

struct as_quantity as_quantity_of_wide(__int128 value)
{
    if (value >= INT64_MIN && value <= INT64_MAX)
        return as_whole((int64_t)value);
    return as_real((double)value);
}

struct as_quantity as_quantity_add(struct as_quantity a, struct as_quantity b)
{
    if (!a.is_real && !b.is_real)
        return as_quantity_of_wide((__int128)a.whole + b.whole);
    return as_real(as_quantity_double(a) + as_quantity_double(b));
}

struct as_quantity as_quantity_subtract(struct as_quantity a, struct as_quantity b)
{
    if (!a.is_real && !b.is_real)
        return as_quantity_of_wide((__int128)a.whole - b.whole);
    return as_real(as_quantity_double(a) - as_quantity_double(b));
}

struct as_quantity as_quantity_multiply(struct as_quantity a, struct as_quantity b)
{
    if (!a.is_real && !b.is_real)
        return as_quantity_of_wide((__int128)a.whole * b.whole);
    return as_real(as_quantity_double(a) * as_quantity_double(b));
}

struct as_quantity as_quantity_divide_any(struct as_quantity a, struct as_quantity b)
{
    if (as_quantity_is_zero(b))
        return as_whole(0);
    if (!a.is_real && !b.is_real && (__int128)a.whole % b.whole == 0)
        return as_quantity_of_wide((__int128)a.whole / b.whole);
    return as_real(as_quantity_double(a) / as_quantity_double(b));
}

struct as_quantity as_quantity_modulo(struct as_quantity a, struct as_quantity b)
{
    if (as_quantity_is_zero(b))
        b = as_whole(1);
    if (!a.is_real && !b.is_real)
        return as_quantity_of_wide((__int128)a.whole % b.whole);
    return as_real(fmod(as_quantity_double(a), as_quantity_double(b)));
}

struct as_quantity as_quantity_scale(struct as_quantity a, struct as_quantity factor)
{
    const double size = fabs(as_quantity_double(factor));
    if (as_quantity_is_zero(factor))
        return as_whole(0);
    if (size >= 1)
        return as_quantity_multiply(a, factor);
    a = as_quantity_divide(a, as_real(1 / size));
    return as_quantity_double(factor) < 0 ? as_quantity_subtract(as_whole(0), a) : a;
}

struct as_quantity as_quantity_absolute(struct as_quantity a)
{
    return as_quantity_compare(a, as_whole(0)) < 0 ? as_quantity_subtract(as_whole(0), a) : a;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static bool read_whole_number(struct as_view text, struct as_quantity *out)
{
    uint64_t value = 0;
    const bool is_negative = text.n && *text.p == '-';
    size_t at = text.n && (*text.p == '-' || *text.p == '+');
    if (at == text.n)
        return false;
    for (; at < text.n && text.p[at] != '.'; at++) {
        if (text.p[at] < '0' || text.p[at] > '9' ||
            __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text.p[at] - '0'), &value))
            return false;
    }
    for (at++; at < text.n; at++) /* "1.000000000000" */
        if (text.p[at] != '0')
            return false;
    if (value > (uint64_t)INT64_MAX + is_negative)
        return false;
    *out = as_whole(is_negative ? (int64_t)(0 - value) : (int64_t)value);
    return true;
}

bool as_quantity_read(struct as_view text, struct as_quantity *out)
{
    char copy[512], *end;
    if (read_whole_number(text, out))
        return true;
    if (text.n == 0 || text.n >= sizeof copy)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    if (strspn(copy, "0123456789+-.eE") != text.n)
        return false;
    const double value = strtod(copy, &end);
    *out = as_real(value);
    return *end == 0 && isfinite(value);
}

void as_quantity_write(struct as_str *to, struct as_quantity n)
{
    char text[40];
    if (!n.is_real) {
        as_str_appendf(to, "%lld", (long long)n.whole);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, n.real);
        if (strtod(text, NULL) == n.real)
            break;
    }
    as_str_appendz(to, text);
}

void as_quantity_write_decimals(struct as_str *to, struct as_quantity n, unsigned decimals)
{
    if (n.is_real) {
        as_str_appendf(to, "%.*f", (int)decimals, n.real);
        return;
    }
    as_str_appendf(to, "%lld", (long long)n.whole);
    if (decimals)
        as_str_appendf(to, ".%0*d", (int)decimals, 0);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

void as_sum_add_times(struct as_sum *sum, struct as_quantity n, int64_t times)
{
    if (n.is_real) {
        sum->real += n.real * (double)times;
        sum->has_real = true;
    } else {
        sum->whole += (__int128)n.whole * times;
    }
}

struct as_quantity as_sum_number(const struct as_sum *sum)
{
    return sum->has_real ? as_real((double)sum->whole + sum->real)
                         : as_quantity_of_wide(sum->whole);
}

struct as_quantity as_sum_divide(const struct as_sum *sum, struct as_quantity by)
{
    if (as_quantity_is_zero(by))
        return as_whole(0);
    if (!sum->has_real && !by.is_real && sum->whole % by.whole == 0)
        return as_quantity_of_wide(sum->whole / by.whole);
    return as_real(((double)sum->whole + sum->real) / as_quantity_double(by));
}
