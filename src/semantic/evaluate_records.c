/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a trace on their way to the leaves of a pass: in the order of time, or thread by thread.
 */
#include <assert.h>

#include "base/error.h"
#include "semantic/evaluator.h"

#define BATCH_N 65536u /* records between two runs of the nodes */

/* ---- Records ----------------------------------------------------------------------------------
 */

static uint32_t object_of(const struct as_evaluator *e, enum as_object_level level, uint32_t thread,
                          uint32_t cpu, bool *is_known)
{
    *is_known = true;
    if (!as_object_level_is_hardware(level))
        return as_objects_above(e->objects, AS_OBJECT_LEVEL_THREAD, thread, level);
    *is_known = cpu && cpu <= e->objects->row[AS_OBJECT_LEVEL_CPU].n;
    return *is_known ? as_objects_above(e->objects, AS_OBJECT_LEVEL_CPU, cpu - 1, level) : 0;
}

static int count_message(struct as_evaluator *e, const struct as_message_table *of,
                         const struct as_semantic_record *r)
{
    struct as_cells *cells = &e->cells.at[of->table];
    const struct as_semantic_message *m = &r->message;
    const bool is_send = as_record_is_send(&of->takes, r);
    bool own, other;
    if ((!is_send && !as_record_is_receive(&of->takes, r)) || r->ns < e->options.from_ns ||
        r->ns > e->options.to_ns || !as_window_passes(of->window, e->objects, r))
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

int as_evaluator_on_record(void *context, const struct as_semantic_record *record)
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

static enum as_type_verdict verdict_of_type(const struct as_evaluator *e, int64_t type)
{
    enum as_type_verdict verdict = AS_TAKES_NEVER;
    as_vec_foreach (&e->event_window, window) {
        const struct as_window *w = *window;
        const bool passes = as_filter_passes(&w->filter[AS_FILTER_TYPE], as_whole(type));
        const bool asks_value = w->both_type_value ? passes : !passes;
        const enum as_filter_test test = w->filter[AS_FILTER_VALUE].test;
        if (asks_value ? test == AS_TEST_ALL : passes)
            return AS_TAKES_ALWAYS;
        if (asks_value && test != AS_TEST_NONE)
            verdict = AS_TAKES_BY_VALUE;
    }
    return verdict;
}

bool as_evaluator_takes_type(const struct as_evaluator *e, int64_t type)
{
    return verdict_of_type(e, type) != AS_TAKES_NEVER;
}

bool as_evaluator_takes_event(struct as_evaluator *e, int64_t type, int64_t value)
{
    struct as_known_type *known = &e->known_type[(uint64_t)type % AS_KNOWN_TYPES];
    if (known->verdict == AS_TAKES_UNKNOWN || known->type != type)
        *known = (struct as_known_type){type, verdict_of_type(e, type)};
    if (known->verdict != AS_TAKES_BY_VALUE)
        return known->verdict == AS_TAKES_ALWAYS;
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

/* ---- Threads one by one -----------------------------------------------------------------------
 */

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
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        e->thread_order[i] = (struct as_record_order){
            .sink = as_evaluator_on_record, .context = e, .kinds = e->kinds};
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

int as_evaluator_end_records(struct as_evaluator *e)
{
    const size_t n = e->objects->row[AS_OBJECT_LEVEL_THREAD].n;
    for (size_t i = 0; e->thread_order && i < n; i++)
        AS_TRY(as_record_order_end(&e->thread_order[i]));
    return as_record_order_end(&e->order);
}
