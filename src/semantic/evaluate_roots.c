/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the expressions that a pass evaluates. Each object of a time line and each row of a table
 * has a root. Records go to the leaves. */
#include "base/error.h"
#include "semantic/evaluator.h"

static int add_root(struct as_evaluator *e, const struct as_evaluation_root *root,
                    const uint32_t *top, size_t n)
{
    AS_TRY(as_vec_push(&e->root, *root));
    return as_node_graph_add_root(&e->graph, top, n, (uint32_t)(e->root.n - 1));
}

static int add_time_line_roots(struct as_evaluator *e, struct as_error *err)
{
    as_vec_foreach (&e->time_line, line) {
        const struct as_configuration *c = line->configuration;
        for (uint32_t object = 0; object < line->objects_n; object++) {
            const struct as_evaluation_root root = {.purpose = AS_ROOT_TIME_LINE,
                                                    .output = (uint32_t)(line - e->time_line.at),
                                                    .object = object};
            uint32_t top;
            AS_TRY(as_node_graph_add_window(&e->graph, c, (size_t)(line->window - c->window.at),
                                            object, &top, err));
            AS_TRY(add_root(e, &root, &top, 1));
        }
    }
    return 0;
}

/* One pair of control and data (and plane) for a row. */
static int add_table_root(struct as_evaluator *e, const struct as_cells *cells, uint32_t row,
                          uint32_t data_object, struct as_error *err)
{
    const struct as_configuration *c = cells->result.configuration;
    const struct as_histogram *t = cells->result.table;
    const enum as_object_level level = cells->result.level;
    struct as_evaluation_root root = {
        .purpose = AS_ROOT_TABLE, .output = (uint32_t)(cells - e->cells.at), .object = row};
    uint32_t top[3];
    size_t n = 1;
    AS_TRY(as_node_graph_add_window(&e->graph, c, t->control, row, &top[0], err));
    if (t->data != t->control) {
        root.data = (uint8_t)n;
        AS_TRY(as_node_graph_add_window(&e->graph, c, t->data, data_object, &top[n++], err));
    }
    if (t->plane_id && t->plane != t->control) {
        root.plane = t->plane == t->data ? root.data : (uint8_t)n;
        if (t->plane != t->data)
            AS_TRY(as_node_graph_add_window(
                &e->graph, c, t->plane,
                as_objects_above(e->objects, level, row, c->window.at[t->plane].level), &top[n++],
                err));
    }
    return add_root(e, &root, top, n);
}

static int add_row_roots(struct as_evaluator *e, const struct as_cells *cells, uint32_t row,
                         struct as_error *err)
{
    const struct as_configuration *c = cells->result.configuration;
    const enum as_object_level level = cells->result.level;
    const enum as_object_level data = c->window.at[cells->result.table->data].level;
    uint32_t first, end;
    if (data <= level)
        return add_table_root(e, cells, row, as_objects_above(e->objects, level, row, data), err);
    as_objects_below(e->objects, level, row, data, &first, &end);
    for (; first < end; first++)
        AS_TRY(add_table_root(e, cells, row, first, err));
    return 0;
}

/* The window with the filter that chooses messages: the first one that is not derived. */
static const struct as_window *single_window(const struct as_configuration *c, size_t window)
{
    const struct as_window *w = &c->window.at[window];
    while (w->is_derived)
        w = &c->window.at[w->operand[0]];
    return w;
}

static int add_message_table(struct as_evaluator *e, uint32_t table)
{
    const struct as_histogram_result *r = &e->cells.at[table].result;
    const struct as_window *w = single_window(r->configuration, r->table->control);
    const struct as_message_table added = {
        .table = table,
        .window = w,
        .takes = {.takes_logical = w->takes_logical, .takes_physical = w->takes_physical}};
    e->kinds |= AS_KINDS_SEND | AS_KINDS_RECEIVE;
    return as_vec_push(&e->message_table, added);
}

