/* SPDX-License-Identifier: Apache-2.0 */
#include "semantic/cells.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"

#define COLUMNS_MAX       1000000
#define COLUMNS_AUTOMATIC 200 /* of a scale that nothing sets */
#define PLACES_MAX        ((uint64_t)1 << 20)
#define CODES_MAX         10000 /* span of codes that get a column each */

/* ---- Scales ---------------------------------------------------------------------------------- */

void as_cells_extend(struct as_cells_extent *e, struct as_quantity value)
{
    if (!e->has_any || as_quantity_compare(value, e->max) > 0)
        e->max = value;
    e->has_any = true;
    if (as_quantity_is_zero(value)) {
        e->has_zero = true;
    } else if (!e->has_min || as_quantity_compare(value, e->min) < 0) {
        e->min = value;
        e->has_min = true;
    }
}

/* The largest value and 5 % of the span; codes get columns of 1. */
static void set_automatic(struct as_histogram_scale *scale, const struct as_cells_extent *extent,
                          bool is_code)
{
    struct as_quantity min = extent->has_min ? extent->min : as_whole(0);
    if (scale->begins_at_zero && extent->has_zero && as_quantity_compare(min, as_whole(0)) > 0)
        min = as_whole(0);
    const struct as_quantity span = as_quantity_subtract(extent->max, min);
    const struct as_quantity more =
        as_quantity_divide(as_quantity_multiply(span, as_whole(5)), as_whole(100));
    scale->min = min;
    scale->max = as_quantity_add(extent->max, more);
    if (scale->uses_delta)
        return;
    if (as_quantity_is_zero(span) ||
        (is_code && as_quantity_compare(span, as_whole(CODES_MAX)) <= 0)) {
        scale->max = as_real(floor(as_quantity_double(scale->max)));
        if (as_quantity_is_zero(span))
            scale->max = extent->max;
        scale->delta = as_whole(1);
        scale->columns_n = 0;
        return;
    }
    if (scale->columns_n <= 0)
        scale->columns_n = COLUMNS_AUTOMATIC;
}

static int count_columns(struct as_histogram_scale *scale, const char *name, struct as_error *err)
{
    const struct as_quantity span = as_quantity_subtract(scale->max, scale->min);
    double n;
    if (scale->columns_n > 0)
        scale->delta = as_quantity_divide(span, as_whole(scale->columns_n));
    if (as_quantity_compare(scale->delta, as_whole(0)) <= 0)
        scale->delta = as_whole(1);
    n = scale->columns_n > 0 ? (double)scale->columns_n
                             : ceil(as_quantity_double(as_quantity_divide(span, scale->delta)));
    if (scale->columns_n <= 0 && as_quantity_compare(scale->delta, as_whole(1)) == 0 &&
        n + as_quantity_double(scale->min) <= as_quantity_double(scale->max))
        n++;
    if (!(n <= COLUMNS_MAX))
        return as_error_set(err, AS_ERR_LIMIT,
                            "table '%s': more than %d columns; raise its Delta or set NumColumns",
                            name, COLUMNS_MAX);
    scale->columns_n = n < 1 ? 1 : (int64_t)n;
    return 0;
}

int as_cells_scale(struct as_cells *c, const struct as_window *control,
                   const struct as_window *plane, struct as_error *err)
{
    const struct as_histogram *table = c->result.table;
    c->result.columns = table->columns;
    c->result.planes = table->planes;
    if (table->columns.is_automatic)
        set_automatic(&c->result.columns, &c->columns, control->is_code);
    AS_TRY(count_columns(&c->result.columns, table->name, err));
    if (!plane) {
        c->result.planes.columns_n = 1;
        return 0;
    }
    if (table->planes.is_automatic)
        set_automatic(&c->result.planes, &c->planes, plane->is_code);
    return count_columns(&c->result.planes, table->name, err);
}

