/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics as columns. A metric with values for objects of the view gives up to five columns. They
 * are the value, its interval, its count and its origin. The last four exist only if they have
 * information. A value of the run precedes one of all runs. Values under a condition do not fit
 * into a row of an object; the note of the grid mentions them. The note also mentions metric values
 * of the last rows that do not fit into a page.
 */
#include "report/grid.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"

/* A metric and its columns in the grid. */
struct grid_metric {
    int64_t id;
    const char *name, *title, *topic, *unit, *better, *meaning;
    const char *origin;              /* common origin of all values, or NULL */
    bool bounded, counted, integral; /* true for some value; for all values */
    struct as_grid_column *value, *low, *high, *n, *from;
};

struct metrics {
    struct as_grid *grid;
    struct as_map_u64 row; /* id -> row */
    size_t row_most;       /* rows with values */
    bool has_contexts;     /* there are values under conditions */
    AS_VEC(struct grid_metric) all;
};

static const char *copied(struct as_grid *grid, const char *text)
{
    return text ? as_arena_strndup(&grid->arena, text, strlen(text)) : NULL;
}

/* Returns a heading such as "Flow paths" for "flow_paths". */
static const char *metric_heading(struct as_grid *grid, const char *name)
{
    char *text = as_arena_strndup(&grid->arena, name, strlen(name));

    for (char *p = text; p && *p; p++)
        *p = *p == '_' ? ' ' : *p;
    if (text)
        text[0] = (char)toupper((unsigned char)text[0]);
    return text;
}

/* Single values describe their columns; metric sets describe theirs. */
static const char metrics_sql[] =
    "WITH known AS (SELECT v.metric_id,"
    " CASE WHEN min(v.origin) = max(v.origin) THEN min(v.origin) END AS origin,"
    " max((v.low < v.value AND v.low > -9e999) OR (v.high > v.value AND v.high < 9e999)) AS "
    "bounded,"
    " max(v.n > 1 OR (v.n = 1 AND v.origin <> 'exact')) AS counted,"
    " min(v.value = round(v.value) AND abs(v.value) < 1e15 AND v.origin = 'exact') AS integral"
    " FROM value v WHERE v.object_kind = ?1 AND v.run_id IN (0, ?2) AND v.context_id = 0"
    " GROUP BY v.metric_id UNION ALL"
    " SELECT c.metric_id, c.origin, c.bounded, c.origin IN ('measured', 'simulated'),"
    " c.digits = 0 AND c.origin = 'exact' FROM metric_set_column c JOIN metric_set s"
    " USING (metric_set_id) WHERE s.object_kind = ?1)"
    "SELECT m.metric_id, m.name, m.title, ifnull(m.topic, 'other'), m.unit, m.better, m.meaning,"
    " CASE WHEN min(k.origin) = max(k.origin) THEN min(k.origin) END, max(k.bounded),"
    " max(k.counted), min(k.integral)"
    " FROM known k JOIN metric m USING (metric_id) GROUP BY m.metric_id"
    " ORDER BY m.topic IS NULL, m.topic, m.position, m.name";

static int add_grid_metric(struct metrics *in, struct as_rows *rows)
{
    struct as_grid *grid = in->grid;
    struct grid_metric it = {
        .id = as_rows_integer(rows, 0),
        .name = copied(grid, as_rows_text(rows, 1)),
        .title = copied(grid, as_rows_text(rows, 2)),
        .topic = copied(grid, as_rows_text(rows, 3)),
        .unit = copied(grid, as_rows_text(rows, 4)),
        .better = copied(grid, as_rows_text(rows, 5)),
        .meaning = copied(grid, as_rows_text(rows, 6)),
        .origin = copied(grid, as_rows_text(rows, 7)),
        .bounded = as_rows_integer(rows, 8) != 0,
        .counted = as_rows_integer(rows, 9) != 0,
        .integral = as_rows_integer(rows, 10) != 0,
    };

    if (it.name && !it.title)
        it.title = metric_heading(grid, it.name);
    if (!it.name || !it.title || !it.topic || !it.unit || !it.meaning)
        return AS_ERR_NOMEM;
    return as_vec_push(&in->all, it);
}

static int find_metrics(struct metrics *in, struct as_experiment *experiment, int64_t run_id,
                        struct as_error *err)
{
    struct as_rows *rows;
    int more;

