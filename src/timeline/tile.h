/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures of an index: rows of objects, pixels of equal time. Pixel `i` of `n` has the time from
 * from + (to - from) i / n up to that of the next one; one without length has the piece that is
 * there. Work: two blocks for each pixel, and one for each block within.
 */
#ifndef AS_TIMELINE_TILE_H
#define AS_TIMELINE_TILE_H

#include "semantic/draw_mode.h"
#include "timeline/index.h"

#define AS_TIMELINE_SHARES_N 4u

struct as_timeline_view {
    int64_t from_ns, to_ns;
    uint32_t first_row, rows_n, pixels_n;
};

/* Returns the begin of a pixel; that of `pixels_n` is the end. */
static inline int64_t as_timeline_pixel_ns(const struct as_timeline_view *view, uint32_t at)
{
    const uint64_t span = (uint64_t)view->to_ns - (uint64_t)view->from_ns;
    return (int64_t)((uint64_t)view->from_ns + (uint64_t)((unsigned __int128)span * at /
                                                          (view->pixels_n ? view->pixels_n : 1)));
}

/* The codes with most time in a pixel, the longest first; of equal times the lower code. */
struct as_timeline_shares {
    uint8_t code[AS_TIMELINE_SHARES_N];  /* AS_TIMELINE_CODE_NONE: no more */
    uint8_t share[AS_TIMELINE_SHARES_N]; /* of 255, rounded; 1 or more where there is any time */
};

/* The values in a pixel; the mean is over time. Not-a-number: no piece. */
struct as_timeline_levels {
    float mean, max, min;
};

/* Returns whether a draw mode of codes gives one of them: averages do not. */
static inline bool as_timeline_draws_code(enum as_draw_mode mode)
{
    return mode != AS_DRAW_AVERAGE && mode != AS_DRAW_AVERAGE_NOT_ZERO;
}

/* Fill rows_n x pixels_n elements, row by row. BY_KIND gives shares; another mode, for which
 * as_timeline_draws_code() is true, gives the code that it chooses with a share of 255. Errors:
 * NOMEM. */
int as_timeline_draw_codes(const struct as_timeline_index *index,
                           const struct as_timeline_view *view, enum as_draw_mode mode,
                           struct as_timeline_shares *out);
void as_timeline_draw_levels(const struct as_timeline_index *index,
                             const struct as_timeline_view *view, struct as_timeline_levels *out);
/* Puts the value of a draw mode in the place of each mean. Work: one for each piece in view.
 * Errors: NOMEM. */
int as_timeline_draw_mode_levels(const struct as_timeline_index *index,
                                 const struct as_timeline_view *view, enum as_draw_mode mode,
                                 struct as_timeline_levels *out);
/* Counts events in [begin, end) of each pixel; INT64_MIN as type: all types. At most 65535. */
void as_timeline_draw_events(const struct as_timeline_index *index,
                             const struct as_timeline_view *view, int64_t type, uint16_t *out);
/* The time by code of an object between two times, ns: adds to out[codes_n]. */
void as_timeline_add_code_times(const struct as_timeline_index *index, uint32_t object,
                                int64_t from_ns, int64_t to_ns, uint64_t *out);

#endif