static int add_table_roots(struct as_evaluator *e, struct as_error *err)
{
    as_vec_foreach (&e->cells, cells) {
        const struct as_configuration *c = cells->result.configuration;
        const struct as_histogram *t = cells->result.table;
        AS_TRY(as_cells_scale(cells, &c->window.at[t->control],
                              t->plane_id ? &c->window.at[t->plane] : NULL, err));
        if (t->statistic->is_of_messages) {
            cells->result.columns =
                (struct as_histogram_scale){.min = as_whole(1),
                                            .max = as_whole(cells->result.rows_n),
                                            .delta = as_whole(1),
                                            .columns_n = cells->result.rows_n};
            AS_TRY(add_message_table(e, (uint32_t)(cells - e->cells.at)));
            continue;
        }
        for (uint32_t row = 0; row < cells->result.rows_n; row++)
            AS_TRY(add_row_roots(e, cells, row, err));
    }
    return 0;
}

int as_evaluator_add_roots(struct as_evaluator *e, struct as_error *err)
{
    AS_TRY(add_table_roots(e, err));
    return add_time_line_roots(e, err);
}

static int add_scale_root(struct as_evaluator *e, const struct as_cells *cells, bool is_plane,
                          struct as_error *err)
{
    const struct as_configuration *c = cells->result.configuration;
    const struct as_histogram *t = cells->result.table;
    const size_t window = is_plane ? t->plane : t->control;
    const size_t n = e->objects->row[c->window.at[window].level].n;
    for (uint32_t object = 0; object < n; object++) {
        const struct as_evaluation_root root = {.purpose = AS_ROOT_SCALE,
                                                .output = (uint32_t)(cells - e->cells.at),
                                                .object = object,
                                                .is_plane = is_plane};
        uint32_t top;
        AS_TRY(as_node_graph_add_window(&e->graph, c, window, object, &top, err));
        AS_TRY(add_root(e, &root, &top, 1));
    }
    return 0;
}

int as_evaluator_add_scale_roots(struct as_evaluator *e, struct as_error *err)
{
    as_vec_foreach (&e->cells, cells) {
        const struct as_histogram *t = cells->result.table;
        if (t->statistic->is_of_messages)
            continue;
        if (t->columns.is_automatic)
            AS_TRY(add_scale_root(e, cells, false, err));
        if (t->plane_id && t->planes.is_automatic)
            AS_TRY(add_scale_root(e, cells, true, err));
    }
    return 0;
}

static int note_event_window(struct as_evaluator *e, const struct as_window *window)
{
    as_vec_foreach (&e->event_window, known)
        if (*known == window)
            return 0;
    return as_vec_push(&e->event_window, window);
}

/* Which leaves a record of an object goes to. */
int as_evaluator_list_leaves(struct as_evaluator *e)
{
    const size_t threads_n = e->objects->row[AS_OBJECT_LEVEL_THREAD].n;
    const size_t cpus_n = e->objects->row[AS_OBJECT_LEVEL_CPU].n;
    e->thread_leaf = as_calloc(threads_n + 1, sizeof *e->thread_leaf);
    e->cpu_leaf = as_calloc(cpus_n + 1, sizeof *e->cpu_leaf);
    if (!e->thread_leaf || !e->cpu_leaf)
        return AS_ERR_NOMEM;
    for (uint32_t i = 0; i < e->graph.node.n; i++) {
        const struct as_node *node = &e->graph.node.at[i];
        if (node->kind != AS_NODE_LEAF)
            continue;
        const struct as_leaf_place leaf = {i, as_window_kinds(node->window)};
        e->kinds |= leaf.kinds;
        if (leaf.kinds & AS_KINDS_EVENT)
            AS_TRY(note_event_window(e, node->window));
        AS_TRY(node->thread.is_cpu ? as_vec_push(&e->cpu_leaf[node->begin.thread], leaf)
                                   : as_vec_push(&e->thread_leaf[node->begin.thread], leaf));
    }
    return 0;
}
