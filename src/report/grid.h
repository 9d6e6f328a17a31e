/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one view of one run in memory, by columns: 8 bytes a number, 4 a text, and each
 * different text once. Every format of a report is written from it. Knows nothing of formats.
 */
#ifndef AS_REPORT_GRID_H
#define AS_REPORT_GRID_H

#include <stdint.h>

#include <assay/experiment.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "report/views.h"

/* Integers that are not known; unknown reals are not-a-number, unknown texts AS_GRID_NO_TEXT. */
#define AS_GRID_NO_INTEGER INT64_MIN
#define AS_GRID_NO_TEXT    UINT32_MAX

struct as_grid_column {
    struct as_report_column is; /* as the view or the metric says; texts live in the arena */
    const char *of;             /* the column whose low, high, n or origin this is, or NULL */
    size_t position;            /* in the view; behind all its columns when not declared there */
    bool known;                 /* some cell is */
    AS_VEC(double) real;        /* numbers and shares */
    AS_VEC(int64_t) whole;      /* integers, flags, ids */
    AS_VEC(uint32_t) text;      /* indices into `word` */
    AS_VEC(const char *) word;
    struct as_map_view index;
};

struct as_grid {
    const struct as_report_view *view;
    size_t row_n;
    const char *note; /* what is known and left out, a sentence; or NULL */
    AS_VEC(struct as_grid_column *) column;
    struct as_arena arena;
};

/*
 * Zero-initialises and fills; release it in any case. With the metrics of its object the values of
 * each become columns: where the view declares them, the others hidden at the end. Errors: NOMEM,
 * those of reading.
 */
int as_grid_load(struct as_grid *grid, struct assay_experiment *experiment, int64_t run_id,
                 const struct as_report_view *view, struct assay_error *err);
void as_grid_fini(struct as_grid *grid);

/* The column of a name, or NULL. */
struct as_grid_column *as_grid_column(const struct as_grid *grid, const char *name);

/* Text of a cell of a text column; NULL where it is not known. */
static inline const char *as_grid_text(const struct as_grid_column *column, size_t row)
{
    const uint32_t i = column->text.at[row];

    return i == AS_GRID_NO_TEXT ? NULL : column->word.at[i];
}

/* ---- For loading -------------------------------------------------------------------------- */

/* A new column without cells, its name made unique; NULL when out of memory. */
struct as_grid_column *as_grid_add(struct as_grid *grid, const struct as_report_column *is);
/* As many cells as the grid has rows, all unknown. 0 or ASSAY_ERR_NOMEM. */
int as_grid_blank(struct as_grid *grid, struct as_grid_column *column);
/* Index of a text among the column's words; 0 or ASSAY_ERR_NOMEM. NULL gives AS_GRID_NO_TEXT. */
int as_grid_word(struct as_grid *grid, struct as_grid_column *column, const char *text,
                 uint32_t *index);

/* The columns of the metrics of the view's object (grid_metrics.c). Part of loading. */
int as_grid_metrics(struct as_grid *grid, struct assay_experiment *experiment, int64_t run_id,
                    struct assay_error *err);

#endif
