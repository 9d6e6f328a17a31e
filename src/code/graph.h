/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directed graphs of one function body: orders, dominators and the loop nesting forest.
 * Knows nothing of instructions; nodes are 0 .. n-1. All results are determined by the graph and
 * the order of its edges. Memory comes from the caller's arena.
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

/* The same edges the other way round; 0 or ASSAY_ERR_NOMEM. */
int as_graph_reverse(const struct as_graph *graph, struct as_arena *arena, struct as_graph *out);

/*
 * Immediate dominators from `entry`: idom[v], AS_GRAPH_NONE for the entry and for nodes it does
 * not reach. `idom` has one entry a node. 0 or ASSAY_ERR_NOMEM.
 */
int as_graph_dominators(const struct as_graph *graph, uint32_t entry, struct as_arena *arena,
                        uint32_t *idom);

/*
 * Immediate post-dominators over all exits (nodes without successors): AS_GRAPH_NONE when only the
 * virtual exit post-dominates, or when no exit is reached. 0 or ASSAY_ERR_NOMEM.
 */
int as_graph_post_dominators(const struct as_graph *graph, struct as_arena *arena, uint32_t *ipdom);

/* One loop for each header. */
struct as_graph_loops {
    uint32_t loops;
    uint32_t *header;  /* per loop, in depth-first preorder: outer loops before inner ones */
    uint32_t *parent;  /* per loop: the enclosing loop or AS_GRAPH_NONE */
    bool *irreducible; /* per loop: control enters it elsewhere than at the header too */
    uint32_t *loop_of; /* per node: innermost loop around it (a header's own) or NONE */
};

/* Loop nesting forest of the nodes reached from `entry`. 0 or ASSAY_ERR_NOMEM. */
int as_graph_find_loops(const struct as_graph *graph, uint32_t entry, struct as_arena *arena,
                        struct as_graph_loops *out);

#endif
