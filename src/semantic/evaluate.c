/* SPDX-License-Identifier: Apache-2.0 */
#include "semantic/evaluate.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "semantic/cells.h"
#include "semantic/node.h"
#include "semantic/order.h"

#define BATCH_N 65536u /* records between two runs of the nodes */

enum root_purpose { ROOT_TIME_LINE, ROOT_TABLE, ROOT_SCALE };

/* The functions of one object of a time line or row of a table. */
struct evaluation_root {
    enum root_purpose purpose;
    uint32_t output, object;
    uint8_t data, plane; /* which child they are */
    bool is_plane;       /* of a scale: that of planes */
    bool has_held;
    int64_t held_ns;
    struct as_quantity held[3];
    AS_VEC(struct as_quantity) instant; /* pieces without length at held_ns, before held */
};

/* Leaves of an object, by the kinds of records they take. */
struct leaf_at {
    uint32_t node;
    unsigned kinds;
};

#define KNOWN_TYPES 256u /* a power of two */

/* Which events of a type windows take. */
enum type_verdict { TYPE_UNKNOWN, TYPE_NEVER, TYPE_ALWAYS, TYPE_BY_VALUE };

struct known_type {
    int64_t type;
    enum type_verdict verdict;
};

/* Messages that count for a table. */
struct message_table {
    uint32_t table;
    const struct as_window *window; /* with the filter */
    struct as_thread_state takes;
};

struct as_evaluator {
    const struct as_machine_objects *objects;
    struct as_evaluator_options options;
    AS_VEC(struct as_time_line) time_line;
    AS_VEC(struct as_cells) cells;
    AS_VEC(struct as_histogram_result) result; /* copies for the caller, at the end */
    unsigned pass_n;
    bool is_scaling;
    /* of a pass */
    struct as_node_graph graph;
    struct as_record_order order;
    struct as_record_order *thread_order; /* of each thread, where threads come one by one */
    AS_VEC(struct evaluation_root) root;
    AS_VEC(struct leaf_at) * thread_leaf, *cpu_leaf; /* by object */
    AS_VEC(const struct as_window *) event_window;   /* of leaves, each once */
    struct known_type known_type[KNOWN_TYPES];       /* by their last bits */
    AS_VEC(struct message_table) message_table;
    unsigned kinds;
    uint64_t records_n;
    int64_t last_ns, end_ns;
};

/* ---- Adding ---------------------------------------------------------------------------------- */

int as_evaluator_new(const struct as_machine_objects *objects,
                     const struct as_evaluator_options *options, struct as_evaluator **out)
{
    struct as_evaluator *e = *out = as_calloc(1, sizeof *e);
    if (!e)
        return ASSAY_ERR_NOMEM;
    e->objects = objects;
    e->options = *options;
    return 0;
}

static int check_levels(const struct as_configuration *c, const struct as_histogram *t,
                        struct assay_error *err)
{
    const struct as_window *control = &c->window.at[t->control];
    const size_t others[] = {t->data, t->plane_id ? t->plane : t->data};
    for (size_t i = 0; i < 2; i++) {
        const struct as_window *other = &c->window.at[others[i]];
        const bool is_finer_plane = i == 1 && t->plane_id && other->level > control->level;
        if (as_object_level_is_hardware(other->level) !=
                as_object_level_is_hardware(control->level) ||
            is_finer_plane)
            return as_error_set(err, ASSAY_ERR_USAGE,
                                "table '%s': its control window has level %s, window '%s' has "
                                "level %s; use levels that contain each other",
                                t->name, as_object_level_word(control->level), other->name,
                                as_object_level_word(other->level));
    }
    return 0;
}

int as_evaluator_add(struct as_evaluator *e, const struct as_configuration *c,
                     struct assay_error *err)
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
        return as_error_set(err, ASSAY_ERR_USAGE, "%s: has no window; use one that has", c->name);
    if (c->table.n == 0) {
        const struct as_window *window = &c->window.at[c->window.n - 1];
        rc |= as_vec_push(
            &e->time_line,
            (struct as_time_line){c, window, (uint32_t)e->objects->row[window->level].n});
    }
    return rc < 0 ? as_error_nomem(err, "results of an evaluation") : 0;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static int64_t range_end(const struct as_evaluator *e)
{
    return e->options.to_ns;
}