int64_t as_cells_column(const struct as_histogram_scale *scale, struct as_quantity value)
{
    if (as_quantity_compare(value, scale->min) < 0 || as_quantity_compare(value, scale->max) > 0)
        return -1;
    const struct as_quantity at =
        as_quantity_divide(as_quantity_subtract(value, scale->min), scale->delta);
    const int64_t column = at.is_real ? (int64_t)floor(at.real) : at.whole;
    return column < scale->columns_n ? column : scale->columns_n - 1;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static uint64_t hash_place(uint32_t row, int64_t plane, int64_t column)
{
    return as_hash_mix(as_hash_mix(as_hash_mix(11, row), (uint64_t)plane), (uint64_t)column);
}

/* Lists of places for tables of few cells. 0 or NOMEM. */
static int make_places(struct as_cells *c)
{
    const uint64_t columns_n = (uint64_t)c->result.columns.columns_n;
    const uint64_t planes_n = (uint64_t)c->result.planes.columns_n;
    const uint64_t rows_n = (uint64_t)c->result.rows_n * planes_n; /* below 2^32 * COLUMNS_MAX */
    if (c->cell_place || c->result.cell.n || rows_n == 0 || columns_n == 0 || rows_n > PLACES_MAX ||
        rows_n * columns_n > PLACES_MAX)
        return 0;
    c->row_place = as_calloc(rows_n, sizeof *c->row_place);
    c->cell_place = c->row_place ? as_calloc(rows_n * columns_n, sizeof *c->cell_place) : NULL;
    return c->cell_place ? 0 : AS_ERR_NOMEM;
}

static size_t place_of_row(const struct as_cells *c, uint32_t row, int64_t plane)
{
    return (size_t)row * (size_t)c->result.planes.columns_n + (size_t)plane;
}

/* The place that holds the number of a cell, or NULL. */
static uint32_t *place_of_cell(const struct as_cells *c, uint32_t row, int64_t plane,
                               int64_t column)
{
    assert(row < c->result.rows_n && plane < c->result.planes.columns_n &&
           column < c->result.columns.columns_n);
    return c->cell_place
               ? &c->cell_place[place_of_row(c, row, plane) * (size_t)c->result.columns.columns_n +
                                (size_t)column]
               : NULL;
}

static struct as_cell_sums *find_cell(struct as_cells *c, uint32_t row, int64_t plane,
                                      int64_t column, uint64_t hash)
{
    struct as_probe probe = as_index_probe(&c->cell_index, hash);
    uint32_t at;
    while ((at = as_index_next(&c->cell_index, &probe)) != AS_INDEX_NONE) {
        struct as_histogram_cell *cell = &c->result.cell.at[at];
        if (cell->row == row && cell->plane == plane && cell->column == column)
            return &cell->cell;
    }
    return NULL;
}

static struct as_cell_sums *cell_at(struct as_cells *c, uint32_t row, int64_t plane, int64_t column)
{
    const struct as_histogram_cell cell = {.row = row, .plane = plane, .column = column};
    if (c->result.cell.n == 0 && make_places(c) < 0)
        return NULL;
    uint32_t *place = place_of_cell(c, row, plane, column);
    if (place && *place)
        return &c->result.cell.at[*place - 1].cell;
    const uint64_t hash = place ? 0 : hash_place(row, plane, column);
    struct as_cell_sums *found = place ? NULL : find_cell(c, row, plane, column, hash);
    if (found)
        return found;
    if (as_vec_push(&c->result.cell, cell) < 0)
        return NULL;
    if (place)
        *place = (uint32_t)c->result.cell.n;
    else if (as_index_add(&c->cell_index, hash, (uint32_t)(c->result.cell.n - 1)) < 0)
        return NULL;
    return &c->result.cell.at[c->result.cell.n - 1].cell;
}

static struct as_cells_row *find_row(const struct as_cells *c, uint32_t row, int64_t plane)
{
    if (c->row_place) {
        const uint32_t number = c->row_place[place_of_row(c, row, plane)];
        return number ? &c->row.at[number - 1] : NULL;
    }
    struct as_probe probe = as_index_probe(&c->row_index, hash_place(row, plane, -1));
    uint32_t at;
    while ((at = as_index_next(&c->row_index, &probe)) != AS_INDEX_NONE)
        if (c->row.at[at].row == row && c->row.at[at].plane == plane)
            return &c->row.at[at];
    return NULL;
}

static struct as_cells_row *row_at(struct as_cells *c, uint32_t row, int64_t plane)
{
    struct as_cells_row *found = find_row(c, row, plane);
    const struct as_cells_row fresh = {.row = row, .plane = plane};
    if (found)
        return found;
    if (as_vec_push(&c->row, fresh) < 0)
        return NULL;
    if (c->row_place)
        c->row_place[place_of_row(c, row, plane)] = (uint32_t)c->row.n;
    else if (as_index_add(&c->row_index, hash_place(row, plane, -1), (uint32_t)(c->row.n - 1)) < 0)
        return NULL;
    return &c->row.at[c->row.n - 1];
}

const struct as_cell_row *as_cells_row(const struct as_cells *c, uint32_t row, int64_t plane)
{
    static const struct as_cell_row nothing;
    const struct as_cells_row *found = find_row(c, row, plane);
    return found ? &found->totals : &nothing;
}

int as_cells_add(struct as_cells *c, uint32_t row, struct as_quantity control,
                 struct as_quantity data, struct as_quantity plane_value, int64_t length_ns)
{
    const int64_t column = as_cells_column(&c->result.columns, control);
    const int64_t plane =
        c->result.table->plane_id ? as_cells_column(&c->result.planes, plane_value) : 0;
    if (column < 0 || plane < 0) {
        c->result.outside_n += !as_quantity_is_zero(control);
        c->result.outside_ns += length_ns;
        return 0;
    }
    struct as_cell_sums *cell = cell_at(c, row, plane, column);
    struct as_cells_row *of = row_at(c, row, plane);
    if (!cell || !of)
        return AS_ERR_NOMEM;
    as_cell_add(cell, data, length_ns);
    of->totals.time_ns += length_ns;
    of->totals.bursts_n++;
    if (as_quantity_is_zero(control))
        cell->control_zero_ns += length_ns;
    else
        of->totals.not_zero_ns += length_ns;
    return 0;
}

int as_cells_add_message(struct as_cells *c, uint32_t row, uint32_t partner, bool is_send,
                         int64_t size_b)
{
    struct as_cell_sums *cell = cell_at(c, row, 0, partner);
    if (!cell)
        return AS_ERR_NOMEM;
    if (is_send)
        as_cell_add_send(cell, size_b);
    else
        as_cell_add_receive(cell, size_b);
    return 0;
}

static int compare_cells(const void *a, const void *b)
{
    const struct as_histogram_cell *x = a, *y = b;
    if (x->plane != y->plane)
        return x->plane < y->plane ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

void as_cells_end(struct as_cells *c)
{
    if (c->result.cell.n > 1)
        qsort(c->result.cell.at, c->result.cell.n, sizeof *c->result.cell.at, compare_cells);
}

void as_cells_clear(struct as_cells *c, bool extents)
{
    if (extents)
        c->columns = c->planes = (struct as_cells_extent){0};
    as_cells_fini(c);
    c->result.outside_n = 0;
    c->result.outside_ns = 0;
}

void as_cells_fini(struct as_cells *c)
{
    as_vec_fini(&c->result.cell);
    as_vec_fini(&c->row);
    as_index_fini(&c->cell_index);
    as_index_fini(&c->row_index);
    as_free(c->cell_place);
    as_free(c->row_place);
    c->cell_place = c->row_place = NULL;
}
