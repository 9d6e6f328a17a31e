/* SPDX-License-Identifier: Apache-2.0 */
/* Time lines and tables as text, in the layout of the reference: fields that end with tabs. */
#include "evaluate.h"

#include <stdlib.h>

#include "base/error.h"

#define VALUE_DECIMALS 2
#define FIELDS_MAX     ((uint64_t)50000000) /* of a table */

/* ---- Labels ---------------------------------------------------------------------------------- */

static void append_range(struct as_str *out, struct as_quantity from, struct as_quantity delta)
{
    as_str_appendz(out, "[");
    as_quantity_write(out, from);
    as_str_appendz(out, "..");
    as_quantity_write(out, as_quantity_add(from, delta));
    as_str_appendz(out, ")");
}

static void append_label(const struct as_evaluating *it, const struct as_window *window,
                         const struct as_histogram_scale *scale, int64_t at, struct as_str *out)
{
    const struct as_quantity from =
        as_quantity_add(scale->min, as_quantity_multiply(scale->delta, as_whole(at)));
    if (scale->min.is_real || as_quantity_compare(scale->delta, as_whole(1)) != 0) {
        append_range(out, from, scale->delta);
        return;
    }
    const char *label = as_evaluated_label(&it->trace, window, from);
    if (label)
        as_str_appendz(out, label);
    else
        as_quantity_write(out, from);
}

void as_evaluate_column(const struct as_evaluating *it, const struct as_histogram_result *table,
                        int64_t column, struct as_str *out)
{
    if (table->table->statistic->is_of_messages)
        as_evaluated_object(&it->trace, table->level, (uint32_t)column, out);
    else
        append_label(it, &table->configuration->window.at[table->table->control], &table->columns,
                     column, out);
}

void as_evaluate_plane(const struct as_evaluating *it, const struct as_histogram_result *table,
                       int64_t plane, struct as_str *out)
{
    append_label(it, &table->configuration->window.at[table->table->plane], &table->planes, plane,
                 out);
}

/* ---- Time lines ------------------------------------------------------------------------------ */