/* A piece of a time line, as much of it as is in the range. */
static int send_piece(struct as_evaluator *e, const struct evaluation_root *root, int64_t begin_ns,
                      int64_t end_ns, struct as_quantity value)
{
    const int64_t from_ns = e->options.from_ns, to_ns = range_end(e);
    if (begin_ns == end_ns ? begin_ns < from_ns || begin_ns > to_ns
                           : end_ns <= from_ns || begin_ns >= to_ns)
        return 0;
    return e->options.on_piece(e->options.context, root->output, root->object,
                               begin_ns > from_ns ? begin_ns : from_ns,
                               end_ns < to_ns ? end_ns : to_ns, value);
}

static int end_instants(struct as_evaluator *e, struct evaluation_root *root)
{
    for (size_t i = 0; i < root->instant.n; i++)
        AS_TRY(send_piece(e, root, root->held_ns, root->held_ns, root->instant.at[i]));
    root->instant.n = 0;
    return 0;
}

static int end_cell(struct as_evaluator *e, const struct evaluation_root *root, int64_t begin_ns,
                    int64_t end_ns)
{
    struct as_cells *cells = &e->cells.at[root->output];
    begin_ns = begin_ns > e->options.from_ns ? begin_ns : e->options.from_ns;
    end_ns = end_ns < range_end(e) ? end_ns : range_end(e);
    if (begin_ns >= end_ns)
        return 0;
    if (root->purpose == ROOT_TABLE)
        return as_cells_add(cells, root->object, root->held[0], root->held[root->data],
                            root->held[root->plane], end_ns - begin_ns);
    as_cells_extend(root->is_plane ? &cells->planes : &cells->columns, root->held[0]);
    return 0;
}

/* The piece that is held ends at a later time. */
static int end_pending_piece(struct as_evaluator *e, struct evaluation_root *root, int64_t end_ns)
{
    if (root->purpose != ROOT_TIME_LINE)
        return end_cell(e, root, root->held_ns, end_ns);
    AS_TRY(end_instants(e, root));
    return send_piece(e, root, root->held_ns, end_ns, root->held[0]);
}

