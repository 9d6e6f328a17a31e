/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of functions of time: whole numbers of 64 bits stay exact, all others are doubles. A
 * double that is whole and below 2^53 becomes a whole number, so a value has one form. Infinities
 * and not-a-number become 0.
 */
#ifndef AS_SEMANTIC_QUANTITY_H
#define AS_SEMANTIC_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct as_quantity {
    union {
        int64_t whole;
        double real;
    };
    bool is_real;
};

static inline struct as_quantity as_whole(int64_t value)
{
    return (struct as_quantity){.whole = value};
}

static inline double as_quantity_double(struct as_quantity n)
{
    return n.is_real ? n.real : (double)n.whole;
}

static inline bool as_quantity_is_zero(struct as_quantity n)
{
    return n.is_real ? n.real == 0 : n.whole == 0;
}

struct as_quantity as_real(double value);
/* A number that does not fit 64 bits becomes a double. */
struct as_quantity as_quantity_of_wide(__int128 value);
struct as_quantity as_quantity_add(struct as_quantity a, struct as_quantity b);
struct as_quantity as_quantity_subtract(struct as_quantity a, struct as_quantity b);
struct as_quantity as_quantity_multiply(struct as_quantity a, struct as_quantity b);
/* The same for any two numbers. */
struct as_quantity as_quantity_divide_any(struct as_quantity a, struct as_quantity b);
/* x / 0 is 0. */
static inline struct as_quantity as_quantity_divide(struct as_quantity a, struct as_quantity b)
{
    if (!b.is_real && b.whole == 1)
        return a;
    if (!a.is_real && !b.is_real && b.whole > 0 && a.whole % b.whole == 0)
        return as_whole(a.whole / b.whole);
    return as_quantity_divide_any(a, b);
}
/* The remainder of C's fmod(); of a divisor of 0, that of 1. */
struct as_quantity as_quantity_modulo(struct as_quantity a, struct as_quantity b);
/* Times a factor of a derived window: one below 1 divides by its reciprocal. */
struct as_quantity as_quantity_scale(struct as_quantity a, struct as_quantity factor);
struct as_quantity as_quantity_absolute(struct as_quantity a);
/* Below 0, 0, above 0. */
static inline int as_quantity_compare(struct as_quantity a, struct as_quantity b)
{
    if (!a.is_real && !b.is_real)
        return (a.whole > b.whole) - (a.whole < b.whole);
    const double x = as_quantity_double(a), y = as_quantity_double(b);
    return (x > y) - (x < y);
}

/* A decimal number with sign, point and exponent, all of `text`; false: none. Whole numbers of 64
 * bits are exact. */
bool as_quantity_read(struct as_view text, struct as_quantity *out);
/* Appends the shortest decimal that reads back the same. */
void as_quantity_write(struct as_str *to, struct as_quantity n);
/* Appends with so many decimals; whole numbers keep all their digits. */
void as_quantity_write_decimals(struct as_str *to, struct as_quantity n, unsigned decimals);

/* A sum: exact as long as all that was added is whole. */
struct as_sum {
    __int128 whole;
    double real;
    bool has_real;
};

static inline void as_sum_add(struct as_sum *sum, struct as_quantity n)
{
    if (n.is_real) {
        sum->real += n.real;
        sum->has_real = true;
    } else {
        sum->whole += n.whole;
    }
}

/* Adds `n` times `times`. */
void as_sum_add_times(struct as_sum *sum, struct as_quantity n, int64_t times);
struct as_quantity as_sum_number(const struct as_sum *sum);
struct as_quantity as_sum_divide(const struct as_sum *sum, struct as_quantity by);

#endif
