/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window at work on a trace that streams by: a tree of nodes for each object, from the records of
 * threads up. A node hands its parent steps: from a time on the function has a value. Steps of one
 * time are pieces without length. A node says up to which time its steps are complete: functions
 * that look ahead lag behind.
 *
 * Nodes stand behind their children. They run in batches, so that the work for an object without
 * records is small.
 */
#ifndef AS_SEMANTIC_NODE_H
#define AS_SEMANTIC_NODE_H

#include "semantic/window.h"

struct as_value_step {
    int64_t ns;
    struct as_quantity value;
};

struct as_value_steps {
    AS_VEC(struct as_value_step) step;
    size_t head; /* the first that was not taken */
};

enum as_node_kind {
    AS_NODE_LEAF,
    AS_NODE_COMPOSE,
    AS_NODE_CPU,
    AS_NODE_ABOVE,
    AS_NODE_DERIVED,
    AS_NODE_FOLD,
    AS_NODE_SHIFT,
    AS_NODE_ROOT /* its owner takes the values of all its children */
};

/* A piece of a leaf that waits for its value. */
struct as_waiting {
    int64_t ns, end_ns; /* end -1: open */
    int64_t bytes;
    bool is_empty; /* it began with the empty record */
};

struct as_closed_piece {
    int64_t begin_ns, end_ns;
    struct as_quantity value;
};

struct as_node {
    enum as_node_kind kind;
    const struct as_window *window;
    const struct as_function_use *use;
    AS_VEC(uint32_t) child;
    struct as_value_steps steps;
    int64_t known_ns; /* all steps before it are there */
    /* leaves */
    struct as_thread_state thread;
    struct as_semantic_record begin; /* of the open piece */
    struct as_semantic_record gap;   /* ends of states that may be gaps */
    uint32_t gap_n;
    AS_VEC(struct as_waiting) waiting;
    int64_t sent_ns, sent_b; /* the latest time of a send, bytes sent then */
    /* one value */
    struct as_compose_state compose;
    struct as_value_step held; /* its end is not known */
    bool has_held;
    struct as_quantity last; /* of AS_SPECIAL_JOIN */
    int64_t timer_begin_ns, timer_ns;
    /* many values */
    AS_VEC(struct as_quantity) value; /* of each child */
    struct as_sum sum;
    size_t reals_n; /* values that are not whole */
    struct as_derived_state derived;
    /* pieces: of a shift, of the data of a fold */
    AS_VEC(struct as_closed_piece) piece;
    size_t piece_head;
    int64_t shift;
    struct as_quantity factor; /* of a shift */
    uint32_t owner;            /* of a root: its place in the owner's list */
};

/* A round of steps at one time: each child has one at most. */
typedef int as_round_sink(void *context, uint32_t node, int64_t ns);

struct as_node_graph {
    const struct as_machine_objects *objects;
    AS_VEC(struct as_node) node;
    as_round_sink *on_round; /* of roots */
    void *context;
};

/* The tree of a window for one object of its level: `*out` is its top. Errors: USAGE (a window of
 * threads over one of CPUs), NOMEM. */
int as_node_graph_add_window(struct as_node_graph *graph,
                             const struct as_configuration *configuration, size_t window,
                             uint32_t object, uint32_t *out, struct as_error *err);
/* A root over tops; `owner` is a number of the caller's. 0 or NOMEM. */
int as_node_graph_add_root(struct as_node_graph *graph, const uint32_t *top, size_t n,
                           uint32_t owner);
/* Gives a record of its object to a leaf. 0 or NOMEM. */
int as_leaf_on_record(struct as_node *leaf, const struct as_semantic_record *record);
/* True if the filter of the window lets the record pass. */
bool as_window_passes(const struct as_window *window, const struct as_machine_objects *objects,
                      const struct as_semantic_record *record);

/* All records before `now_ns` were given. 0, NOMEM, or what a sink of roots answers. */
int as_node_graph_run(struct as_node_graph *graph, int64_t now_ns);
/* There are no more; the trace ends. */
int as_node_graph_end(struct as_node_graph *graph, int64_t end_ns);
void as_node_graph_fini(struct as_node_graph *graph);

/* ---- Between the files of this ---- */
int as_leaf_start(struct as_node *leaf);
/* Time has come to `now_ns`; what waits for it is settled. */
int as_leaf_settle(struct as_node *leaf, int64_t now_ns);
int as_leaf_end(struct as_node *leaf, int64_t end_ns);
static inline int as_node_step(struct as_node *node, int64_t ns, struct as_quantity value)
{
    return as_vec_push(&node->steps.step, (struct as_value_step){ns, value});
}

#endif
