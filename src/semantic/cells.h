/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a table while its trace streams by. */
#ifndef AS_SEMANTIC_CELLS_H
#define AS_SEMANTIC_CELLS_H

#include "base/index.h"
#include "semantic/evaluate.h"

struct as_cells_row {
    uint32_t row;
    int64_t plane;
    struct as_cell_row totals;
};

/* Values of the control window (and of that of planes) that set an automatic scale. */
struct as_cells_extent {
    struct as_quantity min, max; /* min of those that are not 0 */
    bool has_min, has_any, has_zero;
};

struct as_cells {
    struct as_histogram_result result;
    AS_VEC(struct as_cells_row) row;
    struct as_index cell_index, row_index; /* of large tables; of all others: */
    uint32_t *cell_place, *row_place;      /* the number of each, + 1; 0: there is none yet */
    struct as_cells_extent columns, planes;
};

void as_cells_extend(struct as_cells_extent *extent, struct as_quantity value);
/* Sets the scales, automatic ones by the extents. Errors: LIMIT (too many columns). */
int as_cells_scale(struct as_cells *cells, const struct as_window *control,
                   const struct as_window *plane, struct as_error *err);
/* The column of a value, from 0; -1: outside. */
int64_t as_cells_column(const struct as_histogram_scale *scale, struct as_quantity value);
/* One overlap. 0 or NOMEM. */
int as_cells_add(struct as_cells *cells, uint32_t row, struct as_quantity control,
                 struct as_quantity data, struct as_quantity plane, int64_t length_ns);
/* A message of a row to or from a partner. 0 or NOMEM. */
int as_cells_add_message(struct as_cells *cells, uint32_t row, uint32_t partner, bool is_send,
                         int64_t size_b);
/* Forgets the cells, or the extents alone. */
void as_cells_clear(struct as_cells *cells, bool extents);
/* Puts the cells in order. */
void as_cells_end(struct as_cells *cells);
const struct as_cell_row *as_cells_row(const struct as_cells *cells, uint32_t row, int64_t plane);
void as_cells_fini(struct as_cells *cells);

#endif