static int on_round(void *context, uint32_t at, int64_t ns)
{
    struct as_evaluator *e = context;
    const struct as_node *node = &e->graph.node.at[at];
    struct evaluation_root *root = &e->root.at[node->owner];
    if (root->has_held && ns > root->held_ns)
        AS_TRY(end_pending_piece(e, root, ns));
    else if (root->has_held && root->purpose == ROOT_TIME_LINE)
        AS_TRY(as_vec_push(&root->instant, root->held[0]));
    root->has_held = true;
    root->held_ns = ns;
    for (size_t i = 0; i < node->value.n && i < 3; i++)
        root->held[i] = node->value.at[i];
    return 0;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

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

static int add_root(struct as_evaluator *e, const struct evaluation_root *root, const uint32_t *top,
                    size_t n)
{
    AS_TRY(as_vec_push(&e->root, *root));
    return as_node_graph_add_root(&e->graph, top, n, (uint32_t)(e->root.n - 1));
}

static int add_time_line_roots(struct as_evaluator *e, struct assay_error *err)
{
    as_vec_foreach (&e->time_line, line) {
        const struct as_configuration *c = line->configuration;
        for (uint32_t object = 0; object < line->objects_n; object++) {
            const struct evaluation_root root = {.purpose = ROOT_TIME_LINE,
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
                          uint32_t data_object, struct assay_error *err)
{
    const struct as_configuration *c = cells->result.configuration;
    const struct as_histogram *t = cells->result.table;
    const enum as_object_level level = cells->result.level;
    struct evaluation_root root = {
        .purpose = ROOT_TABLE, .output = (uint32_t)(cells - e->cells.at), .object = row};
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
                         struct assay_error *err)
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
    assert(window < c->window.n);
    const struct as_window *w = &c->window.at[window];
    while (w->is_derived)
        w = &c->window.at[w->operand[0]];
    return w;
}

static int add_message_table(struct as_evaluator *e, uint32_t table)
{
    const struct as_histogram_result *r = &e->cells.at[table].result;
    const struct as_window *w = single_window(r->configuration, r->table->control);
    const struct message_table added = {
        .table = table,
        .window = w,
        .takes = {.takes_logical = w->takes_logical, .takes_physical = w->takes_physical}};
    e->kinds |= AS_KINDS_SEND | AS_KINDS_RECEIVE;
    return as_vec_push(&e->message_table, added);
}

static int add_table_roots(struct as_evaluator *e, struct assay_error *err)
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

static int add_scale_root(struct as_evaluator *e, const struct as_cells *cells, bool is_plane,
                          struct assay_error *err)
{
    const struct as_configuration *c = cells->result.configuration;
    const struct as_histogram *t = cells->result.table;
    const size_t window = is_plane ? t->plane : t->control;
    const size_t n = e->objects->row[c->window.at[window].level].n;
    for (uint32_t object = 0; object < n; object++) {
        const struct evaluation_root root = {.purpose = ROOT_SCALE,
                                             .output = (uint32_t)(cells - e->cells.at),
                                             .object = object,
                                             .is_plane = is_plane};
        uint32_t top;
        AS_TRY(as_node_graph_add_window(&e->graph, c, window, object, &top, err));
        AS_TRY(add_root(e, &root, &top, 1));
    }
    return 0;
}

static int add_scale_roots(struct as_evaluator *e, struct assay_error *err)
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
static int list_leaves(struct as_evaluator *e)
{
    const size_t threads_n = e->objects->row[AS_OBJECT_LEVEL_THREAD].n;
    const size_t cpus_n = e->objects->row[AS_OBJECT_LEVEL_CPU].n;
    e->thread_leaf = as_calloc(threads_n + 1, sizeof *e->thread_leaf);
    e->cpu_leaf = as_calloc(cpus_n + 1, sizeof *e->cpu_leaf);
    if (!e->thread_leaf || !e->cpu_leaf)
        return ASSAY_ERR_NOMEM;
    for (uint32_t i = 0; i < e->graph.node.n; i++) {
        const struct as_node *node = &e->graph.node.at[i];
        if (node->kind != AS_NODE_LEAF)
            continue;
        const struct leaf_at leaf = {i, as_window_kinds(node->window)};
        e->kinds |= leaf.kinds;
        if (leaf.kinds & AS_KINDS_EVENT)
            AS_TRY(note_event_window(e, node->window));
        AS_TRY(node->thread.is_cpu ? as_vec_push(&e->cpu_leaf[node->begin.thread], leaf)
                                   : as_vec_push(&e->thread_leaf[node->begin.thread], leaf));
    }
    return 0;
}

static int on_record(void *context, const struct as_semantic_record *record);

static int start_pass(struct as_evaluator *e, struct assay_error *err)
{
    end_pass_memory(e);
    e->graph = (struct as_node_graph){.objects = e->objects, .on_round = on_round, .context = e};
    e->order = (struct as_record_order){.sink = on_record, .context = e};
    memset(e->known_type, 0, sizeof e->known_type);
    e->kinds = 0;
    e->records_n = 0;
    e->last_ns = 0;
    int rc = e->is_scaling ? add_scale_roots(e, err) : add_table_roots(e, err);
    if (rc == 0 && !e->is_scaling)
        rc = add_time_line_roots(e, err);
    if (rc == 0)
        rc = list_leaves(e);
    e->order.kinds = e->kinds;
    return rc == ASSAY_ERR_NOMEM ? as_error_nomem(err, "an evaluation") : rc;
}

int as_evaluator_begin_pass(struct as_evaluator *e, bool *is_needed, struct assay_error *err)
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

int as_evaluator_restart_pass(struct as_evaluator *e, struct assay_error *err)
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

/* ---- Records --------------------------------------------------------------------------------- */

static uint32_t object_of(const struct as_evaluator *e, enum as_object_level level, uint32_t thread,
                          uint32_t cpu, bool *is_known)
{
    *is_known = true;
    if (!as_object_level_is_hardware(level))
        return as_objects_above(e->objects, AS_OBJECT_LEVEL_THREAD, thread, level);
    *is_known = cpu && cpu <= e->objects->row[AS_OBJECT_LEVEL_CPU].n;
    return *is_known ? as_objects_above(e->objects, AS_OBJECT_LEVEL_CPU, cpu - 1, level) : 0;
}

static int count_message(struct as_evaluator *e, const struct message_table *of,
                         const struct as_semantic_record *r)
{
    struct as_cells *cells = &e->cells.at[of->table];
    const struct as_semantic_message *m = &r->message;
    const bool is_send = as_record_is_send(&of->takes, r);
    bool own, other;
    if ((!is_send && !as_record_is_receive(&of->takes, r)) || r->ns < e->options.from_ns ||
        r->ns > range_end(e) || !as_window_passes(of->window, e->objects, r))
        return 0;
    const uint32_t sender =
        object_of(e, cells->result.level, m->sender, m->sender_cpu, is_send ? &own : &other);
    const uint32_t receiver =
        object_of(e, cells->result.level, m->receiver, m->receiver_cpu, is_send ? &other : &own);
    if (!own || !other)
        return 0;
    return as_cells_add_message(cells, is_send ? sender : receiver, is_send ? receiver : sender,
                                is_send, m->size_b);
}

static int on_record(void *context, const struct as_semantic_record *record)
{
    struct as_evaluator *e = context;
    e->last_ns = record->ns > e->last_ns ? record->ns : e->last_ns;
    as_vec_foreach (&e->thread_leaf[record->thread], leaf)
        if (leaf->kinds >> record->kind & 1)
            AS_TRY(as_leaf_on_record(&e->graph.node.at[leaf->node], record));
    if (record->cpu && record->cpu <= e->objects->row[AS_OBJECT_LEVEL_CPU].n)
        as_vec_foreach (&e->cpu_leaf[record->cpu - 1], leaf)
            if (leaf->kinds >> record->kind & 1)
                AS_TRY(as_leaf_on_record(&e->graph.node.at[leaf->node], record));
    if ((AS_KINDS_SEND | AS_KINDS_RECEIVE) >> record->kind & 1)
        as_vec_foreach (&e->message_table, table)
            AS_TRY(count_message(e, table, record));
    if (++e->records_n % BATCH_N == 0 && !e->thread_order)
        return as_node_graph_run(&e->graph, record->ns);
    return 0;
}

static enum type_verdict verdict_of_type(const struct as_evaluator *e, int64_t type)
{
    enum type_verdict verdict = TYPE_NEVER;
    as_vec_foreach (&e->event_window, window) {
        const struct as_window *w = *window;
        const bool passes = as_filter_passes(&w->filter[AS_FILTER_TYPE], as_whole(type));
        const bool asks_value = w->both_type_value ? passes : !passes;
        const enum as_filter_test test = w->filter[AS_FILTER_VALUE].test;
        if (asks_value ? test == AS_TEST_ALL : passes)
            return TYPE_ALWAYS;
        if (asks_value && test != AS_TEST_NONE)
            verdict = TYPE_BY_VALUE;
    }
    return verdict;
}

bool as_evaluator_takes_type(const struct as_evaluator *e, int64_t type)
{
    return verdict_of_type(e, type) != TYPE_NEVER;
}

bool as_evaluator_takes_event(struct as_evaluator *e, int64_t type, int64_t value)
{
    struct known_type *known = &e->known_type[(uint64_t)type % KNOWN_TYPES];
    if (known->verdict == TYPE_UNKNOWN || known->type != type)
        *known = (struct known_type){type, verdict_of_type(e, type)};
    if (known->verdict != TYPE_BY_VALUE)
        return known->verdict == TYPE_ALWAYS;
    const struct as_semantic_record record = {.kind = AS_RECORD_EVENT, .event = {type, value}};
    as_vec_foreach (&e->event_window, window)
        if (as_window_passes(*window, e->objects, &record))
            return true;
    return false;
}

int as_evaluator_add_line(struct as_evaluator *e, const struct as_semantic_line *line)
{
    if (line->kind == AS_LINE_EVENT &&
        !as_evaluator_takes_event(e, line->event.type, line->event.value)) {
        e->last_ns = line->ns > e->last_ns ? line->ns : e->last_ns;
        return 0;
    }
    return as_record_order_add(&e->order, line);
}

/* ---- Threads one by one ---------------------------------------------------------------------- */

/* True if each row of each table has one root. With several, the order of sums would differ. */
static bool rows_have_one_root(const struct as_evaluator *e)
{
    as_vec_foreach (&e->cells, cells) {
        const struct as_configuration *c = cells->result.configuration;
        if (c->window.at[cells->result.table->data].level > cells->result.level)
            return false;
    }
    return true;
}

int as_evaluator_begin_threads(struct as_evaluator *e, bool *is_possible)
{
    const size_t n = e->objects->row[AS_OBJECT_LEVEL_THREAD].n;
    bool has_cpu_leaf = false;
    for (size_t i = 0; i < e->objects->row[AS_OBJECT_LEVEL_CPU].n; i++)
        has_cpu_leaf |= e->cpu_leaf[i].n != 0;
    *is_possible = !has_cpu_leaf && !(e->kinds & AS_KINDS_MESSAGE) && rows_have_one_root(e);
    if (!*is_possible)
        return 0;
    assert(e->records_n == 0 && !e->thread_order);
    e->thread_order = as_calloc(n + 1, sizeof *e->thread_order);
    if (!e->thread_order)
        return ASSAY_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        e->thread_order[i] =
            (struct as_record_order){.sink = on_record, .context = e, .kinds = e->kinds};
    return 0;
}

int as_evaluator_add_thread_line(struct as_evaluator *e, const struct as_semantic_line *line)
{
    if (line->kind == AS_LINE_EVENT &&
        !as_evaluator_takes_event(e, line->event.type, line->event.value))
        return 0;
    return as_record_order_add(&e->thread_order[line->thread], line);
}

int as_evaluator_end_part(struct as_evaluator *e, int64_t ns)
{
    const size_t n = e->objects->row[AS_OBJECT_LEVEL_THREAD].n;
    for (size_t i = 0; i < n; i++)
        AS_TRY(as_record_order_advance(&e->thread_order[i], ns));
    return as_node_graph_run(&e->graph, ns);
}

static int end_records(struct as_evaluator *e)
{
    const size_t n = e->objects->row[AS_OBJECT_LEVEL_THREAD].n;
    for (size_t i = 0; e->thread_order && i < n; i++)
        AS_TRY(as_record_order_end(&e->thread_order[i]));
    return as_record_order_end(&e->order);
}

int as_evaluator_end_pass(struct as_evaluator *e, int64_t end_ns, struct assay_error *err)
{
    int rc = end_records(e);
    e->end_ns = e->last_ns > end_ns ? e->last_ns : end_ns;
    if (rc == 0)
        rc = as_node_graph_end(&e->graph, e->end_ns);
    for (size_t i = 0; rc == 0 && i < e->root.n; i++) {
        struct evaluation_root *root = &e->root.at[i];
        /* a piece that begins when the trace ends is none, unless it is all there is */
        if (root->has_held && (root->held_ns < e->end_ns || e->end_ns == 0))
            rc = end_pending_piece(e, root, e->end_ns);
    }
    for (size_t i = 0; rc == 0 && !e->is_scaling && i < e->cells.n; i++) {
        as_cells_end(&e->cells.at[i]);
        rc = as_vec_push(&e->result, e->cells.at[i].result);
    }
    return rc == ASSAY_ERR_NOMEM ? as_error_nomem(err, "an evaluation") : rc;
}

int64_t as_evaluator_end_ns(const struct as_evaluator *e)
{
    return e->end_ns;
}

/* ---- Results --------------------------------------------------------------------------------- */

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
    const int64_t to_ns = range_end(e) < e->end_ns ? range_end(e) : e->end_ns;
    const struct as_statistic_context context = {
        .row = as_cells_row(cells, cell->row, cell->plane),
        .range_ns = to_ns > e->options.from_ns ? to_ns - e->options.from_ns : 0,
        .unit_ns = c->window.at[result->table->control].unit_ns};
    return result->table->statistic->value(&cell->cell, &context);
}
