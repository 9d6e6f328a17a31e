/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the files of the evaluator. A pass has a graph of nodes. Records go to its leaves, and
 * its roots give pieces to time lines and tables.
 */
#ifndef AS_SEMANTIC_EVALUATOR_H
#define AS_SEMANTIC_EVALUATOR_H

#include "semantic/cells.h"
#include "semantic/node.h"
#include "semantic/order.h"

enum as_root_purpose { AS_ROOT_TIME_LINE, AS_ROOT_TABLE, AS_ROOT_SCALE };

/* The functions of one object of a time line or row of a table. */
struct as_evaluation_root {
    enum as_root_purpose purpose;
    uint32_t output, object;
    uint8_t data, plane; /* which child they are */
    bool is_plane;       /* of a scale: that of planes */
    bool has_held;
    int64_t held_ns;
    struct as_quantity held[3];
    AS_VEC(struct as_quantity) instant; /* pieces without length at held_ns, before held */
};

/* Leaves of an object, by the kinds of records they take. */
struct as_leaf_place {
    uint32_t node;
    unsigned kinds;
};

#define AS_KNOWN_TYPES 256u /* a power of two */

/* Which events of a type windows take. */
enum as_type_verdict { AS_TAKES_UNKNOWN, AS_TAKES_NEVER, AS_TAKES_ALWAYS, AS_TAKES_BY_VALUE };

struct as_known_type {
    int64_t type;
    enum as_type_verdict verdict;
};

/* Messages that count for a table. */
struct as_message_table {
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
    AS_VEC(struct as_evaluation_root) root;
    AS_VEC(struct as_leaf_place) * thread_leaf, *cpu_leaf; /* by object */
    AS_VEC(const struct as_window *) event_window;         /* of leaves, each once */
    struct as_known_type known_type[AS_KNOWN_TYPES];       /* by their last bits */
    AS_VEC(struct as_message_table) message_table;
    unsigned kinds;
    uint64_t records_n;
    int64_t last_ns, end_ns;
};

/* ---- evaluate_roots.c: what a pass evaluates ---- */
/* Add the roots of tables and time lines, or of the scales of tables. Errors: LIMIT, USAGE, NOMEM
 * without a text. */
int as_evaluator_add_roots(struct as_evaluator *e, struct as_error *err);
int as_evaluator_add_scale_roots(struct as_evaluator *e, struct as_error *err);
/* Lists the leaves that a record of an object goes to. 0 or NOMEM. */
int as_evaluator_list_leaves(struct as_evaluator *e);

/* ---- evaluate_records.c: lines and records ---- */
/* The sink of the records of a pass; `context` is the evaluator. */
int as_evaluator_on_record(void *context, const struct as_semantic_record *record);
/* Ends the orders of records. 0 or NOMEM. */
int as_evaluator_end_records(struct as_evaluator *e);

#endif
