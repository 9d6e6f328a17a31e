/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depth-first order of a graph, shared by the dominators and the loop forest.
 */
#ifndef AS_CODE_ORDER_H
#define AS_CODE_ORDER_H

#include "code/graph.h"

struct as_graph_order {
    uint32_t reached;  /* nodes reached from the entry */
    bool cyclic;       /* some edge goes back to a node above its own */
    uint32_t *pre;     /* per node: preorder number or AS_GRAPH_NONE */
    uint32_t *last;    /* per node: largest preorder number in its subtree */
    uint32_t *post;    /* per node: postorder number or AS_GRAPH_NONE */
    uint32_t *parent;  /* preorder number -> that of the tree parent; 0 for the entry */
    uint32_t *by_pre;  /* nodes by preorder number */
    uint32_t *by_post; /* nodes by postorder number */
};

/* 0 or ASSAY_ERR_NOMEM. */
int as_graph_order(const struct as_graph *graph, uint32_t entry, struct as_arena *arena,
                   struct as_graph_order *out);

/*
 * As as_graph_dominators, as_graph_post_dominators and as_graph_find_loops, for who wants several
 * of one graph: its edges turned round (`back`) and its order are made once.
 */
int as_graph_dominate(const struct as_graph *back, const struct as_graph_order *order,
                      struct as_arena *arena, uint32_t *idom);
int as_graph_post_dominate(const struct as_graph *graph, const struct as_graph *back,
                           struct as_arena *arena, uint32_t *ipdom);
int as_graph_make_forest(const struct as_graph *graph, const struct as_graph *back,
                         const struct as_graph_order *order, struct as_arena *arena,
                         struct as_graph_loops *out);

#endif
