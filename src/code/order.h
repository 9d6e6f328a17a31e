/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the depth-first order of a graph for the dominators and the loop forest.
 */
#ifndef AS_CODE_ORDER_H
#define AS_CODE_ORDER_H

#include "code/graph.h"

struct as_graph_order {
    uint32_t reached;  /* nodes reached from the entry */
    bool cyclic;       /* the graph has an edge to an ancestor in the depth-first tree */
    uint32_t *pre;     /* per node: preorder number or AS_GRAPH_NONE */
    uint32_t *last;    /* per node: largest preorder number in its subtree */
    uint32_t *post;    /* per node: postorder number or AS_GRAPH_NONE */
    uint32_t *parent;  /* by preorder number: preorder number of the tree parent; 0 for the entry */
    uint32_t *by_pre;  /* nodes by preorder number */
    uint32_t *by_post; /* nodes by postorder number */
};

/* Computes the order from `entry`. Returns 0 or AS_ERR_NOMEM. */
int as_graph_order(const struct as_graph *graph, uint32_t entry, struct as_arena *arena,
                   struct as_graph_order *out);

/*
 * Do the same as as_graph_dominators, as_graph_post_dominators and as_graph_find_loops. The caller
 * passes the reversed graph `back` and the order, so several calls share them.
 */
int as_graph_dominate(const struct as_graph *back, const struct as_graph_order *order,
                      struct as_arena *arena, uint32_t *idom);
int as_graph_post_dominate(const struct as_graph *graph, const struct as_graph *back,
                           struct as_arena *arena, uint32_t *ipdom);
int as_graph_make_forest(const struct as_graph *graph, const struct as_graph *back,
                         const struct as_graph_order *order, struct as_arena *arena,
                         struct as_graph_loops *out);

#endif