    AS_TRY(as_rows_open(experiment, metrics_sql, &rows, err));
    as_rows_bind_text(rows, 1, in->grid->view->object);
    as_rows_bind_integer(rows, 2, run_id);
    while ((more = as_rows_next(rows, err)) > 0 && add_grid_metric(in, rows) == 0)
        ;
    if (more > 0)
        more = as_error_nomem(err, "the metrics");
    as_rows_close(&rows);
    return more;
}

/* ---- Columns of metrics ------------------------------------------------------------------- */

static enum as_column_kind metric_kind(const struct grid_metric *metric)
{
    if (strcmp(metric->unit, "%") == 0)
        return AS_COLUMN_SHARE;
    return metric->integral ? AS_COLUMN_INTEGER : AS_COLUMN_NUMBER;
}

static int metric_digits(const struct grid_metric *metric, enum as_column_kind kind)
{
    if (kind == AS_COLUMN_SHARE)
        return 1;
    if (kind == AS_COLUMN_INTEGER)
        return 0;
    return strcmp(metric->unit, "s") == 0 ? 3 : 2;
}

/* Completes the declaration of a metric in a view with the description of the metric. */
static struct as_report_column complete(const struct grid_metric *metric,
                                        const struct as_report_column *declared)
{
    struct as_report_column is = {.digits = -1};

    if (declared)
        is = *declared;
    is.name = metric->name;
    is.title = is.title ? is.title : metric->title;
    is.group = is.group ? is.group : metric->topic;
    is.unit = metric->unit;
    is.meaning = metric->meaning;
    is.origin = metric->origin;
    is.better = strcmp(metric->better, "neither") == 0 ? NULL : metric->better;
    if (is.kind == AS_COLUMN_UNKNOWN)
        is.kind = metric_kind(metric);
    if (is.digits < 0)
        is.digits = metric_digits(metric, is.kind);
    return is;
}

/* Adds a column that qualifies `of`: "flow_paths_low", "Flow paths, low". */
static int add_side(struct as_grid *grid, struct as_grid_column *of, const char *what,
                    enum as_column_kind kind, const char *meaning, struct as_grid_column **out)
{
    char name[512], title[512];

    snprintf(name, sizeof name, "%s_%s", of->is.name, what);
    snprintf(title, sizeof title, "%s, %s", of->is.title, what);
    const struct as_report_column is = {
        .name = copied(grid, name),
        .title = copied(grid, title),
        .group = of->is.group,
        .unit = kind == AS_COLUMN_NUMBER    ? of->is.unit
                : kind == AS_COLUMN_INTEGER ? "events"
                                            : NULL,
        .meaning = meaning,
        .kind = kind,
        .digits = kind == AS_COLUMN_NUMBER ? of->is.digits : 0,
    };
    *out = is.name && is.title ? as_grid_add(grid, &is) : NULL;
    if (!*out)
        return AS_ERR_NOMEM;
    (*out)->of = of->is.name;
    return as_grid_blank(grid, *out);
}

static int add_columns(struct metrics *in, struct grid_metric *metric,
                       const struct as_report_column *declared)
{
    struct as_grid *grid = in->grid;
    const struct as_report_column is = complete(metric, declared);

    metric->value = as_grid_add(grid, &is);
    if (!metric->value)
        return AS_ERR_NOMEM;
    AS_TRY(as_grid_blank(grid, metric->value));
    if (metric->bounded) {
        AS_TRY(add_side(grid, metric->value, "low", AS_COLUMN_NUMBER,
                        "Lower end of its 95 % interval.", &metric->low));
        AS_TRY(add_side(grid, metric->value, "high", AS_COLUMN_NUMBER,
                        "Upper end of its 95 % interval.", &metric->high));
        metric->value->is.low = metric->low->is.name;
        metric->value->is.high = metric->high->is.name;
    }
    if (metric->counted)
        AS_TRY(add_side(grid, metric->value, "n", AS_COLUMN_INTEGER,
                        "Number of samples, repetitions or events.", &metric->n));
    if (!metric->origin)
        AS_TRY(add_side(grid, metric->value, "origin", AS_COLUMN_TEXT,
                        "Origin: measured, exact, derived, modelled or simulated.", &metric->from));
    return 0;
}

/* Moves the columns from `from` on behind all columns with a position that is not greater. */
static void move_columns(struct as_grid *grid, size_t from)
{
    for (size_t i = from; i < grid->column.n; i++) {
        struct as_grid_column *moved = grid->column.at[i];
        size_t to = i;

        for (; to && grid->column.at[to - 1]->position > moved->position; to--)
            grid->column.at[to] = grid->column.at[to - 1];
        grid->column.at[to] = moved;
    }
}