/* "THREAD 1.1.1", begin, length, value */
static int write_time_lines(struct as_evaluating *it, struct as_error *err)
{
    struct as_out *out = &it->cli->out;
    struct as_str object = {0}, value = {0};
    const void *record = NULL;
    int64_t place = -1;
    size_t n;
    const struct as_time_line *line = as_evaluator_time_lines(it->evaluation, &n);
    int rc;
    while ((rc = as_ordered_next(it->pieces, &record, err)) == 0 && record) {
        const struct as_evaluated_piece *piece = record;
        const struct as_time_line *of = &line[piece->place >> 32];
        if (n > 1 && (place < 0 || piece->place >> 32 != place >> 32))
            as_out_f(out, "%s%s\n", place < 0 ? "" : "\n", of->window->name);
        if (piece->place != place) {
            as_str_clear(&object);
            as_evaluated_object(&it->trace, of->window->level, (uint32_t)piece->place, &object);
        }
        place = piece->place;
        as_str_clear(&value);
        as_quantity_write_decimals(&value, piece->value, VALUE_DECIMALS);
        as_out_f(out, "%s\t%lld\t%lld\t%s\n", as_str_z(&object), (long long)piece->begin_ns,
                 (long long)(piece->end_ns - piece->begin_ns), as_str_z(&value));
        if (object.failed || value.failed)
            rc = as_error_nomem(err, "a time line");
        if (rc < 0)
            break;
    }
    as_str_fini(&object);
    as_str_fini(&value);
    return rc;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* One plane as it is laid out: fields[line][column], lines are rows unless it is vertical. */
struct table_layout {
    const struct as_histogram_result *result;
    int64_t plane;
    AS_VEC(int64_t) column;                /* those shown, in order */
    const struct as_histogram_cell **cell; /* [row x shown column]; NULL: not touched */
    struct as_totals *totals;              /* of the columns; of the rows if vertical */
};

static size_t layout_totals_n(const struct table_layout *l)
{
    return l->result->table->is_vertical ? l->result->rows_n : l->column.n;
}

static int list_columns(struct table_layout *l)
{
    const struct as_histogram_result *r = l->result;
    bool *is_touched = as_calloc((size_t)r->columns.columns_n + 1, sizeof *is_touched);
    int rc = is_touched ? 0 : AS_ERR_NOMEM;
    as_vec_foreach (&r->cell, cell)
        if (is_touched && cell->plane == l->plane)
            is_touched[cell->column] = true;
    for (int64_t c = 0; rc == 0 && c < r->columns.columns_n; c++)
        if (is_touched[c] || !r->table->hides_empty)
            rc = as_vec_push(&l->column, c);
    as_free(is_touched);
    return rc;
}

static int64_t find_shown(const struct table_layout *l, int64_t column)
{
    size_t low = 0, high = l->column.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (l->column.at[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->column.n && l->column.at[low] == column ? (int64_t)low : -1;
}

static int fill_layout(const struct as_evaluating *it, struct table_layout *l)
{
    const struct as_histogram_result *r = l->result;
    l->cell = as_calloc((size_t)r->rows_n * l->column.n + 1, sizeof *l->cell);
    l->totals = as_calloc(layout_totals_n(l) + 1, sizeof *l->totals);
    if (!l->cell || !l->totals)
        return AS_ERR_NOMEM;
    as_vec_foreach (&r->cell, cell) {
        if (cell->plane != l->plane)
            continue;
        const int64_t shown = find_shown(l, cell->column);
        l->cell[(size_t)cell->row * l->column.n + (size_t)shown] = cell;
        as_totals_add(&l->totals[r->table->is_vertical ? (int64_t)cell->row : shown],
                      as_histogram_cell_value(it->evaluation, r, cell));
    }
    return 0;
}

/* Shown columns by a total, the largest first. */
struct sorted_column {
    size_t at;
    struct as_quantity value;
    int sign;
};

static int compare_sorted(const void *a, const void *b)
{
    const struct sorted_column *x = a, *y = b;
    const int by_value = as_quantity_compare(y->value, x->value) * x->sign;
    return by_value ? by_value : x->at < y->at ? -1 : x->at > y->at;
}

/* The order in which shown columns are written, as places in l->column. */
static struct sorted_column *sort_columns_shown(const struct table_layout *l)
{
    static const enum as_total_id by[] = {
        [AS_SORT_NONE] = AS_TOTAL_AVERAGE,    [AS_SORT_AVERAGE] = AS_TOTAL_AVERAGE,
        [AS_SORT_TOTAL] = AS_TOTAL_TOTAL,     [AS_SORT_MAXIMUM] = AS_TOTAL_MAXIMUM,
        [AS_SORT_MINIMUM] = AS_TOTAL_MINIMUM, [AS_SORT_STDEV] = AS_TOTAL_STDEV,
        [AS_SORT_AVG_MAX] = AS_TOTAL_AVG_MAX};
    _Static_assert(sizeof by / sizeof *by == AS_SORT_AVG_MAX + 1,
                   "an entry for each of the enumeration");
    const struct as_histogram *t = l->result->table;
    struct sorted_column *order = as_calloc(l->column.n + 1, sizeof *order);
    for (size_t i = 0; order && i < l->column.n; i++) {
        order[i] = (struct sorted_column){i, as_whole(0), t->is_reverse ? -1 : 1};
        if (t->is_sorted && !t->is_vertical)
            order[i].value = as_totals_value(&l->totals[i], by[t->sort]);
    }
    if (order && l->column.n > 1 && t->is_sorted && !t->is_vertical)
        qsort(order, l->column.n, sizeof *order, compare_sorted);
    return order;
}

static void write_field(const struct as_evaluating *it, const struct table_layout *l, size_t row,
                        size_t shown, struct as_str *text)
{
    const struct as_histogram_cell *cell = l->cell[row * l->column.n + shown];
    const struct as_quantity value =
        cell ? as_histogram_cell_value(it->evaluation, l->result, cell) : as_whole(0);
    as_quantity_write_decimals(text, value, (unsigned)l->result->table->decimals);
    as_str_appendz(text, "\t");
}

static void write_layout_totals(const struct table_layout *l, const struct sorted_column *order,
                                struct as_str *text)
{
    const bool is_vertical = l->result->table->is_vertical;
    for (unsigned t = 0; t < AS_TOTALS_N; t++) {
        as_str_appendf(text, "%s\t", as_total_word((enum as_total_id)t));
        for (size_t i = 0; i < layout_totals_n(l); i++) {
            const struct as_totals *totals = &l->totals[is_vertical ? i : order[i].at];
            as_quantity_write_decimals(text, as_totals_value(totals, (enum as_total_id)t),
                                       (unsigned)l->result->table->decimals);
            as_str_appendz(text, "\t");
        }
        as_str_appendz(text, "\n");
    }
}

static void write_layout(struct as_evaluating *it, const struct table_layout *l,
                         const struct sorted_column *order, struct as_str *text)
{
    const struct as_histogram_result *r = l->result;
    const bool is_vertical = r->table->is_vertical;
    const size_t across = is_vertical ? r->rows_n : l->column.n;
    const size_t down = is_vertical ? l->column.n : r->rows_n;
    for (size_t i = 0; i < across; i++) {
        as_str_appendz(text, i ? "" : "\t");
        if (is_vertical)
            as_evaluated_object(&it->trace, r->level, (uint32_t)i, text);
        else
            as_evaluate_column(it, r, l->column.at[order[i].at], text);
        as_str_appendz(text, "\t");
    }
    as_str_appendz(text, "\n");
    for (size_t j = 0; j < down; j++) {
        if (is_vertical)
            as_evaluate_column(it, r, l->column.at[order[j].at], text);
        else
            as_evaluated_object(&it->trace, r->level, (uint32_t)j, text);
        as_str_appendz(text, "\t");
        for (size_t i = 0; i < across; i++)
            write_field(it, l, is_vertical ? i : j, order[is_vertical ? j : i].at, text);
        as_str_appendz(text, "\n");
        as_out_write(&it->cli->out, as_str_z(text), text->n);
        as_str_clear(text);
    }
    as_str_appendz(text, "\n");
    write_layout_totals(l, order, text);
    as_out_write(&it->cli->out, as_str_z(text), text->n);
}

static int write_plane(struct as_evaluating *it, struct table_layout *l, struct as_error *err)
{
    struct as_str text = {0};
    struct sorted_column *order = NULL;
    int rc = list_columns(l);
    if (rc == 0 && (uint64_t)l->result->rows_n * l->column.n > FIELDS_MAX)
        rc = as_error_set(err, AS_ERR_LIMIT, "table '%s': more than %llu fields; use --format csv",
                          l->result->table->name, (unsigned long long)FIELDS_MAX);
    if (rc == 0)
        rc = fill_layout(it, l);
    if (rc == 0)
        order = sort_columns_shown(l);
    if (rc == 0 && !order)
        rc = AS_ERR_NOMEM;
    if (rc == 0)
        write_layout(it, l, order, &text);
    if (rc == AS_ERR_NOMEM || text.failed)
        rc = as_error_nomem(err, l->result->table->name);
    as_str_fini(&text);
    as_free(order);
    as_free(l->cell);
    as_free(l->totals);
    as_vec_fini(&l->column);
    return rc;
}

static bool plane_has_cells(const struct as_histogram_result *r, int64_t plane)
{
    as_vec_foreach (&r->cell, cell)
        if (cell->plane == plane)
            return true;
    return false;
}

static int write_table(struct as_evaluating *it, const struct as_histogram_result *r,
                       struct as_error *err)
{
    for (int64_t plane = 0; plane < r->planes.columns_n; plane++) {
        struct table_layout layout = {.result = r, .plane = plane};
        if (r->table->plane_id && !plane_has_cells(r, plane))
            continue;
        if (r->table->plane_id) {
            struct as_str label = {0};
            as_evaluate_plane(it, r, plane, &label);
            as_out_f(&it->cli->out, "%s\n", as_str_z(&label));
            as_str_fini(&label);
        }
        AS_TRY(write_plane(it, &layout, err));
    }
    return 0;
}

int as_evaluate_text(struct as_evaluating *it, struct as_error *err)
{
    size_t lines_n, tables_n;
    const struct as_histogram_result *table = as_evaluator_tables(it->evaluation, &tables_n);
    as_evaluator_time_lines(it->evaluation, &lines_n);
    AS_TRY(write_time_lines(it, err));
    for (size_t i = 0; i < tables_n; i++) {
        if (tables_n + lines_n > 1)
            as_out_f(&it->cli->out, "%s%s\n", i || lines_n ? "\n" : "", table[i].table->name);
        AS_TRY(write_table(it, &table[i], err));
    }
    return 0;
}
