/* SPDX-License-Identifier: Apache-2.0 */
#include "semantic/evaluate.h"

#include <string.h>

#include "base/error.h"
#include "semantic/evaluator.h"

/* ---- Adding -----------------------------------------------------------------------------------
 */

int as_evaluator_new(const struct as_machine_objects *objects,
                     const struct as_evaluator_options *options, struct as_evaluator **out)
{
    struct as_evaluator *e = *out = as_calloc(1, sizeof *e);
    if (!e)
        return AS_ERR_NOMEM;
    e->objects = objects;
    e->options = *options;
    return 0;
}

static int check_levels(const struct as_configuration *c, const struct as_histogram *t,
                        struct as_error *err)
{
    const struct as_window *control = &c->window.at[t->control];
    const size_t others[] = {t->data, t->plane_id ? t->plane : t->data};
    for (size_t i = 0; i < 2; i++) {
        const struct as_window *other = &c->window.at[others[i]];
        const bool is_finer_plane = i == 1 && t->plane_id && other->level > control->level;
        if (as_object_level_is_hardware(other->level) !=
                as_object_level_is_hardware(control->level) ||
            is_finer_plane)
            return as_error_set(err, AS_ERR_USAGE,
                                "table '%s': its control window has level %s, window '%s' has "
                                "level %s; use levels that contain each other",
                                t->name, as_object_level_word(control->level), other->name,
                                as_object_level_word(other->level));
    }
    return 0;
}

int as_evaluator_add(struct as_evaluator *e, const struct as_configuration *c, struct as_error *err)
{
    int rc = 0;
    as_vec_foreach (&c->table, table) {
        const struct as_cells cells = {
            .result = {.configuration = c,
                       .table = table,
                       .level = c->window.at[table->control].level,
                       .rows_n = (uint32_t)e->objects->row[c->window.at[table->control].level].n}};
        AS_TRY(check_levels(c, table, err));
        rc |= as_vec_push(&e->cells, cells);
    }
    if (c->table.n == 0 && c->window.n == 0)
        return as_error_set(err, AS_ERR_USAGE, "%s: has no window; use one that has", c->name);
    if (c->table.n == 0) {
        const struct as_window *window = &c->window.at[c->window.n - 1];
        rc |= as_vec_push(
            &e->time_line,
            (struct as_time_line){c, window, (uint32_t)e->objects->row[window->level].n});
    }
    return rc < 0 ? as_error_nomem(err, "results of an evaluation") : 0;
}

/* ---- Pieces -----------------------------------------------------------------------------------
 */

/* A piece of a time line, as much of it as is in the range. */
static int send_piece(struct as_evaluator *e, const struct as_evaluation_root *root,
                      int64_t begin_ns, int64_t end_ns, struct as_quantity value)
{
    const int64_t from_ns = e->options.from_ns, to_ns = e->options.to_ns;
    if (begin_ns == end_ns ? begin_ns < from_ns || begin_ns > to_ns
                           : end_ns <= from_ns || begin_ns >= to_ns)
        return 0;
    return e->options.on_piece(e->options.context, root->output, root->object,
                               begin_ns > from_ns ? begin_ns : from_ns,
                               end_ns < to_ns ? end_ns : to_ns, value);
}

static int end_instants(struct as_evaluator *e, struct as_evaluation_root *root)
{
    for (size_t i = 0; i < root->instant.n; i++)
        AS_TRY(send_piece(e, root, root->held_ns, root->held_ns, root->instant.at[i]));
    root->instant.n = 0;
    return 0;
}

static int end_cell(struct as_evaluator *e, const struct as_evaluation_root *root, int64_t begin_ns,
                    int64_t end_ns)
{
    struct as_cells *cells = &e->cells.at[root->output];
    begin_ns = begin_ns > e->options.from_ns ? begin_ns : e->options.from_ns;
    end_ns = end_ns < e->options.to_ns ? end_ns : e->options.to_ns;
    if (begin_ns >= end_ns)
        return 0;
    if (root->purpose == AS_ROOT_TABLE)
        return as_cells_add(cells, root->object, root->held[0], root->held[root->data],
                            root->held[root->plane], end_ns - begin_ns);
    as_cells_extend(root->is_plane ? &cells->planes : &cells->columns, root->held[0]);
    return 0;
}

/* The piece that is held ends at a later time. */
static int end_pending_piece(struct as_evaluator *e, struct as_evaluation_root *root,
                             int64_t end_ns)
{
    if (root->purpose != AS_ROOT_TIME_LINE)
        return end_cell(e, root, root->held_ns, end_ns);
    AS_TRY(end_instants(e, root));
    return send_piece(e, root, root->held_ns, end_ns, root->held[0]);
}

static int on_round(void *context, uint32_t at, int64_t ns)
{
    struct as_evaluator *e = context;
    const struct as_node *node = &e->graph.node.at[at];
    struct as_evaluation_root *root = &e->root.at[node->owner];
    if (root->has_held && ns > root->held_ns)
        AS_TRY(end_pending_piece(e, root, ns));
    else if (root->has_held && root->purpose == AS_ROOT_TIME_LINE)
        AS_TRY(as_vec_push(&root->instant, root->held[0]));
    root->has_held = true;
    root->held_ns = ns;
    for (size_t i = 0; i < node->value.n && i < 3; i++)
        root->held[i] = node->value.at[i];
    return 0;
}

/* ---- Passes -----------------------------------------------------------------------------------
 */

