/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of a pixel that holds several pieces, by the draw mode of a window (window_drawmode of
 * a .cfg). Averages and the mode are weighted by time.
 */
#ifndef AS_SEMANTIC_DRAW_MODE_H
#define AS_SEMANTIC_DRAW_MODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum as_draw_mode {
    AS_DRAW_BY_KIND, /* the file says nothing: codes MODE, numbers AVERAGE */
    AS_DRAW_LAST,
    AS_DRAW_MAXIMUM,
    AS_DRAW_MINIMUM_NOT_ZERO,
    AS_DRAW_RANDOM,
    AS_DRAW_RANDOM_NOT_ZERO,
    AS_DRAW_AVERAGE,
    AS_DRAW_AVERAGE_NOT_ZERO,
    AS_DRAW_MODE,
    AS_DRAW_ABSOLUTE_MAXIMUM,
    AS_DRAW_ABSOLUTE_MINIMUM_NOT_ZERO,
    AS_DRAW_MODES_N
};

/* A value in a pixel, with all of its time. */
struct as_drawn_value {
    double value;
    int64_t ns; /* above 0 */
};

/* Sets the seed of a random choice: the same object and begin of a pixel choose the same. */
static inline uint64_t as_draw_mode_seed(uint32_t object, int64_t begin_ns)
{
    return (uint64_t)begin_ns ^ (uint64_t)object << 40;
}

/* "draw_maximum", or the number of an old file; false: neither. */
bool as_draw_mode_read(struct as_view word, enum as_draw_mode *out);
/* Sorts the values: of equal ones the lower counts, whatever their order. `last` is the value at
 * the end of the pixel. `seed` makes a random choice repeatable. Returns not-a-number for no
 * values, and 0 if a mode leaves none of them. */
double as_draw_mode_value(enum as_draw_mode mode, struct as_drawn_value *of, size_t n, double last,
                          uint64_t seed);

#endif