static int add_at(struct metrics *in, struct grid_metric *metric,
                  const struct as_report_column *declared, size_t position)
{
    struct as_grid *grid = in->grid;
    const size_t from = grid->column.n;

    AS_TRY(add_columns(in, metric, declared));
    for (size_t i = from; i < grid->column.n; i++)
        grid->column.at[i]->position = position;
    move_columns(grid, from);
    return 0;
}

/* Adds all metrics: declared ones at their position in the view, all others at the end. */
static int add_all(struct metrics *in)
{
    const struct as_report_view *view = in->grid->view;

    for (size_t i = 0; i < view->column_n; i++)
        as_vec_foreach (&in->all, it)
            if (view->column[i].metric && strcmp(view->column[i].name, it->name) == 0)
                AS_TRY(add_at(in, it, &view->column[i], i));
    as_vec_foreach (&in->all, it)
        if (!it->value)
            AS_TRY(add_at(in, it, NULL, view->column_n));
    return 0;
}

/* ---- Values of metrics -------------------------------------------------------------------- */

static void set_number(struct as_grid_column *column, size_t row, double value)
{
    if (!column || !isfinite(value))
        return;
    column->known = true;
    if (column->real.n)
        column->real.at[row] = value;
    else
        column->whole.at[row] = llround(value);
}

static int set_metric_value(struct metrics *in, struct grid_metric *metric, struct as_rows *rows)
{
    const uint32_t row = as_map_u64_get(&in->row, (uint64_t)as_rows_integer(rows, 0));

    if (row == AS_MAP_NONE || row >= in->row_most)
        return 0; /* an object without samples in this run, or beyond the limit */
    set_number(metric->value, row, as_rows_real(rows, 1));
    set_number(metric->low, row, as_rows_real(rows, 2));
    set_number(metric->high, row, as_rows_real(rows, 3));
    if (metric->n)
        metric->n->whole.at[row] = as_rows_integer(rows, 4);
    if (metric->from)
        return as_grid_word(in->grid, metric->from, as_rows_text(rows, 5),
                            &metric->from->text.at[row]);
    return 0;
}

static int read_values(struct metrics *in, struct grid_metric *metric, int64_t run_id,
                       struct as_experiment *experiment, struct as_error *err)
{
    const struct as_subject of = {.kind = as_object_kind_of(in->grid->view->object),
                                  .run_id = run_id};
    struct as_rows *rows;
    int more;

    AS_TRY(as_experiment_values(experiment, metric->id, &of, &rows, err));
    while ((more = as_rows_next(rows, err)) > 0 && set_metric_value(in, metric, rows) == 0)
        ;
    if (more > 0)
        more = as_error_nomem(err, "the values of a metric");
    as_rows_close(&rows);
    return more;
}

static int index_rows(struct metrics *in)
{
    const struct as_grid_column *key = as_grid_column(in->grid, in->grid->view->key);

    for (size_t i = 0; key && i < in->grid->row_n; i++)
        AS_TRY(as_map_u64_put(&in->row, (uint64_t)key->whole.at[i], (uint32_t)i));
    return 0;
}

/* ---- Left-out values ---------------------------------------------------------------------- */

static const char contexts_sql[] =
    "SELECT EXISTS (SELECT 1 FROM context) AND (EXISTS (SELECT 1 FROM value"
    " WHERE object_kind = ?1 AND context_id > 0) OR EXISTS (SELECT 1 FROM metric_set"
    " WHERE object_kind = ?1))";

static int find_contexts(struct metrics *in, struct as_experiment *experiment, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(experiment, contexts_sql, &rows, err));
    as_rows_bind_text(rows, 1, in->grid->view->object);
    rc = as_rows_next(rows, err);
    in->has_contexts = rc > 0 && as_rows_integer(rows, 0) != 0;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static int write_note(struct metrics *in)
{
    struct as_grid *grid = in->grid;
    struct as_str note = {0};

    if (in->row_most < grid->row_n)
        as_str_appendf(&note,
                       "%zu metrics are shown for the first %zu of %zu rows only; the experiment "
                       "has all rows (assay query, view v_values). ",
                       in->all.n, in->row_most, grid->row_n);
    if (in->has_contexts)
        as_str_appendz(&note, "Values that hold for one path, variant or machine are on the "
                              "pages of the hottest, and all in the experiment (assay query, "
                              "view v_values with context_id).");
    if (note.n)
        grid->note = copied(grid, as_str_z(&note));
    as_str_fini(&note);
    return note.failed ? AS_ERR_NOMEM : 0;
}

