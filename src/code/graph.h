/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds orders, dominators and the loop nesting forest of the directed graph of one function body.
 * Nodes are 0 .. n-1; instructions are unknown here. The graph and the order of its edges determine
 * all results. The caller's arena owns the memory.
 *
 * Sources: Georgiadis, "Linear-time algorithms for dominators and related problems", 2005,
 * Semi-NCA; Havlak, "Nesting of reducible and irreducible loops", ACM TOPLAS 19(4), 1997 (forest).
 */
#ifndef AS_CODE_GRAPH_H
#define AS_CODE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define AS_GRAPH_NONE UINT32_MAX

/* Successors of node v are to[first[v]] .. to[first[v + 1] - 1]. */
struct as_graph {
    uint32_t nodes;
    const uint32_t *first; /* nodes + 1 entries */
    const uint32_t *to;
};

/* Makes the graph with all edges reversed. Returns 0 or AS_ERR_NOMEM. */
int as_graph_reverse(const struct as_graph *graph, struct as_arena *arena, struct as_graph *out);

/*
 * Finds immediate dominators from `entry`. `idom` has one element per node. It is AS_GRAPH_NONE for
 * the entry and for unreached nodes. Returns 0 or AS_ERR_NOMEM.
 */
int as_graph_dominators(const struct as_graph *graph, uint32_t entry, struct as_arena *arena,
                        uint32_t *idom);

/*
 * Finds immediate post-dominators over all exits (nodes without successors). `ipdom` has one
 * element per node. It is AS_GRAPH_NONE if only the virtual exit post-dominates the node, or if the
 * node reaches no exit. Returns 0 or AS_ERR_NOMEM.
 */
int as_graph_post_dominators(const struct as_graph *graph, struct as_arena *arena, uint32_t *ipdom);

/* Loop nesting forest with one loop for each header. */
struct as_graph_loops {
    uint32_t loops;
    uint32_t *header;  /* per loop, in depth-first preorder: outer loops precede inner ones */
    uint32_t *parent;  /* per loop: the enclosing loop or AS_GRAPH_NONE */
    bool *irreducible; /* per loop: control may enter it at another node than the header */
    uint32_t *loop_of; /* per node: innermost loop that holds it, or AS_GRAPH_NONE */
};

/* Finds the loop nesting forest of the nodes reached from `entry`. Returns 0 or AS_ERR_NOMEM. */
int as_graph_find_loops(const struct as_graph *graph, uint32_t entry, struct as_arena *arena,
                        struct as_graph_loops *out);

#endif
