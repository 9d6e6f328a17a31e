/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms of a metric of numbers: time and pieces of each object by ranges of the value. Ranges
 * and sums are those of tables of the evaluator (semantic/cells.h) with one window for control and
 * data. Cells lead to the pieces that they count.
 */
#ifndef AS_TIMELINE_HISTOGRAM_H
#define AS_TIMELINE_HISTOGRAM_H

#include "semantic/cells.h"
#include "timeline/find.h"

struct as_timeline_histogram {
    struct as_histogram table; /* columns_n is how many are wanted; min and max if not automatic */
    struct as_cells cells;     /* the result; its table is `table` */
};

/* Begins a histogram of so many columns: from `min` to `max`, or by the values if both are NULL. */
void as_timeline_histogram_init(struct as_timeline_histogram *histogram, int64_t columns_n,
                                const struct as_quantity *min, const struct as_quantity *max);
/* Adds up the rows of a view. Work: two steps for each piece in view, one if the range is given.
 * Errors: LIMIT, NOMEM. */
int as_timeline_histogram_add(struct as_timeline_histogram *histogram,
                              const struct as_timeline_index *index,
                              const struct as_timeline_view *view, struct as_error *err);
void as_timeline_histogram_fini(struct as_timeline_histogram *histogram);

/* The first piece of a row with a value in a column that begins later than `ns`. `scale` is that of
 * a result. */
bool as_timeline_next_in_column(const struct as_timeline_index *index, uint32_t row,
                                const struct as_histogram_scale *scale, int64_t column, int64_t ns,
                                struct as_timeline_found *out);

/* Counts the pieces with a value in [low, high) in each pixel; at most 65535. Fills rows_n x
 * pixels_n numbers. Work: a step for each piece in view. */
void as_timeline_draw_range(const struct as_timeline_index *index,
                            const struct as_timeline_view *view, double low, double high,
                            uint16_t *out);

#endif