/* Lists the objects with metric values, because only they count towards the limit. Names of sets
 * are valid: they were checked at creation and when the experiment was opened. */
static int objects_sql_of(const struct as_grid *grid, struct as_experiment *experiment,
                          struct as_str *sql, struct as_error *err)
{
    struct as_rows *rows;
    int more;

    as_str_appendz(sql, "SELECT object_id FROM value WHERE object_kind = ?1 AND run_id IN (0, ?2)");
    AS_TRY(
        as_rows_open(experiment, "SELECT name FROM metric_set WHERE object_kind = ?1", &rows, err));
    as_rows_bind_text(rows, 1, grid->view->object);
    while ((more = as_rows_next(rows, err)) > 0)
        as_str_appendf(sql, " UNION SELECT object_id FROM set_%s WHERE run_id IN (0, ?2)",
                       as_rows_text(rows, 0));
    as_rows_close(&rows);
    return more < 0 ? more : sql->failed ? as_error_nomem(err, "the columns of metrics") : 0;
}

/* Finds the row behind the `most`-th row with values. */
static int skip_empty_rows(struct metrics *in, struct as_experiment *experiment, int64_t run_id,
                           size_t most, struct as_error *err)
{
    struct as_str sql = {0};
    struct as_rows *rows = NULL;
    bool *valued = as_calloc(in->grid->row_n + 1, sizeof *valued);
    int rc = valued ? objects_sql_of(in->grid, experiment, &sql, err)
                    : as_error_nomem(err, "the columns of metrics");

    if (rc == 0)
        rc = as_rows_open(experiment, as_str_z(&sql), &rows, err);
    if (rc == 0) {
        as_rows_bind_text(rows, 1, in->grid->view->object);
        as_rows_bind_integer(rows, 2, run_id);
        while ((rc = as_rows_next(rows, err)) > 0) {
            const uint32_t row = as_map_u64_get(&in->row, (uint64_t)as_rows_integer(rows, 0));

            if (row != AS_MAP_NONE)
                valued[row] = true;
        }
    }
    for (in->row_most = 0; rc == 0 && in->row_most < in->grid->row_n; in->row_most++)
        if (valued[in->row_most] && most-- == 0)
            break;
    as_rows_close(&rows);
    as_str_fini(&sql);
    as_free(valued);
    return rc;
}

/* Limits the values to as many rows as the view allows, in its order: the hottest first. */
static int limit_rows(struct metrics *in, struct as_experiment *experiment, int64_t run_id,
                      struct as_error *err)
{
    const struct as_grid *grid = in->grid;
    size_t cells = 0;

    as_vec_foreach (&in->all, it)
        cells += 1u + (it->low != NULL) + (it->high != NULL) + (it->n != NULL) + (it->from != NULL);
    in->row_most = grid->row_n;
    if (!grid->view->metric_cell_most || !cells ||
        grid->row_n <= grid->view->metric_cell_most / cells)
        return 0;
    return skip_empty_rows(in, experiment, run_id, grid->view->metric_cell_most / cells, err);
}

int as_grid_metrics(struct as_grid *grid, struct as_experiment *experiment, int64_t run_id,
                    struct as_error *err)
{
    struct metrics in = {.grid = grid};
    int rc;

    as_map_u64_init(&in.row);
    rc = find_metrics(&in, experiment, run_id, err);
    if (rc == 0 && in.all.n && (index_rows(&in) < 0 || add_all(&in) < 0))
        rc = as_error_nomem(err, "the columns of metrics");
    if (rc == 0)
        rc = limit_rows(&in, experiment, run_id, err);
    if (rc == 0 && in.all.n)
        rc = find_contexts(&in, experiment, err);
    if (rc == 0 && write_note(&in) < 0)
        rc = as_error_nomem(err, "the columns of metrics");
    for (size_t i = 0; rc == 0 && i < in.all.n; i++)
        rc = read_values(&in, &in.all.at[i], run_id, experiment, err);
    as_map_u64_fini(&in.row);
    as_vec_fini(&in.all);
    return rc;
}
