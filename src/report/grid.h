/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one view of one run in memory, by column: 8 bytes per number, 4 bytes per text, each
 * different text once. All report formats are written from it. It is independent of the formats.
 */
#ifndef AS_REPORT_GRID_H
#define AS_REPORT_GRID_H

#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "experiment/experiment.h"
#include "report/views.h"

/* Value of an unknown integer. An unknown real is not-a-number, an unknown text is
 * AS_GRID_NO_TEXT. */
#define AS_GRID_NO_INTEGER INT64_MIN
#define AS_GRID_NO_TEXT    UINT32_MAX

struct as_grid_column {
    struct as_report_column is; /* as declared by the view or the metric; the arena has its texts */
    /* Column that this one qualifies with low, high, n or origin, or NULL. */
    const char *of;
    size_t position;       /* position in the view; undeclared columns are last */
    bool known;            /* some cell has a value */
    AS_VEC(double) real;   /* numbers and shares */
    AS_VEC(int64_t) whole; /* integers, flags, ids */
    AS_VEC(uint32_t) text; /* indices into `word` */
    AS_VEC(const char *) word;
    struct as_map_view index;
};

struct as_grid {
    const struct as_report_view *view;
    size_t row_n;
    const char *note; /* sentence about known values that are left out, or NULL */
    AS_VEC(struct as_grid_column *) column;
    struct as_arena arena;
};

/*
 * Loads the rows of a view. as_grid_fini releases the grid even after an error. Metrics of the
 * object become columns, at their position in the view or hidden at the end. Errors: NOMEM, those
 * of reading.
 */
int as_grid_load(struct as_grid *grid, struct as_experiment *experiment, int64_t run_id,
                 const struct as_report_view *view, struct as_error *err);
void as_grid_fini(struct as_grid *grid);

/* Returns the column with this name, or NULL. */
struct as_grid_column *as_grid_column(const struct as_grid *grid, const char *name);

/* Returns the text of a cell, or NULL if it is unknown. */
static inline const char *as_grid_text(const struct as_grid_column *column, size_t row)
{
    const uint32_t i = column->text.at[row];

    return i == AS_GRID_NO_TEXT ? NULL : column->word.at[i];
}

/* ---- For loading -------------------------------------------------------------------------- */

/* Adds a column without cells and makes its name unique. Returns NULL without memory. */
struct as_grid_column *as_grid_add(struct as_grid *grid, const struct as_report_column *is);
/* Adds an unknown cell for each row of the grid. Returns 0 or AS_ERR_NOMEM. */
int as_grid_blank(struct as_grid *grid, struct as_grid_column *column);
/* Sets `*index` to the index of a text in the words of a column; NULL gives AS_GRID_NO_TEXT.
 * Returns 0 or AS_ERR_NOMEM. */
int as_grid_word(struct as_grid *grid, struct as_grid_column *column, const char *text,
                 uint32_t *index);

/* Adds the columns of the metrics of the object (grid_metrics.c). A step of as_grid_load. */
int as_grid_metrics(struct as_grid *grid, struct as_experiment *experiment, int64_t run_id,
                    struct as_error *err);

#endif
