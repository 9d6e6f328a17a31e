/* SPDX-License-Identifier: Apache-2.0 */
#include "semantic/draw_mode.h"

#include <math.h>
#include <stdlib.h>

/* By number, from 0. */
static const char *const draw_words[] = {
    "draw_last",
    "draw_maximum",
    "draw_minnotzero",
    "draw_random",
    "draw_randnotzero",
    "draw_average",
    "draw_averagenotzero",
    "draw_mode",
    "draw_absolute_maximum",
    "draw_absolute_minimum",
};

bool as_draw_mode_read(struct as_view word, enum as_draw_mode *out)
{
    for (unsigned i = 0; i < sizeof draw_words / sizeof *draw_words; i++)
        if (as_view_equal(word, as_view_of(draw_words[i])) ||
            (word.n == 1 && *word.p == (char)('0' + i))) {
            *out = (enum as_draw_mode)(i + 1);
            return true;
        }
    return false;
}

static double average_of(const struct as_drawn_value *of, size_t n, bool takes_zero)
{
    double sum = 0, all_ns = 0;
    for (size_t i = 0; i < n; i++)
        if (takes_zero || of[i].value != 0) {
            sum += of[i].value * (double)of[i].ns;
            all_ns += (double)of[i].ns;
        }
    return all_ns > 0 ? sum / all_ns : 0;
}

/* One of the values, the same for the same seed (the finaliser of MurmurHash3, public domain). */
static double random_of(const struct as_drawn_value *of, size_t n, bool takes_zero, uint64_t seed)
{
    size_t fitting_n = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        fitting_n += takes_zero || of[i].value != 0;
    if (fitting_n == 0)
        return 0;
    seed = (seed ^ seed >> 33) * UINT64_C(0xff51afd7ed558ccd);
    seed = (seed ^ seed >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    size_t left_n = (size_t)((seed ^ seed >> 33) % fitting_n);
    while ((!takes_zero && of[at].value == 0) || left_n--)
        at++;
    return of[at].value;
}

/* Returns whether a value takes the place of the one that was best so far. */
static bool is_better(enum as_draw_mode mode, const struct as_drawn_value *one,
                      const struct as_drawn_value *best)
{
    switch (mode) {
    case AS_DRAW_MAXIMUM:
        return one->value > best->value;
    case AS_DRAW_MINIMUM_NOT_ZERO:
        return one->value != 0 && (best->value == 0 || one->value < best->value);
    case AS_DRAW_ABSOLUTE_MAXIMUM:
        return fabs(one->value) > fabs(best->value);
    case AS_DRAW_ABSOLUTE_MINIMUM_NOT_ZERO:
        return one->value != 0 && (best->value == 0 || fabs(one->value) < fabs(best->value));
    default:
        return one->ns > best->ns;
    }
}

static int compare_drawn(const void *a, const void *b)
{
    const struct as_drawn_value *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

double as_draw_mode_value(enum as_draw_mode mode, struct as_drawn_value *of, size_t n, double last,
                          uint64_t seed)
{
    if (n == 0)
        return NAN;
    if (n > 1)
        qsort(of, n, sizeof *of, compare_drawn);
    switch (mode) {
    case AS_DRAW_LAST:
        return last;
    case AS_DRAW_RANDOM:
    case AS_DRAW_RANDOM_NOT_ZERO:
        return random_of(of, n, mode == AS_DRAW_RANDOM, seed);
    case AS_DRAW_AVERAGE:
    case AS_DRAW_AVERAGE_NOT_ZERO:
        return average_of(of, n, mode == AS_DRAW_AVERAGE);
    default:
        break;
    }
    const struct as_drawn_value *best = of;
    for (size_t i = 1; i < n; i++)
        if (is_better(mode, &of[i], best))
            best = &of[i];
    return best->value;
}