static void end_pass_memory(struct as_evaluator *e)
{
    for (unsigned hardware = 0; hardware < 2; hardware++) {
        const size_t n = e->objects->row[hardware ? AS_OBJECT_LEVEL_CPU : AS_OBJECT_LEVEL_THREAD].n;
        for (size_t i = 0; i < n && (hardware ? (void *)e->cpu_leaf : (void *)e->thread_leaf); i++)
            as_vec_fini(hardware ? &e->cpu_leaf[i] : &e->thread_leaf[i]);
    }
    as_free(e->thread_leaf);
    as_free(e->cpu_leaf);
    as_vec_fini(&e->event_window);
    e->thread_leaf = NULL;
    e->cpu_leaf = NULL;
    as_node_graph_fini(&e->graph);
    as_record_order_fini(&e->order);
    for (size_t i = 0; e->thread_order && i < e->objects->row[AS_OBJECT_LEVEL_THREAD].n; i++)
        as_record_order_fini(&e->thread_order[i]);
    as_free(e->thread_order);
    e->thread_order = NULL;
    as_vec_foreach (&e->root, root)
        as_vec_fini(&root->instant);
    as_vec_fini(&e->root);
    as_vec_fini(&e->message_table);
}

void as_evaluator_free(struct as_evaluator **evaluation)
{
    struct as_evaluator *e = *evaluation;
    *evaluation = NULL;
    if (!e)
        return;
    end_pass_memory(e);
    as_vec_foreach (&e->cells, cells)
        as_cells_fini(cells);
    as_vec_fini(&e->cells);
    as_vec_fini(&e->time_line);
    as_vec_fini(&e->result);
    as_free(e);
}

static int start_pass(struct as_evaluator *e, struct as_error *err)
{
    end_pass_memory(e);
    e->graph = (struct as_node_graph){.objects = e->objects, .on_round = on_round, .context = e};
    e->order = (struct as_record_order){.sink = as_evaluator_on_record, .context = e};
    memset(e->known_type, 0, sizeof e->known_type);
    e->kinds = 0;
    e->records_n = 0;
    e->last_ns = 0;
    int rc = e->is_scaling ? as_evaluator_add_scale_roots(e, err) : as_evaluator_add_roots(e, err);
    if (rc == 0)
        rc = as_evaluator_list_leaves(e);
    e->order.kinds = e->kinds;
    return rc == AS_ERR_NOMEM ? as_error_nomem(err, "an evaluation") : rc;
}

int as_evaluator_begin_pass(struct as_evaluator *e, bool *is_needed, struct as_error *err)
{
    *is_needed = e->pass_n < 2;
    if (e->pass_n == 0) {
        e->pass_n++;
        e->is_scaling = true;
        AS_TRY(start_pass(e, err));
        if (e->root.n)
            return 0;
    }
    e->is_scaling = false;
    return e->pass_n++ < 2 ? start_pass(e, err) : 0;
}

int as_evaluator_restart_pass(struct as_evaluator *e, struct as_error *err)
{
    as_vec_foreach (&e->cells, cells)
        as_cells_clear(cells, e->is_scaling);
    if (e->options.on_restart)
        e->options.on_restart(e->options.context);
    return start_pass(e, err);
}

unsigned as_evaluator_kinds(const struct as_evaluator *e)
{
    return e->kinds;
}

int as_evaluator_end_pass(struct as_evaluator *e, int64_t end_ns, struct as_error *err)
{
    int rc = as_evaluator_end_records(e);
    e->end_ns = e->last_ns > end_ns ? e->last_ns : end_ns;
    if (rc == 0)
        rc = as_node_graph_end(&e->graph, e->end_ns);
    for (size_t i = 0; rc == 0 && i < e->root.n; i++) {
        struct as_evaluation_root *root = &e->root.at[i];
        /* a piece that begins when the trace ends is none, unless it is all there is */
        if (root->has_held && (root->held_ns < e->end_ns || e->end_ns == 0))
            rc = end_pending_piece(e, root, e->end_ns);
    }
    for (size_t i = 0; rc == 0 && !e->is_scaling && i < e->cells.n; i++) {
        as_cells_end(&e->cells.at[i]);
        rc = as_vec_push(&e->result, e->cells.at[i].result);
    }
    return rc == AS_ERR_NOMEM ? as_error_nomem(err, "an evaluation") : rc;
}

int64_t as_evaluator_end_ns(const struct as_evaluator *e)
{
    return e->end_ns;
}

/* ---- Results ----------------------------------------------------------------------------------
 */

const struct as_time_line *as_evaluator_time_lines(const struct as_evaluator *e, size_t *n)
{
    *n = e->time_line.n;
    return e->time_line.at;
}

const struct as_histogram_result *as_evaluator_tables(const struct as_evaluator *e, size_t *n)
{
    *n = e->result.n;
    return e->result.at;
}

struct as_quantity as_histogram_cell_value(const struct as_evaluator *e,
                                           const struct as_histogram_result *result,
                                           const struct as_histogram_cell *cell)
{
    const struct as_cells *cells = &e->cells.at[result - e->result.at];
    const struct as_configuration *c = result->configuration;
    const int64_t to_ns = e->options.to_ns < e->end_ns ? e->options.to_ns : e->end_ns;
    const struct as_statistic_context context = {
        .row = as_cells_row(cells, cell->row, cell->plane),
        .range_ns = to_ns > e->options.from_ns ? to_ns - e->options.from_ns : 0,
        .unit_ns = c->window.at[result->table->control].unit_ns};
    return result->table->statistic->value(&cell->cell, &context);
}
